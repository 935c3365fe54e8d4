/* SPDX-License-Identifier: Apache-2.0
 *
 * The metrics of a running service and the endpoint they are read at, from start to end:
 *
 *   metrics = csi_metrics_start(&options, &status);   // the server exists, and serves nothing yet
 *   ...
 *   csi_metrics_stop(metrics);                        // the server is drained
 *   csi_server_free(server);
 *   csi_metrics_free(metrics);                        // only when no call is left
 */
#ifndef CSI_METRICS_METRICS_H
#define CSI_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct csi_metrics;
struct csi_server;

enum {
  CSI_METRICS_GROUPS = 8, /* most that are asked about */
};

struct csi_metrics_options {
  const char *address;      /* -metrics-bind-address */
  const char *version;      /* of this program; literal */
  const char *grpc_version; /* of gRPC; literal */
  struct csi_server *server;

  /* What is asked while somebody reads the metrics, on the endpoint's thread; must not block. Each may be
   * NULL, and its metric is missing then, as it is for a group of which the first returns false: nothing is
   * known of it yet. That one is asked once by csi_metrics_start() too, so that it can begin to find out. */
  bool (*group_was_ready)(void *context, const char *group, bool *is_ready_out);
  void *context;
  const char *groups[CSI_METRICS_GROUPS]; /* literals; NULL behind the last */
  uint64_t (*count_hanging_calls)(void);
  uint64_t (*count_lost_events)(void);
};

/* Listens at the address and begins to count. Nothing may have been served yet; only one at a time in a
 * process. NULL on failure: INVALID_ARGUMENT when the address is none; otherwise it cannot be had now, and
 * the status says why. */
struct csi_metrics *csi_metrics_start(const struct csi_metrics_options *options,
                                      struct csi_status *status) CSI_MUST_CHECK;

/* Where they are read: "127.0.0.1:8888". */
const char *csi_metrics_address(const struct csi_metrics *metrics);

/* Closes the endpoint; to be called while the server exists. False when metrics are still being written after
 * some seconds: the server and the metrics must not be freed. NULL is accepted. */
bool csi_metrics_stop(struct csi_metrics *metrics) CSI_MUST_CHECK;

/* After the server. NULL is accepted. */
void csi_metrics_free(struct csi_metrics *metrics);

#endif
