/* SPDX-License-Identifier: Apache-2.0
 *
 * The gRPC server: one grpc_server and one endpoint per service, one completion queue and one worker
 * pool for all. Knows tables, not groups.
 */
#ifndef CSI_RPC_SERVER_H
#define CSI_RPC_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "rpc/method.h"

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

/* Stops accepting, lets the calls under way finish for grace_ms, then cancels what is left and waits
 * for it. progress (may be NULL) is called about every 500 ms with the number of calls still running.
 * Returns the number of calls that had to be cancelled. */
size_t csi_server_drain(struct csi_server *server, uint32_t grace_ms,
                        void (*progress)(void *context, size_t running), void *context);

/* Frees a drained server. False when a call still hangs in the system: then the log names it, nothing is
 * freed, and what the handlers use must live until the process ends. NULL is accepted. */
bool csi_server_free(struct csi_server *server);

#endif
