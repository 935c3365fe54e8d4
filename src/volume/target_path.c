/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/target_path.h"

#include <string.h>

#include "filesystem/reparse.h"
#include "filesystem/resolve.h"
#include "volume/volume_id.h"

static bool is_separator(char c) {
  return c == '\\' || c == '/';
}

/* Gives the path its drive: `\\?\` before one is dropped, and a path without one is on that of Windows. */
static const char *add_drive(struct csi_volume *group, struct csi_ctx *ctx, const char *path) {
  bool is_verbatim = strncmp(path, "\\\\?\\", 4) == 0 || strncmp(path, "\\??\\", 4) == 0;
  if (is_verbatim && csi_path_is_absolute(path + 4)) return path + 4;
  if (!is_separator(path[0]) || is_separator(path[1]) || is_verbatim) return path;
  const struct csi_volume_host *host = group->hosts.volumes;
  return csi_arena_printf(ctx->arena, "%c:%s", host->get_system_drive(host->self), path);
}

bool csi_target_path_init(struct csi_target_path *target, struct csi_volume *group, struct csi_ctx *ctx,
                          const char *verb, const char *path) {
  const struct csi_path_policy *policy = group->working_dirs;
  const char *with_drive = add_drive(group, ctx, path);
  if (with_drive == NULL) return csi_fail_out_of_memory(&ctx->status);
  bool confined = policy != NULL && csi_path_confine_unnormalised(policy, ctx, with_drive, &target->path);
  if (!confined) {
    if (policy != NULL && ctx->status.code != CSI_PERMISSION_DENIED) return false;
    csi_status_clear(&ctx->status); /* outside of the working directories */
    policy = group->drives;
    if (!csi_path_confine_unnormalised(policy, ctx, with_drive, &target->path)) return false;
  }
  target->path.given = path;
  target->walk = (struct csi_walk){
      .ctx = ctx, .host = group->hosts.files, .verb = verb, .policy = policy, .path = &target->path};
  return true;
}

void csi_folder_release(struct csi_folder *folder) {
  csi_node_close(&folder->node);
  csi_held_lock_release(&folder->lock);
}

bool csi_folder_look(const struct csi_target_path *target, struct csi_folder *folder) {
  struct csi_ctx *ctx = target->walk.ctx;
  struct csi_reparse link;
  if (!csi_read_link(ctx, &folder->node, target->walk.verb, target->path.given, &link)) {
    if (!csi_failed_with(ctx, CSI_WIN32_NOT_A_REPARSE_POINT)) return false;
    csi_status_clear(&ctx->status);
    folder->state = CSI_FOLDER_PLAIN;
    return true;
  }
  bool is_mounted = link.tag == CSI_REPARSE_TAG_MOUNT_POINT && csi_reparse_is_volume_root(&link) &&
                    csi_volume_id_parse(link.target, &folder->mounted);
  folder->state = is_mounted ? CSI_FOLDER_MOUNTED : CSI_FOLDER_LINK;
  return true;
}

bool csi_folder_hold(struct csi_volume *group, const struct csi_target_path *target, const char *holder,
                     struct csi_folder *folder_out) {
  const struct csi_walk *walk = &target->walk;
  struct csi_ctx *ctx = walk->ctx;
  if (target->path.below[0] == '\0')
    return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION, "%s %s: this is %s", walk->verb,
                    target->path.given,
                    walk->policy == group->drives ? "the root of a drive" : "a working directory");
  struct csi_entry entry;
  bool missing;
  if (!csi_walk_to_entry(walk, CSI_ACCESS_REMOVE, &folder_out->node, &entry, &missing)) return false;
  if (missing) {
    folder_out->state = CSI_FOLDER_MISSING;
    return true;
  }
  if ((entry.attributes & CSI_ATTRIBUTE_DIRECTORY) == 0) {
    folder_out->state = CSI_FOLDER_FILE;
    return true;
  }
  return csi_lock_directory(group, ctx, folder_out->node.handle, holder, &folder_out->lock) &&
         csi_folder_look(target, folder_out);
}
