/* SPDX-License-Identifier: Apache-2.0
 *
 * AddTargetPortal, DiscoverTargetPortal, RemoveTargetPortal, ListTargetPortals.
 */
#include "base/log.h"
#include "iscsi/handlers.h"
#include "iscsi/portal.h"
#include "iscsi/reach.h"

/* A portal that is registered stays so, whether it answers or not: a driver that repeats its call goes on,
 * and DiscoverTargetPortal or ConnectTarget tell what is wrong. */
static bool refresh_if_possible(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                                const struct csi_iscsi_portal *registered) {
  if (csi_iscsi_refresh_portal(group, ctx, registered)) return true;
  struct csi_status failure = ctx->status;
  csi_status_clear(&ctx->status);
  if (!csi_ctx_alive(ctx)) return false;
  CSI_LOG(WARNING, "target portal at %s is registered, but cannot be asked for its targets: %s", ref->place,
          failure.text);
  return true;
}

/* Some adapter could add the portal, and another could not. False with the failure that there was when it is
 * not registered for all that. */
static bool is_partly_added(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref) {
  const struct csi_status failure = ctx->status;
  const struct csi_iscsi_portal *registered;
  csi_status_clear(&ctx->status);
  if (csi_iscsi_find_portal(group, ctx, ref, &registered) && registered != NULL) {
    CSI_LOG(WARNING, "adding target portal at %s: %s", ref->place, failure.text);
    return true;
  }
  ctx->status = failure;
  return false;
}

static bool add(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref) {
  const struct csi_iscsi_host *host = group->host;
  const struct csi_iscsi_portal *registered;
  if (!csi_iscsi_find_portal(group, ctx, ref, &registered))
    return csi_explain(&ctx->status, "error query target portal at %s. err: ", ref->place);
  if (registered != NULL) return refresh_if_possible(group, ctx, ref, registered);
  if (host->add_portal(host->self, ctx, &ref->portal)) return true;
  if (csi_iscsi_failed_with(ctx, CSI_ISDSC_TARGET_PORTAL_ALREADY_EXISTS)) {
    csi_status_clear(&ctx->status);
    return true;
  }
  if (csi_iscsi_failed_with(ctx, CSI_ISDSC_OPERATION_NOT_ALL_SUCCESS) && is_partly_added(group, ctx, ref))
    return true;
  return csi_explain(&ctx->status, "error adding target portal at %s. err: ", ref->place);
}

bool csi_iscsi_serve_add_target_portal(struct csi_ctx *ctx, struct csi_iscsi *group,
                                       const struct csi_iscsi_add_target_portal_request *request,
                                       struct csi_iscsi_add_target_portal_response *response) {
  (void)response;
  struct csi_iscsi_ref ref;
  CSI_SCOPED_LOCK lock = {0};
  if (!csi_iscsi_ref_portal(ctx, request->target_portal, &ref)) return false;
  if (!csi_iscsi_lock_portal(group, ctx, &ref, "AddTargetPortal", &lock))
    return csi_explain(&ctx->status, "error adding target portal at %s. err: ", ref.place);
  return add(group, ctx, &ref) || csi_iscsi_advise(ctx);
}

static bool discover(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                     struct csi_iscsi_discover_target_portal_response *response) {
  const struct csi_iscsi_host *host = group->host;
  const struct csi_iscsi_portal *registered;
  const char **names;
  if (!csi_iscsi_require_portal(group, ctx, ref, &registered) ||
      !csi_iscsi_refresh_portal(group, ctx, registered) ||
      !host->list_targets(host->self, ctx, registered, &names, &response->iqns_count))
    return false;
  response->iqns = names;
  return true;
}

bool csi_iscsi_serve_discover_target_portal(struct csi_ctx *ctx, struct csi_iscsi *group,
                                            const struct csi_iscsi_discover_target_portal_request *request,
                                            struct csi_iscsi_discover_target_portal_response *response) {
  struct csi_iscsi_ref ref;
  CSI_SCOPED_LOCK lock = {0};
  if (!csi_iscsi_ref_portal(ctx, request->target_portal, &ref)) return false;
  if (csi_iscsi_lock_portal(group, ctx, &ref, "DiscoverTargetPortal", &lock) &&
      discover(group, ctx, &ref, response))
    return true;
  csi_explain(&ctx->status, "error list targets by target portal at %s. err: ", ref.place);
  return csi_iscsi_advise(ctx);
}

/* Removes one of the registered portals; that somebody else was faster is no failure. */
static bool remove_portal(struct csi_iscsi *group, struct csi_ctx *ctx,
                          const struct csi_iscsi_portal *registered) {
  const struct csi_iscsi_host *host = group->host;
  if (host->remove_portal(host->self, ctx, registered)) return true;
  if (!csi_iscsi_failed_with(ctx, CSI_ISDSC_PORTAL_NOT_FOUND)) return false;
  csi_status_clear(&ctx->status);
  return true;
}

/* All spellings of the portal go. */
static bool remove_all(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref) {
  const struct csi_iscsi_host *host = group->host;
  const struct csi_iscsi_portal *portals;
  size_t count;
  if (!host->list_portals(host->self, ctx, &portals, &count))
    return csi_explain(&ctx->status, "error query target portal at %s. err: ", ref->place);
  for (size_t i = 0; i < count; i++)
    if (csi_iscsi_portal_is_equal(&portals[i], &ref->portal) && !remove_portal(group, ctx, &portals[i]))
      return csi_explain(&ctx->status, "error removing target portal at %s. err: ", ref->place);
  return true;
}

bool csi_iscsi_serve_remove_target_portal(struct csi_ctx *ctx, struct csi_iscsi *group,
                                          const struct csi_iscsi_remove_target_portal_request *request,
                                          struct csi_iscsi_remove_target_portal_response *response) {
  (void)response;
  struct csi_iscsi_ref ref;
  CSI_SCOPED_LOCK lock = {0};
  if (!csi_iscsi_ref_portal(ctx, request->target_portal, &ref)) return false;
  if (!csi_iscsi_lock_portal(group, ctx, &ref, "RemoveTargetPortal", &lock))
    return csi_explain(&ctx->status, "error removing target portal at %s. err: ", ref.place);
  return remove_all(group, ctx, &ref) || csi_iscsi_advise(ctx);
}

bool csi_iscsi_serve_list_target_portals(struct csi_ctx *ctx, struct csi_iscsi *group,
                                         const struct csi_iscsi_list_target_portals_request *request,
                                         struct csi_iscsi_list_target_portals_response *response) {
  (void)request;
  const struct csi_iscsi_host *host = group->host;
  const struct csi_iscsi_portal *portals;
  size_t count;
  if (!host->list_portals(host->self, ctx, &portals, &count)) {
    csi_explain(&ctx->status, "error list target portals. err: ");
    return csi_iscsi_advise(ctx);
  }
  struct csi_iscsi_target_portal *items =
      csi_arena_alloc_array(ctx->arena, count == 0 ? 1 : count, sizeof *items);
  if (items == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++)
    items[i] = (struct csi_iscsi_target_portal){.target_address = portals[i].address,
                                                .target_port = portals[i].port};
  response->target_portals = items;
  response->target_portals_count = count;
  return true;
}
