/* SPDX-License-Identifier: Apache-2.0
 *
 * The ways to global mappings on Windows (host_win32.h).
 */
#ifndef CSI_SMB_ROUTE_H
#define CSI_SMB_ROUTE_H

enum csi_smb_route {
  CSI_SMB_ROUTE_AUTO = 0, /* mpr.dll when it has the call and knows the flag, else mi.dll */
  CSI_SMB_ROUTE_WNET,
  CSI_SMB_ROUTE_MI,
};

#endif
