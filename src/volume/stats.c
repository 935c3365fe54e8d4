/* SPDX-License-Identifier: Apache-2.0
 *
 * GetVolumeStats and GetDiskNumberFromVolumeID.
 */
#include "volume/handlers.h"
#include "volume/reach.h"
#include "volume/where.h"

bool csi_volume_serve_get_volume_stats(struct csi_ctx *ctx, struct csi_volume *group,
                                       const struct csi_volume_get_volume_stats_request *request,
                                       struct csi_volume_get_volume_stats_response *response) {
  if (!csi_require_text(ctx, request->volume_id, "volume id empty")) return false;
  struct csi_volume_ref volume;
  if (!csi_volume_ref_parse(ctx, request->volume_id, &volume))
    return csi_explain_querying(ctx, request->volume_id);
  const struct csi_volume_host *host = group->hosts.volumes;
  struct csi_volume_space space;
  if (!host->get_space(host->self, ctx, &volume.guid, &space)) {
    if (csi_failed_with(ctx, CSI_WIN32_UNRECOGNIZED_VOLUME)) {
      csi_status_clear(&ctx->status); /* no file system: nothing of nothing, as in the original */
      return true;
    }
    if (ctx->status.code != CSI_NOT_FOUND)
      return csi_explain(&ctx->status, "failed to query volume size (%s): ", volume.given);
    csi_volume_ref_explain(ctx, &volume);
    return csi_explain_querying(ctx, volume.given);
  }
  if (space.total_bytes > INT64_MAX || space.free_bytes > space.total_bytes)
    return csi_fail(&ctx->status, CSI_INTERNAL,
                    "failed to query volume size (%s): %llu of %llu bytes cannot be free", volume.given,
                    (unsigned long long)space.free_bytes, (unsigned long long)space.total_bytes);
  response->total_bytes = (int64_t)space.total_bytes;
  response->used_bytes = (int64_t)(space.total_bytes - space.free_bytes);
  return true;
}

/* The EBS driver looks for "because it does not exist": a mount point that was left behind, whose volume has
 * gone, is nothing mounted for it, and its NodeUnstage done. With any other text it would never get past
 * one; but said of a volume that only comes and goes, it would let go of one that is in use. */
static bool explain_missing(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_volume_ref *ref) {
  if (!csi_failed_with(ctx, CSI_WIN32_FILE_NOT_FOUND)) return false;
  const struct csi_status missing = ctx->status;
  csi_status_clear(&ctx->status);
  bool gone;
  if (!csi_volume_is_gone(group, ctx, &ref->guid, &gone)) return csi_volume_ref_explain(ctx, ref);
  ctx->status = missing;
  return csi_advise(&ctx->status, gone ? " (there is no such volume, because it does not exist any more)"
                                       : " (but a moment later it was there)");
}

bool csi_volume_serve_get_disk_number_from_volume_id(
    struct csi_ctx *ctx, struct csi_volume *group,
    const struct csi_volume_get_disk_number_from_volume_id_request *request,
    struct csi_volume_get_disk_number_from_volume_id_response *response) {
  if (!csi_require_text(ctx, request->volume_id, "volume id empty")) return false;
  struct csi_volume_ref ref;
  CSI_SCOPED_VOLUME volume = {0};
  if (!csi_volume_ref_parse(ctx, request->volume_id, &ref)) return false;
  if (!csi_volume_handle_open(group, ctx, &ref, CSI_VOLUME_QUERY, &volume))
    return explain_missing(group, ctx, &ref);
  if (csi_volume_find_disk(ctx, &volume, &response->disk_number)) return true;
  return csi_explain(&ctx->status, "error query disk number of volume (%s). error: ", ref.given);
}
