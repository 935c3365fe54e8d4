/* SPDX-License-Identifier: Apache-2.0
 *
 * PartitionDisk.
 */
#ifndef CSI_DISK_PARTITION_H
#define CSI_DISK_PARTITION_H

#include "disk/target.h"

/* Brings the disk, which must be open for reading and writing and locked, to the state that a client can
 * use: online, writable, with a GPT and one basic partition if it has no partition yet; returns when a
 * volume of the disk has its name. Refused by the guard, also when nothing would have to be done.
 *
 * May be repeated after a crash at any moment: every step looks at what is there, and none touches a
 * partition that exists. */
bool csi_partition_disk(struct csi_target *target) CSI_MUST_CHECK;

#endif
