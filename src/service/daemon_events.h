/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon's own events, put into words. Each may be called with the Event Log off.
 */
#ifndef CSI_SERVICE_DAEMON_EVENTS_H
#define CSI_SERVICE_DAEMON_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "service/options.h"

/* With the version, and the flags that differ from their defaults. */
void csi_daemon_tell_starting(const struct csi_options *options);

/* versions: API versions that are served. directories: below which clients may work, as the log shows them.
 */
void csi_daemon_tell_started(const struct csi_options *options, size_t versions, const char *directories);

/* The start failed; by CONFIGURATION_REFUSED when no retry makes it valid. */
void csi_daemon_tell_failed(const struct csi_status *status);

void csi_daemon_tell_stopping(uint32_t grace_ms);

/* cancelled: calls that did not finish within grace_ms. */
void csi_daemon_tell_cancelled(size_t cancelled, uint32_t grace_ms);

/* idle: false when calls hang in the system. */
void csi_daemon_tell_stopped(size_t cancelled, bool idle);

#endif
