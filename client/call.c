/* SPDX-License-Identifier: Apache-2.0 */
#include <grpc/grpc.h>
#include <grpc/slice.h>

#include "client/exchange.h"
#include "client/failure.h"
#include "client/response.h"
#include "client/runtime.h"
#include "client/session.h"
#include "rpc/pb_arena.h"

enum {
  REQUEST_CAP_BYTES = 32 * 1024 * 1024,
  RESPONSE_CAP_BYTES = 32 * 1024 * 1024, /* the message itself is 4 MiB at most */
};

/* Converts and encodes the request. The slice owns the arena and wipes it at its end, because a request
 * may carry credentials. */
static bool pack_request(const struct csi_client_method *method, const void *request, grpc_slice *slice_out,
                         struct csi_status *status) {
  struct csi_arena *arena = csi_arena_new(REQUEST_CAP_BYTES);
  if (arena == NULL) return csi_fail_out_of_memory(status);
  csi_arena_mark_secret(arena);
  ProtobufCMessage *message;
  if (method->request_to_wire(arena, status, request, &message)) {
    size_t length = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = csi_arena_alloc(arena, length > 0 ? length : 1);
    if (bytes != NULL) {
      protobuf_c_message_pack(message, bytes);
      *slice_out = csi_slice_of_arena(arena, bytes, length);
      return true;
    }
    csi_fail_out_of_memory(status);
  }
  csi_arena_free(arena);
  return csi_explain(status, "the request of %s cannot be sent: ", method->path);
}

static bool unpack_into(struct csi_arena *arena, const struct csi_client_method *method,
                        size_t response_bytes, const uint8_t *bytes, size_t length, void **response_out,
                        struct csi_status *status) {
  if (!csi_wire_check(method->response_wire, bytes, length, status)) {
    status->code = CSI_INTERNAL;
    return csi_explain(status, "the response of %s is not valid: ", method->path);
  }
  ProtobufCAllocator allocator = csi_pb_arena_allocator(arena);
  ProtobufCMessage *message = protobuf_c_message_unpack(method->response, &allocator, length, bytes);
  void *response = message != NULL ? csi_response_new(arena, response_bytes) : NULL;
  if (response == NULL) csi_fail_out_of_memory(status);
  if (response == NULL || !method->response_from_wire(arena, status, message, response))
    return csi_explain(status, "the response of %s cannot be read: ", method->path);
  *response_out = response;
  return true;
}

static bool unpack_response(const struct csi_client_method *method, size_t response_bytes,
                            grpc_byte_buffer *reply, void **response_out, struct csi_status *status) {
  grpc_slice bytes;
  if (!csi_reply_bytes(reply, method->path, &bytes, status)) return false;
  bool unpacked = false;
  struct csi_arena *arena = csi_arena_new(RESPONSE_CAP_BYTES);
  if (arena == NULL) {
    csi_fail_out_of_memory(status);
  } else {
    unpacked = unpack_into(arena, method, response_bytes, GRPC_SLICE_START_PTR(bytes),
                           GRPC_SLICE_LENGTH(bytes), response_out, status);
    if (!unpacked) csi_arena_free(arena);
  }
  grpc_slice_unref(bytes);
  return unpacked;
}

/* Fails with the versions that do have the RPC. */
static bool fail_missing_rpc(const struct csi_client *client, size_t rpc, struct csi_status *status) {
  const struct csi_client_group *group = client->group;
  csi_fail(status, CSI_UNIMPLEMENTED,
           "%s has no %s in version %s, to which this client is connected; it is in", group->group,
           group->rpc_names[rpc], client->version->version);
  const char *separator = " ";
  for (size_t i = 0; i < group->version_count; i++) {
    if (group->versions[i].methods[rpc].path == NULL) continue;
    csi_advise(status, "%s%s", separator, group->versions[i].version);
    separator = ", ";
  }
  return false;
}

static bool check_call(const struct csi_client *client, const struct csi_client_group *group, size_t rpc,
                       const void *request, struct csi_status *status) {
  if (client->group == &client->raw.group)
    return csi_fail(status, CSI_INVALID_ARGUMENT, "this client takes calls of csi_client_call_raw() only");
  if (client->group != group) {
    return csi_fail(status, CSI_INVALID_ARGUMENT, "this client is connected to %s, the call is one of %s",
                    client->group->group, group->group);
  }
  if (request == NULL) return csi_fail(status, CSI_INVALID_ARGUMENT, "%s: no request", group->rpc_names[rpc]);
  if (client->version->methods[rpc].path == NULL) return fail_missing_rpc(client, rpc, status);
  return true;
}

/* False with `status` for a failure on this side. Otherwise the outcome is in the exchange. */
static bool make_call(struct csi_client *client, size_t rpc, const void *request,
                      const struct csi_call_options *options, struct csi_exchange *exchange,
                      void **response_out, struct csi_status *status) {
  uint32_t timeout_ms = options != NULL ? options->timeout_ms : 0;
  const struct csi_client_method *method = &client->version->methods[rpc];
  grpc_slice packed;
  if (!pack_request(method, request, &packed, status)) return false;
  bool ran = csi_exchange_run(client, (struct csi_rpc){.index = rpc}, packed, timeout_ms, exchange, status);
  grpc_slice_unref(packed);
  if (!ran) return false;
  if (exchange->code != GRPC_STATUS_OK) return true;
  return unpack_response(method, client->group->response_bytes[rpc], exchange->reply, response_out, status);
}

enum csi_code csi_client_call(struct csi_client *client, const struct csi_client_group *group, size_t rpc,
                              const void *request, const struct csi_call_options *options,
                              void **response_out, struct csi_error *error_out) {
  struct csi_status status = {0};
  struct csi_error unwanted;
  struct csi_error *error = error_out != NULL ? error_out : &unwanted;
  struct csi_exchange exchange;
  csi_exchange_init(&exchange);
  *response_out = NULL;

  enum csi_code code = CSI_OK;
  if (!check_call(client, group, rpc, request, &status) ||
      !make_call(client, rpc, request, options, &exchange, response_out, &status)) {
    code = csi_error_from_status(&status, error);
  } else if (exchange.code != GRPC_STATUS_OK) {
    code = csi_error_from_reply(exchange.code, exchange.message, &exchange.trailing, error);
  }
  csi_exchange_clear(&exchange);
  return code;
}
