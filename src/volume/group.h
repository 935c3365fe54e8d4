/* SPDX-License-Identifier: Apache-2.0
 *
 * The volume group: what its RPCs do, whatever version they are spoken in. The prototypes of the handlers
 * themselves are generated (volume/handlers.h in the build tree).
 */
#ifndef CSI_VOLUME_GROUP_H
#define CSI_VOLUME_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/keyed_lock.h"
#include "base/status.h"
#include "disk/host.h"
#include "filesystem/host.h"
#include "volume/host.h"

/* The group's state: its configuration. Handlers may run in any number of threads. */
struct csi_volume;

struct csi_volume_options {
  bool change_system_disks; /* the guard of disk/guard.h is off */
  /* Directories below which links are planted by nobody but the kubelet and its pods; reached through links
   * if need be, like those of the filesystem group. Copied. */
  const char *const *working_dirs;
  size_t working_dir_count;
};

/* What the group works on; all must outlive it. */
struct csi_volume_hosts {
  const struct csi_volume_host *volumes;
  const struct csi_disk_host *disks;
  const struct csi_filesystem_host *files;
};

/* Makes the group. locks must outlive it and are shared with the disk group. NULL with status on failure. */
struct csi_volume *csi_volume_new(const struct csi_volume_options *options,
                                  const struct csi_volume_hosts *hosts, struct csi_keyed_locks *locks,
                                  struct csi_status *status) CSI_MUST_CHECK;

/* Frees the group. No handler may be running. NULL is accepted. */
void csi_volume_free(struct csi_volume *group);

#endif
