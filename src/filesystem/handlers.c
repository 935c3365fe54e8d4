/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/handlers.h"

#include <pthread.h>
#include <stdlib.h>

#include "filesystem/group.h"
#include "filesystem/link.h"
#include "filesystem/mkdir.h"
#include "filesystem/path_policy.h"
#include "filesystem/protect.h"
#include "filesystem/remove.h"
#include "filesystem/walk.h"

struct csi_filesystem {
  const struct csi_filesystem_host *host;
  struct csi_path_policy *policy;
  pthread_mutex_t link_lock; /* see csi_make_link() */
};

struct csi_filesystem *csi_filesystem_new(const struct csi_filesystem_options *options,
                                          const struct csi_filesystem_host *host, struct csi_status *status) {
  struct csi_filesystem *group = calloc(1, sizeof *group);
  if (group == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  size_t max_path_bytes = options->max_path_bytes == 0 ? CSI_PATH_BYTES_DEFAULT : options->max_path_bytes;
  group->host = host;
  group->policy =
      csi_path_policy_new(options->working_dirs, options->working_dir_count, max_path_bytes, status);
  if (group->policy == NULL) {
    free(group);
    return NULL;
  }
  pthread_mutex_init(&group->link_lock, NULL);
  return group;
}

void csi_filesystem_free(struct csi_filesystem *group) {
  if (group == NULL) return;
  pthread_mutex_destroy(&group->link_lock);
  csi_path_policy_free(group->policy);
  free(group);
}

static struct csi_walk new_walk(struct csi_ctx *ctx, const struct csi_filesystem *group, const char *verb,
                                const struct csi_confined_path *path) {
  return (struct csi_walk){
      .ctx = ctx, .host = group->host, .verb = verb, .policy = group->policy, .path = path};
}

bool csi_filesystem_serve_path_exists(struct csi_ctx *ctx, struct csi_filesystem *group,
                                      const struct csi_filesystem_path_exists_request *request,
                                      struct csi_filesystem_path_exists_response *response) {
  struct csi_confined_path path;
  if (!csi_path_confine(group->policy, ctx, request->path, &path)) return false;
  struct csi_walk walk = new_walk(ctx, group, "GetFileAttributesEx", &path);
  bool missing;
  if (!csi_walk_find(&walk, &missing)) return false;
  response->exists = !missing;
  return true;
}

bool csi_filesystem_serve_mkdir(struct csi_ctx *ctx, struct csi_filesystem *group,
                                const struct csi_filesystem_mkdir_request *request,
                                struct csi_filesystem_mkdir_response *response) {
  (void)response;
  struct csi_confined_path path;
  if (!csi_path_confine(group->policy, ctx, request->path, &path)) return false;
  struct csi_walk walk = new_walk(ctx, group, "mkdir", &path);
  return csi_make_directory(&walk);
}

bool csi_filesystem_serve_rmdir(struct csi_ctx *ctx, struct csi_filesystem *group,
                                const struct csi_filesystem_rmdir_request *request,
                                struct csi_filesystem_rmdir_response *response) {
  (void)response;
  struct csi_confined_path path;
  if (!csi_path_confine(group->policy, ctx, request->path, &path)) return false;
  struct csi_walk walk = new_walk(ctx, group, "remove", &path);
  if (!csi_protect_named_roots(&walk)) return false;
  return request->force ? csi_remove_tree(&walk) : csi_remove_entry(&walk);
}

bool csi_filesystem_serve_rmdir_contents(struct csi_ctx *ctx, struct csi_filesystem *group,
                                         const struct csi_filesystem_rmdir_contents_request *request,
                                         struct csi_filesystem_rmdir_contents_response *response) {
  (void)response;
  struct csi_confined_path path;
  if (!csi_path_confine(group->policy, ctx, request->path, &path)) return false;
  struct csi_walk walk = new_walk(ctx, group, "open", &path);
  return csi_protect_named_roots(&walk) && csi_remove_contents(&walk);
}

bool csi_filesystem_serve_create_symlink(struct csi_ctx *ctx, struct csi_filesystem *group,
                                         const struct csi_filesystem_create_symlink_request *request,
                                         struct csi_filesystem_create_symlink_response *response) {
  (void)response;
  struct csi_confined_path target, source;
  if (!csi_path_confine(group->policy, ctx, request->target_path, &target) ||
      !csi_path_confine(group->policy, ctx, request->source_path, &source))
    return false;
  struct csi_walk walk = new_walk(ctx, group, "symlink", &target);
  return csi_make_link(&walk, &source, &group->link_lock);
}

bool csi_filesystem_serve_is_symlink(struct csi_ctx *ctx, struct csi_filesystem *group,
                                     const struct csi_filesystem_is_symlink_request *request,
                                     struct csi_filesystem_is_symlink_response *response) {
  struct csi_confined_path path;
  if (!csi_path_confine_unnormalised(group->policy, ctx, request->path, &path)) return false;
  struct csi_walk walk = new_walk(ctx, group, "GetFileAttributesEx", &path);
  return csi_test_link(&walk, &response->is_symlink);
}
