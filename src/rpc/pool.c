/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/ctx.h"

enum {
  IDLE_MS = 5000,
  RELIEF_LOOK_MS = CSI_POOL_STUCK_MS / 2,
  STACK_BYTES = 1024 * 1024,
  RELIEF_STACK_BYTES = 256 * 1024,
  NS_PER_MS = 1000000,
  NS_PER_S = 1000000000,
};

/* A thread that is at work. */
struct worker {
  struct worker *next, **place;
  int64_t since_ns;
};

struct csi_pool {
  pthread_mutex_t lock;
  pthread_cond_t work_ready;
  pthread_cond_t thread_ended;
  pthread_cond_t relief_over;
  struct csi_work *first, **end;
  uint32_t queued, max_queued;
  uint32_t threads, usual_threads, max_threads;
  uint32_t idle;
  struct worker *at_work;
  bool relief_runs;
  bool closing;
};

struct csi_pool *csi_pool_new(uint32_t threads, uint32_t max_threads, uint32_t max_queued) {
  struct csi_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return NULL;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->work_ready, NULL);
  pthread_cond_init(&pool->thread_ended, NULL);
  pthread_cond_init(&pool->relief_over, NULL);
  pool->end = &pool->first;
  pool->usual_threads = threads;
  pool->max_threads = max_threads;
  pool->max_queued = max_queued;
  return pool;
}

static struct timespec in_ms(int64_t ms) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  int64_t nanoseconds = time.tv_nsec + ms * NS_PER_MS;
  time.tv_sec += (time_t)(nanoseconds / NS_PER_S);
  time.tv_nsec = (long)(nanoseconds % NS_PER_S);
  return time;
}

/* -- Threads --------------------------------------------------------------------------------------- */

/* Waits for work, not for ever. NULL: the thread is to end. Called and left with the lock held. */
static struct csi_work *next_work(struct csi_pool *pool) {
  struct timespec give_up = in_ms(IDLE_MS);
  int waited = 0;
  pool->idle++;
  while (!pool->first && !pool->closing && waited == 0) {
    waited = pthread_cond_timedwait(&pool->work_ready, &pool->lock, &give_up);
  }
  pool->idle--;
  struct csi_work *work = pool->first;
  if (work) {
    pool->first = work->next;
    if (!pool->first) pool->end = &pool->first;
    pool->queued--;
  }
  return work;
}

/* The lock is held on both sides of the work. */
static void do_work(struct csi_pool *pool, struct csi_work *work) {
  struct worker self = {.next = pool->at_work, .place = &pool->at_work, .since_ns = csi_now_ns()};
  if (self.next) self.next->place = &self.next;
  pool->at_work = &self;
  pthread_mutex_unlock(&pool->lock);
  work->run(work);
  pthread_mutex_lock(&pool->lock);
  *self.place = self.next;
  if (self.next) self.next->place = self.place;
}

static bool is_long_ago(int64_t time_ns) {
  return csi_now_ns() - time_ns >= (int64_t)CSI_POOL_STUCK_MS * NS_PER_MS;
}

/* Threads that are idle, or get on with their work. */
static uint32_t count_moving(const struct csi_pool *pool) {
  uint32_t moving = pool->threads;
  for (const struct worker *worker = pool->at_work; worker; worker = worker->next)
    if (is_long_ago(worker->since_ns)) moving--;
  return moving;
}

/* Ends when it is idle, and when the threads it stood in for have come back. */
static void *work_until_idle(void *context) {
  struct csi_pool *pool = context;
  pthread_mutex_lock(&pool->lock);
  struct csi_work *work;
  while (count_moving(pool) <= pool->usual_threads && (work = next_work(pool)) != NULL)
    do_work(pool, work);
  pool->threads--;
  pthread_cond_signal(&pool->thread_ended);
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

static bool start_thread(struct csi_pool *pool, void *(*run)(void *), size_t stack_bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread;
  bool started = pthread_create(&thread, &attributes, run, pool) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

static bool start_worker(struct csi_pool *pool) {
  bool started = start_thread(pool, work_until_idle, STACK_BYTES);
  if (started) pool->threads++;
  return started;
}

/* -- Relief ---------------------------------------------------------------------------------------- */

static bool needs_relief(const struct csi_pool *pool) {
  return is_long_ago(pool->first->queued_ns) && count_moving(pool) < pool->usual_threads &&
         pool->threads < pool->max_threads;
}

/* Looks after the pool while work waits. */
static void *relieve(void *context) {
  struct csi_pool *pool = context;
  pthread_mutex_lock(&pool->lock);
  while (pool->first && !pool->closing) {
    if (needs_relief(pool)) start_worker(pool);
    struct timespec look_again = in_ms(RELIEF_LOOK_MS);
    int waited = 0;
    while (waited == 0 && !pool->closing)
      waited = pthread_cond_timedwait(&pool->relief_over, &pool->lock, &look_again);
  }
  pool->relief_runs = false;
  pthread_cond_signal(&pool->thread_ended);
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

/* -------------------------------------------------------------------------------------------------- */

bool csi_pool_submit(struct csi_pool *pool, struct csi_work *work) {
  pthread_mutex_lock(&pool->lock);
  bool accepted = !pool->closing && pool->queued < pool->max_queued;
  /* `idle` counts threads that may already have been woken for earlier work: compare with the queue. */
  bool all_busy = pool->idle <= pool->queued;
  if (accepted && all_busy && pool->threads < pool->usual_threads) {
    accepted = start_worker(pool) || pool->threads > 0;
  }
  if (accepted) {
    work->next = NULL;
    work->queued_ns = csi_now_ns();
    *pool->end = work;
    pool->end = &work->next;
    pool->queued++;
    pthread_cond_signal(&pool->work_ready);
    if (all_busy && !pool->relief_runs && pool->threads >= pool->usual_threads)
      pool->relief_runs = start_thread(pool, relieve, RELIEF_STACK_BYTES);
  }
  pthread_mutex_unlock(&pool->lock);
  return accepted;
}

void csi_pool_count(struct csi_pool *pool, uint32_t *threads_out, uint32_t *queued_out) {
  pthread_mutex_lock(&pool->lock);
  *threads_out = pool->threads;
  *queued_out = pool->queued;
  pthread_mutex_unlock(&pool->lock);
}

uint32_t csi_pool_count_threads(struct csi_pool *pool) {
  uint32_t threads, queued;
  csi_pool_count(pool, &threads, &queued);
  return threads;
}

void csi_pool_free(struct csi_pool *pool) {
  if (!pool) return;
  pthread_mutex_lock(&pool->lock);
  pool->closing = true;
  pthread_cond_broadcast(&pool->work_ready);
  pthread_cond_broadcast(&pool->relief_over);
  while (pool->threads > 0 || pool->relief_runs)
    pthread_cond_wait(&pool->thread_ended, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
  pthread_cond_destroy(&pool->relief_over);
  pthread_cond_destroy(&pool->work_ready);
  pthread_cond_destroy(&pool->thread_ended);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}
