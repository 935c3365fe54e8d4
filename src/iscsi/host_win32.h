/* SPDX-License-Identifier: Apache-2.0
 *
 * The iSCSI group's host on Windows: iscsidsc.dll, loaded when first needed, from the system directory only.
 */
#ifndef CSI_ISCSI_HOST_WIN32_H
#define CSI_ISCSI_HOST_WIN32_H

#include "iscsi/host.h"

const struct csi_iscsi_host *csi_iscsi_host_win32(void);

#endif
