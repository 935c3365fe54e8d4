/* SPDX-License-Identifier: Apache-2.0
 *
 * What has become of the shares that the group has mapped, and which others Windows lists.
 */
#include <string.h>

#include "filesystem/link.h"
#include "smb/remote_path.h"
#include "smb/state.h"

/* Looks whether the link that was made is there still, and leads to the share. */
static bool look_at_link(struct csi_smb *group, struct csi_ctx *ctx, const char *path, const char *root,
                         bool *leads_out) {
  struct csi_confined_path confined;
  if (!csi_path_confine(group->policy, ctx, path, &confined)) return false;
  const struct csi_walk walk = {
      .ctx = ctx, .host = group->hosts.files, .verb = "readlink", .policy = group->policy, .path = &confined};
  return csi_test_share_link(&walk, root, leads_out);
}

/* The links that could not be looked at are among them, and the error says so. */
static bool list_links(struct csi_smb *group, struct csi_ctx *ctx, struct csi_smb_known *known) {
  const char **paths, *failure = NULL;
  size_t count, failures = 0;
  if (!csi_link_memory_list(group->links, ctx, known->root, &paths, &count)) return false;
  known->links = paths;
  for (size_t i = 0; i < count; i++) {
    bool leads = false,
         looked = csi_ctx_alive(ctx) && look_at_link(group, ctx, paths[i], known->root, &leads);
    if (leads || !looked) known->links[known->link_count++] = paths[i];
    if (!looked && failures++ == 0) failure = csi_arena_strdup(ctx->arena, ctx->status.text);
    csi_status_clear(&ctx->status);
  }
  if (failures == 0) return true;
  if (failure != NULL)
    known->error = csi_arena_printf(ctx->arena, "%s%s%zu of the links could not be looked at: %s",
                                    known->error, known->error[0] != '\0' ? "; " : "", failures, failure);
  return (failure != NULL && known->error != NULL) || csi_fail_out_of_memory(&ctx->status);
}

static bool ask_state(struct csi_smb *group, struct csi_ctx *ctx, struct csi_smb_known *known) {
  const struct csi_smb_host *host = group->hosts.shares;
  known->state = CSI_SMB_UNKNOWN;
  known->error = "";
  if (csi_ctx_alive(ctx) && host->get_state(host->self, ctx, known->root, &known->state)) return true;
  known->error = csi_arena_strdup(ctx->arena, ctx->status.text);
  csi_status_clear(&ctx->status);
  return known->error != NULL || csi_fail_out_of_memory(&ctx->status);
}

/* The names that Windows lists, as the group spells them: roots_out has room for all. Others than shares are
 * left out. */
static bool list_others(struct csi_smb *group, struct csi_ctx *ctx, const char ***roots_out,
                        size_t *count_out, const char **why_not_out) {
  const struct csi_smb_host *host = group->hosts.shares;
  const char **names = NULL;
  size_t count = 0;
  *count_out = 0;
  *why_not_out = "";
  if (!host->list(host->self, ctx, &names, &count)) {
    *why_not_out = csi_arena_strdup(ctx->arena, ctx->status.text);
    csi_status_clear(&ctx->status);
    count = 0;
  }
  *roots_out = csi_arena_alloc_array(ctx->arena, count + 1, sizeof **roots_out);
  if (*roots_out == NULL || *why_not_out == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++) {
    struct csi_remote_path remote;
    if (csi_remote_path_parse(ctx, names[i], &remote)) (*roots_out)[(*count_out)++] = remote.root;
    csi_status_clear(&ctx->status);
  }
  return true;
}

static bool has(const struct csi_smb_known *known, size_t count, const char *root) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(known[i].root, root) == 0) return true;
  return false;
}

bool csi_smb_list_known(struct csi_smb *group, struct csi_ctx *ctx, struct csi_smb_known **known_out,
                        size_t *count_out, const char **why_not_out) {
  const char **roots, **others;
  size_t count, other_count;
  if (!csi_credential_memory_list(group->memory, ctx, &roots, &count) ||
      !list_others(group, ctx, &others, &other_count, why_not_out))
    return false;
  struct csi_smb_known *known = csi_arena_alloc_array(ctx->arena, count + other_count + 1, sizeof *known);
  if (known == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++)
    known[i].root = roots[i];
  for (size_t i = 0; i < other_count; i++)
    if (!has(known, count, others[i])) known[count++].root = others[i];
  for (size_t i = 0; i < count; i++)
    if (!ask_state(group, ctx, &known[i]) || !list_links(group, ctx, &known[i])) return false;
  *known_out = known;
  *count_out = count;
  return true;
}
