/* SPDX-License-Identifier: Apache-2.0
 *
 * The disk group: what its RPCs do, whatever version they are spoken in. The prototypes of the handlers
 * themselves are generated (disk/handlers.h in the build tree).
 */
#ifndef CSI_DISK_GROUP_H
#define CSI_DISK_GROUP_H

#include <stdbool.h>

#include "base/keyed_lock.h"
#include "base/status.h"
#include "disk/host.h"

/* The group's state: its configuration. Handlers may run in any number of threads. */
struct csi_disk;

struct csi_disk_options {
  bool change_system_disks; /* the guard of disk/guard.h is off */
};

/* Makes the group. host and locks must outlive it; locks are shared with the volume group. NULL when memory
 * is short. */
struct csi_disk *csi_disk_new(const struct csi_disk_options *options, const struct csi_disk_host *host,
                              struct csi_keyed_locks *locks, struct csi_status *status) CSI_MUST_CHECK;

/* Frees the group. No handler may be running. NULL is accepted. */
void csi_disk_free(struct csi_disk *group);

#endif
