/* SPDX-License-Identifier: Apache-2.0
 *
 * One call, from its arrival to its last completion.
 */
#ifndef CSI_RPC_CALL_H
#define CSI_RPC_CALL_H

#include <grpc/grpc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "rpc/completion.h"
#include "rpc/method.h"
#include "rpc/pool.h"

enum {
  CSI_MAX_REQUEST_BYTES = 4 * 1024 * 1024,             /* as grpc-go's default */
  CSI_ALL_REQUESTS_BYTES = 64 * CSI_MAX_REQUEST_BYTES, /* more at once is refused */
  CSI_REQUEST_ARENA_BYTES = 8 * CSI_MAX_REQUEST_BYTES, /* request, conversions, result, response */
};

/* How long a call may take, even when its client gave no deadline or a later one: nothing keeps a thread
 * for ever. */
enum {
  CSI_SHORT_CALL_MS = 60 * 1000,     /* LANE_SHORT, LANE_INLINE */
  CSI_LONG_CALL_MS = 30 * 60 * 1000, /* LANE_LONG */
};

/* What the calls of all endpoints share. Owned by csi_server. */
struct csi_call_environment {
  grpc_completion_queue *queue;
  struct csi_pool *short_lane;
  struct csi_pool *long_lane;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  atomic_bool stopping;             /* the grace period is over: what still runs is being cancelled */
  atomic_size_t request_bytes;      /* of all calls that are waiting or at work */
  size_t alive;                     /* calls that are waited for or running; under lock */
  size_t running;                   /* calls that arrived and have not ended; under lock */
  struct csi_call_at_work *at_work; /* what the lanes' threads do; under lock */
};

/* The endpoint of one service: one grpc_server, one pipe. Owned by csi_server. */
struct csi_endpoint {
  struct csi_call_environment *environment;
  const struct csi_service_list *list;
  const struct csi_service *service;
  void *group;
  grpc_server *grpc;
  struct csi_listener *listener;
  struct csi_completion shut_down;
  atomic_uint calls_missing; /* that should be waited for */
  struct csi_endpoint *next;
};

/* Waits for the endpoint's next call. Posts its own successor when the call comes. */
void csi_call_post(struct csi_endpoint *endpoint);

size_t csi_calls_running(struct csi_call_environment *environment);

/* Logs a warning for each call whose handler has not returned. */
void csi_calls_log_hanging(struct csi_call_environment *environment);

#endif
