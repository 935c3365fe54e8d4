/* SPDX-License-Identifier: Apache-2.0
 *
 * What one request carries through every layer: its memory, its outcome, its time limit, its caller.
 * Owned by rpc; handlers and host functions borrow it for the length of their call.
 */
#ifndef CSI_BASE_CTX_H
#define CSI_BASE_CTX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/peer.h"
#include "base/status.h"

#define CSI_NO_DEADLINE INT64_MAX

struct csi_ctx {
  struct csi_arena *arena;
  struct csi_status status;
  int64_t deadline_ns;          /* csi_now_ns() time, or CSI_NO_DEADLINE */
  const atomic_bool *cancelled; /* set when the client went away; may be NULL */
  const atomic_bool *stopping;  /* set when the service cancels what did not end in time; may be NULL */
  bool only_looks;              /* for people: must not stand in the way of calls that change something */
  struct csi_peer peer;
};

/* A clock that never goes back, in nanoseconds. */
int64_t csi_now_ns(void);

/* True while somebody still waits for the answer; otherwise records DEADLINE_EXCEEDED or CANCELLED.
 * Called by everything that loops or waits. */
bool csi_ctx_alive(struct csi_ctx *ctx);

/* Milliseconds until the deadline, at least 0, at most limit_ms. */
uint32_t csi_ctx_remaining_ms(const struct csi_ctx *ctx, uint32_t limit_ms);

/* Waits up to duration_ms, and as long as somebody waits for the answer. False, as csi_ctx_alive(), when
 * nobody does. */
bool csi_pause(struct csi_ctx *ctx, uint32_t duration_ms) CSI_MUST_CHECK;

#endif
