/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include <stdlib.h>
#include <string.h>
#include <winioctl.h>

#include "driver/words.h"
#include "fmifs/ntfs_boot.h"
#include "physical_disk.h"
#include "signature.h"

enum {
  BEGINNING_BYTES = 64 << 10,
  NOISE_FACTOR = 197,
};

/* What the first sectors of the partition become. */
struct beginning {
  uint8_t bytes[BEGINNING_BYTES];
};

struct partition {
  uint64_t offset_bytes, length_bytes;
};

static void sign_boot_sector(struct beginning *beginning, const char *jump, const char *name,
                             uint32_t sector_bytes) {
  memcpy(beginning->bytes, jump, 3);
  memcpy(beginning->bytes + 3, name, 8);
  beginning->bytes[0x0B] = (uint8_t)sector_bytes;
  beginning->bytes[0x0C] = (uint8_t)(sector_bytes >> 8);
  memcpy(beginning->bytes + 0x1FE, "\x55\xAA", 2);
}

/* ReFS has no boot code and no 55AA; its header says how many bytes a sector and how many sectors the volume
 * has. */
static void sign_refs(struct beginning *beginning, const struct partition *partition, uint32_t sector_bytes) {
  uint64_t sector_count = partition->length_bytes / sector_bytes;
  uint32_t sectors_per_cluster = 4096 / sector_bytes;
  memcpy(beginning->bytes + 3, "ReFS\0\0\0\0", 8);
  memcpy(beginning->bytes + 0x10, "FSRS", 4);
  memcpy(beginning->bytes + 0x18, &sector_count, sizeof sector_count);
  memcpy(beginning->bytes + 0x20, &sector_bytes, sizeof sector_bytes);
  memcpy(beginning->bytes + 0x24, &sectors_per_cluster, sizeof sectors_per_cluster);
  beginning->bytes[0x28] = 3; /* version 3.4 */
  beginning->bytes[0x29] = 4;
}

static bool sign_ntfs(struct beginning *beginning, const struct csi_physical_disk *disk,
                      const struct partition *partition, struct csi_ctl_error *error) {
  struct ntfs_boot_volume volume = {
      .sector_count = partition->length_bytes / disk->sector_bytes,
      .hidden_sectors = partition->offset_bytes / disk->sector_bytes,
      .sector_bytes = disk->sector_bytes,
      .serial_number = 0xC51C51C500000000 | disk->number,
  };
  if (ntfs_boot_make(&volume, beginning->bytes) != NTFS_BOOT_DONE)
    return csi_ctl_fail(error, "the partition has no size for NTFS");
  uint64_t copy_offset_bytes = partition->offset_bytes + partition->length_bytes - disk->sector_bytes;
  return csi_physical_disk_write(disk, copy_offset_bytes, beginning->bytes, disk->sector_bytes, error);
}

static bool make_beginning(struct beginning *beginning, const char *type,
                           const struct csi_physical_disk *disk, const struct partition *partition,
                           struct csi_ctl_error *error) {
  memset(beginning, 0, sizeof *beginning);
  if (strcmp(type, "none") == 0) return true;
  if (strcmp(type, "ntfs") == 0) return sign_ntfs(beginning, disk, partition, error);
  if (strcmp(type, "refs") == 0) {
    sign_refs(beginning, partition, disk->sector_bytes);
  } else if (strcmp(type, "bitlocker") == 0) {
    sign_boot_sector(beginning, "\xEB\x58\x90", "-FVE-FS-", disk->sector_bytes);
  } else if (strcmp(type, "exfat") == 0) {
    sign_boot_sector(beginning, "\xEB\x76\x90", "EXFAT   ", 0);
  } else if (strcmp(type, "fat32") == 0) {
    sign_boot_sector(beginning, "\xEB\x58\x90", "MSDOS5.0", disk->sector_bytes);
    memcpy(beginning->bytes + 0x52, "FAT32   ", 8);
  } else if (strcmp(type, "noise") == 0) {
    for (size_t i = 0; i < sizeof beginning->bytes; i++)
      beginning->bytes[i] = (uint8_t)(i * NOISE_FACTOR + i / 256 + 1);
  } else {
    return csi_ctl_fail(error, "type=%s is none of ntfs, refs, bitlocker, fat32, exfat, noise and none",
                        type);
  }
  return true;
}

static bool find_partition(const struct csi_physical_disk *disk, const char *number, struct partition *out,
                           struct csi_ctl_error *error) {
  uint64_t wanted;
  if (number == NULL || !vdisk_number_parse(number, &wanted) || wanted == 0)
    return csi_ctl_fail(error, "partition=M is missing or wrong");
  union csi_drive_layout layout;
  if (!csi_physical_disk_layout(disk, &layout, error)) return false;
  for (DWORD i = 0; i < layout.header.PartitionCount; i++) {
    const PARTITION_INFORMATION_EX *entry = &layout.header.PartitionEntry[i];
    if (entry->PartitionNumber != wanted) continue;
    out->offset_bytes = (uint64_t)entry->StartingOffset.QuadPart;
    out->length_bytes = (uint64_t)entry->PartitionLength.QuadPart;
    return true;
  }
  return csi_ctl_fail(error, "disk %u has no partition %s", disk->number, number);
}

static size_t beginning_bytes_of(const struct partition *partition) {
  return partition->length_bytes < BEGINNING_BYTES ? (size_t)partition->length_bytes : BEGINNING_BYTES;
}

bool csi_signature_command(struct vdisk_words *words, struct csi_ctl_error *error) {
  const char *type = vdisk_words_value(words, "type");
  if (type == NULL) return csi_ctl_fail(error, "type=TYPE is missing");
  CSI_SCOPED_PHYSICAL_DISK disk;
  if (!csi_physical_disk_open(words, &disk, error)) return false;
  struct partition partition;
  if (!find_partition(&disk, vdisk_words_value(words, "partition"), &partition, error)) return false;

  struct beginning *beginning = malloc(sizeof *beginning);
  if (beginning == NULL) return csi_ctl_fail(error, "out of memory");
  bool written = make_beginning(beginning, type, &disk, &partition, error) &&
                 csi_physical_disk_write(&disk, partition.offset_bytes, beginning->bytes,
                                         beginning_bytes_of(&partition), error);
  free(beginning);
  return written;
}
