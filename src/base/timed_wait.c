/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timed_wait.h"

#include <time.h>

#include "base/ctx.h"

#define NS_PER_S INT64_C(1000000000)

/* winpthreads has conditions of the wall clock alone; it measures a wait once, at its beginning. */
#if defined(_WIN32)
#define CLOCK CLOCK_REALTIME
#else
#define CLOCK CLOCK_MONOTONIC
#endif

void csi_timed_wait_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  (void)pthread_condattr_init(&attributes);
  (void)pthread_condattr_setclock(&attributes, CLOCK);
  (void)pthread_cond_init(condition, &attributes);
  (void)pthread_condattr_destroy(&attributes);
}

bool csi_timed_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ns) {
  const int64_t left_ns = until_ns - csi_now_ns();
  if (left_ns <= 0) return false;
  struct timespec until;
  (void)clock_gettime(CLOCK, &until);
  const int64_t nanoseconds = until.tv_nsec + left_ns % NS_PER_S;
  until.tv_sec += (time_t)(left_ns / NS_PER_S + nanoseconds / NS_PER_S);
  until.tv_nsec = (long)(nanoseconds % NS_PER_S);
  (void)pthread_cond_timedwait(condition, lock, &until);
  return csi_now_ns() < until_ns;
}
