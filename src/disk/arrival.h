/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows makes the volumes of a disk some time after its partitions. Clients that ask for them at once get
 * an empty list, which some do not survive; so a call that made partitions appear returns only when their
 * volumes can be listed.
 */
#ifndef CSI_DISK_ARRIVAL_H
#define CSI_DISK_ARRIVAL_H

#include "disk/target.h"

/* Waits, at most until the call's deadline, for the volumes of the open disk to arrive. Succeeds where
 * Windows cannot tell. */
bool csi_await_arrival(struct csi_target *target) CSI_MUST_CHECK;

/* Waits, at most until the call's deadline, until the mount manager has a name for the volumes of these
 * partitions; where automatic mounting is off, it is asked for one. Never makes up a name.
 * partition_numbers: count of them; with count 0 there is nothing to wait for.
 * changed: the call has made the partitions appear, so that none may be missing when it ends. If not, one
 * volume is enough: what others lack is not about to come. */
bool csi_await_volumes(struct csi_target *target, const uint32_t *partition_numbers, size_t count,
                       bool changed) CSI_MUST_CHECK;

#endif
