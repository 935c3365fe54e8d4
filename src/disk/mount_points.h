/* SPDX-License-Identifier: Apache-2.0
 *
 * What the mount manager says about a device (MOUNTMGR_MOUNT_POINTS, the reply to
 * IOCTL_MOUNTMGR_QUERY_POINTS). Portable and pure; every offset is checked.
 */
#ifndef CSI_DISK_MOUNT_POINTS_H
#define CSI_DISK_MOUNT_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/guid.h"

/* Finds the first name `\??\Volume{guid}` of the device. device_w: `\Device\HarddiskVolume3`, of
 * device_units characters, compared without regard to case. False when there is none, or when the reply is
 * malformed before one. */
bool csi_mount_points_find_volume(const uint8_t *bytes, size_t size_bytes, const uint16_t *device_w,
                                  size_t device_units, struct csi_guid *guid_out);

#endif
