/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/patience.h"

#include "base/ctx.h"
#include "base/timed_wait.h"

#define NS_PER_S INT64_C(1000000000)

/* Shuts down what is too old. Returns when to look again. The lock is held. */
static int64_t look(struct csi_patience *patience) {
  const int64_t now_ns = csi_now_ns();
  int64_t next_ns = CSI_NO_DEADLINE;
  for (size_t i = 0; i < CSI_PATIENCE_SOCKETS; i++) {
    if (patience->waiting[i].socket == CSI_NO_SOCKET) continue;
    if (patience->waiting[i].end_ns <= now_ns) {
      csi_sockets_shut_down(patience->waiting[i].socket);
      patience->waiting[i].end_ns = CSI_NO_DEADLINE;
    }
    if (patience->waiting[i].end_ns < next_ns) next_ns = patience->waiting[i].end_ns;
  }
  return next_ns;
}

static void *look_after(void *context) {
  struct csi_patience *patience = context;
  pthread_mutex_lock(&patience->lock);
  while (!patience->ending) {
    const int64_t next_ns = look(patience);
    if (next_ns == CSI_NO_DEADLINE)
      pthread_cond_wait(&patience->changed, &patience->lock);
    else
      (void)csi_timed_wait(&patience->changed, &patience->lock, next_ns);
  }
  pthread_mutex_unlock(&patience->lock);
  return NULL;
}

bool csi_patience_start(struct csi_patience *patience, unsigned limit_s, struct csi_status *status) {
  *patience = (struct csi_patience){.limit_ns = limit_s * NS_PER_S};
  for (size_t i = 0; i < CSI_PATIENCE_SOCKETS; i++)
    patience->waiting[i].socket = CSI_NO_SOCKET;
  pthread_mutex_init(&patience->lock, NULL);
  csi_timed_wait_init(&patience->changed);
  if (pthread_create(&patience->thread, NULL, look_after, patience) == 0) return true;
  pthread_cond_destroy(&patience->changed);
  pthread_mutex_destroy(&patience->lock);
  return csi_fail(status, CSI_RESOURCE_EXHAUSTED, "no thread for the HTTP server");
}

void csi_patience_stop(struct csi_patience *patience) {
  pthread_mutex_lock(&patience->lock);
  patience->ending = true;
  pthread_cond_signal(&patience->changed);
  pthread_mutex_unlock(&patience->lock);
  pthread_join(patience->thread, NULL);
  pthread_cond_destroy(&patience->changed);
  pthread_mutex_destroy(&patience->lock);
}

/* CSI_PATIENCE_SOCKETS when it is not there. The lock is held. */
static size_t find(const struct csi_patience *patience, csi_socket socket) {
  size_t i = 0;
  while (i < CSI_PATIENCE_SOCKETS && patience->waiting[i].socket != socket)
    i++;
  return i;
}

void csi_patience_begin(struct csi_patience *patience, csi_socket socket) {
  pthread_mutex_lock(&patience->lock);
  size_t i = find(patience, socket);
  if (i == CSI_PATIENCE_SOCKETS) i = find(patience, CSI_NO_SOCKET);
  if (i < CSI_PATIENCE_SOCKETS) {
    patience->waiting[i].socket = socket;
    patience->waiting[i].end_ns = csi_now_ns() + patience->limit_ns;
    pthread_cond_signal(&patience->changed);
  }
  pthread_mutex_unlock(&patience->lock);
}

void csi_patience_forget(struct csi_patience *patience, csi_socket socket) {
  pthread_mutex_lock(&patience->lock);
  size_t i = find(patience, socket);
  if (i < CSI_PATIENCE_SOCKETS) patience->waiting[i].socket = CSI_NO_SOCKET;
  pthread_mutex_unlock(&patience->lock);
}
