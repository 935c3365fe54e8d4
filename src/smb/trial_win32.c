/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a server takes credentials, beside a mapping: connections belong to logon sessions, and one made
 * for the purpose has none yet.
 */
#include <string.h>
#include <wchar.h>

#include "smb/logon_calls_win32.h"
#include "smb/wnet_calls_win32.h"

/* Nobody checks who it is: the session is this machine's, and its connections name their own user. */
static wchar_t session_user_w[] = L"csi-proxy";
static wchar_t session_domain_w[] = L".";
static wchar_t no_password_w[] = L"";

/* The connection is not cancelled: that call ends global mappings. It goes with its session. */
static void connect_and_look(struct csi_connect *connect) {
  wchar_t path_w[CSI_SMB_ROOT_UNITS + 1];
  csi_connect_run(&connect->call);
  if (connect->call.error != NO_ERROR) return;
  size_t units = wcslen(connect->root_w);
  memcpy(path_w, connect->root_w, units * sizeof *path_w);
  path_w[units] = L'\\';
  path_w[units + 1] = L'\0';
  connect->root_is_denied = csi_smb_open_root(path_w) == ERROR_ACCESS_DENIED;
}

/* UNVERIFIED ON WINDOWS: that a session of this kind has connections of its own, that the root is opened
 * through them, and that they end with the last handle of its token. */
static void run_trial(struct csi_library_call *call) {
  struct csi_connect *connect = (struct csi_connect *)call;
  HANDLE session;
  connect->failed = "LogonUserW";
  if (!csi_logon.logon_user(session_user_w, session_domain_w, no_password_w, LOGON32_LOGON_NEW_CREDENTIALS,
                            LOGON32_PROVIDER_WINNT50, &session)) {
    call->error = GetLastError();
    return;
  }
  connect->failed = "ImpersonateLoggedOnUser";
  if (csi_logon.impersonate_logged_on_user(session)) {
    connect_and_look(connect);
    csi_logon.revert_to_self(); /* the thread ends in any case */
  } else {
    call->error = GetLastError();
  }
  CloseHandle(session);
}

/* No session: this says nothing of the credentials. */
static bool has_no_session(const struct csi_status *status) {
  return status->call != NULL &&
         (strcmp(status->call, "LogonUserW") == 0 || strcmp(status->call, "ImpersonateLoggedOnUser") == 0);
}

bool csi_smb_try_credentials(void *self, struct csi_ctx *ctx, const char *root,
                             const struct csi_smb_credentials *credentials, bool require_privacy,
                             bool *may_look_out) {
  bool root_is_denied = false;
  (void)self;
  *may_look_out = true;
  if (credentials->username[0] == '\0')
    return csi_fail(&ctx->status, CSI_UNIMPLEMENTED, "share %s: there are no credentials to try", root);
  DWORD flags = CONNECT_TEMPORARY;
  if (require_privacy) flags |= CSI_CONNECT_REQUIRE_PRIVACY;
  struct csi_connect *connect = csi_connect_new(ctx, root, credentials, flags, run_trial);
  if (connect == NULL) return false;
  if (csi_connect_finish(ctx, connect, root, &root_is_denied)) {
    *may_look_out = !root_is_denied;
    return true;
  }
  if (has_no_session(&ctx->status)) ctx->status.code = CSI_UNIMPLEMENTED;
  return false;
}
