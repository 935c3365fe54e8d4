/* SPDX-License-Identifier: Apache-2.0
 *
 * Credentials as the class MSFT_SmbGlobalMapping takes them. Pure functions.
 */
#ifndef CSI_SMB_CREDENTIAL_TEXT_H
#define CSI_SMB_CREDENTIAL_TEXT_H

#include "base/arena.h"

/* `user:password`: in the user, a backslash stands before each backslash and each colon; the password is as
 * it is. The arena must be a secret one. NULL when memory is short. */
char *csi_smb_credential_text(struct csi_arena *arena, const char *username,
                              const char *password) CSI_MUST_CHECK;

#endif
