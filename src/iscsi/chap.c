/* SPDX-License-Identifier: Apache-2.0
 *
 * Secrets for CHAP, and SetMutualChapSecret.
 */
#include "iscsi/chap.h"

#include <string.h>

#include "iscsi/handlers.h"
#include "iscsi/reach.h"

/* Its length is not told: an error text goes into logs. */
static bool check_secret(struct csi_ctx *ctx, const char *secret, const char *field) {
  size_t length = strlen(secret);
  if (length >= CSI_ISCSI_SECRET_BYTES_MIN && length <= CSI_ISCSI_SECRET_BYTES_MAX) return true;
  return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT,
                  length == 0 ? "%s is missing: it has %d to %d bytes" : "%s must have %d to %d bytes", field,
                  CSI_ISCSI_SECRET_BYTES_MIN, CSI_ISCSI_SECRET_BYTES_MAX);
}

bool csi_iscsi_read_chap(struct csi_ctx *ctx, const struct csi_iscsi_connect_target_request *request,
                         struct csi_iscsi_login *login) {
  login->username = "";
  login->secret = "";
  switch (request->auth_type) {
  case CSI_ISCSI_AUTHENTICATION_TYPE_NONE:
    login->authentication = CSI_ISCSI_AUTH_NONE;
    return true;
  case CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP:
    login->authentication = CSI_ISCSI_AUTH_ONE_WAY_CHAP;
    break;
  case CSI_ISCSI_AUTHENTICATION_TYPE_MUTUAL_CHAP:
    login->authentication = CSI_ISCSI_AUTH_MUTUAL_CHAP;
    break;
  default:
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "invalid authentication type authType=%d",
                    (int)request->auth_type);
  }
  login->username = request->chap_username;
  login->secret = request->chap_secret;
  return check_secret(ctx, request->chap_secret, "chap_secret");
}

bool csi_iscsi_serve_set_mutual_chap_secret(struct csi_ctx *ctx, struct csi_iscsi *group,
                                            const struct csi_iscsi_set_mutual_chap_secret_request *request,
                                            struct csi_iscsi_set_mutual_chap_secret_response *response) {
  (void)response;
  const struct csi_iscsi_host *host = group->host;
  if (check_secret(ctx, request->mutual_chap_secret, "MutualChapSecret") &&
      host->set_chap_secret(host->self, ctx, request->mutual_chap_secret))
    return true;
  csi_explain(&ctx->status, "error setting mutual chap secret. err: ");
  return csi_iscsi_advise(ctx);
}
