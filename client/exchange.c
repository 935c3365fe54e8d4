/* SPDX-License-Identifier: Apache-2.0 */
#include "client/exchange.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>
#include <grpc/support/time.h>

#include "base/ctx.h"
#include "transport/transport.h"

void csi_exchange_init(struct csi_exchange *exchange) {
  *exchange = (struct csi_exchange){.code = GRPC_STATUS_UNKNOWN, .message = grpc_empty_slice()};
  grpc_metadata_array_init(&exchange->initial);
  grpc_metadata_array_init(&exchange->trailing);
}

void csi_exchange_clear(struct csi_exchange *exchange) {
  grpc_metadata_array_destroy(&exchange->initial);
  grpc_metadata_array_destroy(&exchange->trailing);
  if (exchange->reply != NULL) grpc_byte_buffer_destroy(exchange->reply);
  grpc_slice_unref(exchange->message);
  if (exchange->call != NULL) grpc_call_unref(exchange->call);
}

static void free_arena(void *arena) {
  csi_arena_free(arena);
}

grpc_slice csi_slice_of_arena(struct csi_arena *arena, void *bytes, size_t size_bytes) {
  return grpc_slice_new_with_user_data(bytes, size_bytes, free_arena, arena);
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
static bool attempt_call(struct csi_connection *connection, grpc_completion_queue *queue, struct csi_rpc rpc,
                         grpc_slice request, int64_t deadline_ns, struct csi_exchange *exchange) {
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
static bool was_dead_before(const struct csi_exchange *exchange) {
  return exchange->code == GRPC_STATUS_UNAVAILABLE &&
         (grpc_slice_str_cmp(exchange->message, "Transport closed") == 0 ||
          grpc_slice_str_cmp(exchange->message, "GOAWAY received") == 0);
}

bool csi_exchange_run(struct csi_client *client, struct csi_rpc rpc, grpc_slice request, uint32_t timeout_ms,
                      struct csi_exchange *exchange, struct csi_status *status) {
  int64_t deadline_ns = timeout_ms > 0 ? csi_now_ns() + (int64_t)timeout_ms * 1000000 : CSI_NO_DEADLINE;
  grpc_completion_queue *queue = csi_session_take_queue(client);
  if (queue == NULL) return csi_fail_out_of_memory(status);
  bool started = true;
  bool again = true;
  for (int attempt = 0; again; attempt++) {
    struct csi_connection *connection;
    if (!csi_session_acquire(client, deadline_ns, &connection, status)) break;
    csi_exchange_clear(exchange);
    csi_exchange_init(exchange);
    started = attempt_call(connection, queue, rpc, request, deadline_ns, exchange);
    again = started && attempt == 0 && was_dead_before(exchange);
    csi_session_release(client, connection, exchange->code == GRPC_STATUS_UNAVAILABLE);
  }
  csi_session_give_queue(client, queue);
  if (!started) return csi_fail(status, CSI_INTERNAL, "gRPC did not accept the call");
  return csi_status_ok(status);
}

/* The bytes of a reply in one piece; usually they are. */
static bool join_pieces(grpc_byte_buffer *reply, grpc_slice *bytes_out) {
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

bool csi_reply_bytes(grpc_byte_buffer *reply, const char *what, grpc_slice *bytes_out,
                     struct csi_status *status) {
  if (reply != NULL && join_pieces(reply, bytes_out)) return true;
  return csi_fail(status, CSI_INTERNAL, "the service answered %s without a readable message", what);
}
