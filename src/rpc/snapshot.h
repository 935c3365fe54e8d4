/* SPDX-License-Identifier: Apache-2.0
 *
 * What a server is doing just now, and what it has done: for whoever asks. All functions may be called from
 * any thread, from handlers too, as long as the server exists; they hold a lock for a short copy and block
 * for nothing else. Lists are copied into the caller's arena; service and method are tables that live as
 * long as the server. False: the arena is full, or memory is short.
 */
#ifndef CSI_RPC_SNAPSHOT_H
#define CSI_RPC_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "rpc/observer.h"

struct csi_server;

enum {
  CSI_LISTED_CALLS = 1024, /* most that csi_server_list_calls() gives */
};

enum csi_call_state {
  CSI_CALL_WAITING,  /* for its message, or for a thread; a stream: for something to do */
  CSI_CALL_RUNNING,  /* its handler is at work */
  CSI_CALL_REPLYING, /* done; the client has not taken the answer yet */
};

/* "waiting", "running", "replying" */
const char *csi_call_state_name(enum csi_call_state state);

struct csi_running_call {
  uint64_t id;
  const struct csi_service *service; /* as in csi_call_info */
  const struct csi_method *method;   /* NULL: the endpoint has no such method */
  uint32_t process_id;               /* 0 when the transport does not know it */
  const char *image_path;            /* UTF-8; "" when unknown, or while replying */
  const char *object;                /* as in csi_call_info; "" while replying */
  int64_t arrived_ns;                /* csi_now_ns() */
  enum csi_call_state state;
};

/* Calls and streams that have arrived and not ended, oldest first; those that come or end meanwhile may be
 * missing. */
bool csi_server_list_calls(struct csi_server *server, struct csi_arena *arena,
                           const struct csi_running_call **calls_out, size_t *count_out);

struct csi_method_totals {
  const struct csi_service *service;
  const struct csi_method *method;
  uint64_t started;    /* reached the handler */
  uint64_t succeeded;  /* of those */
  uint64_t failed;     /* of those, cancelled ones included */
  uint64_t rejected;   /* did not reach the handler */
  int64_t duration_ns; /* sum, of those that have succeeded or failed, from arrival to answer */
  int64_t longest_ns;
};

/* Every method of every service, called or not, in the order of the endpoints. */
bool csi_server_list_methods(struct csi_server *server, struct csi_arena *arena,
                             const struct csi_method_totals **methods_out, size_t *count_out);

struct csi_endpoint_stats {
  const char *path; /* "\\.\pipe\csi-proxy-disk-v1" */
  const struct csi_service *service;
  uint64_t connections; /* now */
  uint64_t opened;      /* since the start, those of now included, rejected ones not */
  uint64_t rejected;    /* since the start: one too many for max_connections */
};

/* Every endpoint that listens, in the order they were opened. */
bool csi_server_list_endpoints(struct csi_server *server, struct csi_arena *arena,
                               const struct csi_endpoint_stats **endpoints_out, size_t *count_out);

struct csi_lane_stats {
  const char *name; /* "short", "long" */
  uint32_t threads; /* idle ones included */
  uint32_t queued;  /* calls that wait for a thread */
};

enum {
  CSI_LANES = 2,
};

/* "short", "long"; "inline" for what waits for no thread. */
const char *csi_lane_name(enum csi_lane lane);

void csi_server_list_lanes(struct csi_server *server, struct csi_lane_stats lanes_out[CSI_LANES]);

struct csi_call_counts {
  uint64_t running; /* arrived and not ended, without streams */
  uint64_t streams; /* that are open */
  /* Since the start; calls and streams. */
  uint64_t started, succeeded, failed;
  uint64_t rejected[CSI_REJECTION_COUNT]; /* by reason; [CSI_NOT_REJECTED] is 0 */
};

void csi_server_count_calls(struct csi_server *server, struct csi_call_counts *counts_out);

#endif
