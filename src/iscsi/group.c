/* SPDX-License-Identifier: Apache-2.0 */
#include "iscsi/group.h"

#include <stdlib.h>

#include "iscsi/state.h"

struct csi_iscsi *csi_iscsi_new(const struct csi_iscsi_host *host, struct csi_keyed_locks *locks,
                                struct csi_status *status) {
  struct csi_iscsi *group = calloc(1, sizeof *group);
  if (group == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  *group = (struct csi_iscsi){.host = host, .locks = locks};
  return group;
}

void csi_iscsi_free(struct csi_iscsi *group) {
  free(group);
}
