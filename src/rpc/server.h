/* SPDX-License-Identifier: Apache-2.0
 *
 * The gRPC server: one grpc_server and one endpoint per version of a group, one completion queue and one
 * worker pool for all. Knows tables, not groups. What it is doing: rpc/snapshot.h.
 */
#ifndef CSI_RPC_SERVER_H
#define CSI_RPC_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "rpc/method.h"
#include "rpc/observer.h"

struct csi_server;

struct csi_server_options {
  const char *endpoint_format; /* two %s: group and version */
  const char *sddl;            /* see csi_listener_options */
  uint32_t max_connections;    /* per endpoint */
  uint32_t max_streams;        /* concurrent calls per connection */
  uint32_t pending_instances;
  uint32_t silence_timeout_ms;
  uint32_t short_threads; /* worker threads of the lane for short calls, while they get on with it */
  uint32_t long_threads;
  uint32_t max_threads;      /* of a lane, while its threads are stuck in devices; see rpc/pool.h */
  uint32_t max_queued_calls; /* per lane; one more is refused with RESOURCE_EXHAUSTED */
};

void csi_server_options_default(struct csi_server_options *options);

/* NULL and status on failure. */
struct csi_server *csi_server_new(const struct csi_server_options *options, struct csi_status *status);

/* Opens the endpoint of every version of a group. `group` is what the handlers get. All are tried: on
 * failure the status is the first one's, the log has the others, and the server is still to be drained
 * and freed. */
bool csi_server_add_group(struct csi_server *server, const struct csi_service_list *list, void *group,
                          struct csi_status *status);

/* A service that stands on an endpoint beside the group's own. */
struct csi_extra_service {
  const struct csi_service_list *list; /* where its descriptors are; must outlive the server */
  const struct csi_service *service;
  void *group; /* what its handlers get */
};

/* As csi_server_add_group(), with further services on every endpoint of the group. Only such an endpoint may
 * have streaming methods: it takes CSI_STREAMS_PER_CONNECTION calls at once on a connection instead of
 * max_streams. */
bool csi_server_add_group_with(struct csi_server *server, const struct csi_service_list *list, void *group,
                               const struct csi_extra_service *extras, size_t extra_count,
                               struct csi_status *status);

enum {
  CSI_STREAMS_PER_CONNECTION = 16, /* calls of any kind, where there are streams */
  CSI_STREAMS_PER_PROCESS = 16,    /* of all its connections; one more is refused with RESOURCE_EXHAUSTED */
  CSI_ALL_STREAMS = 64,            /* of all processes; likewise */
  CSI_WATCH_MS = 1000,             /* how often what is watched is looked at */
};

/* Copies the observer; to be called before the first endpoint is opened. False when there are
 * CSI_CALL_OBSERVERS already. */
bool csi_server_add_observer(struct csi_server *server, const struct csi_call_observer *observer);

/* Has every watch answered anew now, and not only after CSI_WATCH_MS. Does not wait for it. Any thread. */
void csi_server_refresh_watches(struct csi_server *server);

/* Stops accepting, ends all streams with UNAVAILABLE, lets the other calls under way finish for grace_ms,
 * then cancels what is left and waits for it. progress (may be NULL) is called about every 500 ms with the
 * number of calls still running. Returns the number of calls that had to be cancelled. */
size_t csi_server_drain(struct csi_server *server, uint32_t grace_ms,
                        void (*progress)(void *context, size_t running), void *context);

/* Frees a drained server. False when a call still hangs in the system: then the log names it, nothing is
 * freed, and what the handlers use must live until the process ends. NULL is accepted. */
bool csi_server_free(struct csi_server *server);

#endif
