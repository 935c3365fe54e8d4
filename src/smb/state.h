/* SPDX-License-Identifier: Apache-2.0
 *
 * What the group consists of, for its own files only.
 */
#ifndef CSI_SMB_STATE_H
#define CSI_SMB_STATE_H

#include <pthread.h>

#include "filesystem/path_policy.h"
#include "smb/credential_memory.h"
#include "smb/group.h"
#include "smb/link_memory.h"

struct csi_smb {
  struct csi_smb_hosts hosts;
  struct csi_keyed_locks *locks;
  struct csi_path_policy *policy; /* for local paths */
  struct csi_credential_memory *memory;
  struct csi_link_memory *links;
  pthread_mutex_t link_lock; /* see csi_make_share_link() */
  bool require_privacy;
  uint32_t patience_ms;
  uint32_t renewal_patience_ms;
};

#endif
