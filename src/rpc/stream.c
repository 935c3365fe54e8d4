/* SPDX-License-Identifier: Apache-2.0
 *
 *   begin -> read -> (lane) serve -> write -> read ...                   each message is answered
 *                                          \-> idle -> serve -> ...      what is watched may have changed
 *   and from anywhere -> end -> ended
 *
 * One step at a time, as in call.c: the chain of steps has one reference, `closed` another. Only a watch
 * that is idle has no step under way; then whoever sets `busy` goes on.
 */
#include "rpc/stream.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/message.h"
#include "rpc/reply.h"
#include "rpc/server.h"
#include "rpc/watch.h"

struct csi_stream {
  struct csi_completion step; /* first member: reading, writing or ending */
  struct csi_completion close;
  struct csi_work work;
  struct csi_stream *previous, *next; /* in environment.open_streams */
  struct csi_endpoint *endpoint;
  struct csi_call_record record;
  grpc_call *grpc;
  struct csi_arena *arena; /* lasts as long as the stream: peer, and the request of a watch */
  int64_t deadline_ns;
  atomic_int refs;
  atomic_bool cancelled;
  int close_cancelled; /* written by gRPC */

  grpc_byte_buffer *incoming, *outgoing;
  struct csi_ctx ctx; /* of the message at work, and the outcome of the stream */
  const uint8_t *request;
  size_t request_length;
  grpc_slice last_answer; /* of a watch */
  bool has_answered;
  bool has_sent;    /* initial metadata */
  bool is_doubtful; /* how it ended, see ended() */
  bool is_listed;
  bool busy, changed, over; /* of a watch; under environment.lock */

  struct csi_reply reply;
  grpc_status_code reply_code;
};

static struct csi_stream *of_step(struct csi_completion *step) {
  return (struct csi_stream *)step;
}

static struct csi_stream *of_close(struct csi_completion *close) {
  return (struct csi_stream *)((char *)close - offsetof(struct csi_stream, close));
}

static struct csi_stream *of_work(struct csi_work *work) {
  return (struct csi_stream *)((char *)work - offsetof(struct csi_stream, work));
}

static struct csi_call_environment *environment_of(const struct csi_stream *stream) {
  return stream->endpoint->environment;
}

static bool is_watch(const struct csi_stream *stream) {
  return stream->record.method->streaming == CSI_WATCHES;
}

/* -- Which streams there are ----------------------------------------------------------------------- */

/* False when the client has as many as it may, so that it leaves some to others. A process that the transport
 * does not know is like any other. The lock is held. */
static bool check_limits(struct csi_stream *stream) {
  const struct csi_call_environment *environment = environment_of(stream);
  uint32_t process_id = stream->record.peer.process_id;
  size_t of_process = 0;
  for (const struct csi_stream *other = environment->open_streams; other; other = other->next)
    of_process += other->record.peer.process_id == process_id;
  if (of_process >= environment->streams_per_process)
    return csi_fail(&stream->ctx.status, CSI_RESOURCE_EXHAUSTED,
                    "process %" PRIu32 " has %zu streams already; it is to end some", process_id, of_process);
  return environment->open_stream_count < CSI_ALL_STREAMS ||
         csi_fail(&stream->ctx.status, CSI_RESOURCE_EXHAUSTED,
                  "there are %d streams already; try again later", CSI_ALL_STREAMS);
}

static enum csi_rejection enlist(struct csi_stream *stream) {
  struct csi_call_environment *environment = environment_of(stream);
  enum csi_rejection rejection = CSI_NOT_REJECTED;
  pthread_mutex_lock(&environment->lock);
  if (environment->draining) {
    csi_fail(&stream->ctx.status, CSI_UNAVAILABLE, "the service is stopping");
    rejection = CSI_REJECTED_TOO_LATE;
  } else if (!check_limits(stream)) {
    rejection = CSI_REJECTED_QUEUE_FULL;
  } else {
    stream->next = environment->open_streams;
    if (stream->next) stream->next->previous = stream;
    environment->open_streams = stream;
    environment->open_stream_count++;
    environment->open_watch_count += is_watch(stream);
    stream->is_listed = true;
  }
  pthread_mutex_unlock(&environment->lock);
  return rejection;
}

static void delist(struct csi_stream *stream) {
  if (!stream->is_listed) return;
  struct csi_call_environment *environment = environment_of(stream);
  pthread_mutex_lock(&environment->lock);
  *(stream->previous ? &stream->previous->next : &environment->open_streams) = stream->next;
  if (stream->next) stream->next->previous = stream->previous;
  environment->open_stream_count--;
  environment->open_watch_count -= is_watch(stream);
  pthread_mutex_unlock(&environment->lock);
}

static void hold(struct csi_stream *stream) {
  atomic_fetch_add_explicit(&stream->refs, 1, memory_order_relaxed);
}

static void release(struct csi_stream *stream) {
  if (atomic_fetch_sub_explicit(&stream->refs, 1, memory_order_acq_rel) != 1) return;
  grpc_call_unref(stream->grpc);
  if (stream->incoming) grpc_byte_buffer_destroy(stream->incoming);
  if (stream->outgoing) grpc_byte_buffer_destroy(stream->outgoing);
  grpc_slice_unref(stream->last_answer);
  csi_reply_clear(&stream->reply);
  csi_arena_free(stream->arena);
  csi_call_make_up(stream->endpoint);
  csi_record_unlink(&stream->record);
  free(stream);
}

/* Holds every stream that is open; all that there can be have room. Returns how many. */
static size_t hold_all(struct csi_call_environment *environment, bool watches_only,
                       struct csi_stream *streams_out[CSI_ALL_STREAMS]) {
  size_t count = 0;
  for (struct csi_stream *stream = environment->open_streams; stream; stream = stream->next) {
    if (watches_only && !is_watch(stream)) continue;
    hold(stream);
    streams_out[count++] = stream;
  }
  return count;
}

/* -- The end --------------------------------------------------------------------------------------- */

/* The first batch of a stream that sends begins with this. */
static grpc_op *put_initial_metadata(struct csi_stream *stream, grpc_op *operation) {
  if (stream->has_sent) return operation;
  stream->has_sent = true;
  operation->op = GRPC_OP_SEND_INITIAL_METADATA;
  return operation + 1;
}

/* Why a stream ended that neither side ended by itself. */
static void fail_cancelled(struct csi_stream *stream) {
  struct csi_call_environment *environment = environment_of(stream);
  pthread_mutex_lock(&environment->lock);
  bool draining = environment->draining;
  pthread_mutex_unlock(&environment->lock);
  csi_status_clear(&stream->ctx.status);
  csi_fail(&stream->ctx.status, draining ? CSI_UNAVAILABLE : CSI_CANCELLED,
           draining ? "the service is stopping" : "the stream was cancelled");
}

/* A client that has cancelled looks like one that has no more to send, until it is to be told how the stream
 * ended: only then that is known. */
static void ended(struct csi_completion *step, bool ok) {
  struct csi_stream *stream = of_step(step);
  struct csi_status *status = &stream->ctx.status;
  if (stream->is_doubtful) {
    if (!ok) fail_cancelled(stream);
    csi_record_ended(&stream->record, status, ok ? (enum csi_code)stream->reply_code : status->code);
  }
  delist(stream);
  release(stream);
}

/* Ends the stream with the status in ctx. */
static void end(struct csi_stream *stream, enum csi_failure_origin origin) {
  struct csi_status *status = &stream->ctx.status;
  if (stream->record.binding->service->precise_codes) origin = CSI_FROM_RPC;
  bool is_awaited = !atomic_load(&stream->cancelled) && stream->deadline_ns > csi_now_ns();
  stream->reply_code = csi_reply_code(status, origin, is_awaited);
  if (!stream->is_doubtful) csi_record_ended(&stream->record, status, (enum csi_code)stream->reply_code);
  grpc_op operations[2];
  memset(operations, 0, sizeof operations);
  grpc_op *operation = put_initial_metadata(stream, operations);
  csi_reply_operation(&stream->reply, status, stream->reply_code, operation);
  operation++;
  if (!csi_completion_batch(stream->grpc, operations, (size_t)(operation - operations), &stream->step,
                            ended)) {
    grpc_call_cancel(stream->grpc, NULL);
    ended(&stream->step, false);
  }
}

/* The client has gone, or the server drains. */
static void end_cancelled(struct csi_stream *stream) {
  fail_cancelled(stream);
  end(stream, CSI_FROM_RPC);
}

/* -- Messages -------------------------------------------------------------------------------------- */

static void read_next(struct csi_stream *stream);
static void go_to_lane(struct csi_stream *stream);

/* Nothing to do for a watch: the chain of steps ends here unless there is more. */
static void go_idle(struct csi_stream *stream) {
  struct csi_call_environment *environment = environment_of(stream);
  csi_record_set_state(&stream->record, CSI_CALL_WAITING);
  pthread_mutex_lock(&environment->lock);
  bool over = stream->over, changed = stream->changed;
  stream->changed = false;
  stream->busy = over || changed;
  pthread_mutex_unlock(&environment->lock);
  if (over)
    end_cancelled(stream);
  else if (changed)
    go_to_lane(stream);
}

static void go_on(struct csi_stream *stream) {
  if (is_watch(stream)) {
    go_idle(stream);
  } else {
    csi_record_set_state(&stream->record, CSI_CALL_WAITING);
    read_next(stream);
  }
}

static void written(struct csi_completion *step, bool ok) {
  struct csi_stream *stream = of_step(step);
  grpc_byte_buffer_destroy(stream->outgoing);
  stream->outgoing = NULL;
  if (ok)
    go_on(stream);
  else
    end_cancelled(stream);
}

static void write_answer(struct csi_stream *stream) {
  grpc_op operations[2];
  memset(operations, 0, sizeof operations);
  grpc_op *operation = put_initial_metadata(stream, operations);
  operation->op = GRPC_OP_SEND_MESSAGE;
  operation->data.send_message.send_message = stream->outgoing;
  operation++;
  csi_record_set_state(&stream->record, CSI_CALL_REPLYING);
  if (!csi_completion_batch(stream->grpc, operations, (size_t)(operation - operations), &stream->step,
                            written))
    written(&stream->step, false);
}

/* Of a watch: false when the answer is the last one again, which nobody wants. */
static bool is_news(struct csi_stream *stream) {
  if (!is_watch(stream)) return true;
  grpc_byte_buffer_reader reader;
  grpc_byte_buffer_reader_init(&reader, stream->outgoing);
  grpc_slice answer = grpc_byte_buffer_reader_readall(&reader);
  grpc_byte_buffer_reader_destroy(&reader);
  bool is_news = !stream->has_answered || grpc_slice_cmp(answer, stream->last_answer) != 0;
  stream->has_answered = true;
  grpc_slice_unref(stream->last_answer);
  stream->last_answer = answer;
  return is_news;
}

/* Decode, handle, encode: `outgoing` is the answer. ctx.arena has all that is made on the way. */
static bool answer(struct csi_stream *stream) {
  const struct csi_method *method = stream->record.method;
  if (!csi_ctx_alive(&stream->ctx)) return false;
  const ProtobufCMessage *request =
      csi_dispatch_decode(&stream->ctx, method, stream->request, stream->request_length);
  const ProtobufCMessage *response = NULL;
  if (!request || !method->serve(&stream->ctx, stream->record.binding->group, request, &response))
    return false;
  stream->outgoing = csi_message_encode(response);
  return true;
}

static void end_of_message(struct csi_stream *stream) {
  csi_arena_free(stream->ctx.arena);
  stream->ctx.arena = NULL;
  if (is_watch(stream)) return; /* keeps its request in its own arena */
  csi_message_give_back(environment_of(stream), stream->request_length);
  stream->request = NULL;
  stream->request_length = 0;
}

static void serve(struct csi_work *work) {
  struct csi_stream *stream = of_work(work);
  csi_record_running(&stream->record);
  bool answered = answer(stream);
  end_of_message(stream);
  if (!answered) {
    end(stream, CSI_FROM_HANDLER);
  } else if (is_news(stream)) {
    write_answer(stream);
  } else {
    grpc_byte_buffer_destroy(stream->outgoing);
    stream->outgoing = NULL;
    go_on(stream);
  }
}

/* Room and time for the next message to be served. */
static bool prepare(struct csi_stream *stream) {
  int64_t limit_ns = csi_now_ns() + CSI_SHORT_CALL_MS * INT64_C(1000000);
  stream->ctx.deadline_ns = stream->deadline_ns < limit_ns ? stream->deadline_ns : limit_ns;
  if (!stream->ctx.arena) stream->ctx.arena = csi_arena_new(CSI_REQUEST_ARENA_BYTES);
  return stream->ctx.arena || csi_fail_out_of_memory(&stream->ctx.status);
}

static void go_to_lane(struct csi_stream *stream) {
  if (!prepare(stream)) {
    end(stream, CSI_FROM_RPC);
    return;
  }
  stream->work.run = serve;
  if (!csi_call_submit(environment_of(stream), stream->record.method->lane, &stream->work,
                       &stream->ctx.status)) {
    end_of_message(stream);
    end(stream, CSI_FROM_RPC);
  }
}

/* The message that was read, out of gRPC's memory. */
static bool take_message(struct csi_stream *stream) {
  struct csi_call_environment *environment = environment_of(stream);
  struct csi_status *status = &stream->ctx.status;
  if (!prepare(stream)) return false;
  size_t length = grpc_byte_buffer_length(stream->incoming);
  if (!csi_message_reserve(environment, length, status)) return false;
  struct csi_arena *arena = is_watch(stream) ? stream->arena : stream->ctx.arena;
  bool taken = csi_message_copy(arena, &stream->incoming, false, &stream->request, &stream->request_length);
  /* A watch keeps its request; the arena bounds it, and CSI_ALL_STREAMS all of them. */
  if (!taken || is_watch(stream)) csi_message_give_back(environment, length);
  return taken || csi_fail_out_of_memory(status);
}

static void message_read(struct csi_completion *step, bool ok) {
  struct csi_stream *stream = of_step(step);
  if (!ok || atomic_load_explicit(&stream->cancelled, memory_order_relaxed)) {
    end_cancelled(stream);
  } else if (!stream->incoming) { /* the client has sent all that it wanted to */
    stream->is_doubtful = true;
    if (is_watch(stream))
      csi_fail(&stream->ctx.status, CSI_INTERNAL, "grpc: error unmarshalling request: no message");
    end(stream, CSI_FROM_RPC);
  } else if (take_message(stream) &&
             csi_message_check(&stream->ctx, &stream->record, stream->request, stream->request_length)) {
    go_to_lane(stream);
  } else {
    end_of_message(stream);
    end(stream, CSI_FROM_RPC);
  }
}

static void read_next(struct csi_stream *stream) {
  grpc_op operation;
  memset(&operation, 0, sizeof operation);
  operation.op = GRPC_OP_RECV_MESSAGE;
  operation.data.recv_message.recv_message = &stream->incoming;
  if (!csi_completion_batch(stream->grpc, &operation, 1, &stream->step, message_read))
    message_read(&stream->step, false);
}

/* -- Watching -------------------------------------------------------------------------------------- */

void csi_streams_refresh(struct csi_call_environment *environment) {
  struct csi_stream *watches[CSI_ALL_STREAMS];
  pthread_mutex_lock(&environment->lock);
  size_t held = hold_all(environment, true, watches);
  for (size_t i = 0; i < held; i++)
    watches[i]->changed = true;
  pthread_mutex_unlock(&environment->lock);
  for (size_t i = 0; i < held; i++) {
    pthread_mutex_lock(&environment->lock);
    bool mine = !watches[i]->busy;
    if (mine) watches[i]->busy = true;
    pthread_mutex_unlock(&environment->lock);
    if (mine) go_idle(watches[i]); /* finds `changed` */
    release(watches[i]);
  }
}

/* -- Begin and cancel ------------------------------------------------------------------------------ */

static void closed(struct csi_completion *close, bool ok) {
  struct csi_stream *stream = of_close(close);
  struct csi_call_environment *environment = environment_of(stream);
  (void)ok;
  if (stream->close_cancelled) atomic_store_explicit(&stream->cancelled, true, memory_order_relaxed);
  pthread_mutex_lock(&environment->lock);
  stream->over = true;
  bool mine = !stream->busy;
  stream->busy = true;
  pthread_mutex_unlock(&environment->lock);
  if (mine) end_cancelled(stream);
  release(stream);
}

static void wait_for_close(struct csi_stream *stream) {
  grpc_op operation;
  memset(&operation, 0, sizeof operation);
  operation.op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  operation.data.recv_close_on_server.cancelled = &stream->close_cancelled;
  hold(stream);
  if (!csi_completion_batch(stream->grpc, &operation, 1, &stream->close, closed)) {
    grpc_call_cancel(stream->grpc, NULL);
    release(stream);
  }
}

void csi_streams_end(struct csi_call_environment *environment) {
  struct csi_stream *streams[CSI_ALL_STREAMS];
  pthread_mutex_lock(&environment->lock);
  environment->draining = true;
  size_t held = hold_all(environment, false, streams);
  pthread_cond_broadcast(&environment->watch_wake);
  pthread_mutex_unlock(&environment->lock);
  for (size_t i = 0; i < held; i++) {
    grpc_call_cancel_with_status(streams[i]->grpc, GRPC_STATUS_UNAVAILABLE, "the service is stopping", NULL);
    release(streams[i]);
  }
}

static struct csi_stream *new_stream(const struct csi_stream_start *start) {
  struct csi_stream *stream = calloc(1, sizeof *stream);
  if (!stream) return NULL;
  stream->endpoint = start->endpoint;
  stream->grpc = start->grpc;
  stream->arena = start->arena;
  stream->deadline_ns = start->deadline_ns;
  stream->busy = true;
  atomic_init(&stream->refs, 1);
  atomic_init(&stream->cancelled, false);
  stream->last_answer = grpc_empty_slice();
  csi_reply_init(&stream->reply);
  stream->ctx.cancelled = &stream->cancelled;
  stream->ctx.stopping = &start->endpoint->environment->stopping;
  stream->ctx.peer = start->peer;
  stream->record = (struct csi_call_record){
      .endpoint = start->endpoint,
      .binding = start->binding,
      .method = start->method,
      .peer = start->peer,
      .arrived_ns = start->arrived_ns,
  };
  return stream;
}

bool csi_stream_begin(const struct csi_stream_start *start) {
  struct csi_stream *stream = new_stream(start);
  if (!stream) return false;
  csi_calls_alive(stream->endpoint->environment, 1);
  csi_record_link(&stream->record);
  stream->record.rejection = enlist(stream);
  wait_for_close(stream);
  if (stream->record.rejection == CSI_NOT_REJECTED) {
    csi_record_running(&stream->record);
    csi_record_set_state(&stream->record, CSI_CALL_WAITING);
  }
  if (stream->record.rejection == CSI_NOT_REJECTED &&
      (!is_watch(stream) || csi_watch_start(environment_of(stream), &stream->ctx.status)))
    read_next(stream);
  else
    end(stream, CSI_FROM_RPC);
  return true;
}
