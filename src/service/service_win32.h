/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon under the Windows service manager, as the service "csiproxy" in a process of its own.
 */
#ifndef CSI_SERVICE_SERVICE_WIN32_H
#define CSI_SERVICE_SERVICE_WIN32_H

#include "service/daemon.h"

/* Connects to the service manager and runs the daemon: START_PENDING until every pipe listens, RUNNING,
 * STOP_PENDING while calls finish, STOPPED when the pipes and the Event Log (event_log.h) are closed. A
 * failure becomes the service-specific exit code, see enum csi_exit.
 *
 * refused: why the configuration cannot be used; the service then only reports CSI_EXIT_CONFIG.
 *   CSI_OK = it can.
 *
 * Explains itself on stderr and returns CSI_EXIT_CONFIG when the service manager did not start this
 * process. To be called once, on the main thread; blocks until the service has stopped. */
enum csi_exit csi_service_run(const struct csi_options *options, const struct csi_program *program,
                              const struct csi_status *refused);

#endif
