/* SPDX-License-Identifier: Apache-2.0
 *
 * ListVolumes.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "admin/state.h"
#include "admin/volume_details.h"
#include "disk/visit.h"

struct listing {
  struct csi_ctx *ctx; /* of the call */
  const struct csi_volume_host *host;
  struct csi_admin_volume_details *volumes;
  size_t count;
  size_t capacity;
  struct csi_texts errors;
  bool is_out_of_memory;
};

static void leave_out(void *result, const char *name, const struct csi_status *why) {
  struct listing *listing = result;
  if (!csi_texts_add_failure(listing->ctx, &listing->errors, name, why->text))
    listing->is_out_of_memory = true;
}

static bool add(struct listing *listing, struct csi_target *disk,
                const struct csi_admin_partition *partition) {
  struct csi_admin_volume_details *volumes =
      csi_list_grow(disk->ctx, listing->volumes, listing->count, &listing->capacity, sizeof *volumes);
  if (volumes == NULL) return false;
  listing->volumes = volumes;
  return csi_volume_describe(listing->host, disk->ctx, disk->number, partition, &volumes[listing->count]) &&
         ++listing->count > 0;
}

static bool take(struct csi_target *disk, void *result) {
  struct listing *listing = result;
  struct csi_disk_facts facts = {.has_layout = false};
  if (!csi_disk_describe_partitions(disk, &facts)) return false;
  for (size_t i = 0; i < facts.details.partitions_count; i++)
    if (facts.details.partitions[i].volume_id[0] != '\0' && !add(listing, disk, &facts.details.partitions[i]))
      return false;
  for (size_t i = 0; i < facts.errors.count; i++)
    if (!csi_texts_print(disk->ctx, &listing->errors, "disk %" PRIu32 ": %s", disk->number,
                         facts.errors.items[i]))
      return false;
  return true;
}

static int compare(const void *left, const void *right) {
  const struct csi_admin_volume_details *a = left, *b = right;
  if (a->disk_number != b->disk_number) return a->disk_number > b->disk_number ? 1 : -1;
  return (a->partition_number > b->partition_number) - (a->partition_number < b->partition_number);
}

bool csi_admin_serve_list_volumes(struct csi_ctx *ctx, struct csi_admin *group,
                                  const struct csi_admin_list_volumes_request *request,
                                  struct csi_admin_list_volumes_response *response) {
  (void)request;
  const char **paths;
  size_t count;
  struct listing listing = {.ctx = ctx, .host = group->hosts.volumes};
  struct csi_disk_visit visit = {
      .take = take, .leave_out = leave_out, .result = &listing, .share_time = true};
  if (!csi_disk_list_paths(ctx, group->hosts.disks, &paths, &count) ||
      !csi_disk_visit_paths(&visit, ctx, group->hosts.disks, paths, count) || listing.is_out_of_memory)
    return false;
  if (listing.count > 0) qsort(listing.volumes, listing.count, sizeof *listing.volumes, compare);
  response->volumes = listing.volumes;
  response->volumes_count = listing.count;
  response->errors = listing.errors.items;
  response->errors_count = listing.errors.count;
  return true;
}
