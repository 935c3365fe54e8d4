/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/histogram.h"

void csi_histogram_add(struct csi_histogram *histogram, const struct csi_buckets *buckets,
                       int64_t duration_ns) {
  uint64_t value_ns = duration_ns < 0 ? 0 : (uint64_t)duration_ns;
  size_t bucket = 0;
  while (bucket < buckets->count && value_ns > buckets->bounds_ns[bucket])
    bucket++;
  atomic_fetch_add_explicit(&histogram->sum_ns, value_ns, memory_order_relaxed);
  atomic_fetch_add_explicit(&histogram->counts[bucket], 1, memory_order_relaxed);
}

void csi_histogram_write(struct csi_histogram *histogram, struct csi_exposition *out, enum csi_metric metric,
                         const char *const *values) {
  const struct csi_buckets *buckets = csi_metric_table[metric].buckets;
  uint64_t counts[CSI_METRIC_BUCKETS + 1];
  uint64_t total = 0;
  for (size_t i = 0; i <= buckets->count; i++) {
    counts[i] = atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
    total += counts[i];
  }
  if (total == 0) return;
  csi_exposition_histogram(out, metric, values, counts,
                           atomic_load_explicit(&histogram->sum_ns, memory_order_relaxed));
}
