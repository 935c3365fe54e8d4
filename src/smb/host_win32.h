/* SPDX-License-Identifier: Apache-2.0
 *
 * The SMB group's host on Windows. There are two ways to global mappings: WNetAddConnection4W of mpr.dll
 * with CONNECT_GLOBAL_MAPPING, and the class MSFT_SmbGlobalMapping through mi.dll. Both DLLs are loaded when
 * first needed, from the system directory only.
 */
#ifndef CSI_SMB_HOST_WIN32_H
#define CSI_SMB_HOST_WIN32_H

#include "smb/host.h"
#include "smb/route.h"

/* The host; one for the process. Chooses the route again when called with another. */
const struct csi_smb_host *csi_smb_host_win32(enum csi_smb_route route);

#endif
