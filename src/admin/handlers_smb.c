/* SPDX-License-Identifier: Apache-2.0
 *
 * ListSmbMappings.
 */
#include <stdlib.h>
#include <string.h>

#include "admin/state.h"

#define OWN "shares that NewSmbGlobalMapping has mapped since this service started"

/* UNVERIFIED ON WINDOWS: whether mpr.dll lists global mappings at all; if not, the state of the service's own
 * is unknown, and those of others are missing. */
#define WITH_OTHERS                                                                                          \
  OWN ", and those that Windows lists, whoever mapped them; what else there may be, Get-SmbGlobalMapping "   \
      "shows"

static const char *name_of(enum csi_smb_state state) {
  switch (state) {
  case CSI_SMB_MAPPED:
    return "mapped";
  case CSI_SMB_BROKEN:
    return "disconnected";
  case CSI_SMB_NOT_MAPPED:
    return "not mapped";
  default:
    return "unknown";
  }
}

static int compare(const void *left, const void *right) {
  const struct csi_admin_smb_mapping *a = left, *b = right;
  return strcmp(a->remote_path, b->remote_path);
}

static bool tell_scope(struct csi_ctx *ctx, const char *why_not,
                       struct csi_admin_list_smb_mappings_response *response) {
  response->scope = why_not[0] == '\0' ? WITH_OTHERS
                                       : csi_arena_printf(ctx->arena,
                                                          OWN "; those of others are not listed (%s), "
                                                              "Get-SmbGlobalMapping shows them",
                                                          why_not);
  return response->scope != NULL || csi_fail_out_of_memory(&ctx->status);
}

static bool list(struct csi_ctx *ctx, struct csi_smb *shares,
                 struct csi_admin_list_smb_mappings_response *response) {
  struct csi_smb_known *known;
  size_t count;
  const char *why_not;
  if (!csi_smb_list_known(shares, ctx, &known, &count, &why_not) || !tell_scope(ctx, why_not, response))
    return false;
  struct csi_admin_smb_mapping *mappings = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *mappings);
  if (mappings == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++)
    mappings[i] = (struct csi_admin_smb_mapping){.remote_path = known[i].root,
                                                 .state = name_of(known[i].state),
                                                 .links = known[i].links,
                                                 .links_count = known[i].link_count,
                                                 .error = known[i].error};
  qsort(mappings, count, sizeof *mappings, compare);
  response->mappings = mappings;
  response->mappings_count = count;
  return true;
}

bool csi_admin_serve_list_smb_mappings(struct csi_ctx *ctx, struct csi_admin *group,
                                       const struct csi_admin_list_smb_mappings_request *request,
                                       struct csi_admin_list_smb_mappings_response *response) {
  (void)request;
  ctx->only_looks = true;
  response->scope = "the SMB group is not served";
  return group->hosts.shares == NULL || list(ctx, group->hosts.shares, response);
}
