/* SPDX-License-Identifier: Apache-2.0
 *
 * Plug and play of one disk.
 */
#ifndef VDISK_DISK_PNP_H
#define VDISK_DISK_PNP_H

#include "nt.h"

struct vdisk_disk;

/* Answers a plug and play request; the status it returns is the result. Without the lock. */
NTSTATUS vdisk_disk_pnp(struct vdisk_disk *disk, IRP *irp);

#endif
