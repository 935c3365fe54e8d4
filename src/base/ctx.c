/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ctx.h"

#include <time.h>

enum {
  NS_PER_MS = 1000000,
  PAUSE_SLICE_NS = 50 * NS_PER_MS, /* how soon a pause notices that nobody waits any more */
};

bool csi_ctx_alive(struct csi_ctx *ctx) {
  if (ctx->cancelled != NULL && atomic_load_explicit(ctx->cancelled, memory_order_relaxed))
    return csi_fail(&ctx->status, CSI_CANCELLED, "the client cancelled the request");
  if (ctx->deadline_ns != CSI_NO_DEADLINE && csi_now_ns() >= ctx->deadline_ns)
    return csi_fail(&ctx->status, CSI_DEADLINE_EXCEEDED, "the request's deadline has passed");
  return true;
}

uint32_t csi_ctx_remaining_ms(const struct csi_ctx *ctx, uint32_t limit_ms) {
  if (ctx->deadline_ns == CSI_NO_DEADLINE) return limit_ms;
  int64_t now_ns = csi_now_ns();
  if (ctx->deadline_ns <= now_ns) return 0;
  /* Deadlines long past may be negative, but one in the future is less than now + INT64_MAX. */
  uint64_t left_ms = ((uint64_t)ctx->deadline_ns - (uint64_t)now_ns) / NS_PER_MS;
  return left_ms < limit_ms ? (uint32_t)left_ms : limit_ms;
}

bool csi_pause(struct csi_ctx *ctx, uint32_t duration_ms) {
  const int64_t end_ns = csi_now_ns() + (int64_t)duration_ms * NS_PER_MS;
  while (csi_ctx_alive(ctx)) {
    int64_t now_ns = csi_now_ns();
    if (now_ns >= end_ns) return true;
    int64_t slice_ns = end_ns - now_ns;
    if (slice_ns > PAUSE_SLICE_NS) slice_ns = PAUSE_SLICE_NS;
    if (ctx->deadline_ns < now_ns + slice_ns) slice_ns = ctx->deadline_ns - now_ns;
    nanosleep(&(struct timespec){.tv_nsec = slice_ns < 0 ? 0 : (long)slice_ns}, NULL);
  }
  return false;
}
