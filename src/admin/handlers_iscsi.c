/* SPDX-License-Identifier: Apache-2.0
 *
 * ListIscsiSessions.
 */
#include <inttypes.h>

#include "admin/disk_details.h"
#include "admin/state.h"
#include "iscsi/reach.h"

struct listing {
  struct csi_ctx *ctx;
  const struct csi_iscsi_host *host;
  struct csi_texts errors;
};

static bool list_targets(struct listing *listing, const struct csi_iscsi_portal *portal,
                         struct csi_admin_iscsi_portal *portal_out) {
  struct csi_ctx *ctx = listing->ctx;
  const char **names;
  size_t count;
  *portal_out = (struct csi_admin_iscsi_portal){.address = portal->address, .port = portal->port};
  if (!listing->host->list_targets(listing->host->self, ctx, portal, &names, &count)) {
    const char *what = csi_arena_printf(ctx->arena, "targets of %s:%u", portal->address, portal->port);
    if (what == NULL) return csi_fail_out_of_memory(&ctx->status);
    return csi_admin_note_failure(ctx, &listing->errors, what);
  }
  portal_out->targets = names;
  portal_out->targets_count = count;
  return true;
}

/* The first question of all: without the service or the library, the call fails as those of the iscsi group
 * do. */
static bool list_portals(struct listing *listing, struct csi_admin_list_iscsi_sessions_response *response) {
  struct csi_ctx *ctx = listing->ctx;
  const struct csi_iscsi_portal *portals;
  size_t count;
  if (!listing->host->list_portals(listing->host->self, ctx, &portals, &count)) {
    csi_explain(&ctx->status, "failed to list iSCSI target portals. err: ");
    csi_iscsi_advise(ctx);
    return false;
  }
  struct csi_admin_iscsi_portal *listed = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *listed);
  if (listed == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++)
    if (!csi_ctx_alive(ctx) || !list_targets(listing, &portals[i], &listed[i])) return false;
  response->portals = listed;
  response->portals_count = count;
  return true;
}

static bool list_disks(struct listing *listing, const struct csi_iscsi_session *session,
                       struct csi_admin_iscsi_session *session_out) {
  struct csi_ctx *ctx = listing->ctx;
  *session_out = (struct csi_admin_iscsi_session){
      .session_id = csi_arena_printf(ctx->arena, "%016" PRIx64 "-%016" PRIx64, session->id.adapter_unique,
                                     session->id.adapter_specific),
      .target = session->target,
      .connected = session->has_connection,
  };
  if (session_out->session_id == NULL) return csi_fail_out_of_memory(&ctx->status);
  const uint32_t *numbers;
  size_t count;
  if (!listing->host->list_disks(listing->host->self, ctx, session, &numbers, &count))
    return csi_admin_note_failure(ctx, &listing->errors, session_out->session_id);
  session_out->disk_numbers = numbers;
  session_out->disk_numbers_count = count;
  return true;
}

static bool list_sessions(struct listing *listing, struct csi_admin_list_iscsi_sessions_response *response) {
  struct csi_ctx *ctx = listing->ctx;
  const struct csi_iscsi_session *sessions;
  size_t count;
  if (!listing->host->list_sessions(listing->host->self, ctx, &sessions, &count))
    return csi_admin_note_failure(ctx, &listing->errors, "sessions");
  struct csi_admin_iscsi_session *listed = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *listed);
  if (listed == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++)
    if (!csi_ctx_alive(ctx) || !list_disks(listing, &sessions[i], &listed[i])) return false;
  response->sessions = listed;
  response->sessions_count = count;
  return true;
}

bool csi_admin_serve_list_iscsi_sessions(struct csi_ctx *ctx, struct csi_admin *group,
                                         const struct csi_admin_list_iscsi_sessions_request *request,
                                         struct csi_admin_list_iscsi_sessions_response *response) {
  (void)request;
  ctx->only_looks = true;
  struct listing listing = {.ctx = ctx, .host = group->hosts.initiator};
  if (!list_portals(&listing, response) || !list_sessions(&listing, response)) return false;
  response->errors = listing.errors.items;
  response->errors_count = listing.errors.count;
  return csi_ctx_alive(ctx);
}
