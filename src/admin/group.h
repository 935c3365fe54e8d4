/* SPDX-License-Identifier: Apache-2.0
 *
 * The admin group: what the service tells its operator. It reads only; a part that cannot be read is told as
 * an error of that part, beside all the others. The prototypes of the handlers themselves are generated
 * (admin/handlers.h in the build tree).
 */
#ifndef CSI_ADMIN_GROUP_H
#define CSI_ADMIN_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "admin/parts.h"
#include "admin/readiness.h"
#include "disk/host.h"
#include "iscsi/host.h"
#include "smb/group.h"
#include "volume/host.h"

struct csi_admin;
struct csi_server;

/* What the program is; all texts and lists are copied. */
struct csi_admin_options {
  const char *version;      /* "v0.2.0 (f9f3657)" */
  const char *grpc_version; /* of the library */
  const char *os_version;   /* "Windows Server 2022 Datacenter, build 20348.2113" */
  const char *architecture; /* "amd64" */
  const char *const *capabilities;
  size_t capability_count;
  const char *const *flags; /* "-name=value" of those that differ from their defaults */
  size_t flag_count;
  const char *const *working_dirs;
  size_t working_dir_count;
  enum csi_smb_route route;
  bool change_system_disks; /* the guard of disk/guard.h is off */
};

/* What the group asks; all must outlive it. */
struct csi_admin_hosts {
  const struct csi_disk_host *disks;
  const struct csi_volume_host *volumes;
  const struct csi_iscsi_host *initiator;
  const struct csi_system_host *system;
  const struct csi_parts_host *parts;
  struct csi_smb *shares; /* the SMB group, which knows what it has mapped; NULL = it is not served */
};

/* Makes the group. NULL with status when memory is short. */
struct csi_admin *csi_admin_new(const struct csi_admin_options *options, const struct csi_admin_hosts *hosts,
                                struct csi_status *status) CSI_MUST_CHECK;

/* Frees the group. No handler may be running. NULL is accepted. */
void csi_admin_free(struct csi_admin *group);

/* Says which server's calls and endpoints are told of, and where metrics are served: "" = nowhere; copied. To
 * be called before the first call; until then there are none. */
void csi_admin_attach(struct csi_admin *group, struct csi_server *server, const char *metrics_address);

/* The group's; lives as long as it. */
struct csi_readiness *csi_admin_readiness(struct csi_admin *group);

#endif
