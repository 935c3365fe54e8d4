/* SPDX-License-Identifier: Apache-2.0
 *
 * The API groups of this build, on whatever operating system stands behind them:
 *
 *   static struct csi_node node = {.files = ..., .disks = ..., ...};
 *   const struct csi_program program = {
 *       .groups = csi_groups, .group_count = CSI_GROUP_COUNT, .context = &node};
 *   csi_daemon_run(&options, &program, &host);
 */
#ifndef CSI_SERVICE_GROUPS_H
#define CSI_SERVICE_GROUPS_H

#include "admin/introspection.h"
#include "admin/readiness.h"
#include "base/keyed_lock.h"
#include "disk/host.h"
#include "filesystem/host.h"
#include "iscsi/host.h"
#include "service/daemon.h"
#include "smb/group.h"
#include "smb/host.h"
#include "system/host.h"
#include "volume/host.h"

/* A node as the groups see it, and what they share. Must outlive the daemon. */
struct csi_node {
  const struct csi_filesystem_host *files;
  const struct csi_disk_host *disks;
  const struct csi_volume_host *volumes;
  const struct csi_smb_host *shares;
  const struct csi_system_host *system;
  const struct csi_iscsi_host *initiator;
  const struct csi_parts_host *parts;
  const char *os_version; /* "Windows Server 2022 Datacenter, build 20348.2113"; NULL = not known */

  struct csi_keyed_locks *locks; /* private: of the groups that are open */
  unsigned lock_users;
  struct csi_smb *smb;             /* the group, while it is open; NULL otherwise */
  struct csi_readiness *readiness; /* the admin group's, while it is open */
  struct csi_introspection *introspection;
};

enum {
  CSI_GROUP_COUNT = 7, /* the admin group included */
  /* Calls that may wait for one disk, volume, share, target or service, each with a thread of its lane. Few,
   * so that even several that hang leave threads to the others: a lane has 64 (max_threads in rpc/server.h),
   * and eight devices take 8 * (1 + 6) of them. */
  CSI_WAITING_CALLS = 6,
};

/* For csi_program.group_was_ready; context: the node. False while no group is open. */
bool csi_groups_was_ready(void *context, const char *group, bool *is_ready_out);

/* For csi_program; its context is a struct csi_node. */
extern const struct csi_group csi_groups[CSI_GROUP_COUNT];

#endif
