/* SPDX-License-Identifier: Apache-2.0
 *
 * Folders that volumes are mounted at, as the mount manager is told of them. Functions are called with the
 * lock held.
 */
#ifndef VDISK_MOUNT_FOLDER_H
#define VDISK_MOUNT_FOLDER_H

#include "call.h"
#include "text.h"

/* VOLUME_MOUNT_POINT_CREATED and _DELETED. STATUS_NO_SUCH_DEVICE when the volume is none of ours. */
NTSTATUS vdisk_mount_folder_changed(struct vdisk_call *call);

/* QUERY_DOS_VOLUME_PATH and _PATHS: the drive letter and the folders. STATUS_NO_SUCH_DEVICE when the volume
 * is none of ours. */
NTSTATUS vdisk_mount_paths_query(struct vdisk_call *call);

/* `folder=C:\... volume={..}`, one line each. */
void vdisk_mount_folder_list(struct vdisk_text *text);

/* Forgets all. */
void vdisk_mount_folder_reset(void);

#endif
