/* SPDX-License-Identifier: Apache-2.0
 *
 * Global mappings through mi.dll: the class MSFT_SmbGlobalMapping in ROOT\Microsoft\Windows\SMB, which is
 * what PowerShell's *-SmbGlobalMapping use.
 */
#ifndef CSI_SMB_MI_WIN32_H
#define CSI_SMB_MI_WIN32_H

#include "smb/host.h"

/* Steps by that class; one table for the process. The class does not tell whose credentials a mapping has,
 * so add() over an existing one always fails with CSI_SMB_ALREADY_ASSIGNED. */
const struct csi_smb_host *csi_smb_mi_host(void);

/* Whether this Windows has mi.dll and the class. False with what is missing. Blocks at most until the call's
 * deadline. */
bool csi_smb_mi_probe(struct csi_ctx *ctx) CSI_MUST_CHECK;

#endif
