/* SPDX-License-Identifier: Apache-2.0
 *
 * MOUNTMGR_QUERY_POINTS: the persistent names of volumes.
 */
#ifndef VDISK_MOUNT_POINTS_H
#define VDISK_MOUNT_POINTS_H

#include "call.h"

/* Answers the query with what Wine's mount manager answered it, wine_status and wine_points of wine_bytes,
 * and the points of our volumes. */
NTSTATUS vdisk_mount_points_query(struct vdisk_call *call, NTSTATUS wine_status,
                                  const MOUNTMGR_MOUNT_POINTS *wine_points, uint32_t wine_bytes);

#endif
