/* SPDX-License-Identifier: Apache-2.0 */
#include "base/call_timing.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/ctx.h"

static _Atomic(void *) told_context; /* written before `told`, and read after it */
static _Atomic(csi_call_timing_fn *) told;

void csi_call_timing_listen(csi_call_timing_fn *listener, void *context) {
  if (listener != NULL) atomic_store_explicit(&told_context, context, memory_order_relaxed);
  atomic_store_explicit(&told, listener, memory_order_release);
}

void csi_call_timing_tell(const char *call, int64_t duration_ns, bool succeeded) {
  csi_call_timing_fn *listener = atomic_load_explicit(&told, memory_order_acquire);
  if (listener != NULL)
    listener(atomic_load_explicit(&told_context, memory_order_relaxed), call, duration_ns, succeeded);
}

int64_t csi_call_timing_begin(void) {
  return atomic_load_explicit(&told, memory_order_relaxed) == NULL ? 0 : csi_now_ns();
}

void csi_call_timing_end(const char *call, int64_t begin_ns, bool succeeded) {
  if (begin_ns != 0) csi_call_timing_tell(call, csi_now_ns() - begin_ns, succeeded);
}
