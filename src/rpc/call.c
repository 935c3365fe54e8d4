/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a call, each started by the completion of the one before:
 *
 *   csi_call_post -> arrived -> message_read -> (pool) serve -> reply -> replied
 *                       \-> closed, when the call is over for the client too, or was cancelled
 *
 * What turns out to be a stream goes on in rpc/stream.c.
 *
 * A call has two references: the chain of steps, and `closed`. Steps may run on different threads, one
 * after the other; gRPC's queues and the pool order them.
 */
#include "rpc/call.h"

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"
#include "rpc/dispatch.h"
#include "rpc/message.h"
#include "rpc/reply.h"
#include "rpc/request_object.h"
#include "rpc/stream.h"
#include "transport/transport.h"

enum {
  LONGEST_DEADLINE_S = 1000000000, /* some 30 years; a longer one is none */
};

struct call {
  struct csi_completion step; /* first member */
  struct csi_completion close;
  struct csi_work work;
  struct csi_endpoint *endpoint;
  atomic_int refs;
  atomic_bool cancelled;
  int close_cancelled; /* written by gRPC */

  grpc_call *grpc;
  grpc_call_details details;
  grpc_metadata_array initial_metadata;
  grpc_byte_buffer *request_buffer;

  struct csi_call_record record;
  const uint8_t *request;
  size_t request_length;
  size_t reserved_bytes; /* of environment.request_bytes */
  struct csi_ctx ctx;

  grpc_byte_buffer *response_buffer;
  struct csi_reply reply;
  grpc_status_code reply_code;
};

static struct call *of_step(struct csi_completion *step) {
  return (struct call *)step;
}

static struct call *of_close(struct csi_completion *close) {
  return (struct call *)((char *)close - offsetof(struct call, close));
}

static struct call *of_work(struct csi_work *work) {
  return (struct call *)((char *)work - offsetof(struct call, work));
}

/* -- Beginning and end ----------------------------------------------------------------------------- */

void csi_calls_alive(struct csi_call_environment *environment, int change) {
  pthread_mutex_lock(&environment->lock);
  environment->alive += (size_t)change;
  if (environment->alive == 0) pthread_cond_broadcast(&environment->changed);
  pthread_mutex_unlock(&environment->lock);
}

size_t csi_calls_running(struct csi_call_environment *environment) {
  pthread_mutex_lock(&environment->lock);
  size_t running = environment->running;
  pthread_mutex_unlock(&environment->lock);
  return running;
}

static void release(struct call *call) {
  if (atomic_fetch_sub_explicit(&call->refs, 1, memory_order_acq_rel) != 1) return;
  bool arrived = call->grpc != NULL;
  if (arrived) grpc_call_unref(call->grpc);
  grpc_call_details_destroy(&call->details);
  grpc_metadata_array_destroy(&call->initial_metadata);
  if (call->request_buffer) grpc_byte_buffer_destroy(call->request_buffer);
  if (call->response_buffer) grpc_byte_buffer_destroy(call->response_buffer);
  csi_reply_clear(&call->reply);
  csi_arena_free(call->ctx.arena);
  if (arrived) {
    csi_call_make_up(call->endpoint);
    csi_record_unlink(&call->record);
  } else {
    csi_calls_alive(call->endpoint->environment, -1);
  }
  free(call);
}

/* -- Reply ----------------------------------------------------------------------------------------- */

/* What the reply does not need: a client that does not read its pipe keeps no more than the reply. */
static void end_of_work(struct call *call) {
  csi_record_ended(&call->record, &call->ctx.status, (enum csi_code)call->reply_code);
  csi_message_give_back(call->endpoint->environment, call->reserved_bytes);
  csi_arena_free(call->ctx.arena);
  call->ctx.arena = NULL;
}

/* A call that is cancelled before its message came looks like one without a message, until it is to be told
 * so: only then it is known how it ended. */
static bool is_doubtful(const struct call *call) {
  return call->record.rejection == CSI_REJECTED_NO_MESSAGE;
}

static void fail_cancelled(struct call *call) {
  csi_status_clear(&call->ctx.status);
  csi_fail(&call->ctx.status, CSI_CANCELLED, "the call was cancelled before its message came");
  call->record.rejection = CSI_REJECTED_TOO_LATE;
  call->reply_code = GRPC_STATUS_CANCELLED;
}

/* ok: the client has taken the reply; otherwise it is gone, which `closed` is told too. */
static void replied(struct csi_completion *step, bool ok) {
  struct call *call = of_step(step);
  if (is_doubtful(call)) {
    if (!ok) fail_cancelled(call);
    end_of_work(call);
  }
  release(call);
}

static int64_t deadline_of(const grpc_call_details *details) {
  gpr_timespec infinite = gpr_inf_future(details->deadline.clock_type);
  if (gpr_time_cmp(details->deadline, infinite) == 0) return CSI_NO_DEADLINE;
  gpr_timespec left = gpr_time_sub(details->deadline, gpr_now(details->deadline.clock_type));
  if (left.tv_sec > LONGEST_DEADLINE_S) return CSI_NO_DEADLINE;
  return csi_now_ns() + left.tv_sec * INT64_C(1000000000) + left.tv_nsec;
}

/* Measured by the client's own deadline, not by ours. */
static bool is_awaited(const struct call *call) {
  return !atomic_load_explicit(&call->cancelled, memory_order_relaxed) &&
         deadline_of(&call->details) > csi_now_ns();
}

/* Sends the response, or the status when there is none. */
static void reply(struct call *call, enum csi_failure_origin origin) {
  struct csi_status *status = &call->ctx.status;
  grpc_op operations[3];
  memset(operations, 0, sizeof operations);
  grpc_op *operation = operations;
  operation->op = GRPC_OP_SEND_INITIAL_METADATA;
  operation++;
  if (call->response_buffer && csi_status_ok(status)) {
    operation->op = GRPC_OP_SEND_MESSAGE;
    operation->data.send_message.send_message = call->response_buffer;
    operation++;
  }
  const struct csi_binding *binding = call->record.binding;
  if (binding && binding->service->precise_codes) origin = CSI_FROM_RPC;
  call->reply_code = csi_reply_code(status, origin, is_awaited(call));
  csi_reply_operation(&call->reply, status, call->reply_code, operation);
  operation++;
  if (!is_doubtful(call)) end_of_work(call);
  if (!csi_completion_batch(call->grpc, operations, (size_t)(operation - operations), &call->step, replied)) {
    grpc_call_cancel(call->grpc, NULL);
    replied(&call->step, false);
  }
}

/* The call does not come to its handler. */
static void reject(struct call *call, enum csi_rejection rejection) {
  call->record.rejection = rejection;
  bool over_a_limit = rejection == CSI_REJECTED_BAD_MESSAGE && call->ctx.status.code != CSI_INTERNAL;
  reply(call, over_a_limit ? CSI_FROM_HANDLER : CSI_FROM_RPC);
}

/* -- Serving --------------------------------------------------------------------------------------- */

/* Decode, handle, encode. */
static void serve(struct call *call) {
  const struct csi_method *method = call->record.method;
  if (!csi_ctx_alive(&call->ctx)) {
    reject(call, CSI_REJECTED_TOO_LATE);
    return;
  }
  const ProtobufCMessage *request =
      csi_dispatch_decode(&call->ctx, method, call->request, call->request_length);
  if (!request) {
    reject(call, CSI_REJECTED_OUT_OF_MEMORY);
    return;
  }
  csi_record_running(&call->record);
  const ProtobufCMessage *response = NULL;
  if (method->serve(&call->ctx, call->record.binding->group, request, &response))
    call->response_buffer = csi_message_encode(response);
  reply(call, CSI_FROM_HANDLER);
}

static void serve_work(struct csi_work *work) {
  struct call *call = of_work(work);
  bool secret = call->record.method->secret;
  if (work->queued_ns != 0) call->record.queued_ns = csi_now_ns() - work->queued_ns;
  serve(call); /* the call may be gone now */
  if (secret) csi_wipe_stack();
}

bool csi_call_submit(struct csi_call_environment *environment, enum csi_lane lane, struct csi_work *work,
                     struct csi_status *status) {
  if (lane == CSI_LANE_INLINE) {
    work->queued_ns = 0;
    work->run(work);
    return true;
  }
  return csi_pool_submit(lane == CSI_LANE_LONG ? environment->long_lane : environment->short_lane, work) ||
         csi_fail(status, CSI_RESOURCE_EXHAUSTED, "too many calls are waiting; try again later");
}

/* -- Request --------------------------------------------------------------------------------------- */

/* Why the message cannot be looked at; CSI_NOT_REJECTED when it can. */
static enum csi_rejection take_message(struct call *call, bool ok) {
  struct csi_status *status = &call->ctx.status;
  if (!ok || atomic_load_explicit(&call->cancelled, memory_order_relaxed)) {
    csi_fail(status, CSI_CANCELLED, "the call was cancelled before its message came");
    return CSI_REJECTED_TOO_LATE;
  }
  if (!call->request_buffer) {
    csi_fail(status, CSI_INTERNAL, "grpc: error unmarshalling request: no message");
    return CSI_REJECTED_NO_MESSAGE;
  }
  bool secret = call->record.method->secret;
  if (secret) csi_arena_mark_secret(call->ctx.arena);
  size_t length = grpc_byte_buffer_length(call->request_buffer);
  if (!csi_message_reserve(call->endpoint->environment, length, status)) return CSI_REJECTED_BYTES_FULL;
  call->reserved_bytes = length;
  if (!csi_message_copy(call->ctx.arena, &call->request_buffer, secret, &call->request,
                        &call->request_length)) {
    csi_fail_out_of_memory(status);
    return CSI_REJECTED_OUT_OF_MEMORY;
  }
  return CSI_NOT_REJECTED;
}

static void message_read(struct csi_completion *step, bool ok) {
  struct call *call = of_step(step);
  enum csi_rejection rejection = take_message(call, ok);
  if (rejection != CSI_NOT_REJECTED) {
    reject(call, rejection);
    return;
  }
  const struct csi_method *method = call->record.method;
  const struct csi_binding *binding = call->record.binding;
  if (method->mutating)
    csi_record_set_object(&call->record,
                          csi_request_object(call->ctx.arena, method->request, binding->list->secret_fields,
                                             call->request, call->request_length));
  if (!csi_message_check(&call->ctx, &call->record, call->request, call->request_length)) {
    reject(call, CSI_REJECTED_BAD_MESSAGE);
    return;
  }
  call->work.run = serve_work;
  if (!csi_call_submit(call->endpoint->environment, method->lane, &call->work, &call->ctx.status))
    reject(call, CSI_REJECTED_QUEUE_FULL);
}

/* -- Arrival --------------------------------------------------------------------------------------- */

static void closed(struct csi_completion *close, bool ok) {
  struct call *call = of_close(close);
  if (!ok || call->close_cancelled) atomic_store_explicit(&call->cancelled, true, memory_order_relaxed);
  release(call);
}

/* The client's own deadline, or ours when it comes first. */
static void bound(struct call *call) {
  int64_t limit_ms = call->record.method->lane == CSI_LANE_LONG ? CSI_LONG_CALL_MS : CSI_SHORT_CALL_MS;
  int64_t limit_ns = call->record.arrived_ns + limit_ms * 1000000;
  if (call->ctx.deadline_ns > limit_ns) call->ctx.deadline_ns = limit_ns;
}

static enum csi_rejection set_up(struct call *call) {
  struct csi_endpoint *endpoint = call->endpoint;
  struct csi_call_record *record = &call->record;
  record->arrived_ns = csi_now_ns();
  call->ctx.arena = csi_arena_new(CSI_REQUEST_ARENA_BYTES);
  if (!call->ctx.arena) {
    csi_fail_out_of_memory(&call->ctx.status);
    return CSI_REJECTED_OUT_OF_MEMORY;
  }
  call->ctx.deadline_ns = deadline_of(&call->details);
  call->ctx.cancelled = &call->cancelled;
  call->ctx.stopping = &endpoint->environment->stopping;
  char *peer_text = grpc_call_get_peer(call->grpc);
  csi_peer_parse(call->ctx.arena, peer_text, &call->ctx.peer);
  gpr_free(peer_text);
  record->peer = call->ctx.peer;
  const grpc_slice *path = &call->details.method;
  record->binding = csi_dispatch_find(endpoint->bindings, endpoint->binding_count,
                                      (const char *)GRPC_SLICE_START_PTR(*path), GRPC_SLICE_LENGTH(*path),
                                      &record->method, &call->ctx.status);
  if (!record->binding) return CSI_REJECTED_UNKNOWN_METHOD;
  if (record->method->streaming == CSI_UNARY) bound(call);
  return CSI_NOT_REJECTED;
}

static void watch_close(struct call *call) {
  grpc_op operation;
  memset(&operation, 0, sizeof operation);
  operation.op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  operation.data.recv_close_on_server.cancelled = &call->close_cancelled;
  atomic_fetch_add_explicit(&call->refs, 1, memory_order_relaxed);
  if (!csi_completion_batch(call->grpc, &operation, 1, &call->close, closed)) {
    grpc_call_cancel(call->grpc, NULL);
    release(call);
  }
}

static void read_message(struct call *call) {
  grpc_op operation;
  memset(&operation, 0, sizeof operation);
  operation.op = GRPC_OP_RECV_MESSAGE;
  operation.data.recv_message.recv_message = &call->request_buffer;
  if (!csi_completion_batch(call->grpc, &operation, 1, &call->step, message_read)) {
    message_read(&call->step, false);
  }
}

/* False when memory is short. */
static bool hand_over(struct call *call) {
  struct csi_stream_start start = {
      .endpoint = call->endpoint,
      .grpc = call->grpc,
      .arena = call->ctx.arena,
      .binding = call->record.binding,
      .method = call->record.method,
      .peer = call->ctx.peer,
      .arrived_ns = call->record.arrived_ns,
      .deadline_ns = call->ctx.deadline_ns,
  };
  if (!csi_stream_begin(&start)) return csi_fail_out_of_memory(&call->ctx.status);
  call->grpc = NULL;
  call->ctx.arena = NULL;
  release(call);
  return true;
}

static void arrived(struct csi_completion *step, bool ok) {
  struct call *call = of_step(step);
  if (!ok) { /* the server is shut down */
    release(call);
    return;
  }
  csi_call_post(call->endpoint);
  enum csi_rejection rejection = set_up(call);
  if (rejection == CSI_NOT_REJECTED && call->record.method->streaming != CSI_UNARY) {
    if (hand_over(call)) return;
    rejection = CSI_REJECTED_OUT_OF_MEMORY;
  }
  csi_record_link(&call->record);
  watch_close(call);
  if (rejection == CSI_NOT_REJECTED) {
    read_message(call);
  } else {
    reject(call, rejection);
  }
}

/* Waits for one more call; false when memory is short. */
static bool post_one(struct csi_endpoint *endpoint) {
  struct call *call = calloc(1, sizeof *call);
  if (!call) return false;
  csi_calls_alive(endpoint->environment, 1);
  call->endpoint = call->record.endpoint = endpoint;
  atomic_init(&call->refs, 1);
  atomic_init(&call->cancelled, false);
  call->ctx.peer = call->record.peer = CSI_PEER_UNKNOWN;
  csi_reply_init(&call->reply);
  grpc_call_details_init(&call->details);
  grpc_metadata_array_init(&call->initial_metadata);
  grpc_completion_queue *queue = endpoint->environment->queue;
  if (grpc_server_request_call(endpoint->grpc, &call->grpc, &call->details, &call->initial_metadata, queue,
                               queue, csi_completion_tag(&call->step, arrived)) != GRPC_CALL_OK) {
    release(call);
  }
  return true;
}

void csi_call_make_up(struct csi_endpoint *endpoint) {
  if (atomic_load(&endpoint->calls_missing) == 0) return;
  unsigned missing = atomic_exchange(&endpoint->calls_missing, 0);
  while (missing > 0 && post_one(endpoint))
    missing--;
  atomic_fetch_add(&endpoint->calls_missing, missing);
}

void csi_call_post(struct csi_endpoint *endpoint) {
  atomic_fetch_add(&endpoint->calls_missing, 1);
  csi_call_make_up(endpoint);
}
