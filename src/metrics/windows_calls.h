/* SPDX-License-Identifier: Apache-2.0
 *
 * How long calls into Windows took, by name, as those who make them tell (base/call_timing.h). A table of
 * fixed size, without a lock; nothing is allocated.
 */
#ifndef CSI_METRICS_WINDOWS_CALLS_H
#define CSI_METRICS_WINDOWS_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "metrics/exposition.h"
#include "metrics/histogram.h"

enum {
  CSI_WINDOWS_CALL_NAMES = 128, /* a power of two */
};

/* All zeroes is an empty one. */
struct csi_windows_calls {
  struct {
    _Atomic(const char *) name; /* NULL: free */
    struct csi_histogram duration;
    atomic_uint_least64_t failures;
  } slots[CSI_WINDOWS_CALL_NAMES]; /* by name; open addressing */
  atomic_uint_least64_t unlisted;  /* told of when all names were taken */
};

/* A csi_call_timing_fn; context: struct csi_windows_calls. call is borrowed for good. */
void csi_windows_calls_told(void *context, const char *call, int64_t duration_ns, bool succeeded);

/* Any thread, while calls are told of. */
void csi_windows_calls_write(struct csi_windows_calls *calls, struct csi_exposition *out);

#endif
