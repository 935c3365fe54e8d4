/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting a service and waiting until it runs.
 */
#ifndef CSI_SYSTEM_START_H
#define CSI_SYSTEM_START_H

#include "system/service.h"

/* Does nothing when it runs. One that is stopping is started when it has stopped. One that is paused is not
 * touched: FAILED_PRECONDITION, since whoever has paused it wants it so. */
bool csi_service_start(const struct csi_service *service) CSI_MUST_CHECK;

#endif
