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

size_t csi_reply_metadata(const struct csi_status *status, char number_text[12], grpc_metadata *metadata) {
  size_t count = 0;
  if (csi_status_ok(status)) return 0;
  add(metadata, &count, CSI_METADATA_CODE, csi_code_name(status->code));
  if (status->space == CSI_SPACE_NONE) return count;
  snprintf(number_text, 12, "%" PRIu32, status->number);
  add(metadata, &count, CSI_METADATA_ERROR_SPACE, csi_error_space_name(status->space));
  add(metadata, &count, CSI_METADATA_ERROR_NUMBER, number_text);
  if (status->call) add(metadata, &count, CSI_METADATA_ERROR_CALL, status->call);
  return count;
}
