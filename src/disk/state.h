/* SPDX-License-Identifier: Apache-2.0
 *
 * Online, offline, read-only.
 */
#ifndef CSI_DISK_STATE_H
#define CSI_DISK_STATE_H

#include "disk/target.h"

/* Makes the open disk online and, if it can be, writable; reads back that it is online. Does nothing when it
 * is so. The volumes of a disk that was offline arrive some time after this. */
bool csi_disk_bring_online(struct csi_target *target) CSI_MUST_CHECK;

/* FAILED_PRECONDITION for a disk that Windows keeps read-only. */
bool csi_disk_require_writable(struct csi_target *target) CSI_MUST_CHECK;

/* Takes the open disk offline, which dismounts its volumes, and reads back that it is; does nothing when it
 * is so. Refused by the guard. */
bool csi_disk_take_offline(struct csi_target *target) CSI_MUST_CHECK;

#endif
