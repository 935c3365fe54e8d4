/* SPDX-License-Identifier: Apache-2.0
 *
 * GetTargetDisks.
 */
#include <inttypes.h>

#include "iscsi/handlers.h"
#include "iscsi/reach.h"

enum {
  FIRST_DISK_MS = 5000, /* the longest a target without a disk is waited for */
  FIRST_PAUSE_MS = 50,  /* doubled each time */
  LAST_PAUSE_MS = 400,
  NS_PER_MS = 1000000,
};

/* What is known of a target's disks. */
struct disks {
  bool is_connected;   /* there is a session */
  bool has_connection; /* and one of them has a connection */
  uint32_t *numbers;
  size_t count;
};

static bool has_number(const struct disks *disks, uint32_t number) {
  for (size_t i = 0; i < disks->count; i++)
    if (disks->numbers[i] == number) return true;
  return false;
}

/* Adds the disks of one session. A disk that several sessions lead to is one disk: callers count them. */
static bool add_disks(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_session *session,
                      struct disks *disks) {
  const struct csi_iscsi_host *host = group->host;
  const uint32_t *numbers;
  size_t count;
  if (!host->list_disks(host->self, ctx, session, &numbers, &count)) {
    if (!csi_iscsi_failed_with(ctx, CSI_ISDSC_INVALID_SESSION_ID)) return false;
    csi_status_clear(&ctx->status); /* it has ended meanwhile */
    return true;
  }
  disks->is_connected = true;
  disks->has_connection |= session->has_connection;
  uint32_t *all = csi_arena_alloc_array(ctx->arena, disks->count + count + 1, sizeof *all);
  if (all == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < disks->count; i++)
    all[i] = disks->numbers[i];
  disks->numbers = all;
  for (size_t i = 0; i < count; i++)
    if (!has_number(disks, numbers[i])) all[disks->count++] = numbers[i];
  return true;
}

static bool look(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                 struct disks *disks_out) {
  struct csi_iscsi_sessions sessions;
  *disks_out = (struct disks){0};
  if (!csi_iscsi_find_sessions(group, ctx, ref, &sessions)) return false;
  for (size_t i = 0; i < sessions.count; i++)
    if (!add_disks(group, ctx, sessions.items[i], disks_out)) return false;
  return true;
}

/* Windows makes disks a while after the login, and drivers ask for them at once and once. A target without
 * disks is one in the end, well before the deadline.
 * UNVERIFIED ON WINDOWS: how long disks take, and whether those of a target come one after the other: what is
 * there when the first is there is what is given. */
static bool await_disks(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                        struct disks *disks_out) {
  uint32_t limit_ms = csi_ctx_remaining_ms(ctx, 2 * FIRST_DISK_MS) / 2, pause_ms = FIRST_PAUSE_MS;
  const int64_t end_ns = csi_now_ns() + (int64_t)limit_ms * NS_PER_MS;
  for (;;) {
    bool is_last = csi_now_ns() >= end_ns;
    bool looked = look(group, ctx, ref, disks_out);
    if (looked && (is_last || !disks_out->is_connected || disks_out->count > 0)) return true;
    if (!looked && (is_last || !csi_iscsi_is_busy(ctx))) return false;
    csi_status_clear(&ctx->status);
    if (!csi_pause(ctx, pause_ms)) return false;
    if (pause_ms < LAST_PAUSE_MS) pause_ms *= 2;
  }
}

/* The target is not connected: no disks, if there is such a target. */
static bool check_target(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref) {
  const struct csi_iscsi_portal *registered;
  const char *name;
  return (csi_iscsi_require_portal(group, ctx, ref, &registered) &&
          csi_iscsi_find_target(group, ctx, ref, registered, &name) &&
          (name != NULL || csi_iscsi_fail_target(ctx, ref))) ||
         csi_iscsi_explain_target(ctx, ref);
}

static bool explain_disks(struct csi_ctx *ctx, const struct csi_iscsi_ref *ref) {
  return csi_explain(&ctx->status,
                     "error getting target disks on target %s from target portal at %s. err: ", ref->iqn,
                     ref->place);
}

static bool get_disks(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                      struct csi_iscsi_get_target_disks_response *response) {
  struct disks disks;
  if (!await_disks(group, ctx, ref, &disks)) return explain_disks(ctx, ref);
  if (!disks.is_connected) return check_target(group, ctx, ref);
  if (disks.count == 0 && !disks.has_connection) {
    csi_fail(&ctx->status, CSI_UNAVAILABLE,
             "the session has lost its connection, and has no disks until the "
             "initiator has restored it");
    return explain_disks(ctx, ref);
  }
  const char **ids = csi_arena_alloc_array(ctx->arena, disks.count + 1, sizeof *ids);
  if (ids == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < disks.count; i++)
    if ((ids[i] = csi_arena_printf(ctx->arena, "%" PRIu32, disks.numbers[i])) == NULL)
      return csi_fail_out_of_memory(&ctx->status);
  response->disk_ids = ids;
  response->disk_ids_count = disks.count;
  return true;
}

bool csi_iscsi_serve_get_target_disks(struct csi_ctx *ctx, struct csi_iscsi *group,
                                      const struct csi_iscsi_get_target_disks_request *request,
                                      struct csi_iscsi_get_target_disks_response *response) {
  struct csi_iscsi_ref ref;
  return csi_iscsi_ref_target(ctx, request->target_portal, request->iqn, &ref) &&
         (get_disks(group, ctx, &ref, response) || csi_iscsi_advise(ctx));
}
