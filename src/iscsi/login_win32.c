/* SPDX-License-Identifier: Apache-2.0
 *
 * What is called with secrets. They are copied into the call, which is wiped when the library returns, also
 * when nobody waits for it any more, and nowhere else.
 */
#include <string.h>

#include "iscsi/host_win32_parts.h"
#include "iscsi/library_win32.h"

enum { TEXT_BYTES = 256 };

struct login_call {
  struct csi_library_call call; /* first */
  const struct csi_iscsi_library *library;
  wchar_t target_w[CSI_ISCSI_NAME_UNITS];
  ISCSI_TARGET_PORTALW portal;
  ISCSI_LOGIN_OPTIONS options;
  UCHAR username[TEXT_BYTES];
  UCHAR secret[TEXT_BYTES];
  ISCSI_UNIQUE_SESSION_ID session, connection;
};

static bool copy_text(struct csi_ctx *ctx, const char *text, const char *what, UCHAR text_out[TEXT_BYTES],
                      ULONG *length_bytes_out) {
  size_t length_bytes = strlen(text);
  if (length_bytes > TEXT_BYTES)
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "the %s is too long", what);
  memcpy(text_out, text, length_bytes);
  *length_bytes_out = (ULONG)length_bytes;
  return true;
}

static ULONG authentication_of(enum csi_iscsi_authentication authentication) {
  switch (authentication) {
  case CSI_ISCSI_AUTH_ONE_WAY_CHAP:
    return ISCSI_CHAP_AUTH_TYPE;
  case CSI_ISCSI_AUTH_MUTUAL_CHAP:
    return ISCSI_MUTUAL_CHAP_AUTH_TYPE;
  default:
    return ISCSI_NO_AUTH_TYPE;
  }
}

/* UNVERIFIED ON WINDOWS: that the user's bytes are taken as they are, UTF-8 beyond ASCII. */
static bool fill_options(struct csi_ctx *ctx, const struct csi_iscsi_login *login, struct login_call *call) {
  ISCSI_LOGIN_OPTIONS *options = &call->options;
  options->Version = ISCSI_LOGIN_OPTIONS_VERSION;
  options->InformationSpecified = ISCSI_LOGIN_OPTIONS_AUTH_TYPE;
  options->AuthType = authentication_of(login->authentication);
  if (!copy_text(ctx, login->username, "CHAP user name", call->username, &options->UsernameLength) ||
      !copy_text(ctx, login->secret, "CHAP secret", call->secret, &options->PasswordLength))
    return false;
  if (options->UsernameLength > 0) {
    options->InformationSpecified |= ISCSI_LOGIN_OPTIONS_USERNAME;
    options->Username = call->username;
  }
  if (options->PasswordLength > 0) {
    options->InformationSpecified |= ISCSI_LOGIN_OPTIONS_PASSWORD;
    options->Password = call->secret;
  }
  return true;
}

static void run_login(struct csi_library_call *call) {
  struct login_call *login = (struct login_call *)call;
  call->error =
      login->library->login(login->target_w, FALSE, NULL, ISCSI_ANY_INITIATOR_PORT, &login->portal, 0, NULL,
                            &login->options, 0, NULL, FALSE, &login->session, &login->connection);
}

/* The object is the target, so that while a login that was given up goes on, others fail at once. */
bool csi_win32_login(void *self, struct csi_ctx *ctx, const struct csi_iscsi_login *login) {
  (void)self;
  const struct csi_iscsi_library *library = csi_iscsi_library(ctx);
  const char *object = csi_iscsi_target_object(ctx, login->target);
  if (library == NULL || object == NULL) return false;
  struct login_call *call = csi_library_call_new(ctx, sizeof *call, run_login, "LoginIScsiTargetW");
  if (call == NULL) return false;
  call->library = library;
  if (csi_iscsi_library_widen(ctx, login->target, call->target_w, CSI_ISCSI_NAME_UNITS) &&
      csi_win32_fill_portal(ctx, login->portal, &call->portal) && fill_options(ctx, login, call))
    return csi_iscsi_library_run(ctx, &call->call, object);
  csi_library_call_free(&call->call);
  return false;
}

struct secret_call {
  struct csi_library_call call; /* first */
  const struct csi_iscsi_library *library;
  UCHAR secret[TEXT_BYTES];
  ULONG secret_bytes;
};

static void run_set_chap_secret(struct csi_library_call *call) {
  struct secret_call *set = (struct secret_call *)call;
  call->error = set->library->set_chap_secret(set->secret_bytes, set->secret);
}

bool csi_win32_set_chap_secret(void *self, struct csi_ctx *ctx, const char *secret) {
  (void)self;
  const struct csi_iscsi_library *library = csi_iscsi_library(ctx);
  if (library == NULL) return false;
  struct secret_call *call =
      csi_library_call_new(ctx, sizeof *call, run_set_chap_secret, "SetIScsiInitiatorCHAPSharedSecret");
  if (call == NULL) return false;
  call->library = library;
  if (copy_text(ctx, secret, "CHAP secret", call->secret, &call->secret_bytes))
    return csi_iscsi_library_run(ctx, &call->call, "iSCSI CHAP secret");
  csi_library_call_free(&call->call);
  return false;
}
