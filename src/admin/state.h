/* SPDX-License-Identifier: Apache-2.0
 *
 * What the group consists of, for its own files only.
 */
#ifndef CSI_ADMIN_STATE_H
#define CSI_ADMIN_STATE_H

#include "admin/group.h"
#include "admin/handlers.h"

struct csi_admin {
  struct csi_arena *own; /* the copy of the options */
  struct csi_admin_options options;
  struct csi_admin_hosts hosts;
  struct csi_readiness *readiness;
  struct csi_server *server;   /* NULL until csi_admin_attach() */
  const char *metrics_address; /* "" until then */
  int64_t made_ns;
};

#endif
