/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/watch.h"

#include "base/timed_wait.h"
#include "rpc/server.h"
#include "rpc/stream.h"

/* Until there is nothing to watch. */
static void *look_after_watches(void *context) {
  struct csi_call_environment *environment = context;
  pthread_mutex_lock(&environment->lock);
  while (environment->open_watch_count > 0 && !environment->draining) {
    const int64_t next_ns = csi_now_ns() + CSI_WATCH_MS * INT64_C(1000000);
    while (!environment->draining && csi_timed_wait(&environment->watch_wake, &environment->lock, next_ns)) {
    }
    if (environment->draining) break;
    pthread_mutex_unlock(&environment->lock);
    csi_streams_refresh(environment);
    pthread_mutex_lock(&environment->lock);
  }
  environment->watch_runs = false;
  pthread_cond_broadcast(&environment->changed);
  pthread_mutex_unlock(&environment->lock);
  return NULL;
}

bool csi_watch_start(struct csi_call_environment *environment, struct csi_status *status) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_mutex_lock(&environment->lock);
  pthread_t thread;
  if (!environment->watch_runs)
    environment->watch_runs = pthread_create(&thread, &attributes, look_after_watches, environment) == 0;
  bool runs = environment->watch_runs;
  pthread_mutex_unlock(&environment->lock);
  pthread_attr_destroy(&attributes);
  return runs || csi_fail(status, CSI_RESOURCE_EXHAUSTED, "no thread for watches");
}
