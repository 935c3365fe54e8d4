/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/group.h"

#include <stdlib.h>

#include "smb/state.h"

enum {
  SHARES_REMEMBERED = 1024, /* a node has as many only if somebody makes them up */
  LINKS_REMEMBERED = 1024,
};

static bool fill(struct csi_smb *group, const struct csi_smb_options *options, struct csi_status *status) {
  size_t max_path_bytes = options->max_path_bytes == 0 ? CSI_PATH_BYTES_DEFAULT : options->max_path_bytes;
  group->policy =
      csi_path_policy_new(options->working_dirs, options->working_dir_count, max_path_bytes, status);
  if (group->policy == NULL) return false;
  group->memory = csi_credential_memory_new(SHARES_REMEMBERED);
  group->links = csi_link_memory_new(LINKS_REMEMBERED);
  return (group->memory != NULL && group->links != NULL) || csi_fail_out_of_memory(status);
}

struct csi_smb *csi_smb_new(const struct csi_smb_options *options, const struct csi_smb_hosts *hosts,
                            struct csi_keyed_locks *locks, struct csi_status *status) {
  struct csi_smb *group = calloc(1, sizeof *group);
  if (group == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  group->hosts = *hosts;
  group->locks = locks;
  group->require_privacy = options->require_privacy;
  group->patience_ms = options->patience_ms == 0 ? CSI_SMB_PATIENCE_MS : options->patience_ms;
  group->renewal_patience_ms = options->patience_ms == 0 ? CSI_SMB_RENEWAL_PATIENCE_MS : options->patience_ms;
  pthread_mutex_init(&group->link_lock, NULL);
  if (fill(group, options, status)) return group;
  csi_smb_free(group);
  return NULL;
}

void csi_smb_free(struct csi_smb *group) {
  if (group == NULL) return;
  pthread_mutex_destroy(&group->link_lock);
  csi_link_memory_free(group->links);
  csi_credential_memory_free(group->memory);
  csi_path_policy_free(group->policy);
  free(group);
}
