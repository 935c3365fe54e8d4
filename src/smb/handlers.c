/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/handlers.h"

#include <stdio.h>

#include "filesystem/link.h"
#include "smb/mapping.h"
#include "smb/remote_path.h"
#include "smb/state.h"

/* holder: name of the RPC, a literal. */
static bool take_lock(struct csi_smb *group, struct csi_ctx *ctx, const char *root, const char *holder,
                      struct csi_held_lock *lock_out) {
  (void)snprintf(lock_out->key, sizeof lock_out->key, "share %s", root);
  return csi_held_lock_take(group->locks, ctx, holder, lock_out);
}

/* A request that has been checked. */
struct plan {
  struct csi_remote_path remote;
  bool has_link;
  struct csi_confined_path local;
  struct csi_smb_credentials credentials;
};

static bool check_credentials(struct csi_ctx *ctx, const struct plan *plan) {
  const struct csi_smb_credentials *credentials = &plan->credentials;
  if (credentials->username[0] == '\0' && credentials->password[0] != '\0')
    return csi_fail(
        &ctx->status, CSI_INVALID_ARGUMENT,
        "a password is given, and no username: give both, or neither for a share that needs none");
  for (const char *c = credentials->username; *c != '\0'; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7F)
      return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "username has a control character");
  /* Without a user of its own, it would be the node that is let in: to all of its own disks, for one. */
  if (plan->remote.is_administrative && credentials->username[0] == '\0')
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT,
                    "remote path (%s) is an administrative share, which is not mapped without a username",
                    plan->remote.given);
  if (plan->remote.is_loopback && credentials->username[0] == '\0')
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT,
                    "remote path (%s) leads to this node itself, and is not mapped without a username",
                    plan->remote.given);
  return true;
}

/* Everything that can be known before anything is changed. */
static bool make_plan(struct csi_smb *group, struct csi_ctx *ctx,
                      const struct csi_smb_new_smb_global_mapping_request *request, struct plan *plan_out) {
  *plan_out = (struct plan){
      .has_link = request->local_path[0] != '\0',
      .credentials = {.username = request->username, .password = request->password},
  };
  return csi_remote_path_parse(ctx, request->remote_path, &plan_out->remote) &&
         (!plan_out->has_link ||
          csi_path_confine(group->policy, ctx, request->local_path, &plan_out->local)) &&
         check_credentials(ctx, plan_out);
}

static bool make_link(struct csi_smb *group, struct csi_ctx *ctx, const struct plan *plan) {
  const struct csi_walk walk = {.ctx = ctx,
                                .host = group->hosts.files,
                                .verb = "symlink",
                                .policy = group->policy,
                                .path = &plan->local};
  if (csi_ctx_alive(ctx) && csi_make_share_link(&walk, plan->remote.target, &group->link_lock)) return true;
  return csi_explain(&ctx->status, "creating link %s to %s failed with error: error linking %s to %s. err: ",
                     plan->local.given, plan->remote.given, plan->remote.target, plan->local.given);
}

bool csi_smb_serve_new_smb_global_mapping(struct csi_ctx *ctx, struct csi_smb *group,
                                          const struct csi_smb_new_smb_global_mapping_request *request,
                                          struct csi_smb_new_smb_global_mapping_response *response) {
  (void)response;
  struct plan plan;
  if (!make_plan(group, ctx, request, &plan)) return false;
  CSI_SCOPED_LOCK lock = {0};
  enum csi_mapping_origin origin;
  if (!take_lock(group, ctx, plan.remote.root, "NewSmbGlobalMapping", &lock) ||
      !csi_mapping_ensure(group, ctx, plan.remote.root, &plan.credentials, &origin))
    return false;
  if (!plan.has_link) return true;
  if (make_link(group, ctx, &plan)) {
    csi_link_memory_add(group->links, plan.remote.root, plan.local.text);
    return true;
  }
  csi_mapping_take_back(group, ctx, plan.remote.root, origin);
  return false;
}

bool csi_smb_serve_remove_smb_global_mapping(struct csi_ctx *ctx, struct csi_smb *group,
                                             const struct csi_smb_remove_smb_global_mapping_request *request,
                                             struct csi_smb_remove_smb_global_mapping_response *response) {
  (void)response;
  struct csi_remote_path remote;
  if (!csi_remote_path_parse(ctx, request->remote_path, &remote)) return false;
  CSI_SCOPED_LOCK lock = {0};
  return take_lock(group, ctx, remote.root, "RemoveSmbGlobalMapping", &lock) &&
         csi_mapping_end(group, ctx, remote.root);
}
