/* SPDX-License-Identifier: Apache-2.0
 *
 * ConnectTarget.
 */
#include "base/log.h"
#include "iscsi/chap.h"
#include "iscsi/handlers.h"
#include "iscsi/reach.h"

static bool explain_connecting(struct csi_ctx *ctx) {
  return csi_explain(&ctx->status, "error connecting to target portal. err: ");
}

/* Finds portal and target as the initiator spells them. A target that the initiator does not know may be
 * newer than the last discovery. */
static bool find_target(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                        struct csi_iscsi_login *login) {
  if (!csi_iscsi_require_portal(group, ctx, ref, &login->portal) ||
      !csi_iscsi_find_target(group, ctx, ref, login->portal, &login->target))
    return false;
  if (login->target != NULL) return true;
  return csi_iscsi_refresh_portal(group, ctx, login->portal) &&
         csi_iscsi_find_target(group, ctx, ref, login->portal, &login->target) &&
         (login->target != NULL || csi_iscsi_fail_target(ctx, ref));
}

/* The login has succeeded, or there was a session before it. */
static bool await_session(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref) {
  struct csi_iscsi_sessions sessions;
  return csi_iscsi_await_sessions(group, ctx, ref, true, &sessions) &&
         (sessions.count > 0 ||
          csi_fail(&ctx->status, CSI_INTERNAL,
                   "the initiator reported a login to %s, but it has no session with this target", ref->iqn));
}

static bool log_in(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                   const struct csi_iscsi_login *login) {
  const struct csi_iscsi_host *host = group->host;
  if (!host->login(host->self, ctx, login)) {
    if (!csi_iscsi_failed_with(ctx, CSI_ISDSC_TARGET_ALREADY_LOGGED_IN)) return false;
    csi_status_clear(&ctx->status);
  }
  return await_session(group, ctx, ref);
}

/* A target that is connected stays as it is, and the portal is not asked: a second login may hang for
 * minutes, and which portal the session goes to does not matter to whoever wants the disk. */
static bool connect(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                    struct csi_iscsi_login *login) {
  struct csi_iscsi_sessions sessions;
  if (!csi_iscsi_find_sessions(group, ctx, ref, &sessions)) return csi_iscsi_explain_target(ctx, ref);
  if (sessions.count > 0) {
    CSI_V(4, "target %s is connected already", ref->iqn);
    return true;
  }
  if (!find_target(group, ctx, ref, login)) return csi_iscsi_explain_target(ctx, ref);
  return log_in(group, ctx, ref, login) || explain_connecting(ctx);
}

bool csi_iscsi_serve_connect_target(struct csi_ctx *ctx, struct csi_iscsi *group,
                                    const struct csi_iscsi_connect_target_request *request,
                                    struct csi_iscsi_connect_target_response *response) {
  (void)response;
  struct csi_iscsi_ref ref;
  struct csi_iscsi_login login = {0};
  CSI_SCOPED_LOCK lock = {0};
  if (!csi_iscsi_ref_target(ctx, request->target_portal, request->iqn, &ref) ||
      !csi_iscsi_read_chap(ctx, request, &login))
    return false;
  if (!csi_iscsi_lock_target(group, ctx, &ref, "ConnectTarget", &lock)) return explain_connecting(ctx);
  return connect(group, ctx, &ref, &login) || csi_iscsi_advise(ctx);
}
