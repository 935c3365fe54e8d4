/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls that make a logon session, as a table: Wine has none of them. A program that defines csi_logon
 * itself gets its definition, as with csi_nt (win32/nt_calls.h).
 */
#ifndef CSI_SMB_LOGON_CALLS_WIN32_H
#define CSI_SMB_LOGON_CALLS_WIN32_H

#include <windows.h>

/* Each as the call of that name is documented. */
struct csi_logon_calls {
  __typeof__(LogonUserW) *logon_user;
  __typeof__(ImpersonateLoggedOnUser) *impersonate_logged_on_user;
  __typeof__(RevertToSelf) *revert_to_self;
};

extern const struct csi_logon_calls csi_logon;

#endif
