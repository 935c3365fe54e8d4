/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounded worker pool. One pool is one lane: long calls cannot use up the threads of short ones.
 * Threads start when there is work and end after they were idle for a while.
 *
 * Some work waits for devices that do not answer, for as long as its deadline lets it. So that it does not
 * keep the rest waiting, a thread that is stuck is stood in for by another while work waits, up to a second,
 * higher limit; when it is back, one of them ends. Under mere load there are no more: threads that finish
 * work all the time are not stuck.
 */
#ifndef CSI_RPC_POOL_H
#define CSI_RPC_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* A thread is stuck that has been on one piece of work for so long, and help comes to work that has waited
 * for so long. */
enum {
  CSI_POOL_STUCK_MS = 100,
};

/* A piece of work; embedded by its owner, who keeps it alive until run() is called. */
struct csi_work {
  void (*run)(struct csi_work *work);
  struct csi_work *next; /* private, both */
  int64_t queued_ns;
};

struct csi_pool;

/* threads at most run at once that get on with it, max_threads at most with those that are stuck (a thread
 * costs some memory: about 1 MB under Wine). max_queued at most wait. NULL when memory is short. */
struct csi_pool *csi_pool_new(uint32_t threads, uint32_t max_threads, uint32_t max_queued);

/* False when the queue is full or no thread could be started: run() will not be called. */
bool csi_pool_submit(struct csi_pool *pool, struct csi_work *work);

/* How many threads it has now, idle ones included. */
uint32_t csi_pool_count_threads(struct csi_pool *pool);

/* The same, and how much work waits for one. */
void csi_pool_count(struct csi_pool *pool, uint32_t *threads_out, uint32_t *queued_out);

/* Waits for the work that was submitted, ends the threads. NULL is accepted. */
void csi_pool_free(struct csi_pool *pool);

#endif
