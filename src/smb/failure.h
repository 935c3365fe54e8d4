/* SPDX-License-Identifier: Apache-2.0
 *
 * What the failure of a step means for a mapping, and what people can do about it.
 */
#ifndef CSI_SMB_FAILURE_H
#define CSI_SMB_FAILURE_H

#include <stdbool.h>

#include "base/status.h"

/* True for one Win32 error, in whatever space the status has it. */
bool csi_smb_failed_with(const struct csi_status *status, uint32_t error);

/* True when there is a mapping with other credentials, or may be: CSI_SMB_ALREADY_ASSIGNED,
 * CSI_SMB_SESSION_CREDENTIAL_CONFLICT. */
bool csi_smb_is_conflict(const struct csi_status *status);

/* True when the server or Windows has said for certain that the session behind a mapping is of no use: its
 * credentials are refused, or it is not there. Everything else may be over in a moment. */
bool csi_smb_is_refusal(const struct csi_status *status);

/* Appends what to do about the common errors of shares. Returns false. */
bool csi_smb_advise(struct csi_status *status);

#endif
