/* SPDX-License-Identifier: Apache-2.0
 *
 * Completions of gRPC operations as callbacks. Where the transport drives itself the callback runs on
 * the thread that did the I/O; where it must be polled, on a polling thread.
 */
#ifndef CSI_RPC_COMPLETION_H
#define CSI_RPC_COMPLETION_H

#include <grpc/grpc.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/status.h"

/* The tag of an operation; embedded as first member by whoever waits for it. */
struct csi_completion {
  grpc_completion_queue_functor functor;
  atomic_bool started; /* private: what was written before the operation is seen by done() */
  void (*done)(struct csi_completion *completion, bool ok);
};

struct csi_completion_queue;

/* NULL and status on failure. */
struct csi_completion_queue *csi_completion_queue_new(struct csi_status *status);

/* All servers of the queue must have been shut down. Ends the polling threads, if any. */
void csi_completion_queue_free(struct csi_completion_queue *queue);

grpc_completion_queue *csi_completion_queue_grpc(struct csi_completion_queue *queue);

/* Prepares the tag and gives it in the form gRPC takes. */
void *csi_completion_tag(struct csi_completion *completion,
                         void (*done)(struct csi_completion *completion, bool ok));

/* Starts operations of a call. False when done() will not be called; otherwise who owns the call may be gone
 * when this returns. */
bool csi_completion_batch(grpc_call *call, const grpc_op *operations, size_t count,
                          struct csi_completion *completion,
                          void (*done)(struct csi_completion *completion, bool ok));

#endif
