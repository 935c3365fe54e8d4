/* SPDX-License-Identifier: Apache-2.0
 *
 * The system group's host on Windows: the service manager and the firmware's tables.
 */
#ifndef CSI_SYSTEM_HOST_WIN32_H
#define CSI_SYSTEM_HOST_WIN32_H

#include "system/host.h"

const struct csi_system_host *csi_system_host_win32(void);

#endif
