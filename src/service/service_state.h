/* SPDX-License-Identifier: Apache-2.0
 *
 * What a service tells the service manager, as a state machine: which state may follow which, which
 * controls are accepted in it, how check points count. Knows no Windows call; the report goes through
 * a function. Thread-safe: the control handler and the service's own thread both use it. Reports leave
 * one at a time and in order.
 */
#ifndef CSI_SERVICE_SERVICE_STATE_H
#define CSI_SERVICE_SERVICE_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum csi_service_phase {
  CSI_SERVICE_NEW, /* nothing has been reported */
  CSI_SERVICE_START_PENDING,
  CSI_SERVICE_RUNNING,
  CSI_SERVICE_STOP_PENDING,
  CSI_SERVICE_STOPPED, /* nothing may follow */
  CSI_SERVICE_PHASE_COUNT,
};

struct csi_service_report {
  enum csi_service_phase phase;
  bool accepts_stop;      /* stop, shutdown and pre-shutdown may be sent now; no other control ever */
  uint32_t check_point;   /* counts up within a pending phase; 0 in the others */
  uint32_t wait_hint_ms;  /* time until the next report, at most; 0 when the phase is not pending */
  uint32_t specific_code; /* CSI_SERVICE_STOPPED only; 0 = success */
};

/* Hands one report to the service manager. Must not call back into the state. */
typedef void csi_service_report_fn(void *context, const struct csi_service_report *report);

struct csi_service_state {
  pthread_mutex_t lock;
  struct csi_service_report last;
  csi_service_report_fn *report;
  void *context;
};

void csi_service_state_init(struct csi_service_state *state, csi_service_report_fn *report, void *context);
void csi_service_state_fini(struct csi_service_state *state);

/* Goes to START_PENDING or STOP_PENDING, or, when already there, reports the next check point.
 * False, and nothing is reported, when the phase may not follow the present one. */
bool csi_service_state_pending(struct csi_service_state *state, enum csi_service_phase phase,
                               uint32_t wait_hint_ms);

/* START_PENDING to RUNNING. False and no report otherwise. */
bool csi_service_state_running(struct csi_service_state *state);

/* Any pending phase or RUNNING to STOPPED. False and no report when already stopped. */
bool csi_service_state_stopped(struct csi_service_state *state, uint32_t specific_code);

#endif
