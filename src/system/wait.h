/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for a service to get somewhere: how long between two looks, and when it is given up.
 */
#ifndef CSI_SYSTEM_WAIT_H
#define CSI_SYSTEM_WAIT_H

#include "system/service.h"

enum {
  CSI_SERVICE_WAIT_MS = 10 * 60 * 1000,   /* longest in all, whatever progress there is */
  CSI_SERVICE_HINT_MS_MAX = 5 * 60 * 1000 /* longest a service may ask to be left without progress */
};

struct csi_service_wait {
  const struct csi_service *service;
  int64_t begin_ns;
  int64_t look_ns;                  /* just before the last look */
  int64_t progress_ns;              /* just after the one that saw another state or check point */
  struct csi_service_status status; /* of the last look */
  unsigned pauses;
};

struct csi_service_wait csi_service_wait_begin(const struct csi_service *service);

/* Asks for the status, into wait->status. */
bool csi_service_look(struct csi_service_wait *wait) CSI_MUST_CHECK;

/* Pauses after a look; the first times only for some milliseconds, since most services are quick.
 *
 * False, with DEADLINE_EXCEEDED or CANCELLED, when the call's time is over, or when the service has made no
 * progress for so long that nothing more is expected. */
bool csi_service_wait(struct csi_service_wait *wait) CSI_MUST_CHECK;

/* Milliseconds to the next look: more and more, but the service's progress is seen in good time. Pure.
 * pauses: how many there were before. */
uint32_t csi_service_wait_interval_ms(unsigned pauses, uint32_t wait_hint_ms);

#endif
