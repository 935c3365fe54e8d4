/* SPDX-License-Identifier: Apache-2.0
 *
 * DisconnectTarget.
 */
#include "base/log.h"
#include "iscsi/handlers.h"
#include "iscsi/name.h"
#include "iscsi/reach.h"

enum {
  BUSY_MS = 3000, /* how long sessions that are busy are tried to be ended, all of them together */
  BUSY_PAUSE_MS = 200,
  NS_PER_MS = 1000000,
};

/* A call under way: what has failed first, and how much. */
struct disconnecting {
  struct csi_iscsi *group;
  struct csi_ctx *ctx;
  const struct csi_iscsi_ref *ref;
  struct csi_status failure; /* CSI_OK = none */
  size_t failed;             /* sessions that would not end */
};

/* Keeps the first failure; the others are logged. */
static void take_failure(struct disconnecting *call) {
  struct csi_status *status = &call->ctx->status;
  if (csi_status_ok(&call->failure))
    call->failure = *status;
  else
    CSI_LOG(WARNING, "%s", status->text);
  csi_status_clear(status);
}

/* A failure that keeps nobody from ending the sessions; false when nobody waits for that any more. */
static bool go_on(struct disconnecting *call) {
  if (!csi_ctx_alive(call->ctx)) return false;
  take_failure(call);
  return true;
}

/* The persistent logins of the target. */
struct logins {
  const struct csi_iscsi_persistent_login **items; /* in the arena */
  size_t count;
};

static bool find_persistent_logins(struct disconnecting *call, struct logins *logins_out) {
  const struct csi_iscsi_host *host = call->group->host;
  struct csi_ctx *ctx = call->ctx;
  const struct csi_iscsi_persistent_login *all;
  size_t count;
  *logins_out = (struct logins){0};
  if (!host->list_persistent_logins(host->self, ctx, &all, &count))
    return csi_explain(&ctx->status,
                       "error query session persistency of target %s from target portal at %s. err: ",
                       call->ref->iqn, call->ref->place);
  logins_out->items = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *logins_out->items);
  if (logins_out->items == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++)
    if (csi_iscsi_name_is_equal(all[i].target, call->ref->iqn))
      logins_out->items[logins_out->count++] = &all[i];
  return true;
}

/* Removing one may have removed others, or somebody else was faster: what counts is whether any is left. */
static bool check_removal(struct disconnecting *call, const struct csi_status *failure) {
  struct logins left;
  csi_status_clear(&call->ctx->status);
  if (!find_persistent_logins(call, &left)) return go_on(call);
  if (left.count == 0) return true;
  call->ctx->status = *failure;
  take_failure(call);
  return true;
}

/* Makes the initiator forget the target, before anything else: else a machine that restarts in between is
 * connected again, and nobody knows. */
static bool remove_persistent_logins(struct disconnecting *call) {
  const struct csi_iscsi_host *host = call->group->host;
  struct csi_ctx *ctx = call->ctx;
  struct csi_status failure = {.code = CSI_OK};
  struct logins logins;
  if (!find_persistent_logins(call, &logins)) return go_on(call);
  for (size_t i = 0; i < logins.count; i++) {
    if (host->remove_persistent_login(host->self, ctx, logins.items[i])) continue;
    csi_explain(&ctx->status,
                "error unregister session on target %s from target portal at %s. err: ", call->ref->iqn,
                call->ref->place);
    if (csi_status_ok(&failure)) failure = ctx->status;
    csi_status_clear(&ctx->status);
    if (!csi_ctx_alive(ctx)) {
      ctx->status = failure;
      return false;
    }
  }
  return csi_status_ok(&failure) || check_removal(call, &failure);
}

static bool explain_disconnecting(struct disconnecting *call) {
  return csi_explain(&call->ctx->status,
                     "error disconnecting target %s from target portal at %s. err: ", call->ref->iqn,
                     call->ref->place);
}

static bool explain_sessions(struct disconnecting *call) {
  return csi_explain(&call->ctx->status,
                     "error query session of target %s from target portal at %s. err: ", call->ref->iqn,
                     call->ref->place);
}

/* Ends a session. One that is busy is tried again: what uses its disks may just be letting go of them.
 * UNVERIFIED ON WINDOWS: that a session is busy for a moment only when nobody has its disks open. */
static bool log_out_session(struct disconnecting *call, const struct csi_iscsi_session *session,
                            int64_t end_ns) {
  const struct csi_iscsi_host *host = call->group->host;
  while (!host->logout(host->self, call->ctx, session)) {
    if (!csi_iscsi_is_busy(call->ctx) || csi_now_ns() >= end_ns) return false;
    csi_status_clear(&call->ctx->status);
    if (!csi_pause(call->ctx, BUSY_PAUSE_MS)) return false;
  }
  return true;
}

/* Ends every session, also when one of them would not end. */
static void log_out(struct disconnecting *call, const struct csi_iscsi_sessions *sessions) {
  uint32_t limit_ms = csi_ctx_remaining_ms(call->ctx, 2 * BUSY_MS) / 2;
  const int64_t end_ns = csi_now_ns() + (int64_t)limit_ms * NS_PER_MS;
  for (size_t i = 0; i < sessions->count; i++) {
    if (log_out_session(call, sessions->items[i], end_ns)) continue;
    bool is_gone = csi_iscsi_failed_with(call->ctx, CSI_ISDSC_INVALID_SESSION_ID);
    if (is_gone) {
      csi_status_clear(&call->ctx->status);
      continue;
    }
    explain_disconnecting(call);
    take_failure(call);
    call->failed++;
    if (!csi_ctx_alive(call->ctx)) break; /* the first failure tells what was under way */
  }
  csi_status_clear(&call->ctx->status);
}

/* All sessions have ended, as the initiator says: they must not be in its list any more. */
static bool await_end(struct disconnecting *call) {
  struct csi_iscsi_sessions sessions;
  if (!csi_iscsi_await_sessions(call->group, call->ctx, call->ref, false, &sessions))
    return explain_sessions(call);
  if (sessions.count == 0) return true;
  csi_fail(&call->ctx->status, CSI_FAILED_PRECONDITION,
           "the initiator reported the logout, but it still has %zu sessions with the target",
           sessions.count);
  return explain_disconnecting(call);
}

/* The portal is not asked for: a driver may have removed it already, and the name tells the target. */
static bool disconnect(struct disconnecting *call) {
  struct csi_iscsi_sessions sessions;
  if (!remove_persistent_logins(call)) return false;
  if (csi_iscsi_find_sessions(call->group, call->ctx, call->ref, &sessions)) {
    log_out(call, &sessions);
  } else {
    explain_sessions(call);
    take_failure(call);
  }
  if (csi_status_ok(&call->failure)) return sessions.count == 0 || await_end(call);
  call->ctx->status = call->failure;
  if (call->failed > 0 && sessions.count > 1)
    csi_advise(&call->ctx->status, " (%zu of %zu sessions could not be ended)", call->failed, sessions.count);
  return false;
}

bool csi_iscsi_serve_disconnect_target(struct csi_ctx *ctx, struct csi_iscsi *group,
                                       const struct csi_iscsi_disconnect_target_request *request,
                                       struct csi_iscsi_disconnect_target_response *response) {
  (void)response;
  struct csi_iscsi_ref ref;
  struct disconnecting call = {.group = group, .ctx = ctx, .ref = &ref};
  CSI_SCOPED_LOCK lock = {0};
  if (!csi_iscsi_ref_target(ctx, request->target_portal, request->iqn, &ref)) return false;
  if (!csi_iscsi_lock_target(group, ctx, &ref, "DisconnectTarget", &lock))
    return explain_disconnecting(&call);
  return disconnect(&call) || csi_iscsi_advise(ctx);
}
