/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/completion.h"

#include <pthread.h>
#include <stdlib.h>

#include "transport/transport.h"

enum { POLLING_THREADS = 2 };

struct csi_completion_queue {
  grpc_completion_queue *queue;
  grpc_completion_queue_functor shut_down;
  pthread_t threads[POLLING_THREADS];
  int thread_count;
};

static void run(grpc_completion_queue_functor *functor, int ok) {
  struct csi_completion *completion = (struct csi_completion *)functor;
  (void)atomic_load_explicit(&completion->started, memory_order_acquire);
  completion->done(completion, ok != 0);
}

static void ignore_shutdown(grpc_completion_queue_functor *functor, int ok) {
  (void)functor, (void)ok;
}

static void *poll_queue(void *context) {
  grpc_completion_queue *queue = context;
  for (;;) {
    grpc_event event = grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    if (event.type == GRPC_QUEUE_SHUTDOWN) return NULL;
    if (event.type == GRPC_OP_COMPLETE) run(event.tag, event.success);
  }
}

static bool start_polling(struct csi_completion_queue *queue, struct csi_status *status) {
  queue->queue = grpc_completion_queue_create_for_next(NULL);
  for (; queue->thread_count < POLLING_THREADS; queue->thread_count++) {
    int error = pthread_create(&queue->threads[queue->thread_count], NULL, poll_queue, queue->queue);
    if (error) {
      return csi_fail_system(status, CSI_SPACE_ERRNO, (uint32_t)error, "pthread_create",
                             "cannot start the RPC server");
    }
  }
  return true;
}

struct csi_completion_queue *csi_completion_queue_new(struct csi_status *status) {
  struct csi_completion_queue *queue = calloc(1, sizeof *queue);
  if (!queue) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  if (!csi_transport_needs_polling()) {
    queue->shut_down.functor_run = ignore_shutdown;
    queue->queue = grpc_completion_queue_create_for_callback(&queue->shut_down, NULL);
  } else if (!start_polling(queue, status)) {
    csi_completion_queue_free(queue);
    return NULL;
  }
  return queue;
}

void csi_completion_queue_free(struct csi_completion_queue *queue) {
  if (!queue) return;
  grpc_completion_queue_shutdown(queue->queue);
  for (int i = 0; i < queue->thread_count; i++)
    pthread_join(queue->threads[i], NULL);
  grpc_completion_queue_destroy(queue->queue);
  free(queue);
}

grpc_completion_queue *csi_completion_queue_grpc(struct csi_completion_queue *queue) {
  return queue->queue;
}

void *csi_completion_tag(struct csi_completion *completion,
                         void (*done)(struct csi_completion *completion, bool ok)) {
  completion->functor =
      (grpc_completion_queue_functor){.functor_run = run, .inlineable = 1, .internal_success = 0};
  completion->done = done;
  /* gRPC's queue orders the two threads, but does not promise to; it costs nothing to say so here. */
  atomic_store_explicit(&completion->started, true, memory_order_release);
  return completion;
}

bool csi_completion_batch(grpc_call *call, const grpc_op *operations, size_t count,
                          struct csi_completion *completion,
                          void (*done)(struct csi_completion *completion, bool ok)) {
  return grpc_call_start_batch(call, operations, count, csi_completion_tag(completion, done), NULL) ==
         GRPC_CALL_OK;
}
