/* SPDX-License-Identifier: Apache-2.0
 *
 * The iSCSI group: what its RPCs do, whatever version they are spoken in. The prototypes of the handlers
 * themselves are generated (iscsi/handlers.h in the build tree).
 */
#ifndef CSI_ISCSI_GROUP_H
#define CSI_ISCSI_GROUP_H

#include "base/keyed_lock.h"
#include "base/status.h"
#include "iscsi/host.h"

/* The group's state. Handlers may run in any number of threads. */
struct csi_iscsi;

/* Makes the group. host and locks must outlive it. NULL when memory is short. */
struct csi_iscsi *csi_iscsi_new(const struct csi_iscsi_host *host, struct csi_keyed_locks *locks,
                                struct csi_status *status) CSI_MUST_CHECK;

/* Frees the group. No handler may be running. NULL is accepted. */
void csi_iscsi_free(struct csi_iscsi *group);

#endif
