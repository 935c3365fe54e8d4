/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/logon_calls_win32.h"

/* Nothing else may stand in this file: see the header. */
const struct csi_logon_calls csi_logon = {
    .logon_user = LogonUserW,
    .impersonate_logged_on_user = ImpersonateLoggedOnUser,
    .revert_to_self = RevertToSelf,
};
