/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/flush.h"

#include "base/log.h"
#include "volume/handlers.h"
#include "volume/where.h"

enum {
  WRITE_PROTECT = 19,
  DEVICE_REMOVED = 1617,
};

static bool is_on_read_only_disk(struct csi_volume *group, const struct csi_ctx *ctx,
                                 const struct csi_volume_ref *ref) {
  struct csi_ctx probe = *ctx;
  csi_status_clear(&probe.status);
  CSI_SCOPED_VOLUME volume = {0};
  uint32_t disk_number;
  if (!csi_volume_handle_open(group, &probe, ref, CSI_VOLUME_QUERY, &volume) ||
      !csi_volume_find_disk(&probe, &volume, &disk_number))
    return false;
  CSI_SCOPED_TARGET disk = csi_volume_disk(group, &probe, disk_number);
  uint64_t attributes;
  return csi_target_open(&disk, CSI_DISK_QUERY) && csi_target_get_attributes(&disk, &attributes) &&
         (attributes & CSI_DISK_ATTRIBUTE_READ_ONLY) != 0;
}

/* Ends a step that failed: well, when the volume is read-only. Access is denied for many reasons; there the
 * disk has to say that it is.
 * UNVERIFIED ON WINDOWS: which of the two errors it is. */
static bool forgive_read_only(struct csi_volume *group, struct csi_ctx *ctx,
                              const struct csi_volume_ref *ref) {
  bool read_only = csi_failed_with(ctx, WRITE_PROTECT) ||
                   (csi_failed_with(ctx, CSI_WIN32_ACCESS_DENIED) && is_on_read_only_disk(group, ctx, ref));
  if (read_only) csi_status_clear(&ctx->status);
  return read_only;
}

bool csi_flush(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_volume_ref *ref) {
  CSI_SCOPED_VOLUME volume = {0};
  if (!csi_volume_handle_open(group, ctx, ref, CSI_VOLUME_READ_WRITE, &volume))
    return forgive_read_only(group, ctx, ref) || csi_explain_querying(ctx, ref->given);
  if (volume.host->flush(volume.host->self, ctx, volume.volume) || forgive_read_only(group, ctx, ref))
    return true;
  return csi_explain(&ctx->status,
                     "error writing volume (%s) cache. error: failed to flush volume %s. error: ", ref->given,
                     ref->given);
}

/* True for what only a device that is not there any more gives. */
static bool says_gone(const struct csi_ctx *ctx) {
  if (ctx->status.space != CSI_SPACE_WIN32) return false;
  switch (ctx->status.number) {
  case CSI_WIN32_FILE_NOT_FOUND:
  case CSI_WIN32_PATH_NOT_FOUND:
  case CSI_WIN32_DEV_NOT_EXIST:
  case CSI_WIN32_NO_SUCH_DEVICE:
  case CSI_WIN32_DEVICE_NOT_CONNECTED:
  case DEVICE_REMOVED:
    return true;
  default:
    return false;
  }
}

/* True when the device has vanished. Many errors come from devices that fail as well as from those that are
 * being removed; then it counts whether the volume still has its name and knows its disk. */
static bool is_gone(struct csi_volume *group, const struct csi_ctx *ctx, const struct csi_volume_ref *ref) {
  if (says_gone(ctx)) return true;
  if (ctx->status.space != CSI_SPACE_WIN32) return false;
  struct csi_ctx probe = *ctx;
  csi_status_clear(&probe.status);
  CSI_SCOPED_VOLUME volume = {0};
  uint32_t disk_number, partition_number;
  if (csi_volume_handle_open(group, &probe, ref, CSI_VOLUME_QUERY, &volume))
    (void)volume.host->get_partition(volume.host->self, &probe, volume.volume, &disk_number,
                                     &partition_number);
  return says_gone(&probe);
}

bool csi_flush_unless_gone(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_volume_ref *ref) {
  if (csi_flush(group, ctx, ref)) return true;
  if (!is_gone(group, ctx, ref)) return false;
  CSI_V(2, "Unmounting a volume whose device has vanished: %s", ctx->status.text);
  csi_status_clear(&ctx->status);
  return true;
}

bool csi_volume_serve_write_volume_cache(struct csi_ctx *ctx, struct csi_volume *group,
                                         const struct csi_volume_write_volume_cache_request *request,
                                         struct csi_volume_write_volume_cache_response *response) {
  (void)response;
  if (!csi_require_text(ctx, request->volume_id, "volume id empty")) return false;
  struct csi_volume_ref volume;
  if (!csi_volume_ref_parse(ctx, request->volume_id, &volume))
    return csi_explain_querying(ctx, request->volume_id);
  CSI_SCOPED_LOCK lock = {0};
  if (!csi_lock_volume(group, ctx, &volume.guid, "WriteVolumeCache", &lock))
    return csi_explain(&ctx->status, "error writing volume (%s) cache. error: ", volume.given);
  return csi_flush(group, ctx, &volume);
}
