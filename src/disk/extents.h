/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a volume lies, as IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS tells it. Portable and pure.
 */
#ifndef CSI_DISK_EXTENTS_H
#define CSI_DISK_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/* DISK_EXTENT: one piece of a volume. */
struct csi_extent {
  uint32_t disk_number;
  uint64_t offset_bytes;
  uint64_t length_bytes;
};

/* How large a VOLUME_DISK_EXTENTS with that many extents is. */
#define CSI_EXTENTS_BYTES(count) (8 + (size_t)(count)*24)

/* Reads a VOLUME_DISK_EXTENTS. Every number is checked; one that makes no sense, and a volume that lies
 * nowhere, is a failure (DATA_LOSS). extents_out is in the arena. */
bool csi_extents_parse(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes,
                       struct csi_extent **extents_out, size_t *count_out,
                       struct csi_status *status) CSI_MUST_CHECK;

#endif
