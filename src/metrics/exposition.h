/* SPDX-License-Identifier: Apache-2.0
 *
 * Metrics as text, in Prometheus' text format 0.0.4. What is said of a metric (HELP, TYPE) stands before its
 * first sample; a metric without a sample is not mentioned. Not thread-safe; blocks for nothing.
 */
#ifndef CSI_METRICS_EXPOSITION_H
#define CSI_METRICS_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metrics/table.h"

/* All zeroes, but for the limit, is an empty one. */
struct csi_exposition {
  size_t limit_bytes; /* most that the text may have */
  char *text;         /* not terminated; freed by csi_exposition_free() */
  size_t length_bytes;
  bool failed; /* the limit is reached, or memory is short: the text is not complete */

  size_t capacity_bytes; /* private, and below */
  uint32_t described[(CSI_METRIC_COUNT + 31) / 32];
};

/* One sample of a counter or a gauge. values: of the metric's labels, in their order, UTF-8 (may be NULL when
 * it has none). All samples of a metric must follow one another. */
void csi_exposition_count(struct csi_exposition *out, enum csi_metric metric, const char *const *values,
                          uint64_t count);

/* The same for a time: seconds, with all the digits it has. */
void csi_exposition_seconds(struct csi_exposition *out, enum csi_metric metric, const char *const *values,
                            uint64_t duration_ns);

/* A histogram of times. counts: of every bucket of the metric alone, then of what is beyond the last. */
void csi_exposition_histogram(struct csi_exposition *out, enum csi_metric metric, const char *const *values,
                              const uint64_t *counts, uint64_t sum_ns);

void csi_exposition_free(struct csi_exposition *out);

enum {
  CSI_SECONDS_BYTES = 32, /* room for any time in seconds, NUL included */
};

/* Writes nanoseconds as seconds, exactly, without needless zeroes: "0.0025", "120". Returns text. */
char *csi_seconds_text(char text[CSI_SECONDS_BYTES], uint64_t duration_ns);

#endif
