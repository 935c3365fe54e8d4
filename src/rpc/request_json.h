/* SPDX-License-Identifier: Apache-2.0
 *
 * Shows a request in a log line: as JSON, with its secrets blanked. For high verbosity; it costs far more
 * than serving a simple call.
 */
#ifndef CSI_RPC_REQUEST_JSON_H
#define CSI_RPC_REQUEST_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "rpc/method.h"

enum {
  CSI_REQUEST_JSON_BYTES = 4096,       /* a longer text is cut and ends in an ellipsis */
  CSI_REQUEST_JSON_INPUT_BYTES = 8192, /* of a longer request only the length is told */
};

/* Shows an encoded request. Field names are those of the proto, fields at their default are left out, and
 * so is what the proto does not know. The value of every secret field, nested ones included, becomes
 * "***" before anything else sees it.
 *
 * arena: gets the text and everything needed on the way, at most 544 KiB.
 * list: must live as long as the process; its descriptors are loaded by the first call and kept.
 * message_name: full name of the request, for example "v1.MkdirRequest".
 * Returns a text in the arena or a static one, never NULL, at most CSI_REQUEST_JSON_BYTES with its NUL.
 * What cannot be decoded, or memory that is short, gives "(request cannot be shown)".
 * May be called from any thread; blocks only while another one loads the same descriptors. */
const char *csi_request_json(struct csi_arena *arena, const struct csi_service_list *list,
                             const char *message_name, const uint8_t *bytes, size_t length);

#endif
