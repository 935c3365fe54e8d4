/* SPDX-License-Identifier: Apache-2.0
 *
 * What the group consists of, for its own files only.
 */
#ifndef CSI_ISCSI_STATE_H
#define CSI_ISCSI_STATE_H

#include "iscsi/group.h"

struct csi_iscsi {
  const struct csi_iscsi_host *host;
  struct csi_keyed_locks *locks;
};

#endif
