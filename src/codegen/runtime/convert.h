/* SPDX-License-Identifier: Apache-2.0
 *
 * What generated conversions stand on.
 */
#ifndef CSI_CODEGEN_RUNTIME_CONVERT_H
#define CSI_CODEGEN_RUNTIME_CONVERT_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "csi-proxy/bytes.h"

/* Zeroed room for `count` items, at least one; NULL with RESOURCE_EXHAUSTED in the status. */
void *csi_convert_array(struct csi_arena *arena, struct csi_status *status, size_t count,
                        size_t item_bytes) CSI_MUST_CHECK;

/* Sorts the entries of a map by key. Of entries with equal keys the last one stays, as protobuf wants
 * it.
 *
 * compare (in): orders two entries by key.
 * sorted_out (out): pointers to the entries, in the arena; count_out (out): how many are left. */
bool csi_convert_map(struct csi_arena *arena, struct csi_status *status, const void *const *entries,
                     size_t count, int (*compare)(const void *a, const void *b), const void ***sorted_out,
                     size_t *count_out) CSI_MUST_CHECK;

/* protobuf-c only reads strings when it packs, but does not say so in its types. NULL means empty. */
static inline char *csi_text_to_wire(const char *text) {
  return (char *)(text != NULL ? text : protobuf_c_empty_string);
}

static inline ProtobufCBinaryData csi_bytes_to_wire(struct csi_bytes bytes) {
  return (ProtobufCBinaryData){.len = bytes.size_bytes, .data = (uint8_t *)bytes.data};
}

static inline struct csi_bytes csi_bytes_from_wire(ProtobufCBinaryData bytes) {
  return (struct csi_bytes){.data = bytes.data, .size_bytes = bytes.len};
}

#endif
