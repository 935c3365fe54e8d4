/* SPDX-License-Identifier: Apache-2.0
 *
 * How long calls into the operating system take. Whoever makes one tells; whoever wants to know (metrics)
 * hangs in a function.
 */
#ifndef CSI_BASE_CALL_TIMING_H
#define CSI_BASE_CALL_TIMING_H

#include <stdbool.h>
#include <stdint.h>

/* call: literal name of the API or IOCTL. Any thread; must not block. */
typedef void csi_call_timing_fn(void *context, const char *call, int64_t duration_ns, bool succeeded);

/* One listener at a time, from any thread. NULL: nobody; the one before may still be told for a moment by
 * calls that are under way. */
void csi_call_timing_listen(csi_call_timing_fn *listener, void *context);

/* Costs one load when nobody listens. */
void csi_call_timing_tell(const char *call, int64_t duration_ns, bool succeeded);

/* The same around a call: begin_ns is what csi_call_timing_begin() returned, 0 when nobody listened then.
 * Does not look at the clock when nobody listens. */
int64_t csi_call_timing_begin(void);
void csi_call_timing_end(const char *call, int64_t begin_ns, bool succeeded);

#endif
