/* SPDX-License-Identifier: Apache-2.0
 *
 * IsVolumeFormatted and FormatVolume.
 *
 * A format that makes progress does not end with its client: drivers repeat a call that takes too long, and a
 * format that was stopped and begun anew each time would never be done on a slow disk. It goes on, with its
 * locks held: the next call waits, or learns what it waits for, and one after that finds NTFS. One that hangs
 * is ended soon after its client.
 *
 * What an end of the process leaves for the next IsVolumeFormatted and FormatVolume: after looking and
 * checking, the volume as it was. After marking, a mark (volume/marker.h) on an empty volume, which is empty.
 * In the middle of the format, a mark and whatever Windows has written behind it, which is empty too; or,
 * once the boot sector has taken the mark's place, NTFS. While a failed format is cleared away, a mark until
 * all the rest is zero, and then nothing.
 *
 * UNVERIFIED ON WINDOWS: that fmifs writes the boot sector last. If it were the first thing that goes, the
 * end of the process would leave data of unknown kind, which are refused until somebody clears the disk.
 *
 * A volume with a file system gets no mark: Windows lets nobody write below it, and drivers do not format
 * what IsVolumeFormatted calls formatted. If the process ends there, what is left is the old file system, the
 * new one, or data of unknown kind.
 */
#include <string.h>

#include "base/log.h"
#include "volume/contents.h"
#include "volume/handlers.h"
#include "volume/reach.h"
#include "volume/where.h"

enum {
  FORMAT_MS = 30 * 60 * 1000,
  AFTERWARDS_MS =
      CSI_FORMAT_PATIENCE_MS, /* how long the look at the result, or the clearing away of it, may take */
};
#define NS_PER_MS INT64_C(1000000)

bool csi_volume_serve_is_volume_formatted(struct csi_ctx *ctx, struct csi_volume *group,
                                          const struct csi_volume_is_volume_formatted_request *request,
                                          struct csi_volume_is_volume_formatted_response *response) {
  if (!csi_require_text(ctx, request->volume_id, "volume id empty")) return false;
  struct csi_volume_ref volume;
  if (!csi_volume_ref_parse(ctx, request->volume_id, &volume))
    return csi_explain_querying(ctx, request->volume_id);
  CSI_SCOPED_LOCK lock = {0}; /* in the middle of a format, the answer would be worth nothing */
  if (csi_lock_volume(group, ctx, &volume.guid, "IsVolumeFormatted", &lock) &&
      csi_contents_find_file_system(group, ctx, &volume, &response->formatted))
    return true;
  if (ctx->status.code != CSI_NOT_FOUND)
    return csi_explain(&ctx->status, "failed to query volume file system type (%s): ", volume.given);
  csi_volume_ref_explain(ctx, &volume);
  return csi_explain_querying(ctx, volume.given);
}

/* One FormatVolume, once the volume is known. */
struct formatting {
  struct csi_ctx *ctx;
  struct csi_volume *group;
  const struct csi_volume_ref *volume;
  struct csi_extent extent; /* before the locks were taken */
  struct csi_target *disk;
};

/* Makes sure that the extent still is the volume's, on the disk that is open now. */
static bool check_identity(const struct formatting *formatting, const struct csi_volume_handle *volume) {
  struct csi_extent now;
  if (!csi_volume_find_extent(formatting->ctx, volume, &now)) return false;
  const struct csi_extent *before = &formatting->extent;
  if (now.disk_number == before->disk_number && now.offset_bytes == before->offset_bytes &&
      now.length_bytes == before->length_bytes)
    return true;
  return csi_fail(&formatting->ctx->status, CSI_ABORTED,
                  "the volume has moved or grown meanwhile; try again");
}

/* What does not end with the client, but with time_ms or the service, if that is wanted. */
static struct csi_ctx outlive_client(const struct csi_ctx *ctx, uint32_t time_ms, bool ends_with_service) {
  return (struct csi_ctx){.arena = ctx->arena,
                          .deadline_ns = csi_now_ns() + time_ms * NS_PER_MS,
                          .cancelled = ends_with_service ? ctx->stopping : NULL,
                          .peer = ctx->peer};
}

/* After a failed format: a volume that has no file system any more is cleared, so that the next call finds it
 * empty, and not what Windows had written so far. */
static void clean_up(const struct formatting *formatting) {
  struct csi_ctx *ctx = formatting->ctx;
  struct csi_ctx own = outlive_client(ctx, AFTERWARDS_MS, false);
  struct csi_target disk = *formatting->disk;
  disk.ctx = &own;
  struct csi_inspection left;
  if (csi_contents_inspect(formatting->group, &own, formatting->volume, &left) &&
      (left.has_file_system || (left.contents.is_empty && !left.is_marked) ||
       csi_contents_clear(&disk, &formatting->extent, &formatting->volume->guid)))
    return;
  csi_advise(&ctx->status, " (and what had been written so far could not be cleared: %s)", own.status.text);
}

static bool check_result(const struct formatting *formatting) {
  struct csi_status *status = &formatting->ctx->status;
  const struct csi_volume_host *host = formatting->group->hosts.volumes;
  struct csi_ctx own = outlive_client(formatting->ctx, AFTERWARDS_MS, false);
  char name[CSI_FILE_SYSTEM_NAME_BYTES];
  if (!host->get_file_system(host->self, &own, &formatting->volume->guid, name)) {
    *status = own.status;
    return csi_explain(status, "Windows has formatted the volume and does not know it afterwards: ");
  }
  return strcmp(name, "NTFS") == 0 ||
         csi_fail(status, CSI_INTERNAL, "the volume has the file system %s after being formatted", name);
}

static bool format_as_ntfs(const struct formatting *formatting) {
  struct csi_ctx *ctx = formatting->ctx;
  const struct csi_volume_host *host = formatting->group->hosts.volumes;
  const struct csi_format ntfs = {.file_system = "NTFS", .client = ctx};
  struct csi_ctx own = outlive_client(ctx, FORMAT_MS, true);
  if (host->format(host->self, &own, &formatting->volume->guid, &ntfs)) return true;
  if (own.status.code == CSI_CANCELLED)
    return csi_fail(&ctx->status, CSI_CANCELLED, "the format was given up: the service is stopping");
  ctx->status = own.status;
  return false;
}

/* Marks the volume. Where Windows does not allow it, a crash needs an operator, and no more than that. */
static bool mark(const struct formatting *formatting) {
  struct csi_ctx *ctx = formatting->ctx;
  if (csi_contents_mark(formatting->disk, &formatting->extent, &formatting->volume->guid)) return true;
  if (!csi_failed_with(ctx, CSI_WIN32_ACCESS_DENIED)) return false;
  CSI_LOG(WARNING, "volume %s cannot be marked as being formatted: %s", formatting->volume->given,
          ctx->status.text);
  csi_status_clear(&ctx->status);
  return true;
}

static bool format(struct formatting *formatting) {
  struct csi_ctx *ctx = formatting->ctx;
  bool has_file_system; /* which is no reason not to: who calls has asked before */
  if (!csi_contents_find_file_system(formatting->group, ctx, formatting->volume, &has_file_system) ||
      !csi_ctx_alive(ctx) || (!has_file_system && !mark(formatting)))
    return false;
  if (format_as_ntfs(formatting)) return check_result(formatting);
  clean_up(formatting);
  return false;
}

static bool format_locked(struct formatting *formatting, struct csi_volume_handle *volume) {
  CSI_SCOPED_TARGET disk =
      csi_volume_disk(formatting->group, formatting->ctx, formatting->extent.disk_number);
  struct csi_layout layout;
  if (!csi_target_open(&disk, CSI_DISK_READ_WRITE) || !check_identity(formatting, volume) ||
      !csi_target_get_layout(&disk, &layout) || !csi_target_check_guard(&disk, &layout))
    return false;
  formatting->disk = &disk;
  csi_volume_handle_close(volume); /* Windows wants it for itself; UNVERIFIED: that the disk may stay open */
  return format(formatting);
}

bool csi_volume_serve_format_volume(struct csi_ctx *ctx, struct csi_volume *group,
                                    const struct csi_volume_format_volume_request *request,
                                    struct csi_volume_format_volume_response *response) {
  (void)response;
  if (!csi_require_text(ctx, request->volume_id, "volume id empty")) return false;
  struct csi_volume_ref ref;
  struct formatting formatting = {.ctx = ctx, .group = group, .volume = &ref};
  CSI_SCOPED_VOLUME volume = {0};
  if (!csi_volume_ref_parse(ctx, request->volume_id, &ref) ||
      !csi_volume_handle_open(group, ctx, &ref, CSI_VOLUME_QUERY, &volume))
    return csi_explain_querying(ctx, request->volume_id);
  CSI_SCOPED_LOCK disk_lock = {0};
  CSI_SCOPED_LOCK volume_lock = {0};
  if (csi_volume_find_extent(ctx, &volume, &formatting.extent) &&
      csi_lock_disk(group, ctx, formatting.extent.disk_number, "FormatVolume", &disk_lock) &&
      csi_lock_volume(group, ctx, &ref.guid, "FormatVolume", &volume_lock) &&
      format_locked(&formatting, &volume))
    return true;
  return csi_explain(&ctx->status, "error formatting volume (%s). error: ", ref.given);
}
