/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/message.h"

#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>
#include <string.h>

#include "base/log.h"
#include "base/wipe.h"
#include "rpc/call.h"
#include "rpc/request_json.h"

bool csi_message_reserve(struct csi_call_environment *environment, size_t length, struct csi_status *status) {
  atomic_size_t *all = &environment->request_bytes;
  if (atomic_fetch_add(all, length) + length <= CSI_ALL_REQUESTS_BYTES) return true;
  atomic_fetch_sub(all, length);
  return csi_fail(status, CSI_RESOURCE_EXHAUSTED, "too many bytes of requests are waiting; try again later");
}

void csi_message_give_back(struct csi_call_environment *environment, size_t length) {
  atomic_fetch_sub(&environment->request_bytes, length);
}

bool csi_message_copy(struct csi_arena *arena, grpc_byte_buffer **buffer, bool secret,
                      const uint8_t **bytes_out, size_t *length_out) {
  size_t length = grpc_byte_buffer_length(*buffer);
  uint8_t *bytes = csi_arena_alloc(arena, length ? length : 1);
  if (!bytes) return false;
  grpc_byte_buffer_reader reader;
  grpc_slice *slice; /* in the buffer itself, which is where a small one has its bytes */
  size_t at = 0;
  grpc_byte_buffer_reader_init(&reader, *buffer);
  while (grpc_byte_buffer_reader_peek(&reader, &slice)) {
    memcpy(bytes + at, GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice));
    if (secret) csi_wipe(GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice));
    at += GRPC_SLICE_LENGTH(*slice);
  }
  grpc_byte_buffer_reader_destroy(&reader);
  grpc_byte_buffer_destroy(*buffer);
  *buffer = NULL;
  *bytes_out = bytes;
  *length_out = at;
  return true;
}

bool csi_message_check(struct csi_ctx *ctx, const struct csi_call_record *record, const uint8_t *bytes,
                       size_t length) {
  const struct csi_wire_message *wire = record->method->request_wire;
  if (!csi_wire_check(wire, bytes, length, &ctx->status)) return false;
  CSI_V(4, "/%s/%s request: %s", record->binding->service->name, record->method->name,
        csi_request_json(ctx->arena, record->binding->list, wire->name, bytes, length));
  return true;
}

grpc_byte_buffer *csi_message_encode(const ProtobufCMessage *message) {
  grpc_slice slice = grpc_slice_malloc(protobuf_c_message_get_packed_size(message));
  protobuf_c_message_pack(message, GRPC_SLICE_START_PTR(slice));
  grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  return buffer;
}
