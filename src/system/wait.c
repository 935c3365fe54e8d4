/* SPDX-License-Identifier: Apache-2.0 */
#include "system/wait.h"

#include <inttypes.h>

enum {
  NS_PER_MS = 1000000,
  QUICK_PAUSES = 5,           /* 1, 2, 4, 8, 16 ms */
  INTERVAL_MS_STEP = 25,      /* then 25, 50, 75 ms, ... */
  INTERVAL_MS_UNHINTED = 250, /* and no longer, unless the service asks for more */
  INTERVAL_MS_MAX = 1000,
  HINT_SHARE = 10, /* Windows' own advice */
};

struct csi_service_wait csi_service_wait_begin(const struct csi_service *service) {
  int64_t now_ns = csi_now_ns();
  return (struct csi_service_wait){
      .service = service, .begin_ns = now_ns, .look_ns = now_ns, .progress_ns = now_ns};
}

bool csi_service_look(struct csi_service_wait *wait) {
  struct csi_service_status before = wait->status;
  wait->look_ns = csi_now_ns();
  if (!csi_service_get_status(wait->service, &wait->status)) return false;
  if (wait->status.state != before.state || wait->status.check_point != before.check_point)
    wait->progress_ns = csi_now_ns();
  return true;
}

uint32_t csi_service_wait_interval_ms(unsigned pauses, uint32_t wait_hint_ms) {
  if (pauses < QUICK_PAUSES) return 1U << pauses;
  unsigned steps = pauses - QUICK_PAUSES + 1;
  uint32_t grown_ms = steps < INTERVAL_MS_UNHINTED / INTERVAL_MS_STEP ? steps * INTERVAL_MS_STEP
                                                                      : (uint32_t)INTERVAL_MS_UNHINTED;
  uint32_t hinted_ms = wait_hint_ms / HINT_SHARE;
  if (hinted_ms > INTERVAL_MS_MAX) hinted_ms = INTERVAL_MS_MAX;
  return hinted_ms > grown_ms ? hinted_ms : grown_ms;
}

/* A service may ask for more time than it is given anyway. */
static uint32_t patience_ms(const struct csi_service_wait *wait) {
  uint32_t hint_ms = wait->status.wait_hint_ms, given_ms = wait->service->group->patience_ms;
  if (hint_ms > CSI_SERVICE_HINT_MS_MAX) hint_ms = CSI_SERVICE_HINT_MS_MAX;
  return hint_ms > given_ms ? hint_ms : given_ms;
}

static bool check_hope(const struct csi_service_wait *wait) {
  struct csi_status *failure = &wait->service->ctx->status;
  int64_t still_ms = (wait->look_ns - wait->progress_ns) / NS_PER_MS;
  const char *state = csi_service_state_name(wait->status.state);
  if (still_ms >= patience_ms(wait))
    return csi_fail(failure, CSI_DEADLINE_EXCEEDED, "it is %s, without progress for %" PRId64 " ms", state,
                    still_ms);
  if (wait->look_ns - wait->begin_ns >= (int64_t)CSI_SERVICE_WAIT_MS * NS_PER_MS)
    return csi_fail(failure, CSI_DEADLINE_EXCEEDED, "it is still %s after %d s", state,
                    CSI_SERVICE_WAIT_MS / 1000);
  return true;
}

bool csi_service_wait(struct csi_service_wait *wait) {
  struct csi_ctx *ctx = wait->service->ctx;
  if (!check_hope(wait)) return false;
  uint32_t interval_ms = csi_service_wait_interval_ms(wait->pauses++, wait->status.wait_hint_ms);
  return csi_pause(ctx, interval_ms) ||
         csi_explain(&ctx->status, "it is %s: ", csi_service_state_name(wait->status.state));
}
