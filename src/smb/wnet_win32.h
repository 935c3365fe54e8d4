/* SPDX-License-Identifier: Apache-2.0
 *
 * Global mappings through mpr.dll: WNetAddConnection4W with CONNECT_GLOBAL_MAPPING. Loads nothing but mpr.dll
 * and credui.dll.
 */
#ifndef CSI_SMB_WNET_WIN32_H
#define CSI_SMB_WNET_WIN32_H

#include "smb/host.h"

/* Steps by mpr.dll; one table for the process. */
const struct csi_smb_host *csi_smb_wnet_host(void);

/* Whether this Windows has the functions. False with what is missing. Whether it knows the flag only a
 * mapping shows: csi_smb_wnet_is_unknown_flag(). */
bool csi_smb_wnet_probe(struct csi_ctx *ctx) CSI_MUST_CHECK;

/* True when add() has failed in the way a Windows refuses a flag it does not know. */
bool csi_smb_wnet_is_unknown_flag(const struct csi_status *status);

#endif
