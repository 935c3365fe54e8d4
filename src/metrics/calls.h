/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls did: counted as the server tells of them (rpc/observer.h), without a lock. A method gets its
 * counters with its first call, and keeps them.
 */
#ifndef CSI_METRICS_CALLS_H
#define CSI_METRICS_CALLS_H

#include <stdatomic.h>
#include <stdint.h>

#include "metrics/exposition.h"
#include "metrics/histogram.h"
#include "rpc/observer.h"

enum {
  CSI_CALL_METRICS_SLOTS = 1024, /* methods that can be told apart; there are about 180 */
};

struct csi_method_metrics;

/* All zeroes is an empty one. */
struct csi_call_metrics {
  _Atomic(struct csi_method_metrics *) slots[CSI_CALL_METRICS_SLOTS]; /* by method; open addressing */
  struct csi_histogram queue[CSI_LANE_LONG + 1];                      /* by lane; of CSI_LANE_INLINE unused */
  atomic_uint_least64_t rejected[CSI_REJECTION_COUNT];
};

/* For csi_server_add_observer(); metrics must live as long as the server. */
struct csi_call_observer csi_call_metrics_observer(struct csi_call_metrics *metrics);

/* Any thread, while calls are told of. */
void csi_call_metrics_write(struct csi_call_metrics *metrics, struct csi_exposition *out);

/* Nobody tells of calls any more. */
void csi_call_metrics_free(struct csi_call_metrics *metrics);

#endif
