/* SPDX-License-Identifier: Apache-2.0
 *
 * Every metric there is: name, type, labels, buckets, what it means. The text that Prometheus reads and the
 * reference page are made from this table. Pure C without any other part of the program: the reference page
 * is made by a program of the build machine.
 */
#ifndef CSI_METRICS_TABLE_H
#define CSI_METRICS_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum csi_metric {
  /* As the original has them; labels, buckets and texts too. */
  CSI_METRIC_GRPC_HANDLED,
  CSI_METRIC_GRPC_HANDLING,
  CSI_METRIC_GRPC_RECEIVED,
  CSI_METRIC_GRPC_SENT,
  CSI_METRIC_GRPC_STARTED,
  CSI_METRIC_PROCESS_CPU,
  CSI_METRIC_PROCESS_MAX_FDS,
  CSI_METRIC_PROCESS_OPEN_FDS,
  CSI_METRIC_PROCESS_RESIDENT,
  CSI_METRIC_PROCESS_START,
  CSI_METRIC_PROCESS_VIRTUAL,
  /* Our own. */
  CSI_METRIC_BUILD_INFO,
  CSI_METRIC_CALL_DURATION,
  CSI_METRIC_CALL_QUEUE,
  CSI_METRIC_CALLS_IN_FLIGHT,
  CSI_METRIC_CALLS_REJECTED,
  CSI_METRIC_CONNECTIONS,
  CSI_METRIC_CONNECTIONS_OPENED,
  CSI_METRIC_CONNECTIONS_REJECTED,
  CSI_METRIC_EVENTS_LOST,
  CSI_METRIC_GROUP_READY,
  CSI_METRIC_LANE_QUEUED,
  CSI_METRIC_LANE_THREADS,
  CSI_METRIC_LOG_BYTES_LOST,
  CSI_METRIC_PROCESS_THREADS,
  CSI_METRIC_WINDOWS_CALL_DURATION,
  CSI_METRIC_WINDOWS_CALL_FAILURES,
  CSI_METRIC_WINDOWS_CALLS_HANGING,
  CSI_METRIC_WINDOWS_CALLS_UNLISTED,
  CSI_METRIC_COUNT,
};

enum csi_metric_type {
  CSI_METRIC_COUNTER,
  CSI_METRIC_GAUGE,
  CSI_METRIC_HISTOGRAM,
};

enum {
  CSI_METRIC_LABELS = 4,   /* most that a metric has, without "le" */
  CSI_METRIC_BUCKETS = 16, /* most that a histogram has, without "+Inf" */
};

/* Upper bounds, each inclusive, ascending. */
struct csi_buckets {
  size_t count;
  uint64_t bounds_ns[CSI_METRIC_BUCKETS];
};

extern const struct csi_buckets csi_handling_buckets; /* the original's: seconds */
extern const struct csi_buckets csi_fine_buckets;     /* fractions of a millisecond up to seconds */

struct csi_metric_info {
  const char *name;
  enum csi_metric_type type;
  const char *labels[CSI_METRIC_LABELS]; /* in alphabetical order; NULL behind the last */
  const struct csi_buckets *buckets;     /* of a histogram */
  const char *help;
};

/* By enum csi_metric. */
extern const struct csi_metric_info csi_metric_table[CSI_METRIC_COUNT];

/* "counter", "gauge", "histogram" */
const char *csi_metric_type_name(enum csi_metric_type type);

#endif
