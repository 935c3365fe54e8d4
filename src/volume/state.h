/* SPDX-License-Identifier: Apache-2.0
 *
 * What the group consists of, for its own files only.
 */
#ifndef CSI_VOLUME_STATE_H
#define CSI_VOLUME_STATE_H

#include "filesystem/path_policy.h"
#include "volume/group.h"

struct csi_volume {
  struct csi_volume_hosts hosts;
  struct csi_keyed_locks *locks;
  struct csi_path_policy *working_dirs; /* NULL when there is none */
  struct csi_path_policy *drives;       /* the roots of all drives */
  bool change_system_disks;
};

#endif
