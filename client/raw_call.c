/* SPDX-License-Identifier: Apache-2.0 */
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <string.h>

#include "client/exchange.h"
#include "client/failure.h"
#include "client/response.h"
#include "csi-proxy/client.h"

enum {
  /* For the structure and a copy of 4 MiB at most, which gRPC enforces. */
  RAW_RESPONSE_CAP_BYTES = 5 * 1024 * 1024,
  PATH_BYTES = 256,
};

/* "/service/method": gRPC would send anything. */
static bool check_path(const char *path, struct csi_status *status) {
  const char *method = path != NULL && path[0] == '/' ? strchr(path + 1, '/') : NULL;
  bool valid = method != NULL && method != path + 1 && method[1] != '\0' && strlen(path) < PATH_BYTES;
  for (const char *at = path; valid && *at != '\0'; at++)
    valid = *at > ' ' && *at <= '~';
  if (valid) return true;
  return csi_fail(status, CSI_INVALID_ARGUMENT,
                  "\"%s\" is not the path of an RPC, as /v1.Disk/ListDiskIDs is",
                  path != NULL ? path : "(null)");
}

/* The slice owns a copy that is wiped at its end. */
static bool copy_request(const void *request, size_t request_bytes, grpc_slice *slice_out,
                         struct csi_status *status) {
  struct csi_arena *arena = csi_arena_new(SIZE_MAX);
  if (arena == NULL) return csi_fail_out_of_memory(status);
  csi_arena_mark_secret(arena);
  void *copy = csi_arena_alloc(arena, request_bytes > 0 ? request_bytes : 1);
  if (copy == NULL) {
    csi_arena_free(arena);
    return csi_fail_out_of_memory(status);
  }
  if (request_bytes > 0) memcpy(copy, request, request_bytes);
  *slice_out = csi_slice_of_arena(arena, copy, request_bytes);
  return true;
}

static struct csi_bytes *copy_response(const uint8_t *bytes, size_t length) {
  struct csi_arena *arena = csi_arena_new(RAW_RESPONSE_CAP_BYTES);
  if (arena == NULL) return NULL;
  struct csi_bytes *response = csi_response_new(arena, sizeof *response);
  uint8_t *copy = csi_arena_alloc(arena, length > 0 ? length : 1);
  if (response == NULL || copy == NULL) {
    csi_arena_free(arena);
    return NULL;
  }
  memcpy(copy, bytes, length);
  *response = (struct csi_bytes){.data = copy, .size_bytes = length};
  return response;
}

static bool take_response(const struct csi_exchange *exchange, const char *path,
                          struct csi_bytes **response_out, struct csi_status *status) {
  grpc_slice bytes;
  if (!csi_reply_bytes(exchange->reply, path, &bytes, status)) return false;
  *response_out = copy_response(GRPC_SLICE_START_PTR(bytes), GRPC_SLICE_LENGTH(bytes));
  grpc_slice_unref(bytes);
  return *response_out != NULL || csi_fail_out_of_memory(status);
}

/* False with `status` for a failure on this side. Otherwise the outcome is in the exchange. */
static bool make_call(struct csi_client *client, const char *path, grpc_slice request, uint32_t timeout_ms,
                      struct csi_exchange *exchange, struct csi_bytes **response_out,
                      struct csi_status *status) {
  if (!csi_exchange_run(client, (struct csi_rpc){.path = path}, request, timeout_ms, exchange, status))
    return false;
  return exchange->code != GRPC_STATUS_OK || take_response(exchange, path, response_out, status);
}

enum csi_code csi_client_call_raw(struct csi_client *client, const char *path, const void *request,
                                  size_t request_bytes, const struct csi_call_options *options,
                                  struct csi_bytes **response_out, struct csi_error *error_out) {
  struct csi_status status = {0};
  struct csi_error unwanted;
  struct csi_error *error = error_out != NULL ? error_out : &unwanted;
  *response_out = NULL;
  grpc_slice slice;
  if (!check_path(path, &status) || !copy_request(request, request_bytes, &slice, &status))
    return csi_error_from_status(&status, error);

  struct csi_exchange exchange;
  csi_exchange_init(&exchange);
  enum csi_code code = CSI_OK;
  uint32_t timeout_ms = options != NULL ? options->timeout_ms : 0;
  if (!make_call(client, path, slice, timeout_ms, &exchange, response_out, &status)) {
    code = csi_error_from_status(&status, error);
  } else if (exchange.code != GRPC_STATUS_OK) {
    code = csi_error_from_reply(exchange.code, exchange.message, &exchange.trailing, error);
  }
  grpc_slice_unref(slice);
  csi_exchange_clear(&exchange);
  return code;
}
