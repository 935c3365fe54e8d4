/* SPDX-License-Identifier: Apache-2.0
 *
 * Stopping a service, and those that depend on it.
 */
#ifndef CSI_SYSTEM_STOP_H
#define CSI_SYSTEM_STOP_H

#include "system/service.h"

/* Does nothing when it is stopped.
 *
 * key_name: as the service manager spells it.
 * force: services that depend on it and are not stopped are stopped first; otherwise they are an error.
 * FAILED_PRECONDITION when the service or one of those is protected, or with force does not accept to be
 * stopped; nothing is stopped then. When stopping fails later, the text tells what has been stopped. */
bool csi_service_stop(const struct csi_service *service, const char *key_name, bool force) CSI_MUST_CHECK;

#endif
