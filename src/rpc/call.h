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
#include "rpc/dispatch.h"
#include "rpc/method.h"
#include "rpc/observer.h"
#include "rpc/pool.h"
#include "rpc/record.h"

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
  atomic_bool stopping;                 /* the grace period is over: what still runs is being cancelled */
  atomic_size_t request_bytes;          /* of all calls that are waiting or at work */
  size_t alive;                         /* calls and streams that are waited for or running; under lock */
  size_t running;                       /* calls that arrived and have not ended; under lock */
  size_t streams;                       /* that are open; under lock */
  uint64_t last_id;                     /* of calls and streams; under lock */
  struct csi_call_record *first, *last; /* what runs, oldest first; under lock */
  struct csi_stream *open_streams;      /* see rpc/stream.c; under lock, and so on */
  size_t open_stream_count;
  size_t streams_per_process; /* most that one process may have open */
  size_t open_watch_count;    /* of these, what CSI_WATCHES */
  pthread_cond_t watch_wake;
  bool watch_runs;                                        /* there is a thread that looks after watches */
  bool draining;                                          /* no streams any more */
  struct csi_call_observer observers[CSI_CALL_OBSERVERS]; /* fixed once the first endpoint is open */
  size_t observer_count;
  atomic_uint_least64_t rejected[CSI_REJECTION_COUNT];
};

/* One endpoint: one grpc_server, one pipe. Owned by csi_server. */
struct csi_endpoint {
  struct csi_call_environment *environment;
  struct csi_binding *bindings; /* the group's service, and then those beside it */
  size_t binding_count;
  char *path;
  grpc_server *grpc;
  struct csi_listener *listener;
  struct csi_completion shut_down;
  atomic_uint calls_missing; /* that should be waited for */
  struct csi_endpoint *next;
};

/* Waits for the endpoint's next call. Posts its own successor when the call comes. */
void csi_call_post(struct csi_endpoint *endpoint);

/* Posts what memory was short for before; to be called when a call ends. */
void csi_call_make_up(struct csi_endpoint *endpoint);

size_t csi_calls_running(struct csi_call_environment *environment);

/* One more, or one fewer, that keeps the server's memory in use. */
void csi_calls_alive(struct csi_call_environment *environment, int change);

/* Has work done in a lane; in CSI_LANE_INLINE at once, and work->queued_ns is 0 then. Who submits it may be
 * gone when this returns true. False and RESOURCE_EXHAUSTED when too much waits. */
bool csi_call_submit(struct csi_call_environment *environment, enum csi_lane lane, struct csi_work *work,
                     struct csi_status *status);

#endif
