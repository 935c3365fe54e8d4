/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that is linked with this file has logon sessions where Wine has none: each thread is one, which
 * is what the testbed's mpr.dll takes it for.
 */
#include "smb/logon_calls_win32.h"

static BOOL WINAPI log_on_user(const wchar_t *user_w, const wchar_t *domain_w, const wchar_t *password_w,
                               DWORD type, DWORD provider, HANDLE *session_out) {
  (void)password_w;
  if (user_w == NULL || domain_w == NULL || type != LOGON32_LOGON_NEW_CREDENTIALS ||
      provider != LOGON32_PROVIDER_WINNT50) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return FALSE;
  }
  *session_out = CreateEventW(NULL, TRUE, FALSE, NULL);
  return *session_out != NULL;
}

static BOOL WINAPI impersonate(HANDLE session) {
  (void)session;
  return TRUE;
}

static BOOL WINAPI revert(void) {
  return TRUE;
}

const struct csi_logon_calls csi_logon = {
    .logon_user = log_on_user,
    .impersonate_logged_on_user = impersonate,
    .revert_to_self = revert,
};
