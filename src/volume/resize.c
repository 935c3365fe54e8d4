/* SPDX-License-Identifier: Apache-2.0
 *
 * ResizeVolume: the partition first, then the file system in it. A call that comes no further than the
 * partition is finished by the next one, which sees that the file system is smaller than it could be.
 */
#include <inttypes.h>

#include "base/log.h"
#include "volume/handlers.h"
#include "volume/reach.h"
#include "volume/where.h"

enum {
  EXTEND_ATTEMPTS = 20,
  EXTEND_PAUSE_MS = 250,
};

/* What Windows says of a volume that is coming and going, as it does when its partition has changed. */
enum {
  INVALID_FUNCTION = 1,
  INVALID_HANDLE = 6,
  INVALID_PARAMETER = 87,
};

struct resizing {
  struct csi_ctx *ctx;
  struct csi_volume *group;
  const struct csi_volume_ref *ref;
  int64_t asked_bytes; /* 0 = all there is */
  struct csi_target *disk;
  struct csi_extent extent;
  struct csi_partition partition;
  bool ends_beyond;      /* the partition, the space that the table gives */
  bool table_is_old;     /* it ends where the disk ended before it grew */
  uint64_t wanted_bytes; /* of the partition */
  bool has_file_system;  /* that can grow */
  struct csi_file_system_size file_system;
};

/* Finds the partition that begins where the volume does, in the table as it is now. */
static bool find_partition(struct resizing *resizing, const struct csi_layout *layout) {
  const struct csi_extent *extent = &resizing->extent;
  for (size_t i = 0; i < layout->partition_count; i++) {
    const struct csi_partition *partition = &layout->partitions[i];
    if (partition->number == 0 || partition->offset_bytes != extent->offset_bytes ||
        partition->length_bytes < extent->length_bytes)
      continue;
    resizing->partition = *partition;
    return true;
  }
  return csi_fail(&resizing->ctx->status, CSI_FAILED_PRECONDITION,
                  "no partition of disk %" PRIu32 " is where the volume is", resizing->disk->number);
}

/* On a dynamic disk the partition is a container that other volumes lie in as well, and the volume has its
 * size elsewhere. */
static bool check_partition(struct resizing *resizing, const struct csi_layout *layout) {
  if (csi_partition_has_volume(layout, &resizing->partition) &&
      resizing->partition.length_bytes == resizing->extent.length_bytes)
    return true;
  return csi_fail(&resizing->ctx->status, CSI_FAILED_PRECONDITION,
                  "the volume is not all there is in partition %" PRIu32 " of disk %" PRIu32
                  ": dynamic disks are not resized",
                  resizing->partition.number, resizing->disk->number);
}

/* Lengths are multiples of the sector, and of 4096, as the file system will want whole clusters. */
static bool choose_size(struct resizing *resizing, uint64_t max_bytes, uint32_t sector_bytes) {
  enum { UNIT_BYTES = 4096 };
  struct csi_ctx *ctx = resizing->ctx;
  uint32_t unit_bytes = sector_bytes > UNIT_BYTES ? sector_bytes : UNIT_BYTES;
  resizing->wanted_bytes = max_bytes;
  if (resizing->asked_bytes == 0) return true;
  uint64_t asked_bytes = (uint64_t)resizing->asked_bytes;
  uint64_t units = asked_bytes / unit_bytes + (asked_bytes % unit_bytes != 0);
  if (units * unit_bytes <= max_bytes) {
    resizing->wanted_bytes = units * unit_bytes;
    return true;
  }
  /* What alignment takes at the end of a disk is no reason to refuse. */
  if (asked_bytes <= max_bytes || asked_bytes - max_bytes < CSI_PARTITION_ALIGNMENT_BYTES) return true;
  return csi_fail(&ctx->status, CSI_OUT_OF_RANGE,
                  "the volume can have %" PRIu64 " bytes at most, now it has %" PRIu64, max_bytes,
                  resizing->partition.length_bytes);
}

/* A disk that has grown may have a table that still ends where the disk ended before. How far its usable
 * space reaches now follows from the size: the copy at the end takes what the table takes at the beginning,
 * but for the first sector. Windows moves the copy when the partition grows, or when the table is written
 * again; see grow_partition(). Returns whether the table is an old one.
 * UNVERIFIED ON WINDOWS: whether it does either, and whether the table it tells is old at all after
 * IOCTL_DISK_UPDATE_PROPERTIES. */
static bool reach_for_the_end(struct csi_layout *layout, const struct csi_disk_geometry *geometry) {
  enum { TAIL_BYTES = 2 * CSI_PARTITION_ALIGNMENT_BYTES }; /* that other tools leave, for all we know */
  if (layout->style != CSI_PARTITION_STYLE_GPT || layout->usable_offset_bytes < geometry->sector_bytes)
    return false;
  uint64_t old_end = layout->usable_offset_bytes + layout->usable_length_bytes;
  uint64_t copy_bytes = layout->usable_offset_bytes - geometry->sector_bytes;
  if (geometry->size_bytes < copy_bytes) return false;
  uint64_t new_end = geometry->size_bytes - copy_bytes;
  if (new_end <= old_end || new_end - old_end < TAIL_BYTES) return false;
  layout->usable_length_bytes = new_end - layout->usable_offset_bytes;
  return true;
}

static bool is_within_table(const struct csi_layout *layout, const struct csi_partition *partition) {
  return layout->style != CSI_PARTITION_STYLE_GPT ||
         partition->offset_bytes + partition->length_bytes <=
             layout->usable_offset_bytes + layout->usable_length_bytes;
}

/* Has Windows look at the disk afresh, and finds how large the volume is and how large it shall be. */
static bool measure(struct resizing *resizing) {
  struct csi_ctx *ctx = resizing->ctx;
  struct csi_target *disk = resizing->disk;
  if (!csi_target_update_properties(disk))
    return csi_explain(&ctx->status, "error rescan disk (%" PRIu32 "). error: ", disk->number);
  struct csi_layout layout;
  struct csi_disk_geometry geometry;
  if (!csi_target_get_layout(disk, &layout) || !csi_target_check_guard(disk, &layout) ||
      !find_partition(resizing, &layout) || !check_partition(resizing, &layout) ||
      !disk->host->get_geometry(disk->host->self, ctx, disk->disk, &geometry))
    return false;
  if (geometry.sector_bytes == 0)
    return csi_fail(&ctx->status, CSI_INTERNAL, "disk %" PRIu32 " has sectors of 0 bytes", disk->number);
  bool is_within = is_within_table(&layout, &resizing->partition);
  resizing->table_is_old = reach_for_the_end(&layout, &geometry);
  resizing->ends_beyond = resizing->table_is_old && !is_within;
  uint64_t max_bytes = csi_layout_max_length(&layout, &resizing->partition, geometry.size_bytes);
  return choose_size(resizing, max_bytes, geometry.sector_bytes);
}

/* --- The file system. */

static uint64_t file_system_bytes(const struct resizing *resizing) {
  uint64_t bytes;
  const struct csi_file_system_size *size = &resizing->file_system;
  return __builtin_mul_overflow(size->sector_count, size->sector_bytes, &bytes) ? UINT64_MAX : bytes;
}

/* True when the file system could be larger in a partition of so many bytes. The last cluster cannot be had
 * when it is cut, and NTFS leaves the last sector out. */
static bool is_smaller_than(const struct resizing *resizing, uint64_t length_bytes) {
  if (!resizing->has_file_system) return false;
  uint64_t have_bytes = file_system_bytes(resizing);
  uint64_t spare_bytes = (uint64_t)resizing->file_system.cluster_bytes + resizing->file_system.sector_bytes;
  return have_bytes < length_bytes && length_bytes - have_bytes > spare_bytes;
}

static bool get_size(struct resizing *resizing, enum csi_volume_access access,
                     struct csi_volume_handle *volume_out) {
  struct csi_ctx *ctx = resizing->ctx;
  struct csi_file_system_size *size = &resizing->file_system;
  if (!csi_volume_handle_open(resizing->group, ctx, resizing->ref, access, volume_out) ||
      !volume_out->host->get_file_system_size(volume_out->host->self, ctx, volume_out->volume, size))
    return false;
  return (size->sector_bytes > 0 && size->cluster_bytes > 0) ||
         csi_fail(&ctx->status, CSI_INTERNAL, "the file system has sectors or clusters of 0 bytes");
}

/* Finds whether there is a file system that has to grow with the partition: an unformatted volume has none,
 * and one that cannot grow is refused, if it would have to. */
static bool look_at_file_system(struct resizing *resizing) {
  struct csi_ctx *ctx = resizing->ctx;
  CSI_SCOPED_VOLUME volume = {0};
  resizing->has_file_system = get_size(resizing, CSI_VOLUME_READ, &volume);
  if (resizing->has_file_system) return true;
  if (!csi_failed_with(ctx, INVALID_FUNCTION) && !csi_failed_with(ctx, CSI_WIN32_NOT_SUPPORTED) &&
      !csi_failed_with(ctx, CSI_WIN32_UNRECOGNIZED_VOLUME))
    return false;
  csi_status_clear(&ctx->status);
  const struct csi_volume_host *host = resizing->group->hosts.volumes;
  char name[CSI_FILE_SYSTEM_NAME_BYTES];
  if (host->get_file_system(host->self, ctx, &resizing->ref->guid, name)) {
    if (resizing->wanted_bytes <= resizing->partition.length_bytes) return true;
    return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION, "a volume with the file system %s cannot grow",
                    name);
  }
  if (!csi_failed_with(ctx, CSI_WIN32_UNRECOGNIZED_VOLUME)) return false;
  csi_status_clear(&ctx->status);
  return true;
}

/* One attempt to extend the file system, and whether it had the effect. The volume is opened anew every time:
 * handles from before the change may be dead.
 * UNVERIFIED ON WINDOWS: that the number of sectors is that of the partition, and which errors pass. */
static bool extend_once(struct resizing *resizing) {
  struct csi_ctx *ctx = resizing->ctx;
  CSI_SCOPED_VOLUME volume = {0};
  uint64_t length_bytes = resizing->partition.length_bytes;
  if (!get_size(resizing, CSI_VOLUME_READ_WRITE, &volume)) return false;
  if (!is_smaller_than(resizing, length_bytes)) return true;
  const struct csi_volume_host *host = volume.host;
  if (!host->extend(host->self, ctx, volume.volume, length_bytes / resizing->file_system.sector_bytes) ||
      !host->get_file_system_size(host->self, ctx, volume.volume, &resizing->file_system))
    return false;
  return !is_smaller_than(resizing, length_bytes) ||
         csi_fail_system(&ctx->status, CSI_SPACE_WIN32, CSI_WIN32_NOT_READY, "FSCTL_EXTEND_VOLUME",
                         "the file system has %" PRIu64 " of %" PRIu64 " bytes", file_system_bytes(resizing),
                         length_bytes);
}

/* True for what comes and goes with the volume, as long as its disk is there. */
static bool is_worth_another_attempt(const struct resizing *resizing) {
  static const uint32_t passing[] = {
      INVALID_FUNCTION,    CSI_WIN32_FILE_NOT_FOUND, INVALID_HANDLE,
      CSI_WIN32_NOT_READY, CSI_WIN32_DEV_NOT_EXIST,  CSI_WIN32_SHARING_VIOLATION,
      INVALID_PARAMETER,   CSI_WIN32_NO_SUCH_DEVICE, CSI_WIN32_DEVICE_NOT_CONNECTED};
  bool passes = false;
  for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
    passes |= csi_failed_with(resizing->ctx, passing[i]);
  if (!passes) return false;
  struct csi_ctx probe = *resizing->ctx;
  csi_status_clear(&probe.status);
  const struct csi_target *disk = resizing->disk;
  uint32_t number;
  return disk->host->get_number(disk->host->self, &probe, disk->disk, &number) || !csi_ctx_alive(&probe);
}

static bool extend(struct resizing *resizing) {
  struct csi_status *status = &resizing->ctx->status;
  struct csi_status passing = {.code = CSI_OK}; /* why the last attempt was not the last one */
  for (unsigned attempt = 1; !extend_once(resizing); attempt++) {
    if (attempt < EXTEND_ATTEMPTS && is_worth_another_attempt(resizing)) {
      passing = *status;
      csi_status_clear(status);
      if (csi_pause(resizing->ctx, EXTEND_PAUSE_MS)) continue;
    }
    bool out_of_time = status->code == CSI_DEADLINE_EXCEEDED || status->code == CSI_CANCELLED;
    if (out_of_time && !csi_status_ok(&passing)) csi_advise(status, " after: %s", passing.text);
    return csi_advise(status, " (the partition has its new size; the next call goes on from there)");
  }
  return true;
}

/* --- The partition. */

/* Reads the table after a change of it. False with a status, or with none: the partition lacks length, or
 * ends where the table does not let it. */
static bool has_grown(struct resizing *resizing) {
  struct csi_layout layout;
  if (!csi_target_get_layout(resizing->disk, &layout) || !find_partition(resizing, &layout)) return false;
  return resizing->partition.length_bytes >= resizing->wanted_bytes &&
         is_within_table(&layout, &resizing->partition);
}

static bool grow_once(struct resizing *resizing) {
  struct csi_ctx *ctx = resizing->ctx;
  const struct csi_target *disk = resizing->disk;
  uint64_t have_bytes = resizing->partition.length_bytes;
  if (!csi_ctx_alive(ctx)) return false;
  if (have_bytes < resizing->wanted_bytes &&
      !disk->host->grow_partition(disk->host->self, ctx, disk->disk, resizing->partition.number,
                                  resizing->wanted_bytes - have_bytes))
    return false;
  return has_grown(resizing);
}

/* Writes the table as it is, for which Windows has to put its copy at the end of the disk.
 * UNVERIFIED ON WINDOWS: that it does. */
static bool rewrite_table(struct resizing *resizing) {
  struct csi_ctx *ctx = resizing->ctx;
  struct csi_target *disk = resizing->disk;
  CSI_LOG(WARNING, "disk %" PRIu32 ": its partition table does not reach to its end; writing it again (%s)",
          disk->number, ctx->status.text);
  csi_status_clear(&ctx->status);
  struct csi_layout layout;
  return csi_target_get_layout(disk, &layout) &&
         disk->host->set_layout(disk->host->self, ctx, disk->disk, &layout) &&
         csi_target_update_properties(disk) && csi_target_get_layout(disk, &layout) &&
         find_partition(resizing, &layout);
}

static bool grow_partition(struct resizing *resizing) {
  struct csi_ctx *ctx = resizing->ctx;
  if (grow_once(resizing)) return true;
  if (resizing->table_is_old) {
    if (!csi_ctx_alive(ctx) || !rewrite_table(resizing)) return false;
    if (grow_once(resizing)) return true;
  }
  if (!csi_status_ok(&ctx->status)) return false;
  return csi_fail(&ctx->status, CSI_INTERNAL,
                  "Windows says that the partition has grown, but it has %" PRIu64 " of %" PRIu64
                  " bytes, or ends where the table does not let it",
                  resizing->partition.length_bytes, resizing->wanted_bytes);
}

static bool resize(struct resizing *resizing) {
  if (!look_at_file_system(resizing)) return false;
  bool grows = resizing->wanted_bytes > resizing->partition.length_bytes;
  if ((grows || resizing->ends_beyond) && !grow_partition(resizing)) return false;
  return !is_smaller_than(resizing, resizing->wanted_bytes) || extend(resizing);
}

/* The volume may have gone to another disk before the lock was taken. */
static bool check_disk(const struct resizing *resizing) {
  return resizing->extent.disk_number == resizing->disk->number ||
         csi_fail(&resizing->ctx->status, CSI_UNAVAILABLE, "the volume has moved to disk %" PRIu32,
                  resizing->extent.disk_number);
}

static bool resize_locked(struct resizing *resizing, struct csi_volume_handle *volume) {
  struct csi_ctx *ctx = resizing->ctx;
  CSI_SCOPED_TARGET disk = csi_volume_disk(resizing->group, ctx, resizing->extent.disk_number);
  resizing->disk = &disk;
  if (!csi_target_open(&disk, CSI_DISK_READ_WRITE) ||
      !csi_volume_find_extent(ctx, volume, &resizing->extent) || !check_disk(resizing) || !measure(resizing))
    return csi_explain(&ctx->status,
                       "error getting sizeMin, sizeMax from volume (%s). error: ", resizing->ref->given);
  csi_volume_handle_close(volume);
  return resize(resizing) ||
         csi_explain(&ctx->status,
                     "error resizing volume (%s). size:%" PRId64 ", finalSize %" PRIu64 ", error: ",
                     resizing->ref->given, resizing->asked_bytes, resizing->wanted_bytes);
}

bool csi_volume_serve_resize_volume(struct csi_ctx *ctx, struct csi_volume *group,
                                    const struct csi_volume_resize_volume_request *request,
                                    struct csi_volume_resize_volume_response *response) {
  (void)response;
  if (!csi_require_text(ctx, request->volume_id, "volume id empty")) return false;
  struct csi_volume_ref ref;
  if (!csi_volume_ref_parse(ctx, request->volume_id, &ref)) return false;
  if (request->size_bytes < 0)
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "invalid negative size %" PRId64 " for volume (%s)",
                    request->size_bytes, ref.given);
  CSI_SCOPED_VOLUME volume = {0};
  if (!csi_volume_handle_open(group, ctx, &ref, CSI_VOLUME_QUERY, &volume)) return false;
  struct resizing resizing = {.ctx = ctx, .group = group, .ref = &ref, .asked_bytes = request->size_bytes};
  CSI_SCOPED_LOCK disk_lock = {0};
  CSI_SCOPED_LOCK volume_lock = {0};
  if (!csi_volume_find_extent(ctx, &volume, &resizing.extent) ||
      !csi_lock_disk(group, ctx, resizing.extent.disk_number, "ResizeVolume", &disk_lock) ||
      !csi_lock_volume(group, ctx, &ref.guid, "ResizeVolume", &volume_lock))
    return csi_explain(&ctx->status, "error resizing volume (%s). error: ", ref.given);
  return resize_locked(&resizing, &volume);
}
