/* SPDX-License-Identifier: Apache-2.0
 *
 * A medium of sectors, as partition tables see it.
 */
#ifndef VDISK_SECTORS_H
#define VDISK_SECTORS_H

#include <stdbool.h>
#include <stdint.h>

/* read and write transfer whole sectors of sector_bytes (512 or 4096) and return false on an error. */
struct vdisk_sectors {
  void *context;
  uint64_t count;
  uint32_t sector_bytes;
  bool (*read)(void *context, uint64_t first, uint32_t count, void *buffer);
  bool (*write)(void *context, uint64_t first, uint32_t count, const void *buffer);
};

enum { VDISK_SECTOR_BYTES_MAX = 4096 };

#endif
