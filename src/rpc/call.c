/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a call, each started by the completion of the one before:
 *
 *   csi_call_post -> arrived -> message_read -> (pool) serve -> reply -> replied
 *                       \-> closed, when the call is over for the client too, or was cancelled
 *
 * A call has two references: the chain of steps, and `closed`. Steps may run on different threads, one
 * after the other; gRPC's queues and the pool order them.
 */
#include "rpc/call.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/wipe.h"
#include "rpc/dispatch.h"
#include "rpc/reply.h"
#include "rpc/request_json.h"
#include "transport/transport.h"

enum {
  LONGEST_DEADLINE_S = 1000000000, /* some 30 years; a longer one is none */
  NS_PER_S = 1000000000,
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

  const struct csi_method *method;
  const uint8_t *request;
  size_t request_length;
  size_t reserved_bytes; /* of environment.request_bytes */
  struct csi_ctx ctx;
  int64_t arrived_ns;

  grpc_byte_buffer *response_buffer;
  grpc_slice status_text;
  grpc_metadata trailing_metadata[CSI_METADATA_MAX];
  char number_text[12];
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

static void count(struct csi_call_environment *environment, int alive, int running) {
  pthread_mutex_lock(&environment->lock);
  environment->alive += (size_t)alive;
  environment->running += (size_t)running;
  if (environment->running == 0) pthread_cond_broadcast(&environment->changed);
  pthread_mutex_unlock(&environment->lock);
}

size_t csi_calls_running(struct csi_call_environment *environment) {
  pthread_mutex_lock(&environment->lock);
  size_t running = environment->running;
  pthread_mutex_unlock(&environment->lock);
  return running;
}

static void make_up(struct csi_endpoint *endpoint);

static void release(struct call *call) {
  if (atomic_fetch_sub_explicit(&call->refs, 1, memory_order_acq_rel) != 1) return;
  struct csi_call_environment *environment = call->endpoint->environment;
  struct csi_endpoint *endpoint = call->endpoint;
  bool arrived = call->grpc != NULL;
  if (arrived) grpc_call_unref(call->grpc);
  grpc_call_details_destroy(&call->details);
  grpc_metadata_array_destroy(&call->initial_metadata);
  if (call->request_buffer) grpc_byte_buffer_destroy(call->request_buffer);
  if (call->response_buffer) grpc_byte_buffer_destroy(call->response_buffer);
  grpc_slice_unref(call->status_text);
  csi_arena_free(call->ctx.arena);
  free(call);
  if (arrived && atomic_load(&endpoint->calls_missing) > 0) make_up(endpoint);
  count(environment, -1, arrived ? -1 : 0);
}

static void log_outcome(const struct call *call) {
  const struct csi_status *status = &call->ctx.status;
  const char *service = call->endpoint->service->name;
  const char *method = call->method ? call->method->name : "?";
  int64_t duration_us = (csi_now_ns() - call->arrived_ns) / 1000;
  const struct csi_peer *peer = &call->ctx.peer;
  if (status->code == CSI_CANCELLED) {
    CSI_V(2, "/%s/%s peer=%" PRIu32 " code=CANCELLED duration_us=%" PRId64, service, method, peer->process_id,
          duration_us);
  } else if (csi_status_ok(status)) {
    CSI_LOG(INFO, "/%s/%s peer=%" PRIu32 " image=\"%s\" code=OK duration_us=%" PRId64, service, method,
            peer->process_id, peer->image_path, duration_us);
  } else {
    CSI_LOG(WARNING,
            "/%s/%s peer=%" PRIu32 " image=\"%s\" code=%s precise=%s space=%s number=%" PRIu32
            " call=%s duration_us=%" PRId64 " error=\"%s\"",
            service, method, peer->process_id, peer->image_path,
            csi_code_name((enum csi_code)call->reply_code), csi_code_name(status->code),
            csi_error_space_name(status->space), status->number, status->call ? status->call : "-",
            duration_us, status->text);
  }
}

/* False when done() will not be called. The call may be gone when this returns true. */
static bool start_batch(struct call *call, const grpc_op *operations, size_t count,
                        struct csi_completion *completion, void (*done)(struct csi_completion *, bool)) {
  grpc_call *grpc = call->grpc; /* read before the tag hands the call over */
  void *tag = csi_completion_tag(completion, done);
  return grpc_call_start_batch(grpc, operations, count, tag, NULL) == GRPC_CALL_OK;
}

/* -- Reply ----------------------------------------------------------------------------------------- */

static void replied(struct csi_completion *step, bool ok) {
  (void)ok; /* false: the client is gone, which `closed` is told too */
  release(of_step(step));
}

/* What the reply does not need: a client that does not read its pipe keeps no more than the reply. */
static void end_of_work(struct call *call) {
  log_outcome(call);
  atomic_fetch_sub(&call->endpoint->environment->request_bytes, call->reserved_bytes);
  csi_arena_free(call->ctx.arena);
  call->ctx.arena = NULL;
  call->ctx.peer.image_path = "";
}

static int64_t deadline_of(const struct call *call) {
  gpr_timespec infinite = gpr_inf_future(call->details.deadline.clock_type);
  if (gpr_time_cmp(call->details.deadline, infinite) == 0) return CSI_NO_DEADLINE;
  gpr_timespec left = gpr_time_sub(call->details.deadline, gpr_now(call->details.deadline.clock_type));
  if (left.tv_sec > LONGEST_DEADLINE_S) return CSI_NO_DEADLINE;
  return csi_now_ns() + left.tv_sec * INT64_C(1000000000) + left.tv_nsec;
}

/* Measured by the client's own deadline, not by ours. */
static bool is_awaited(const struct call *call) {
  return !atomic_load_explicit(&call->cancelled, memory_order_relaxed) && deadline_of(call) > csi_now_ns();
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
  call->reply_code = csi_reply_code(status, origin, is_awaited(call));
  call->status_text = grpc_slice_from_copied_string(status->text);
  operation->op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  operation->data.send_status_from_server.status = call->reply_code;
  operation->data.send_status_from_server.status_details = &call->status_text;
  operation->data.send_status_from_server.trailing_metadata = call->trailing_metadata;
  operation->data.send_status_from_server.trailing_metadata_count =
      csi_reply_metadata(status, call->number_text, call->trailing_metadata);
  operation++;
  end_of_work(call);
  if (!start_batch(call, operations, (size_t)(operation - operations), &call->step, replied)) {
    grpc_call_cancel(call->grpc, NULL);
    release(call);
  }
}

static void fail(struct call *call) {
  reply(call, CSI_FROM_RPC);
}

/* -- Serving --------------------------------------------------------------------------------------- */

static bool encode_response(struct call *call, const ProtobufCMessage *response) {
  size_t size_bytes = protobuf_c_message_get_packed_size(response);
  grpc_slice slice = grpc_slice_malloc(size_bytes);
  protobuf_c_message_pack(response, GRPC_SLICE_START_PTR(slice));
  call->response_buffer = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  return true;
}

/* Decode, handle, encode. */
static bool handle(struct call *call) {
  const ProtobufCMessage *request =
      csi_dispatch_decode(&call->ctx, call->method, call->request, call->request_length);
  const ProtobufCMessage *response = NULL;
  return request && call->method->serve(&call->ctx, call->endpoint->group, request, &response) &&
         encode_response(call, response);
}

static void serve(struct call *call) {
  if (!csi_ctx_alive(&call->ctx)) {
    fail(call);
    return;
  }
  handle(call);
  reply(call, CSI_FROM_HANDLER);
}

/* Lives on the stack of the lane's thread: its call may be gone before the thread is done with it. */
struct csi_call_at_work {
  struct csi_call_at_work *next, **place;
  const char *service, *method;
  uint32_t process_id;
  int64_t since_ns;
};

static void serve_work(struct csi_work *work) {
  struct call *call = of_work(work);
  struct csi_call_environment *environment = call->endpoint->environment;
  struct csi_call_at_work self = {
      .place = &environment->at_work,
      .service = call->endpoint->service->name,
      .method = call->method->name,
      .process_id = call->ctx.peer.process_id,
      .since_ns = csi_now_ns(),
  };
  bool secret = call->method->secret;
  pthread_mutex_lock(&environment->lock);
  self.next = environment->at_work;
  if (self.next) self.next->place = &self.next;
  environment->at_work = &self;
  pthread_mutex_unlock(&environment->lock);
  serve(call);
  if (secret) csi_wipe_stack();
  pthread_mutex_lock(&environment->lock);
  *self.place = self.next;
  if (self.next) self.next->place = self.place;
  pthread_mutex_unlock(&environment->lock);
}

void csi_calls_log_hanging(struct csi_call_environment *environment) {
  pthread_mutex_lock(&environment->lock);
  for (const struct csi_call_at_work *work = environment->at_work; work; work = work->next)
    CSI_LOG(WARNING, "/%s/%s hangs for %" PRId64 " s peer=%" PRIu32, work->service, work->method,
            (csi_now_ns() - work->since_ns) / NS_PER_S, work->process_id);
  pthread_mutex_unlock(&environment->lock);
}

static void serve_in_lane(struct call *call) {
  struct csi_call_environment *environment = call->endpoint->environment;
  if (call->method->lane == CSI_LANE_INLINE) {
    serve(call);
    return;
  }
  struct csi_pool *lane =
      call->method->lane == CSI_LANE_LONG ? environment->long_lane : environment->short_lane;
  call->work.run = serve_work;
  if (!csi_pool_submit(lane, &call->work)) {
    csi_fail(&call->ctx.status, CSI_RESOURCE_EXHAUSTED, "too many calls are waiting; try again later");
    fail(call);
  }
}

/* -- Request --------------------------------------------------------------------------------------- */

/* Many large requests at once are as good as one that is too large. */
static bool reserve_bytes(struct call *call, size_t length) {
  atomic_size_t *all = &call->endpoint->environment->request_bytes;
  if (atomic_fetch_add(all, length) + length <= CSI_ALL_REQUESTS_BYTES) {
    call->reserved_bytes = length;
    return true;
  }
  atomic_fetch_sub(all, length);
  return csi_fail(&call->ctx.status, CSI_RESOURCE_EXHAUSTED,
                  "too many bytes of requests are waiting; try again later");
}

static bool copy_request(struct call *call) {
  size_t length = grpc_byte_buffer_length(call->request_buffer);
  if (!reserve_bytes(call, length)) return false;
  uint8_t *bytes = csi_arena_alloc(call->ctx.arena, length ? length : 1);
  if (!bytes) return csi_fail_out_of_memory(&call->ctx.status);
  grpc_byte_buffer_reader reader;
  grpc_slice *slice; /* in the buffer itself, which is where a small one has its bytes */
  size_t at = 0;
  grpc_byte_buffer_reader_init(&reader, call->request_buffer);
  while (grpc_byte_buffer_reader_peek(&reader, &slice)) {
    memcpy(bytes + at, GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice));
    if (call->method->secret) csi_wipe(GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice));
    at += GRPC_SLICE_LENGTH(*slice);
  }
  grpc_byte_buffer_reader_destroy(&reader);
  grpc_byte_buffer_destroy(call->request_buffer);
  call->request_buffer = NULL;
  call->request = bytes;
  call->request_length = at;
  return true;
}

static void message_read(struct csi_completion *step, bool ok) {
  struct call *call = of_step(step);
  if (!ok || atomic_load_explicit(&call->cancelled, memory_order_relaxed)) {
    csi_fail(&call->ctx.status, CSI_CANCELLED, "the call was cancelled before its message came");
    fail(call);
    return;
  }
  if (!call->request_buffer) {
    csi_fail(&call->ctx.status, CSI_INTERNAL, "grpc: error unmarshalling request: no message");
    fail(call);
    return;
  }
  if (call->method->secret) csi_arena_mark_secret(call->ctx.arena);
  if (!copy_request(call)) {
    fail(call);
    return;
  }
  const struct csi_wire_message *wire = call->method->request_wire;
  if (!csi_wire_check(wire, call->request, call->request_length, &call->ctx.status)) {
    reply(call, call->ctx.status.code == CSI_INTERNAL ? CSI_FROM_RPC : CSI_FROM_HANDLER);
    return;
  }
  CSI_V(4, "/%s/%s request: %s", call->endpoint->service->name, call->method->name,
        csi_request_json(call->ctx.arena, call->endpoint->list, wire->name, call->request,
                         call->request_length));
  serve_in_lane(call);
}

/* -- Arrival --------------------------------------------------------------------------------------- */

static void closed(struct csi_completion *close, bool ok) {
  struct call *call = of_close(close);
  if (!ok || call->close_cancelled) atomic_store_explicit(&call->cancelled, true, memory_order_relaxed);
  release(call);
}

/* The client's own deadline, or ours when it comes first. */
static void bound(struct call *call) {
  int64_t limit_ms = call->method->lane == CSI_LANE_LONG ? CSI_LONG_CALL_MS : CSI_SHORT_CALL_MS;
  int64_t limit_ns = call->arrived_ns + limit_ms * 1000000;
  if (call->ctx.deadline_ns > limit_ns) call->ctx.deadline_ns = limit_ns;
}

static bool set_up(struct call *call) {
  call->arrived_ns = csi_now_ns();
  call->ctx.arena = csi_arena_new(CSI_REQUEST_ARENA_BYTES);
  if (!call->ctx.arena) return csi_fail_out_of_memory(&call->ctx.status);
  call->ctx.deadline_ns = deadline_of(call);
  call->ctx.cancelled = &call->cancelled;
  call->ctx.stopping = &call->endpoint->environment->stopping;
  char *peer_text = grpc_call_get_peer(call->grpc);
  csi_peer_parse(call->ctx.arena, peer_text, &call->ctx.peer);
  gpr_free(peer_text);
  call->method =
      csi_dispatch_find(call->endpoint->service, (const char *)GRPC_SLICE_START_PTR(call->details.method),
                        GRPC_SLICE_LENGTH(call->details.method), &call->ctx.status);
  if (call->method) bound(call);
  return call->method != NULL;
}

static void watch_close(struct call *call) {
  grpc_op operation;
  memset(&operation, 0, sizeof operation);
  operation.op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  operation.data.recv_close_on_server.cancelled = &call->close_cancelled;
  atomic_fetch_add_explicit(&call->refs, 1, memory_order_relaxed);
  if (!start_batch(call, &operation, 1, &call->close, closed)) {
    grpc_call_cancel(call->grpc, NULL);
    release(call);
  }
}

static void read_message(struct call *call) {
  grpc_op operation;
  memset(&operation, 0, sizeof operation);
  operation.op = GRPC_OP_RECV_MESSAGE;
  operation.data.recv_message.recv_message = &call->request_buffer;
  if (!start_batch(call, &operation, 1, &call->step, message_read)) {
    message_read(&call->step, false);
  }
}

static void arrived(struct csi_completion *step, bool ok) {
  struct call *call = of_step(step);
  if (!ok) { /* the server is shut down */
    release(call);
    return;
  }
  count(call->endpoint->environment, 0, 1);
  csi_call_post(call->endpoint);
  bool known = set_up(call);
  watch_close(call);
  if (known) {
    read_message(call);
  } else {
    fail(call);
  }
}

/* Waits for one more call; false when memory is short. */
static bool post_one(struct csi_endpoint *endpoint) {
  struct call *call = calloc(1, sizeof *call);
  if (!call) return false;
  count(endpoint->environment, 1, 0);
  call->endpoint = endpoint;
  atomic_init(&call->refs, 1);
  atomic_init(&call->cancelled, false);
  call->ctx.peer.image_path = "";
  call->status_text = grpc_empty_slice();
  grpc_call_details_init(&call->details);
  grpc_metadata_array_init(&call->initial_metadata);
  grpc_completion_queue *queue = endpoint->environment->queue;
  if (grpc_server_request_call(endpoint->grpc, &call->grpc, &call->details, &call->initial_metadata, queue,
                               queue, csi_completion_tag(&call->step, arrived)) != GRPC_CALL_OK) {
    release(call);
  }
  return true;
}

/* Posts what is missing; what memory is short for now is made up for when a call ends. */
static void make_up(struct csi_endpoint *endpoint) {
  unsigned missing = atomic_exchange(&endpoint->calls_missing, 0);
  while (missing > 0 && post_one(endpoint))
    missing--;
  atomic_fetch_add(&endpoint->calls_missing, missing);
}

void csi_call_post(struct csi_endpoint *endpoint) {
  atomic_fetch_add(&endpoint->calls_missing, 1);
  make_up(endpoint);
}
