/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a connection of the metrics endpoint may take for one request, however busy it looks:
 * libmicrohttpd ends those that are silent, but not those that send a byte now and then, or read one. A
 * thread that sleeps until the oldest request is too old; private to the endpoint.
 */
#ifndef CSI_METRICS_PATIENCE_H
#define CSI_METRICS_PATIENCE_H

#include <pthread.h>

#include "metrics/sockets.h"

enum {
  CSI_PATIENCE_SOCKETS = 16, /* further ones are not looked after */
};

struct csi_patience {
  pthread_mutex_t lock; /* private, and so on */
  pthread_cond_t changed;
  pthread_t thread;
  bool ending;
  int64_t limit_ns;
  struct {
    csi_socket socket; /* CSI_NO_SOCKET: free */
    int64_t end_ns;
  } waiting[CSI_PATIENCE_SOCKETS];
};

/* False when there is no thread. */
bool csi_patience_start(struct csi_patience *patience, unsigned limit_s,
                        struct csi_status *status) CSI_MUST_CHECK;
void csi_patience_stop(struct csi_patience *patience);

/* A request may begin now, the first of the socket or a further one: when it is too late, both directions of
 * the socket are shut down. */
void csi_patience_begin(struct csi_patience *patience, csi_socket socket);

/* The socket is about to be closed. */
void csi_patience_forget(struct csi_patience *patience, csi_socket socket);

#endif
