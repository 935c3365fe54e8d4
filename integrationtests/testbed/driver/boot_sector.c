/* SPDX-License-Identifier: Apache-2.0 */
#include "boot_sector.h"

#include <string.h>

#include "../include/testbed.h"

enum { BOOT_BYTES = 512, OEM_AT = 3, MAGIC_AT = 0x1FE };
enum {
  NTFS_SECTOR_BYTES_AT = 0x0B,
  NTFS_CLUSTER_SECTORS_AT = 0x0D,
  NTFS_SECTORS_AT = 0x28,
  NTFS_MFT_AT = 0x30,
  NTFS_MFT_MIRROR_AT = 0x38,
  NTFS_SERIAL_AT = 0x48,
};
enum {
  REFS_MAGIC_AT = 0x10,
  REFS_SECTORS_AT = 0x18,
  REFS_SECTOR_BYTES_AT = 0x20,
  REFS_CLUSTER_SECTORS_AT = 0x24,
  REFS_SERIAL_AT = 0x38,
};

static uint64_t get(const uint8_t *sector, size_t at, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, sector + at, bytes);
  return value;
}

static bool is_power_of_two(uint64_t value, uint64_t limit) {
  return value != 0 && value <= limit && (value & (value - 1)) == 0;
}

static void decode_label(const uint8_t *sector, struct vdisk_boot *boot) {
  const uint8_t *at = sector + CSI_TESTBED_LABEL_OFFSET;
  if (memcmp(at, CSI_TESTBED_LABEL_MAGIC, 4) != 0) return;
  memcpy(boot->label_w, at + 4, VDISK_LABEL_UNITS * sizeof boot->label_w[0]);
}

/* Up to 128 it is the number of sectors; above, 256 less than a power of two's exponent. */
static uint64_t ntfs_cluster_sectors(const uint8_t *sector) {
  uint64_t value = get(sector, NTFS_CLUSTER_SECTORS_AT, 1);
  if (value <= 128) return value;
  return value >= 240 ? 1ull << (256 - value) : 0;
}

static bool decode_ntfs(const uint8_t *sector, struct vdisk_boot *boot) {
  if (sector[MAGIC_AT] != 0x55 || sector[MAGIC_AT + 1] != 0xAA) return false;
  uint64_t cluster_sectors = ntfs_cluster_sectors(sector);
  boot->sector_bytes = (uint32_t)get(sector, NTFS_SECTOR_BYTES_AT, 2);
  boot->sector_count = get(sector, NTFS_SECTORS_AT, 8);
  boot->mft_cluster = get(sector, NTFS_MFT_AT, 8);
  boot->mft_mirror_cluster = get(sector, NTFS_MFT_MIRROR_AT, 8);
  boot->serial = get(sector, NTFS_SERIAL_AT, 8);
  boot->cluster_bytes = boot->sector_bytes * (uint32_t)cluster_sectors;
  return is_power_of_two(boot->sector_bytes, 4096) && is_power_of_two(boot->cluster_bytes, 2 << 20) &&
         boot->sector_count > 0;
}

static bool decode_refs(const uint8_t *sector, struct vdisk_boot *boot) {
  if (memcmp(sector + REFS_MAGIC_AT, "FSRS", 4) != 0) return false;
  boot->sector_count = get(sector, REFS_SECTORS_AT, 8);
  boot->sector_bytes = (uint32_t)get(sector, REFS_SECTOR_BYTES_AT, 4);
  boot->cluster_bytes = boot->sector_bytes * (uint32_t)get(sector, REFS_CLUSTER_SECTORS_AT, 4);
  boot->serial = get(sector, REFS_SERIAL_AT, 8);
  return is_power_of_two(boot->sector_bytes, 4096) && is_power_of_two(boot->cluster_bytes, 2 << 20) &&
         boot->sector_count > 0;
}

static enum vdisk_fs recognize(const uint8_t *sector, struct vdisk_boot *boot) {
  if (memcmp(sector + OEM_AT, "NTFS    ", 8) == 0)
    return decode_ntfs(sector, boot) ? VDISK_FS_NTFS : VDISK_FS_UNKNOWN;
  if (memcmp(sector + OEM_AT, "ReFS\0\0\0\0", 8) == 0)
    return decode_refs(sector, boot) ? VDISK_FS_REFS : VDISK_FS_UNKNOWN;
  if (memcmp(sector + OEM_AT, "-FVE-FS-", 8) == 0) return VDISK_FS_BITLOCKER;
  for (size_t i = 0; i < BOOT_BYTES; i++)
    if (sector[i] != 0) return VDISK_FS_UNKNOWN;
  return VDISK_FS_RAW;
}

void vdisk_boot_decode(const uint8_t *sector, struct vdisk_boot *boot) {
  memset(boot, 0, sizeof *boot);
  boot->fs = recognize(sector, boot);
  if (boot->fs == VDISK_FS_NTFS || boot->fs == VDISK_FS_REFS) decode_label(sector, boot);
}

void vdisk_boot_set_sector_count(uint8_t *sector, const struct vdisk_boot *boot, uint64_t sector_count) {
  memcpy(sector + (boot->fs == VDISK_FS_NTFS ? NTFS_SECTORS_AT : REFS_SECTORS_AT), &sector_count,
         sizeof sector_count);
}

void vdisk_boot_set_label(uint8_t *sector, const uint16_t *label_w, size_t units) {
  uint8_t *at = sector + CSI_TESTBED_LABEL_OFFSET;
  memcpy(at, CSI_TESTBED_LABEL_MAGIC, 4);
  memset(at + 4, 0, VDISK_LABEL_UNITS * sizeof *label_w);
  memcpy(at + 4, label_w, (units < VDISK_LABEL_UNITS ? units : VDISK_LABEL_UNITS) * sizeof *label_w);
}

const char *vdisk_fs_name(enum vdisk_fs fs) {
  static const char *const names[] = {"raw", "unknown", "ntfs", "refs", "bitlocker"};
  return names[fs];
}
