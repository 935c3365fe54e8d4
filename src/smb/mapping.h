/* SPDX-License-Identifier: Apache-2.0
 *
 * When a mapping is made, kept, made anew, or ended. Others may be using it: one that works is ended only
 * for credentials that the server has just taken, and none because a network or a server is away.
 *
 * The caller holds the lock of the share.
 */
#ifndef CSI_SMB_MAPPING_H
#define CSI_SMB_MAPPING_H

#include <stdbool.h>

#include "smb/state.h"

/* Whether a mapping was there before a call. */
enum csi_mapping_origin {
  CSI_MAPPING_FOUND,
  CSI_MAPPING_MADE,
  CSI_MAPPING_UNTOLD, /* the system did not say that there was one, nor that there was none */
};

/* Sees to it that the share is mapped with these credentials.
 *
 * Fails with what the host says, "NewSmbGlobalMapping failed. err: " or "error remove smb mapping" before it.
 */
bool csi_mapping_ensure(struct csi_smb *group, struct csi_ctx *ctx, const char *root,
                        const struct csi_smb_credentials *credentials,
                        enum csi_mapping_origin *origin_out) CSI_MUST_CHECK;

/* Takes back what csi_mapping_ensure() has made, also when nobody waits any more. Keeps the failure that
 * ctx->status has, and adds to its text when something may be left over. */
void csi_mapping_take_back(struct csi_smb *group, struct csi_ctx *ctx, const char *root,
                           enum csi_mapping_origin origin);

/* Ends the mapping of a share; one that is not mapped is a success. */
bool csi_mapping_end(struct csi_smb *group, struct csi_ctx *ctx, const char *root) CSI_MUST_CHECK;

#endif
