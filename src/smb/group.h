/* SPDX-License-Identifier: Apache-2.0
 *
 * The SMB group: what its RPCs do, whatever version they are spoken in. The prototypes of the handlers
 * themselves are generated (smb/handlers.h in the build tree).
 */
#ifndef CSI_SMB_GROUP_H
#define CSI_SMB_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/keyed_lock.h"
#include "base/status.h"
#include "filesystem/host.h"
#include "smb/host.h"

enum {
  CSI_SMB_PATIENCE_MS = 10 * 1000,
  CSI_SMB_RENEWAL_PATIENCE_MS = 60 * 1000, /* for a mapping whose predecessor has been ended */
};

/* The group's state: its configuration, and which credentials each share was last mapped with, as
 * fingerprints. Handlers may run in any number of threads. */
struct csi_smb;

struct csi_smb_options {
  bool require_privacy; /* new mappings are encrypted */
  /* Directories below which links may be made, see volume/group.h. Copied. */
  const char *const *working_dirs;
  size_t working_dir_count;
  size_t max_path_bytes; /* longest local path of a request; 0 = CSI_PATH_BYTES_DEFAULT */
  /* How long what must not be left half done may take behind the client's deadline; 0 = the two above.
   */
  uint32_t patience_ms;
};

/* What the group works on; all must outlive it. */
struct csi_smb_hosts {
  const struct csi_smb_host *shares;
  const struct csi_filesystem_host *files;
};

/* Makes the group. locks must outlive it. NULL with status on failure. */
struct csi_smb *csi_smb_new(const struct csi_smb_options *options, const struct csi_smb_hosts *hosts,
                            struct csi_keyed_locks *locks, struct csi_status *status) CSI_MUST_CHECK;

/* A share that the group has mapped since it was made, or that Windows lists. */
struct csi_smb_known {
  const char *root; /* `\\host\share`, in lower case */
  enum csi_smb_state state;
  /* Why the state is unknown, and why links could not be looked at; "" when nothing failed. */
  const char *error;
  /* Links to it that NewSmbGlobalMapping has made, and that are there still and lead to it; and those that
   * could not be looked at. */
  const char **links;
  size_t link_count;
};

/* Lists them in ctx->arena, the group's own first. Asks Windows for the state of each; whatever that says
 * fails nothing. why_not_out: why Windows does not list those of others; "" when it does. Fails when memory
 * is short. */
bool csi_smb_list_known(struct csi_smb *group, struct csi_ctx *ctx, struct csi_smb_known **known_out,
                        size_t *count_out, const char **why_not_out) CSI_MUST_CHECK;

/* Frees the group. No handler may be running. NULL is accepted. */
void csi_smb_free(struct csi_smb *group);

#endif
