/* SPDX-License-Identifier: Apache-2.0 */
#include "iscsi/reach.h"

#include <stdio.h>

#include "base/log.h"
#include "iscsi/name.h"
#include "iscsi/portal.h"

enum {
  SETTLED_MS = 2000, /* until the list of sessions must show what the initiator has reported */
  LOOK_MS = 50,
  NS_PER_MS = 1000000,
};
#define INSUFFICIENT_BUFFER 122 /* a list of the initiator that is just changing */

bool csi_iscsi_ref_portal(struct csi_ctx *ctx, const struct csi_iscsi_target_portal *portal,
                          struct csi_iscsi_ref *ref_out) {
  if (portal == NULL) return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "target_portal is missing");
  const char *problem = csi_iscsi_portal_read(portal->target_address, portal->target_port, &ref_out->portal);
  if (problem != NULL)
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "invalid target portal (%s:%u): %s",
                    portal->target_address, (unsigned)portal->target_port, problem);
  (void)snprintf(ref_out->place, sizeof ref_out->place, "(%s:%u)", ref_out->portal.address,
                 (unsigned)ref_out->portal.port);
  ref_out->iqn = "";
  return true;
}

bool csi_iscsi_ref_target(struct csi_ctx *ctx, const struct csi_iscsi_target_portal *portal, const char *iqn,
                          struct csi_iscsi_ref *ref_out) {
  if (!csi_iscsi_ref_portal(ctx, portal, ref_out)) return false;
  const char *problem = csi_iscsi_name_problem(iqn);
  if (problem != NULL)
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "invalid target name iqn=%s: %s", iqn, problem);
  ref_out->iqn = iqn;
  return true;
}

/* ---- Locks. ---- */

bool csi_iscsi_lock_portal(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                           const char *holder, struct csi_held_lock *lock_out) {
  const struct csi_iscsi_host *host = group->host;
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(&ref->portal, key);
  (void)snprintf(lock_out->key, sizeof lock_out->key, "iSCSI portal %s", key);
  return csi_held_lock_take(group->locks, ctx, holder, lock_out) &&
         host->check_portal(host->self, ctx, &ref->portal);
}

bool csi_iscsi_lock_target(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                           const char *holder, struct csi_held_lock *lock_out) {
  const struct csi_iscsi_host *host = group->host;
  char key[CSI_ISCSI_NAME_BYTES];
  csi_iscsi_name_key(ref->iqn, key);
  (void)snprintf(lock_out->key, sizeof lock_out->key, "iSCSI target %s", key);
  return csi_held_lock_take(group->locks, ctx, holder, lock_out) &&
         host->check_target(host->self, ctx, ref->iqn);
}

/* ---- Portals, targets, sessions. ---- */

bool csi_iscsi_find_portal(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                           const struct csi_iscsi_portal **registered_out) {
  const struct csi_iscsi_host *host = group->host;
  const struct csi_iscsi_portal *portals;
  size_t count;
  *registered_out = NULL;
  if (!host->list_portals(host->self, ctx, &portals, &count)) return false;
  for (size_t i = 0; i < count && *registered_out == NULL; i++)
    if (csi_iscsi_portal_is_equal(&portals[i], &ref->portal)) *registered_out = &portals[i];
  return true;
}

bool csi_iscsi_require_portal(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                              const struct csi_iscsi_portal **registered_out) {
  if (!csi_iscsi_find_portal(group, ctx, ref, registered_out))
    return csi_explain(&ctx->status, "failed to query iSCSI target portal at %s. error: ", ref->place);
  return *registered_out != NULL ||
         csi_fail(&ctx->status, CSI_NOT_FOUND,
                  "failed to query iSCSI target portal at %s. error: not found: it has to be added first "
                  "(AddTargetPortal)",
                  ref->place);
}

bool csi_iscsi_refresh_portal(struct csi_iscsi *group, struct csi_ctx *ctx,
                              const struct csi_iscsi_portal *registered) {
  const struct csi_iscsi_host *host = group->host;
  if (host->refresh_portal(host->self, ctx, registered)) return true;
  if (!csi_iscsi_failed_with(ctx, CSI_ISDSC_OPERATION_NOT_ALL_SUCCESS)) return false;
  /* Some adapter could, and another could not reach the portal. */
  CSI_LOG(WARNING, "asking (%s:%u) for its targets: %s", registered->address, (unsigned)registered->port,
          ctx->status.text);
  csi_status_clear(&ctx->status);
  return true;
}

bool csi_iscsi_find_target(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                           const struct csi_iscsi_portal *registered, const char **name_out) {
  const struct csi_iscsi_host *host = group->host;
  const char **names;
  size_t count;
  *name_out = NULL;
  if (!host->list_targets(host->self, ctx, registered, &names, &count)) return false;
  for (size_t i = 0; i < count && *name_out == NULL; i++)
    if (csi_iscsi_name_is_equal(names[i], ref->iqn)) *name_out = names[i];
  return true;
}

bool csi_iscsi_fail_target(struct csi_ctx *ctx, const struct csi_iscsi_ref *ref) {
  return csi_fail(
      &ctx->status, CSI_NOT_FOUND, "not found%s",
      csi_iscsi_name_is_usual(ref->iqn) ? "" : ": the name of a target begins with iqn., eui. or naa.");
}

bool csi_iscsi_find_sessions(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                             struct csi_iscsi_sessions *sessions_out) {
  const struct csi_iscsi_host *host = group->host;
  const struct csi_iscsi_session *all;
  size_t count;
  *sessions_out = (struct csi_iscsi_sessions){0};
  if (!host->list_sessions(host->self, ctx, &all, &count)) return false;
  sessions_out->items =
      csi_arena_alloc_array(ctx->arena, count == 0 ? 1 : count, sizeof *sessions_out->items);
  if (sessions_out->items == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++)
    if (csi_iscsi_name_is_equal(all[i].target, ref->iqn))
      sessions_out->items[sessions_out->count++] = &all[i];
  return true;
}

bool csi_iscsi_await_sessions(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                              bool is_wanted, struct csi_iscsi_sessions *sessions_out) {
  const int64_t end_ns = csi_now_ns() + (int64_t)SETTLED_MS * NS_PER_MS;
  for (;;) {
    if (!csi_iscsi_find_sessions(group, ctx, ref, sessions_out)) return false;
    if ((sessions_out->count > 0) == is_wanted || csi_now_ns() >= end_ns) return true;
    if (!csi_pause(ctx, LOOK_MS)) return false;
  }
}

/* ---- Failures. ---- */

bool csi_iscsi_explain_target(struct csi_ctx *ctx, const struct csi_iscsi_ref *ref) {
  return csi_explain(&ctx->status, "error query target %s from target portal at %s. err: ", ref->iqn,
                     ref->place);
}

bool csi_iscsi_failed_with(const struct csi_ctx *ctx, uint32_t number) {
  return (ctx->status.space == CSI_SPACE_ISDSC || ctx->status.space == CSI_SPACE_WIN32) &&
         ctx->status.number == number;
}

bool csi_iscsi_is_busy(const struct csi_ctx *ctx) {
  return csi_iscsi_failed_with(ctx, CSI_ISDSC_SESSION_BUSY) ||
         csi_iscsi_failed_with(ctx, CSI_ISDSC_DEVICE_BUSY_ON_SESSION) ||
         csi_iscsi_failed_with(ctx, INSUFFICIENT_BUFFER);
}

/* UNVERIFIED ON WINDOWS: which of these the library gives while the service is stopped. */
static bool is_without_service(const struct csi_ctx *ctx) {
  static const uint32_t numbers[] = {
      CSI_ISDSC_SERVICE_NOT_RUNNING,
      1062, /* ERROR_SERVICE_NOT_ACTIVE */
      1717, /* RPC_S_UNKNOWN_IF */
      1722, /* RPC_S_SERVER_UNAVAILABLE */
      1753, /* EPT_S_NOT_REGISTERED */
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (csi_iscsi_failed_with(ctx, numbers[i])) return true;
  return false;
}

bool csi_iscsi_advise(struct csi_ctx *ctx) {
  static const struct {
    uint32_t number;
    const char *advice;
  } rows[] = {
      {CSI_ISDSC_CONNECTION_FAILED,
       "Check address and port, and the firewalls between the node and the portal"},
      {CSI_ISDSC_AUTHENTICATION_FAILURE, "Check authentication type, user and secret on both sides"},
      {CSI_ISDSC_AUTHORIZATION_FAILURE, "Check that the target admits this node's initiator name"},
      {CSI_ISDSC_DEVICE_BUSY_ON_SESSION,
       "Unmount the volumes of its disks and take the disks offline (SetDiskState) first"},
  };
  struct csi_status *status = &ctx->status;
  if (is_without_service(ctx)) {
    status->code = CSI_FAILED_PRECONDITION;
    return csi_advise(status, ". The service MSiSCSI is not running; start it (StartService of the system "
                              "group, or Start-Service MSiSCSI)");
  }
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (csi_iscsi_failed_with(ctx, rows[i].number)) return csi_advise(status, ". %s", rows[i].advice);
  return false;
}
