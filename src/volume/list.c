/* SPDX-License-Identifier: Apache-2.0
 *
 * ListVolumesOnDisk.
 *
 * Drivers take the first volume of the answer and format it: a volume that should be there and is not yet
 * must be an error, as the next one, or none, would be taken for it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "volume/handlers.h"
#include "volume/volume_id.h"
#include "volume/where.h"

/* What the list is made from. */
struct listing {
  struct csi_ctx *ctx;
  struct csi_target *disk;
  uint32_t wanted; /* partition number, or 0 for all */
  const char **ids;
  size_t count;
};

static bool fail_missing_volume(const struct listing *listing, uint32_t partition_number) {
  struct csi_ctx *ctx = listing->ctx;
  uint64_t attributes;
  if (!csi_target_get_attributes(listing->disk, &attributes)) return false;
  if ((attributes & CSI_DISK_ATTRIBUTE_OFFLINE) != 0)
    return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION,
                    "the disk is offline, so that its partition %" PRIu32
                    " has no volume; SetDiskState brings it online",
                    partition_number);
  return csi_fail(&ctx->status, CSI_UNAVAILABLE, "partition %" PRIu32 " has no volume, or not yet",
                  partition_number);
}

/* Adds the volume of a partition. */
static bool add(struct listing *listing, const struct csi_layout *layout,
                const struct csi_partition *partition) {
  struct csi_ctx *ctx = listing->ctx;
  const struct csi_disk_host *host = listing->disk->host;
  char found[CSI_VOLUME_ID_BYTES];
  if (!host->find_volume(host->self, ctx, listing->disk->number, partition->number, found)) {
    if (ctx->status.code != CSI_NOT_FOUND) return false;
    csi_status_clear(&ctx->status);
    if (listing->wanted == 0 && !csi_partition_has_volume(layout, partition)) return true;
    return fail_missing_volume(listing, partition->number);
  }
  struct csi_guid guid;
  if (!csi_volume_id_parse(found, &guid))
    return csi_fail(&ctx->status, CSI_INTERNAL, "the mount manager calls the volume %s", found);
  char *id = csi_arena_alloc(ctx->arena, CSI_VOLUME_ID_BYTES);
  if (id == NULL) return csi_fail_out_of_memory(&ctx->status);
  csi_volume_id_format(&guid, id);
  listing->ids[listing->count++] = id;
  return true;
}

static int compare_numbers(const void *left, const void *right) {
  const struct csi_partition *a = left, *b = right;
  return (a->number > b->number) - (a->number < b->number);
}

static bool add_all(struct listing *listing, const struct csi_layout *layout) {
  struct csi_ctx *ctx = listing->ctx;
  qsort(layout->partitions, layout->partition_count, sizeof *layout->partitions, compare_numbers);
  listing->ids = csi_arena_alloc_array(ctx->arena, layout->partition_count + 1, sizeof *listing->ids);
  if (listing->ids == NULL) return csi_fail_out_of_memory(&ctx->status);
  bool found = false;
  for (size_t i = 0; i < layout->partition_count; i++) {
    const struct csi_partition *partition = &layout->partitions[i];
    if (partition->number == 0 || (listing->wanted != 0 && partition->number != listing->wanted)) continue;
    found = true;
    if (listing->wanted == 0 && !csi_partition_is_basic(layout, partition)) continue;
    if (!csi_ctx_alive(ctx) || !add(listing, layout, partition))
      return csi_explain(&ctx->status, "failed to list volumes on disk %" PRIu32 ": ", listing->disk->number);
  }
  if (found || listing->wanted == 0) return true;
  return csi_fail(&ctx->status, CSI_NOT_FOUND,
                  "failed to list partition on disk %" PRIu32 ": partition %" PRIu32 ": not found",
                  listing->disk->number, listing->wanted);
}

bool csi_volume_serve_list_volumes_on_disk(struct csi_ctx *ctx, struct csi_volume *group,
                                           const struct csi_volume_list_volumes_on_disk_request *request,
                                           struct csi_volume_list_volumes_on_disk_response *response) {
  CSI_SCOPED_TARGET disk = csi_volume_disk(group, ctx, request->disk_number);
  struct csi_layout layout;
  if (!csi_target_open(&disk, CSI_DISK_QUERY) || !csi_target_get_layout(&disk, &layout))
    return csi_explain(&ctx->status, "failed to list partition on disk %" PRIu32 ": ", request->disk_number);
  struct listing listing = {.ctx = ctx, .disk = &disk, .wanted = request->partition_number};
  if (!add_all(&listing, &layout)) return false;
  response->volume_ids = listing.ids;
  response->volume_ids_count = listing.count;
  return true;
}
