/* SPDX-License-Identifier: Apache-2.0
 *
 * GetVolumeIDFromTargetPath and GetClosestVolumeIDFromTargetPath.
 */
#include "filesystem/resolve.h"
#include "volume/handlers.h"
#include "volume/target_path.h"
#include "volume/volume_id.h"

/* How the original's texts begin that drivers match to tell "not mounted" from trouble: one that a path is
 * no mounted folder, and one that it is missing. The path comes last, as a long one is cut. */
#define NOT_MOUNTED                                                                                          \
  "error getting volume from mount. cmd: (Get-Item -Path $Env:mountpath).Target, output: , error: <nil>"
#define NOT_THERE "error getting volume from mount: cannot find the path, because it does not exist"

static bool to_id(struct csi_ctx *ctx, const struct csi_guid *guid, const char **id_out) {
  char *id = csi_arena_alloc(ctx->arena, CSI_VOLUME_ID_BYTES);
  if (id == NULL) return csi_fail_out_of_memory(&ctx->status);
  csi_volume_id_format(guid, id);
  *id_out = id;
  return true;
}

static bool fail_remote(struct csi_ctx *ctx, const char *path) {
  return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION,
                  "%s leads to another machine, and is on no volume of this one", path);
}

bool csi_volume_serve_get_volume_id_from_target_path(
    struct csi_ctx *ctx, struct csi_volume *group,
    const struct csi_volume_get_volume_id_from_target_path_request *request,
    struct csi_volume_get_volume_id_from_target_path_response *response) {
  const char *path = request->target_path;
  if (!csi_require_text(ctx, path, "target path is empty")) return false;
  struct csi_target_path target;
  struct csi_place place;
  if (!csi_target_path_init(&target, group, ctx, "readlink", path) ||
      !csi_resolve_path(ctx, group->hosts.files, target.path.text, &place))
    return false;
  struct csi_guid guid;
  if (place.is_volume_root && place.target == CSI_TARGET_DIRECTORY && csi_volume_id_parse(place.root, &guid))
    return to_id(ctx, &guid, &response->volume_id);
  switch (place.target) {
  case CSI_TARGET_MISSING:
    return csi_fail(&ctx->status, CSI_NOT_FOUND, NOT_THERE ": %s", path);
  case CSI_TARGET_REMOTE:
    fail_remote(ctx, path);
    break;
  case CSI_TARGET_FILE:
  case CSI_TARGET_DIRECTORY:
    csi_fail(&ctx->status, CSI_FAILED_PRECONDITION, "\"%s\" is not a mounted folder", path);
    break;
  }
  return csi_explain(&ctx->status, NOT_MOUNTED ": ");
}

static bool find_closest(struct csi_volume *group, struct csi_ctx *ctx, const char *path,
                         struct csi_guid *guid_out) {
  struct csi_target_path target;
  struct csi_place place;
  if (!csi_target_path_init(&target, group, ctx, "readlink", path) ||
      !csi_resolve_path(ctx, group->hosts.files, target.path.text, &place))
    return false;
  if (place.target == CSI_TARGET_REMOTE) return fail_remote(ctx, path);
  if (place.target == CSI_TARGET_MISSING)
    return csi_walk_fail(&target.walk, CSI_WIN32_FILE_NOT_FOUND, "NtCreateFile");
  if (csi_volume_id_parse(place.root, guid_out)) return true;
  const struct csi_volume_host *host = group->hosts.volumes;
  return host->get_drive_volume(host->self, ctx, place.root, guid_out);
}

bool csi_volume_serve_get_closest_volume_id_from_target_path(
    struct csi_ctx *ctx, struct csi_volume *group,
    const struct csi_volume_get_closest_volume_id_from_target_path_request *request,
    struct csi_volume_get_closest_volume_id_from_target_path_response *response) {
  const char *path = request->target_path;
  if (!csi_require_text(ctx, path, "target path is empty")) return false;
  struct csi_guid guid;
  if (find_closest(group, ctx, path, &guid)) return to_id(ctx, &guid, &response->volume_id);
  return csi_explain(&ctx->status, "error getting the closest volume for the path=%s, err=", path);
}
