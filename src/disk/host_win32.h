/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSI_DISK_HOST_WIN32_H
#define CSI_DISK_HOST_WIN32_H

#include "disk/host.h"

/* The host of this machine, through device calls. One for the whole process; nothing to free. Changes need
 * an administrator. */
const struct csi_disk_host *csi_disk_host_win32(void);

#endif
