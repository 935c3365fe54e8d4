/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSI_FILESYSTEM_HOST_WIN32_H
#define CSI_FILESYSTEM_HOST_WIN32_H

#include "filesystem/host.h"

/* The host of this machine, through NT calls on handles. One for the whole process; nothing to free.
 * Removal of what others' ACLs protect, and links, need SeBackupPrivilege, SeRestorePrivilege and
 * SeCreateSymbolicLinkPrivilege, enabled. */
const struct csi_filesystem_host *csi_filesystem_host_win32(void);

#endif
