/* SPDX-License-Identifier: Apache-2.0
 *
 * What no request may take away: the directories that the service is there for, and what they stand in.
 * Names are compared first, since that costs nothing and refuses what does not exist yet; then what is
 * behind the handles, since a short name or a link above shows in no name.
 */
#ifndef CSI_FILESYSTEM_PROTECT_H
#define CSI_FILESYSTEM_PROTECT_H

#include <stdbool.h>

#include "base/ctx.h"
#include "filesystem/walk.h"

/* Fails with PERMISSION_DENIED when the path names a working directory or what one stands in. */
bool csi_protect_named_roots(const struct csi_walk *walk) CSI_MUST_CHECK;

/* The same for what was opened, whatever it was called. node, entry: as csi_node_open_child() gave them.
 * A working directory that is not there at the moment is passed over; one that cannot be looked at is a
 * failure. No link below a working directory is followed for this either. Costs nothing when there is one
 * working directory only. */
bool csi_protect_roots(const struct csi_walk *walk, const struct csi_node *node,
                       const struct csi_entry *entry) CSI_MUST_CHECK;

/* Fails with PERMISSION_DENIED when Windows or a working directory is on the volume behind `volume`.
 * folder: the mounted folder that led there, which is on the same volume as the walk's own root. */
bool csi_protect_volumes(const struct csi_walk *walk, const struct csi_node *folder,
                         const struct csi_node *volume) CSI_MUST_CHECK;

#endif
