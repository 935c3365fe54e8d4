/* SPDX-License-Identifier: Apache-2.0
 *
 * Times counted in buckets, by many threads at once without a lock.
 */
#ifndef CSI_METRICS_HISTOGRAM_H
#define CSI_METRICS_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#include "metrics/exposition.h"

/* All zeroes is an empty one. */
struct csi_histogram {
  atomic_uint_least64_t counts[CSI_METRIC_BUCKETS + 1]; /* of each bucket alone; the next one is "+Inf" */
  atomic_uint_least64_t sum_ns;
};

/* Any thread. A negative time counts as 0. */
void csi_histogram_add(struct csi_histogram *histogram, const struct csi_buckets *buckets,
                       int64_t duration_ns);

/* Writes it unless it is empty. What is added meanwhile is in it or not; count and buckets agree in any case.
 */
void csi_histogram_write(struct csi_histogram *histogram, struct csi_exposition *out, enum csi_metric metric,
                         const char *const *values);

#endif
