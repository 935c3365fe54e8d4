/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in front of Wine's mount manager: answers for our volumes, passes on everything else. Functions are
 * called with the lock held.
 */
#ifndef VDISK_MOUNT_MANAGER_H
#define VDISK_MOUNT_MANAGER_H

#include "call.h"
#include "text.h"

/* Takes \??\MountPointManager over, gives it back. */
NTSTATUS vdisk_mount_manager_create(void);
void vdisk_mount_manager_delete(void);

/* Takes away or gives back the name by which it can be opened. */
void vdisk_mount_manager_hide(bool is_hidden);

/* Answers a call on the mount manager. */
NTSTATUS vdisk_mount_manager_serve(struct vdisk_call *call);

#endif
