/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

grpc_status_code csi_reply_code(const struct csi_status *status, enum csi_failure_origin origin,
                                bool is_awaited) {
  if (origin == CSI_FROM_RPC || csi_status_ok(status)) return (grpc_status_code)status->code;
  /* What the caller's own library says when its time is over, or when it has cancelled. */
  if (!is_awaited && (status->code == CSI_DEADLINE_EXCEEDED || status->code == CSI_CANCELLED))
    return (grpc_status_code)status->code;
  return GRPC_STATUS_UNKNOWN;
}

static void add(grpc_metadata *metadata, size_t *count, const char *key, const char *value) {
  memset(&metadata[*count], 0, sizeof *metadata);
  metadata[*count].key = grpc_slice_from_static_string(key);
  metadata[*count].value = grpc_slice_from_static_string(value);
  (*count)++;
}

/* Returns how many there are. The slices refer to static text and to number_text. */
static size_t fill_metadata(struct csi_reply *reply, const struct csi_status *status) {
  grpc_metadata *metadata = reply->metadata;
  size_t count = 0;
  if (csi_status_ok(status)) return 0;
  add(metadata, &count, CSI_METADATA_CODE, csi_code_name(status->code));
  if (status->space == CSI_SPACE_NONE) return count;
  snprintf(reply->number_text, sizeof reply->number_text, "%" PRIu32, status->number);
  add(metadata, &count, CSI_METADATA_ERROR_SPACE, csi_error_space_name(status->space));
  add(metadata, &count, CSI_METADATA_ERROR_NUMBER, reply->number_text);
  if (status->call) add(metadata, &count, CSI_METADATA_ERROR_CALL, status->call);
  return count;
}

void csi_reply_init(struct csi_reply *reply) {
  reply->text = grpc_empty_slice();
}

void csi_reply_clear(struct csi_reply *reply) {
  grpc_slice_unref(reply->text);
}

void csi_reply_operation(struct csi_reply *reply, const struct csi_status *status, grpc_status_code code,
                         grpc_op *operation) {
  reply->text = grpc_slice_from_copied_string(status->text);
  operation->op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  operation->data.send_status_from_server.status = code;
  operation->data.send_status_from_server.status_details = &reply->text;
  operation->data.send_status_from_server.trailing_metadata = reply->metadata;
  operation->data.send_status_from_server.trailing_metadata_count = fill_metadata(reply, status);
}
