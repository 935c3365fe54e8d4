/* SPDX-License-Identifier: Apache-2.0
 *
 * A request in a few words, for people: what an audit record or an event says that a call was about.
 *
 *   disk_number=3 force=true path="C:\\x" partition{number=2 access_paths=["E:","F:"]}
 *
 * Pure: no upb, no lock; cheap enough for every mutating call, unlike request_json.h.
 */
#ifndef CSI_RPC_REQUEST_OBJECT_H
#define CSI_RPC_REQUEST_OBJECT_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum {
  CSI_REQUEST_OBJECT_BYTES = 1024,            /* with its NUL; a longer text is cut and ends in an ellipsis */
  CSI_REQUEST_OBJECT_INPUT_BYTES = 64 * 1024, /* of a longer request only the length is told */
  CSI_REQUEST_OBJECT_STRING_BYTES = 384,      /* of one quoted string; a longer one ends in an ellipsis */
  CSI_REQUEST_OBJECT_ITEMS = 8, /* shown of a repeated field; of the others the number is told */
  CSI_REQUEST_OBJECT_DEPTH = 4, /* messages within messages; deeper ones are name{...} */
};

/* Describes an encoded request by its fields, in the order of their numbers: all numbers, bools and enums of
 * the message itself, 0 and false included; of all else what is not at its default. Of
 * a field that is given twice the last value is shown, which is the one that counts. Strings are quoted and
 * escaped (csi_text_quote_bytes()), of bytes only the length is told, enum values have their names. Fields
 * the message does not have are left out: nobody knows whether they are secret.
 *
 * arena: gets the text, at most CSI_REQUEST_OBJECT_BYTES, and nothing else.
 * secret_fields: of csi_service_list; may be NULL. The value of such a field, nested ones included, is "***".
 * bytes: need not have passed csi_wire_check(). What is no valid encoding, or has a field in another wire
 * type than its own, gives "(request cannot be shown)" as a whole: nobody knows where a secret would stand in
 * it. Returns one line of valid UTF-8, in the arena or static, never NULL; "" when there is nothing to show;
 * "(request cannot be shown)" as well when memory is short. */
const char *csi_request_object(struct csi_arena *arena, const ProtobufCMessageDescriptor *message,
                               const char *const *secret_fields, const uint8_t *bytes, size_t length);

#endif
