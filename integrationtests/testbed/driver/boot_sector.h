/* SPDX-License-Identifier: Apache-2.0
 *
 * Boot sectors: which file system is on a volume, and what it says about itself.
 */
#ifndef VDISK_BOOT_SECTOR_H
#define VDISK_BOOT_SECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vdisk_fs {
  VDISK_FS_RAW,     /* a first sector of zeros */
  VDISK_FS_UNKNOWN, /* something that is not recognized */
  VDISK_FS_NTFS,
  VDISK_FS_REFS,
  VDISK_FS_BITLOCKER, /* locked */
};

enum { VDISK_LABEL_UNITS = 32 };

struct vdisk_boot {
  enum vdisk_fs fs;
  /* NTFS and ReFS only. */
  uint64_t sector_count; /* NTFS: without the last sector of its partition */
  uint64_t serial;
  uint32_t sector_bytes;
  uint32_t cluster_bytes;
  uint64_t mft_cluster, mft_mirror_cluster; /* NTFS */
  uint16_t label_w[VDISK_LABEL_UNITS + 1];  /* from CSI_TESTBED_LABEL_OFFSET, when it is there */
};

/* Understands the first 512 bytes of a volume. Fields that make no sense make it VDISK_FS_UNKNOWN. */
void vdisk_boot_decode(const uint8_t *sector, struct vdisk_boot *boot);

/* Changes how many sectors the file system says it has. */
void vdisk_boot_set_sector_count(uint8_t *sector, const struct vdisk_boot *boot, uint64_t sector_count);

/* Changes the label; at most VDISK_LABEL_UNITS units of it are taken. */
void vdisk_boot_set_label(uint8_t *sector, const uint16_t *label_w, size_t units);

/* `ntfs` and so on. */
const char *vdisk_fs_name(enum vdisk_fs fs);

#endif
