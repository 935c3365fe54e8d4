/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/where.h"

struct csi_target csi_volume_disk(const struct csi_volume *group, struct csi_ctx *ctx, uint32_t number) {
  return (struct csi_target){
      .ctx = ctx, .host = group->hosts.disks, .number = number, .guarded = !group->change_system_disks};
}

static bool get_extents(struct csi_ctx *ctx, const struct csi_volume_handle *volume,
                        struct csi_extent **extents_out, size_t *count_out) {
  if (!volume->host->get_extents(volume->host->self, ctx, volume->volume, extents_out, count_out))
    return false;
  return *count_out > 0 || csi_fail(&ctx->status, CSI_FAILED_PRECONDITION, "the volume is on no disk");
}

bool csi_volume_find_disk(struct csi_ctx *ctx, const struct csi_volume_handle *volume,
                          uint32_t *disk_number_out) {
  uint32_t partition_number;
  if (volume->host->get_partition(volume->host->self, ctx, volume->volume, disk_number_out,
                                  &partition_number))
    return true;
  if (ctx->status.code == CSI_CANCELLED || ctx->status.code == CSI_DEADLINE_EXCEEDED) return false;
  csi_status_clear(&ctx->status);
  struct csi_extent *extents;
  size_t count;
  if (!get_extents(ctx, volume, &extents, &count)) return false;
  *disk_number_out = extents[0].disk_number;
  return true;
}

bool csi_volume_find_extent(struct csi_ctx *ctx, const struct csi_volume_handle *volume,
                            struct csi_extent *extent_out) {
  struct csi_extent *extents;
  size_t count;
  if (!get_extents(ctx, volume, &extents, &count)) return false;
  if (count > 1)
    return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION,
                    "the volume consists of %zu pieces, and only a volume in one piece can be changed",
                    count);
  *extent_out = extents[0];
  return true;
}
