/* SPDX-License-Identifier: Apache-2.0
 *
 * MountVolume and UnmountVolume.
 */
#include "base/log.h"
#include "filesystem/reparse.h"
#include "volume/flush.h"
#include "volume/handlers.h"
#include "volume/target_path.h"
#include "volume/volume_id.h"

static bool fail_other_volume(const struct csi_target_path *target, const struct csi_folder *folder) {
  char other[CSI_VOLUME_ID_BYTES];
  csi_volume_id_format(&folder->mounted, other);
  return csi_fail(&target->walk.ctx->status, CSI_FAILED_PRECONDITION, "volume %s is mounted there", other);
}

/* Tells the mount manager, without which Windows does not list the path among those of the volume. */
static bool announce(struct csi_volume *group, const struct csi_target_path *target,
                     const struct csi_volume_ref *volume) {
  const struct csi_volume_host *host = group->hosts.volumes;
  return host->announce_mount(host->self, target->walk.ctx, target->path.text, &volume->guid);
}

/* The volume is mounted there already: a success. The mount manager is told again, for the case that an
 * earlier call came no further than the folder.
 * UNVERIFIED ON WINDOWS: that it does not list the path twice then. */
static bool accept_mounted(struct csi_volume *group, const struct csi_target_path *target,
                           const struct csi_volume_ref *volume) {
  struct csi_ctx *ctx = target->walk.ctx;
  if (announce(group, target, volume)) return true;
  CSI_V(2, "The mount manager does not take the path of a mounted volume: %s", ctx->status.text);
  csi_status_clear(&ctx->status);
  return true;
}

/* Turns the held folder into the mount point and reads it back: not every file system keeps what it takes.
 * UNVERIFIED ON WINDOWS: that this and the announcement are all that SetVolumeMountPointW() does. */
static bool write_mount_point(const struct csi_target_path *target, struct csi_folder *folder,
                              const struct csi_volume_ref *volume) {
  struct csi_ctx *ctx = target->walk.ctx;
  const struct csi_filesystem_host *host = target->walk.host;
  char id[CSI_VOLUME_ID_BYTES];
  csi_volume_id_format(&volume->guid, id);
  uint8_t bytes[CSI_REPARSE_BYTES_MAX];
  size_t size_bytes;
  if (!csi_reparse_build_mounted_folder(ctx, id, bytes, &size_bytes)) return false;
  uint32_t error = host->write_reparse(host->self, folder->node.handle, bytes, size_bytes);
  if (error != CSI_WIN32_OK) return csi_walk_fail(&target->walk, error, "FSCTL_SET_REPARSE_POINT");
  if (!csi_folder_look(target, folder)) return false;
  if (folder->state == CSI_FOLDER_MOUNTED && csi_guid_equal(&folder->mounted, &volume->guid)) return true;
  return csi_fail(&ctx->status, CSI_INTERNAL, "mount %s: the file system does not keep the mount point",
                  target->path.given);
}

/* After a failure: the folder becomes what it was. */
static bool undo(const struct csi_target_path *target, struct csi_folder *folder) {
  const struct csi_filesystem_host *host = target->walk.host;
  uint32_t error = host->delete_reparse(host->self, folder->node.handle, CSI_REPARSE_TAG_MOUNT_POINT);
  if (error != CSI_WIN32_OK && error != CSI_WIN32_NOT_A_REPARSE_POINT)
    csi_advise(&target->walk.ctx->status, " (and the mount point could not be removed again: error %u)",
               (unsigned)error);
  return false;
}

static bool remove_mount_point(const struct csi_target_path *target, const struct csi_folder *folder) {
  const struct csi_filesystem_host *host = target->walk.host;
  if (!csi_ctx_alive(target->walk.ctx)) return false;
  uint32_t error = host->delete_reparse(host->self, folder->node.handle, CSI_REPARSE_TAG_MOUNT_POINT);
  return error == CSI_WIN32_OK || csi_walk_fail(&target->walk, error, "FSCTL_DELETE_REPARSE_POINT");
}

/* Removes the mount point of a volume that is no more. One that exists stays mounted. */
static bool remove_dangling(struct csi_volume *group, const struct csi_target_path *target,
                            const struct csi_folder *folder) {
  bool gone;
  if (!csi_volume_is_gone(group, target->walk.ctx, &folder->mounted, &gone)) return false;
  if (!gone) return fail_other_volume(target, folder);
  CSI_LOG(INFO, "%s: replacing the mount point of a volume that does not exist", target->path.given);
  return remove_mount_point(target, folder);
}

static bool mount_on(struct csi_volume *group, const struct csi_target_path *target,
                     struct csi_folder *folder, const struct csi_volume_ref *volume) {
  struct csi_ctx *ctx = target->walk.ctx;
  switch (folder->state) {
  case CSI_FOLDER_MISSING:
    return csi_walk_fail(&target->walk, CSI_WIN32_FILE_NOT_FOUND, "NtCreateFile");
  case CSI_FOLDER_FILE:
    return csi_walk_fail(&target->walk, CSI_WIN32_DIRECTORY, "NtCreateFile");
  case CSI_FOLDER_LINK:
    return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION, "mount %s: this is a link, not a directory",
                    target->path.given);
  case CSI_FOLDER_MOUNTED:
    if (csi_guid_equal(&folder->mounted, &volume->guid)) return accept_mounted(group, target, volume);
    if (!remove_dangling(group, target, folder)) return false;
    break;
  case CSI_FOLDER_PLAIN:
    break;
  }
  if (!csi_ctx_alive(ctx)) return false;
  if (write_mount_point(target, folder, volume) && announce(group, target, volume)) return true;
  return undo(target, folder);
}

static bool mount(struct csi_volume *group, struct csi_ctx *ctx, const char *volume_id, const char *path) {
  struct csi_volume_ref ref;
  struct csi_target_path target;
  if (!csi_volume_ref_parse(ctx, volume_id, &ref) ||
      !csi_target_path_init(&target, group, ctx, "mount", path))
    return false;
  CSI_SCOPED_LOCK lock = {0};
  if (!csi_lock_volume(group, ctx, &ref.guid, "MountVolume", &lock)) return false;
  CSI_SCOPED_VOLUME volume = {0};
  if (!csi_volume_handle_open(group, ctx, &ref, CSI_VOLUME_QUERY, &volume)) return false;
  CSI_SCOPED_FOLDER folder = {0};
  return csi_folder_hold(group, &target, "MountVolume", &folder) && mount_on(group, &target, &folder, &ref);
}

bool csi_volume_serve_mount_volume(struct csi_ctx *ctx, struct csi_volume *group,
                                   const struct csi_volume_mount_volume_request *request,
                                   struct csi_volume_mount_volume_response *response) {
  (void)response;
  if (!csi_require_text(ctx, request->volume_id, "MountVolumeRequest.VolumeId is empty") ||
      !csi_require_text(ctx, request->target_path, "MountVolumeRequest.TargetPath is empty"))
    return false;
  return mount(group, ctx, request->volume_id, request->target_path) ||
         csi_explain(&ctx->status, "error mount volume (%s) to path %s. error: ", request->volume_id,
                     request->target_path);
}

/* mounted_out: the volume is mounted there; when not, there is nothing left to do. */
static bool find_mount_point(struct csi_volume *group, const struct csi_target_path *target,
                             const struct csi_volume_ref *volume, struct csi_folder *folder,
                             bool *mounted_out) {
  if (!csi_folder_hold(group, target, "UnmountVolume", folder)) return false;
  *mounted_out = folder->state == CSI_FOLDER_MOUNTED;
  if (folder->state == CSI_FOLDER_LINK)
    return csi_fail(&target->walk.ctx->status, CSI_FAILED_PRECONDITION,
                    "unmount %s: this is a link, not a mounted folder", target->path.given);
  if (*mounted_out && !csi_guid_equal(&folder->mounted, &volume->guid))
    return fail_other_volume(target, folder);
  return true;
}

static bool explain_unmounting(struct csi_ctx *ctx, const char *volume_id, const char *path) {
  return csi_explain(&ctx->status, "error umount volume (%s) from path %s. error: ", volume_id, path);
}

bool csi_volume_serve_unmount_volume(struct csi_ctx *ctx, struct csi_volume *group,
                                     const struct csi_volume_unmount_volume_request *request,
                                     struct csi_volume_unmount_volume_response *response) {
  (void)response;
  const char *id = request->volume_id, *path = request->target_path;
  if (!csi_require_text(ctx, id, "volume id empty") || !csi_require_text(ctx, path, "target path empty"))
    return false;
  struct csi_volume_ref volume;
  if (!csi_volume_ref_parse(ctx, id, &volume)) return csi_explain_querying(ctx, id);
  struct csi_target_path target;
  CSI_SCOPED_LOCK lock = {0};
  CSI_SCOPED_FOLDER folder = {0};
  bool mounted;
  if (!csi_target_path_init(&target, group, ctx, "unmount", path) ||
      !csi_lock_volume(group, ctx, &volume.guid, "UnmountVolume", &lock) ||
      !find_mount_point(group, &target, &volume, &folder, &mounted))
    return explain_unmounting(ctx, id, path);
  if (!mounted) return true;
  if (!csi_flush_unless_gone(group, ctx, &volume)) return false;
  return remove_mount_point(&target, &folder) || explain_unmounting(ctx, id, path);
}
