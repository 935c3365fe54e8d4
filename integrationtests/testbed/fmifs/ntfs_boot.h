/* SPDX-License-Identifier: Apache-2.0
 *
 * The boot sector of an NTFS volume. Portable.
 */
#ifndef CSI_TESTBED_FMIFS_NTFS_BOOT_H
#define CSI_TESTBED_FMIFS_NTFS_BOOT_H

#include <stdbool.h>
#include <stdint.h>

enum {
  NTFS_BOOT_BYTES = 512, /* what of the first sector has a meaning; the rest of a longer one is zero */
};

enum ntfs_boot_result {
  NTFS_BOOT_DONE,
  NTFS_BOOT_VOLUME_TOO_SMALL,
  NTFS_BOOT_VOLUME_TOO_BIG, /* for clusters of this size */
  NTFS_BOOT_CLUSTER_TOO_SMALL,
  NTFS_BOOT_CLUSTER_TOO_BIG,
};

struct ntfs_boot_volume {
  uint64_t sector_count;   /* of the partition */
  uint64_t hidden_sectors; /* before the partition; only the low 32 bits are kept on disk */
  uint32_t sector_bytes;   /* 512 or 4096 */
  uint32_t cluster_bytes;  /* 0 = what Windows takes for this size */
  uint64_t serial_number;
};

/* Makes the boot sector. NTFS leaves the last sector of the partition out of the volume: it holds the copy of
 * this one. */
enum ntfs_boot_result ntfs_boot_make(const struct ntfs_boot_volume *volume,
                                     uint8_t boot_out[NTFS_BOOT_BYTES]);

#endif
