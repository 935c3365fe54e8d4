/* SPDX-License-Identifier: Apache-2.0 */
#include "ntfs_boot.h"

#include <string.h>

enum {
  MIN_VOLUME_BYTES = 7 << 20, /* what Windows refuses to format is a little below */
  MIN_CLUSTER_BYTES = 512,
  MAX_CLUSTER_BYTES = 2 << 20,
  DEFAULT_CLUSTER_BYTES = 4096,
  FILE_RECORD_BYTES = 1024,
  INDEX_RECORD_BYTES = 4096,
  FIXED_MEDIA = 0xF8,
  MFT_CLUSTER = 786432, /* where Windows puts the MFT of a volume that is large enough */
  MFT_MIRROR_CLUSTER = 2,
};

#define MAX_CLUSTERS ((uint64_t)UINT32_MAX)

static void put16(uint8_t *at, uint32_t value) {
  at[0] = (uint8_t)value;
  at[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *at, uint32_t value) {
  put16(at, value);
  put16(at + 2, value >> 16);
}

static void put64(uint8_t *at, uint64_t value) {
  put32(at, (uint32_t)value);
  put32(at + 4, (uint32_t)(value >> 32));
}

static bool is_power_of_two(uint32_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

static int log2_of(uint32_t value) {
  return __builtin_ctz(value);
}

/* 4 KiB up to 16 TiB, then twice as much for each doubling; never less than a sector. */
static uint32_t default_cluster_bytes(uint64_t volume_bytes, uint32_t sector_bytes) {
  uint32_t cluster_bytes = sector_bytes > DEFAULT_CLUSTER_BYTES ? sector_bytes : DEFAULT_CLUSTER_BYTES;
  while (volume_bytes / cluster_bytes > MAX_CLUSTERS && cluster_bytes < MAX_CLUSTER_BYTES)
    cluster_bytes *= 2;
  return cluster_bytes;
}

/* Counts that are no multiple, and large ones, are written as a negative power of two. */
static uint8_t sectors_per_cluster_code(uint32_t cluster_bytes, uint32_t sector_bytes) {
  uint32_t count = cluster_bytes / sector_bytes;
  return (uint8_t)(count <= 128 ? (int)count : -log2_of(count));
}

static uint8_t record_code(uint32_t record_bytes, uint32_t cluster_bytes) {
  return (uint8_t)(record_bytes >= cluster_bytes ? (int)(record_bytes / cluster_bytes)
                                                 : -log2_of(record_bytes));
}

static enum ntfs_boot_result check(const struct ntfs_boot_volume *volume, uint32_t cluster_bytes) {
  if (cluster_bytes < MIN_CLUSTER_BYTES || cluster_bytes < volume->sector_bytes ||
      !is_power_of_two(cluster_bytes)) {
    return NTFS_BOOT_CLUSTER_TOO_SMALL;
  }
  if (cluster_bytes > MAX_CLUSTER_BYTES) return NTFS_BOOT_CLUSTER_TOO_BIG;
  if (volume->sector_count < MIN_VOLUME_BYTES / volume->sector_bytes) return NTFS_BOOT_VOLUME_TOO_SMALL;
  if (volume->sector_count / (cluster_bytes / volume->sector_bytes) > MAX_CLUSTERS)
    return NTFS_BOOT_VOLUME_TOO_BIG;
  return NTFS_BOOT_DONE;
}

enum ntfs_boot_result ntfs_boot_make(const struct ntfs_boot_volume *volume,
                                     uint8_t boot_out[NTFS_BOOT_BYTES]) {
  uint32_t cluster_bytes = volume->cluster_bytes;
  if (cluster_bytes == 0)
    cluster_bytes = default_cluster_bytes(volume->sector_count * volume->sector_bytes, volume->sector_bytes);
  enum ntfs_boot_result result = check(volume, cluster_bytes);
  if (result != NTFS_BOOT_DONE) return result;

  uint64_t sector_count = volume->sector_count - 1;
  uint64_t cluster_count = sector_count / (cluster_bytes / volume->sector_bytes);
  uint64_t mft_cluster = cluster_count > MFT_CLUSTER ? MFT_CLUSTER : cluster_count / 3;
  uint32_t file_record_bytes =
      volume->sector_bytes > FILE_RECORD_BYTES ? volume->sector_bytes : FILE_RECORD_BYTES;

  memset(boot_out, 0, NTFS_BOOT_BYTES);
  memcpy(boot_out, "\xEB\x52\x90NTFS    ", 11);
  put16(boot_out + 0x0B, volume->sector_bytes);
  boot_out[0x0D] = sectors_per_cluster_code(cluster_bytes, volume->sector_bytes);
  boot_out[0x15] = FIXED_MEDIA;
  put16(boot_out + 0x18, 63); /* sectors a track and heads of no meaning any more */
  put16(boot_out + 0x1A, 255);
  put32(boot_out + 0x1C, (uint32_t)volume->hidden_sectors);
  put32(boot_out + 0x24, 0x00800080);
  put64(boot_out + 0x28, sector_count);
  put64(boot_out + 0x30, mft_cluster);
  put64(boot_out + 0x38, MFT_MIRROR_CLUSTER);
  boot_out[0x40] = record_code(file_record_bytes, cluster_bytes);
  boot_out[0x44] = record_code(INDEX_RECORD_BYTES, cluster_bytes);
  put64(boot_out + 0x48, volume->serial_number);
  memcpy(boot_out + 0x1FE, "\x55\xAA", 2);
  return NTFS_BOOT_DONE;
}
