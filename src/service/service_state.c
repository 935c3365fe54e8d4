/* SPDX-License-Identifier: Apache-2.0 */
#include "service/service_state.h"

#define BIT(phase) (1U << (phase))

/* The phases from which each may be entered. A pending phase may follow itself: that is a check point. */
static const unsigned entered_from[CSI_SERVICE_PHASE_COUNT] = {
    [CSI_SERVICE_START_PENDING] = BIT(CSI_SERVICE_NEW) | BIT(CSI_SERVICE_START_PENDING),
    [CSI_SERVICE_RUNNING] = BIT(CSI_SERVICE_START_PENDING),
    [CSI_SERVICE_STOP_PENDING] = BIT(CSI_SERVICE_RUNNING) | BIT(CSI_SERVICE_STOP_PENDING),
    [CSI_SERVICE_STOPPED] =
        BIT(CSI_SERVICE_START_PENDING) | BIT(CSI_SERVICE_RUNNING) | BIT(CSI_SERVICE_STOP_PENDING),
};

static bool is_pending(enum csi_service_phase phase) {
  return phase == CSI_SERVICE_START_PENDING || phase == CSI_SERVICE_STOP_PENDING;
}

static bool enter(struct csi_service_state *state, struct csi_service_report next) {
  pthread_mutex_lock(&state->lock);
  bool allowed = (entered_from[next.phase] & BIT(state->last.phase)) != 0;
  if (allowed) {
    next.accepts_stop = next.phase == CSI_SERVICE_RUNNING;
    if (is_pending(next.phase))
      next.check_point = next.phase == state->last.phase ? state->last.check_point + 1 : 1;
    state->last = next;
    state->report(state->context, &next);
  }
  pthread_mutex_unlock(&state->lock);
  return allowed;
}

void csi_service_state_init(struct csi_service_state *state, csi_service_report_fn *report, void *context) {
  pthread_mutex_init(&state->lock, NULL);
  state->last = (struct csi_service_report){.phase = CSI_SERVICE_NEW};
  state->report = report;
  state->context = context;
}

void csi_service_state_fini(struct csi_service_state *state) {
  pthread_mutex_destroy(&state->lock);
}

bool csi_service_state_pending(struct csi_service_state *state, enum csi_service_phase phase,
                               uint32_t wait_hint_ms) {
  return is_pending(phase) &&
         enter(state, (struct csi_service_report){.phase = phase, .wait_hint_ms = wait_hint_ms});
}

bool csi_service_state_running(struct csi_service_state *state) {
  return enter(state, (struct csi_service_report){.phase = CSI_SERVICE_RUNNING});
}

bool csi_service_state_stopped(struct csi_service_state *state, uint32_t specific_code) {
  return enter(state,
               (struct csi_service_report){.phase = CSI_SERVICE_STOPPED, .specific_code = specific_code});
}
