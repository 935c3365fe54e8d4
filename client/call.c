/* SPDX-License-Identifier: Apache-2.0 */
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

#include "base/ctx.h"
#include "client/failure.h"
#include "client/response.h"
#include "client/runtime.h"
#include "client/session.h"
#include "rpc/pb_arena.h"
#include "transport/transport.h"

enum {
  REQUEST_CAP_BYTES = 32 * 1024 * 1024,
  RESPONSE_CAP_BYTES = 32 * 1024 * 1024, /* the message itself is 4 MiB at most */
};

/* One attempt: what gRPC fills in. */
struct exchange {
  grpc_call *call; /* owns the bytes of the metadata */
  grpc_metadata_array initial;
  grpc_metadata_array trailing;
  grpc_byte_buffer *reply;
  grpc_status_code code;
  grpc_slice message;
};

static void exchange_init(struct exchange *exchange) {
  *exchange = (struct exchange){.code = GRPC_STATUS_UNKNOWN, .message = grpc_empty_slice()};
  grpc_metadata_array_init(&exchange->initial);
  grpc_metadata_array_init(&exchange->trailing);
}

static void exchange_clear(struct exchange *exchange) {
  grpc_metadata_array_destroy(&exchange->initial);
  grpc_metadata_array_destroy(&exchange->trailing);
  if (exchange->reply != NULL) grpc_byte_buffer_destroy(exchange->reply);
  grpc_slice_unref(exchange->message);
  if (exchange->call != NULL) grpc_call_unref(exchange->call);
}

static gpr_timespec grpc_deadline(int64_t deadline_ns) {
  if (deadline_ns == CSI_NO_DEADLINE) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  int64_t left_ns = deadline_ns - csi_now_ns();
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(left_ns > 0 ? left_ns : 0, GPR_TIMESPAN));
}

/* Where nobody reads between calls, the channel learns only now that the service went away. */
static void read_what_came(grpc_completion_queue *queue) {
  static char no_tag;
  if (!csi_transport_needs_polling()) return;
  /* Twice: a wake-up left over from the last call ends the first poll before it looks at the socket. */
  for (int i = 0; i < 2; i++)
    grpc_completion_queue_pluck(queue, &no_tag, gpr_time_0(GPR_CLOCK_MONOTONIC), NULL);
}

/* Sends the request and waits for the status. False when gRPC does not take the call. */
static bool exchange_run(struct csi_connection *connection, grpc_completion_queue *queue, size_t rpc,
                         grpc_slice request, int64_t deadline_ns, struct exchange *exchange) {
  read_what_came(queue);
  grpc_call *call = csi_connection_start(connection, rpc, queue, grpc_deadline(deadline_ns));
  grpc_byte_buffer *message = grpc_raw_byte_buffer_create(&request, 1);
  grpc_op operations[] = {
      {.op = GRPC_OP_SEND_INITIAL_METADATA},
      {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = message},
      {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT},
      {.op = GRPC_OP_RECV_INITIAL_METADATA,
       .data.recv_initial_metadata.recv_initial_metadata = &exchange->initial},
      {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &exchange->reply},
      {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
       .data.recv_status_on_client = {.trailing_metadata = &exchange->trailing,
                                      .status = &exchange->code,
                                      .status_details = &exchange->message}},
  };
  bool started = grpc_call_start_batch(call, operations, sizeof operations / sizeof operations[0], call,
                                       NULL) == GRPC_CALL_OK;
  /* Ends by the deadline at the latest: then the channel itself cancels the call. */
  if (started) grpc_completion_queue_pluck(queue, call, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
  grpc_byte_buffer_destroy(message);
  exchange->call = call;
  return started;
}

/* True when the channel was closed before the call began, or the service was going away and said that it
 * has not looked at the call: gRPC tells by these very messages. Should a later gRPC tell otherwise, the
 * call just fails. */
static bool was_dead_before(const struct exchange *exchange) {
  return exchange->code == GRPC_STATUS_UNAVAILABLE &&
         (grpc_slice_str_cmp(exchange->message, "Transport closed") == 0 ||
          grpc_slice_str_cmp(exchange->message, "GOAWAY received") == 0);
}

/* Runs the call, on a second connection when the first turns out to be dead. */
static bool run(struct csi_client *client, size_t rpc, grpc_slice request, int64_t deadline_ns,
                struct exchange *exchange, struct csi_status *status) {
  grpc_completion_queue *queue = csi_session_take_queue(client);
  if (queue == NULL) return csi_fail_out_of_memory(status);
  bool started = true;
  bool again = true;
  for (int attempt = 0; again; attempt++) {
    struct csi_connection *connection;
    if (!csi_session_acquire(client, deadline_ns, &connection, status)) break;
    exchange_clear(exchange);
    exchange_init(exchange);
    started = exchange_run(connection, queue, rpc, request, deadline_ns, exchange);
    again = started && attempt == 0 && was_dead_before(exchange);
    csi_session_release(client, connection, exchange->code == GRPC_STATUS_UNAVAILABLE);
  }
  csi_session_give_queue(client, queue);
  if (!started) return csi_fail(status, CSI_INTERNAL, "gRPC did not accept the call");
  return csi_status_ok(status);
}

static void free_arena(void *arena) {
  csi_arena_free(arena);
}

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
      *slice_out = grpc_slice_new_with_user_data(bytes, length, free_arena, arena);
      return true;
    }
    csi_fail_out_of_memory(status);
  }
  csi_arena_free(arena);
  return csi_explain(status, "the request of %s cannot be sent: ", method->path);
}

/* The bytes of a reply in one piece; usually they are. */
static bool reply_bytes(grpc_byte_buffer *reply, grpc_slice *bytes_out) {
  if (reply->type != GRPC_BB_RAW || reply->data.raw.compression != GRPC_COMPRESS_NONE) return false;
  const grpc_slice_buffer *pieces = &reply->data.raw.slice_buffer;
  if (pieces->count == 1) {
    *bytes_out = grpc_slice_ref(pieces->slices[0]);
    return true;
  }
  grpc_byte_buffer_reader reader;
  if (!grpc_byte_buffer_reader_init(&reader, reply)) return false;
  *bytes_out = grpc_byte_buffer_reader_readall(&reader);
  grpc_byte_buffer_reader_destroy(&reader);
  return true;
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
  if (reply == NULL || !reply_bytes(reply, &bytes)) {
    return csi_fail(status, CSI_INTERNAL, "the service answered %s without a readable message", method->path);
  }
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
                      const struct csi_call_options *options, struct exchange *exchange, void **response_out,
                      struct csi_status *status) {
  uint32_t timeout_ms = options != NULL ? options->timeout_ms : 0;
  int64_t deadline_ns = timeout_ms > 0 ? csi_now_ns() + (int64_t)timeout_ms * 1000000 : CSI_NO_DEADLINE;
  const struct csi_client_method *method = &client->version->methods[rpc];
  grpc_slice packed;
  if (!pack_request(method, request, &packed, status)) return false;
  bool ran = run(client, rpc, packed, deadline_ns, exchange, status);
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
  struct exchange exchange;
  exchange_init(&exchange);
  *response_out = NULL;

  enum csi_code code = CSI_OK;
  if (!check_call(client, group, rpc, request, &status) ||
      !make_call(client, rpc, request, options, &exchange, response_out, &status)) {
    code = csi_error_from_status(&status, error);
  } else if (exchange.code != GRPC_STATUS_OK) {
    code = csi_error_from_reply(exchange.code, exchange.message, &exchange.trailing, error);
  }
  exchange_clear(&exchange);
  return code;
}
