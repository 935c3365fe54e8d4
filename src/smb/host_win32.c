/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/host_win32.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/log.h"
#include "smb/common_win32.h"
#include "smb/mi_win32.h"
#include "smb/wnet_win32.h"

/* What CSI_SMB_ROUTE_AUTO has come to; NULL while nobody has needed it. */
static _Atomic(const struct csi_smb_host *) chosen;

/* mpr.dll has once mapped a share: its flag is known, and what it refuses it refuses for another reason. */
static atomic_bool flag_is_known;

/* ---- Choice. ---- */

/* Neither way is there. */
static bool fail_without_way(struct csi_ctx *ctx, const struct csi_status *wnet) {
  csi_explain(&ctx->status, "this Windows cannot map shares for the whole node: %s; ", wnet->text);
  ctx->status.code = CSI_UNIMPLEMENTED;
  return false;
}

static const struct csi_smb_host *choose(struct csi_ctx *ctx) {
  const struct csi_smb_host *host = atomic_load(&chosen);
  if (host != NULL) return host;
  if (csi_smb_wnet_probe(ctx)) {
    host = csi_smb_wnet_host();
  } else {
    struct csi_status wnet = ctx->status;
    csi_status_clear(&ctx->status);
    if (!csi_smb_mi_probe(ctx)) {
      fail_without_way(ctx, &wnet);
      return NULL;
    }
    CSI_LOG(INFO, "Global mappings are made through mi.dll: %s", wnet.text);
    host = csi_smb_mi_host();
  }
  atomic_store(&chosen, host);
  return host;
}

/* What mpr.dll has refused as it refuses a flag it does not know, once more through mi.dll. When that does
 * it, it was the flag, and mi.dll is taken from now on. */
static bool add_by_mi(struct csi_ctx *ctx, const char *root, const struct csi_smb_credentials *credentials,
                      bool require_privacy) {
  const struct csi_smb_host *mi = csi_smb_mi_host();
  struct csi_status refusal = ctx->status;
  csi_status_clear(&ctx->status);
  if (!csi_smb_mi_probe(ctx)) {
    CSI_V(2, "mi.dll is no way out: %s", ctx->status.text);
    ctx->status = refusal;
    return false;
  }
  if (!mi->add(mi->self, ctx, root, credentials, require_privacy)) return false;
  CSI_LOG(WARNING, "Global mappings are made through mi.dll from now on: %s", refusal.text);
  atomic_store(&chosen, mi);
  return true;
}

/* ---- Steps by whichever way was chosen. ---- */

static bool get_state(void *self, struct csi_ctx *ctx, const char *root, enum csi_smb_state *state_out) {
  (void)self;
  const struct csi_smb_host *host = choose(ctx);
  return host != NULL && host->get_state(host->self, ctx, root, state_out);
}

static bool list(void *self, struct csi_ctx *ctx, const char ***names_out, size_t *count_out) {
  (void)self;
  const struct csi_smb_host *host = choose(ctx);
  return host != NULL && host->list(host->self, ctx, names_out, count_out);
}

static bool add(void *self, struct csi_ctx *ctx, const char *root,
                const struct csi_smb_credentials *credentials, bool require_privacy) {
  (void)self;
  const struct csi_smb_host *host = choose(ctx);
  if (host == NULL) return false;
  bool by_wnet = host == csi_smb_wnet_host();
  if (host->add(host->self, ctx, root, credentials, require_privacy)) {
    if (by_wnet) atomic_store(&flag_is_known, true);
    return true;
  }
  return by_wnet && !atomic_load(&flag_is_known) && csi_smb_wnet_is_unknown_flag(&ctx->status) &&
         add_by_mi(ctx, root, credentials, require_privacy);
}

static bool end(void *self, struct csi_ctx *ctx, const char *root) {
  (void)self;
  const struct csi_smb_host *host = choose(ctx);
  return host != NULL && host->remove(host->self, ctx, root);
}

static const struct csi_smb_host automatic = {
    .get_state = get_state,
    .list = list,
    .add = add,
    .remove = end,
    .check = csi_smb_check_root,
    .try_credentials = csi_smb_try_credentials,
    .fingerprint = csi_smb_fingerprint,
};

const struct csi_smb_host *csi_smb_host_win32(enum csi_smb_route route) {
  switch (route) {
  case CSI_SMB_ROUTE_WNET:
    return csi_smb_wnet_host();
  case CSI_SMB_ROUTE_MI:
    return csi_smb_mi_host();
  default:
    atomic_store(&chosen, NULL);
    atomic_store(&flag_is_known, false);
    return &automatic;
  }
}
