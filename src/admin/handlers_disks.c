/* SPDX-License-Identifier: Apache-2.0
 *
 * ListDisks.
 */
#include <stdlib.h>

#include "admin/disk_details.h"
#include "admin/state.h"
#include "disk/visit.h"

struct listing {
  struct csi_ctx *ctx; /* of the call */
  struct csi_admin_disk_details *disks;
  size_t count;
  struct csi_texts errors;
  bool is_out_of_memory;
};

static bool take(struct csi_target *disk, void *result) {
  struct listing *listing = result;
  struct csi_disk_facts facts;
  if (!csi_disk_describe(disk, &facts)) return false;
  listing->disks[listing->count++] = facts.details;
  return true;
}

static void leave_out(void *result, const char *name, const struct csi_status *why) {
  struct listing *listing = result;
  if (!csi_texts_add_failure(listing->ctx, &listing->errors, name, why->text))
    listing->is_out_of_memory = true;
}

static int compare(const void *left, const void *right) {
  const struct csi_admin_disk_details *a = left, *b = right;
  return (a->number > b->number) - (a->number < b->number);
}

bool csi_admin_serve_list_disks(struct csi_ctx *ctx, struct csi_admin *group,
                                const struct csi_admin_list_disks_request *request,
                                struct csi_admin_list_disks_response *response) {
  (void)request;
  const char **paths;
  size_t count;
  struct listing listing = {.ctx = ctx};
  struct csi_disk_visit visit = {
      .take = take, .leave_out = leave_out, .result = &listing, .share_time = true};
  if (!csi_disk_list_paths(ctx, group->hosts.disks, &paths, &count)) return false;
  listing.disks = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *listing.disks);
  if (listing.disks == NULL) return csi_fail_out_of_memory(&ctx->status);
  if (!csi_disk_visit_paths(&visit, ctx, group->hosts.disks, paths, count) || listing.is_out_of_memory)
    return false;
  qsort(listing.disks, listing.count, sizeof *listing.disks, compare);
  response->disks = listing.disks;
  response->disks_count = listing.count;
  response->errors = listing.errors.items;
  response->errors_count = listing.errors.count;
  return true;
}
