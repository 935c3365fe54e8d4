/* SPDX-License-Identifier: Apache-2.0 */
#include "client/failure.h"

#include <string.h>

#include "base/text.h"
#include "csi-proxy/client.h"
#include "rpc/reply.h"

enum csi_code csi_error_from_status(const struct csi_status *status, struct csi_error *error_out) {
  *error_out = (struct csi_error){
      .code = status->code,
      .precise_code = status->code,
      .space = status->space,
      .number = status->number,
  };
  const char *call = status->call != NULL ? status->call : "";
  csi_text_escape(error_out->call, sizeof error_out->call, call, strlen(call));
  csi_text_escape(error_out->text, sizeof error_out->text, status->text, strlen(status->text));
  return error_out->code;
}

static void copy_slice(char *to, size_t capacity_bytes, grpc_slice from) {
  csi_text_escape(to, capacity_bytes, (const char *)GRPC_SLICE_START_PTR(from), GRPC_SLICE_LENGTH(from));
}

static const grpc_metadata *find(const grpc_metadata_array *metadata, const char *key) {
  for (size_t i = 0; i < metadata->count; i++) {
    if (grpc_slice_str_cmp(metadata->metadata[i].key, key) == 0) return &metadata->metadata[i];
  }
  return NULL;
}

static enum csi_code precise_code(const grpc_metadata_array *trailing, enum csi_code fallback) {
  const grpc_metadata *item = find(trailing, CSI_METADATA_CODE);
  if (item == NULL) return fallback;
  for (int code = CSI_CANCELLED; code <= CSI_UNAUTHENTICATED; code++) {
    if (grpc_slice_str_cmp(item->value, csi_code_name((enum csi_code)code)) == 0) return (enum csi_code)code;
  }
  return fallback;
}

static enum csi_error_space error_space(const grpc_metadata_array *trailing) {
  const grpc_metadata *item = find(trailing, CSI_METADATA_ERROR_SPACE);
  if (item == NULL) return CSI_SPACE_NONE;
  for (int space = CSI_SPACE_WIN32; space <= CSI_SPACE_ERRNO; space++) {
    if (grpc_slice_str_cmp(item->value, csi_error_space_name((enum csi_error_space)space)) == 0) {
      return (enum csi_error_space)space;
    }
  }
  return CSI_SPACE_NONE;
}

static bool error_number(const grpc_metadata_array *trailing, uint32_t *number_out) {
  const grpc_metadata *item = find(trailing, CSI_METADATA_ERROR_NUMBER);
  if (item == NULL || GRPC_SLICE_LENGTH(item->value) == 0) return false;
  uint64_t number = 0;
  for (size_t i = 0; i < GRPC_SLICE_LENGTH(item->value); i++) {
    uint8_t digit = GRPC_SLICE_START_PTR(item->value)[i];
    if (digit < '0' || digit > '9') return false;
    number = number * 10 + (uint64_t)(digit - '0');
    if (number > UINT32_MAX) return false;
  }
  *number_out = (uint32_t)number;
  return true;
}

enum csi_code csi_error_from_reply(grpc_status_code code, grpc_slice message,
                                   const grpc_metadata_array *trailing, struct csi_error *error_out) {
  *error_out = (struct csi_error){.code = CSI_UNKNOWN};
  if (code > GRPC_STATUS_OK && code <= GRPC_STATUS_UNAUTHENTICATED) error_out->code = (enum csi_code)code;
  error_out->precise_code = precise_code(trailing, error_out->code);
  error_out->space = error_space(trailing);
  /* A number says nothing without its space. */
  if (error_out->space != CSI_SPACE_NONE && !error_number(trailing, &error_out->number)) {
    error_out->space = CSI_SPACE_NONE;
  }
  const grpc_metadata *call = find(trailing, CSI_METADATA_ERROR_CALL);
  if (call != NULL) copy_slice(error_out->call, sizeof error_out->call, call->value);
  copy_slice(error_out->text, sizeof error_out->text, message);
  return error_out->code;
}
