/* SPDX-License-Identifier: Apache-2.0
 *
 * Volumes and their file systems; the part of storage_model.h behind the partition tables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmifs/ntfs_boot.h"
#include "storage_model.h"

enum {
  NS_PER_MS = 1000000,
  DEFAULT_USED_BYTES = 16 << 20, /* of a new file system */
  FILE_NOT_FOUND = 2,
  VOLUME_NAME_BYTES = 64,
};

/* ---- Volumes. ---- */

/* A GUID that follows from another, or from anything, without being it. */
static struct csi_guid derive_guid(const uint8_t *bytes, size_t size_bytes) {
  uint64_t words[2] = {UINT64_C(0xCBF29CE484222325), UINT64_C(0x84222325CBF29CE4)};
  for (size_t word = 0; word < 2; word++)
    for (size_t i = 0; i < size_bytes; i++)
      words[word] = (words[word] ^ bytes[i]) * UINT64_C(0x100000001B3);
  struct csi_guid guid;
  memcpy(&guid, words, sizeof guid);
  guid.data3 = (uint16_t)((guid.data3 & 0x0FFF) | 0x4000);
  return guid;
}

bool storage_volume_guid(const struct storage_disk *disk, const struct csi_partition *partition,
                         struct csi_guid *guid_out) {
  uint8_t key[16] = {0};
  if (!csi_partition_has_volume(&(struct csi_layout){.style = disk->style}, partition)) return false;
  if (disk->style == CSI_PARTITION_STYLE_GPT) {
    memcpy(key, &partition->id, sizeof key);
  } else {
    memcpy(key, &disk->mbr_signature, 4);
    memcpy(key + 4, &partition->offset_bytes, 8);
  }
  *guid_out = derive_guid(key, sizeof key);
  return true;
}

struct storage_volume *storage_find_volume(struct storage_model *model, const struct csi_guid *guid) {
  struct storage_volume *volume = model->volumes;
  while (volume != NULL && !csi_guid_equal(&volume->guid, guid))
    volume = volume->next;
  return volume;
}

struct storage_volume *storage_volume_of(struct storage_model *model, const struct storage_disk *disk,
                                         uint32_t partition_number) {
  struct storage_volume *volume = model->volumes;
  while (volume != NULL &&
         !(volume->present && volume->disk == disk && volume->partition_number == partition_number))
    volume = volume->next;
  return volume;
}

struct storage_volume *storage_find_letter(struct storage_model *model, char letter) {
  struct storage_volume *volume = model->volumes;
  while (volume != NULL && !(letter != 0 && volume->letter == letter))
    volume = volume->next;
  return volume;
}

bool storage_has_arrived(const struct storage_volume *volume) {
  return volume->present && csi_now_ns() >= volume->arrives_ns;
}

const struct csi_partition *storage_partition_of(const struct storage_volume *volume) {
  return storage_find_partition(volume->disk, volume->partition_number);
}

static void bring(struct storage_model *model, struct storage_disk *disk,
                  const struct csi_partition *partition) {
  struct csi_guid guid;
  if (!storage_volume_guid(disk, partition, &guid)) return;
  struct storage_volume *volume = storage_find_volume(model, &guid);
  if (volume == NULL) {
    volume = calloc(1, sizeof *volume);
    if (volume == NULL) abort();
    volume->guid = guid;
    volume->used_bytes = DEFAULT_USED_BYTES;
    volume->next = model->volumes;
    model->volumes = volume;
  }
  volume->partition_number = partition->number;
  if (volume->present && volume->disk == disk) return;
  volume->disk = disk;
  volume->present = true;
  volume->incarnation++;
  volume->arrives_ns = csi_now_ns() + (int64_t)disk->is.volume_delay_ms * NS_PER_MS;
  volume->named = false;
}

static bool has_lost_its_place(const struct storage_volume *volume) {
  const struct storage_disk *disk = volume->disk;
  if (!disk->present || disk->is.offline) return true;
  struct csi_guid guid;
  for (size_t i = 0; i < disk->partition_count; i++)
    if (storage_volume_guid(disk, &disk->partitions[i], &guid) && csi_guid_equal(&guid, &volume->guid))
      return false;
  return true;
}

static void format_name(const struct storage_volume *volume, char name_out[VOLUME_NAME_BYTES]) {
  char guid[CSI_GUID_TEXT_BYTES];
  csi_guid_format(&volume->guid, guid);
  snprintf(name_out, VOLUME_NAME_BYTES, "Volume{%s}", guid);
}

/* Tells the directories whether they can be reached. */
static void tell_files(struct storage_model *model, struct storage_volume *volume) {
  uint32_t error = FILE_NOT_FOUND;
  if (volume->named)
    error = storage_file_system_error(storage_read_signature(volume->disk, storage_partition_of(volume)));
  if (volume->in_files ? error == volume->files_error : error != 0) return;
  char name[VOLUME_NAME_BYTES];
  format_name(volume, name);
  uint64_t serial;
  memcpy(&serial, &volume->guid, sizeof serial);
  if (!volume->in_files) csi_fake_add_volume(model->files, name, 0, serial);
  csi_fake_break_volume(model->files, name, error);
  volume->in_files = true;
  volume->files_error = error;
}

void storage_settle(struct storage_model *model) {
  for (struct storage_volume *volume = model->volumes; volume != NULL; volume = volume->next) {
    if (!volume->present || !has_lost_its_place(volume)) continue;
    volume->present = false;
    volume->named = false;
    volume->incarnation++;
  }
  for (struct storage_disk *disk = model->disks; disk != NULL; disk = disk->next) {
    if (!disk->present || disk->is.offline) continue;
    for (size_t i = 0; i < disk->partition_count; i++)
      bring(model, disk, &disk->partitions[i]);
  }
  for (struct storage_volume *volume = model->volumes; volume != NULL; volume = volume->next) {
    if (!volume->named && storage_has_arrived(volume)) volume->named = !model->automount_off;
    tell_files(model, volume);
  }
}

void storage_empty_files(struct storage_model *model, const struct storage_volume *volume) {
  if (!volume->in_files) return;
  char name[VOLUME_NAME_BYTES];
  format_name(volume, name);
  csi_fake_empty_volume(model->files, name);
}

/* ---- File systems. ---- */

enum {
  NTFS_SECTOR_BYTES_AT = 0x0B,
  NTFS_CLUSTER_SECTORS_AT = 0x0D,
  NTFS_SECTOR_COUNT_AT = 0x28,
  REFS_SECTOR_COUNT_AT = 0x18,
  REFS_SECTOR_BYTES_AT = 0x20,
  REFS_CLUSTER_SECTORS_AT = 0x24,
};

static uint64_t get(const uint8_t *bytes, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;)
    value = value << 8 | bytes[i];
  return value;
}

static void put(uint8_t *bytes, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; i++)
    bytes[i] = (uint8_t)(value >> (8 * i));
}

enum csi_fake_signature storage_read_signature(const struct storage_disk *disk,
                                               const struct csi_partition *partition) {
  uint8_t boot[STORAGE_BOOT_BYTES];
  static const uint8_t zeros[STORAGE_BOOT_BYTES];
  sector_store_read(&disk->sectors, partition->offset_bytes, boot, sizeof boot);
  bool bootable = boot[510] == 0x55 && boot[511] == 0xAA;
  if (memcmp(boot + 3, "NTFS    ", 8) == 0 && bootable) return CSI_FAKE_NTFS;
  if (memcmp(boot + 3, "ReFS\0\0\0\0", 8) == 0) return CSI_FAKE_REFS;
  if (memcmp(boot + 3, "-FVE-FS-", 8) == 0) return CSI_FAKE_BITLOCKER;
  if (memcmp(boot + 3, "EXFAT   ", 8) == 0) return CSI_FAKE_EXFAT;
  if (memcmp(boot + 82, "FAT32   ", 8) == 0) return CSI_FAKE_FAT32;
  return memcmp(boot, zeros, sizeof boot) == 0 ? CSI_FAKE_RAW : CSI_FAKE_NOISE;
}

uint32_t storage_file_system_error(enum csi_fake_signature signature) {
  switch (signature) {
  case CSI_FAKE_NTFS:
  case CSI_FAKE_REFS:
    return 0;
  case CSI_FAKE_BITLOCKER:
    return CSI_FAKE_BITLOCKER_LOCKED;
  default:
    return CSI_FAKE_UNRECOGNIZED;
  }
}

static void sign_refs(const struct storage_disk *disk, const struct csi_partition *partition, uint8_t *boot) {
  uint32_t sector_bytes = storage_sector_bytes(disk);
  memcpy(boot + 3, "ReFS\0\0\0\0", 8);
  memcpy(boot + 16, "FSRS", 4);
  put(boot + REFS_SECTOR_COUNT_AT, partition->length_bytes / sector_bytes, 8);
  put(boot + REFS_SECTOR_BYTES_AT, sector_bytes, 4);
  put(boot + REFS_CLUSTER_SECTORS_AT, 65536 / sector_bytes, 4);
}

static bool sign_ntfs(const struct storage_disk *disk, const struct csi_partition *partition,
                      uint32_t cluster_bytes, uint64_t serial, uint8_t *boot) {
  uint32_t sector_bytes = storage_sector_bytes(disk);
  const struct ntfs_boot_volume volume = {.sector_count = partition->length_bytes / sector_bytes,
                                          .hidden_sectors = partition->offset_bytes / sector_bytes,
                                          .sector_bytes = sector_bytes,
                                          .cluster_bytes = cluster_bytes,
                                          .serial_number = serial};
  return ntfs_boot_make(&volume, boot) == NTFS_BOOT_DONE;
}

/* NTFS keeps a copy of the boot sector behind its last sector. */
static void write_boot_copy(struct storage_disk *disk, const struct csi_partition *partition,
                            const uint8_t *boot) {
  uint32_t sector_bytes = storage_sector_bytes(disk);
  uint8_t sector[4096] = {0};
  memcpy(sector, boot, STORAGE_BOOT_BYTES);
  uint64_t index = get(boot + NTFS_SECTOR_COUNT_AT, 8);
  sector_store_write(&disk->sectors, partition->offset_bytes + index * sector_bytes, sector, sector_bytes);
}

bool storage_sign(struct storage_disk *disk, const struct csi_partition *partition,
                  enum csi_fake_signature signature, uint32_t cluster_bytes, uint64_t serial) {
  uint8_t bytes[STORAGE_SIGNATURE_BYTES] = {0};
  if (partition->length_bytes < sizeof bytes) return false;
  put(bytes + 510, 0xAA55, 2);
  switch (signature) {
  case CSI_FAKE_RAW:
    put(bytes + 510, 0, 2);
    break;
  case CSI_FAKE_NTFS:
    if (!sign_ntfs(disk, partition, cluster_bytes, serial, bytes)) return false;
    write_boot_copy(disk, partition, bytes);
    break;
  case CSI_FAKE_REFS:
    sign_refs(disk, partition, bytes);
    break;
  case CSI_FAKE_BITLOCKER:
    memcpy(bytes, "\xEB\x58\x90-FVE-FS-", 11);
    break;
  case CSI_FAKE_FAT32:
    memcpy(bytes, "\xEB\x58\x90MSDOS5.0", 11);
    memcpy(bytes + 82, "FAT32   ", 8);
    break;
  case CSI_FAKE_EXFAT:
    memcpy(bytes,
           "\xEB\x76\x90"
           "EXFAT   ",
           11);
    break;
  case CSI_FAKE_NOISE:
    for (size_t i = 0; i < sizeof bytes; i++)
      bytes[i] = (uint8_t)(i * 167 + 13);
    break;
  }
  sector_store_write(&disk->sectors, partition->offset_bytes, bytes, sizeof bytes);
  return true;
}

/* Large clusters are written as a negative power of two. */
static uint32_t ntfs_cluster_sectors(uint8_t code) {
  return code <= 128 ? code : 1U << (256 - code);
}

void storage_get_file_system_size(const struct storage_disk *disk, const struct csi_partition *partition,
                                  struct csi_file_system_size *size_out) {
  uint8_t boot[STORAGE_BOOT_BYTES];
  sector_store_read(&disk->sectors, partition->offset_bytes, boot, sizeof boot);
  if (storage_read_signature(disk, partition) == CSI_FAKE_REFS) {
    size_out->sector_count = get(boot + REFS_SECTOR_COUNT_AT, 8);
    size_out->sector_bytes = (uint32_t)get(boot + REFS_SECTOR_BYTES_AT, 4);
    size_out->cluster_bytes = (uint32_t)get(boot + REFS_CLUSTER_SECTORS_AT, 4) * size_out->sector_bytes;
    return;
  }
  size_out->sector_count = get(boot + NTFS_SECTOR_COUNT_AT, 8);
  size_out->sector_bytes = (uint32_t)get(boot + NTFS_SECTOR_BYTES_AT, 2);
  size_out->cluster_bytes = ntfs_cluster_sectors(boot[NTFS_CLUSTER_SECTORS_AT]) * size_out->sector_bytes;
}

uint32_t storage_extend(struct storage_disk *disk, const struct csi_partition *partition,
                        uint64_t sector_count) {
  struct csi_file_system_size size;
  storage_get_file_system_size(disk, partition, &size);
  bool ntfs = storage_read_signature(disk, partition) == CSI_FAKE_NTFS;
  /* NTFS leaves the last sector to the copy of the first. */
  uint64_t file_system_sectors = ntfs && sector_count > 0 ? sector_count - 1 : sector_count;
  if (sector_count > partition->length_bytes / size.sector_bytes || file_system_sectors < size.sector_count)
    return CSI_FAKE_INVALID_PARAMETER;
  uint8_t boot[STORAGE_BOOT_BYTES];
  sector_store_read(&disk->sectors, partition->offset_bytes, boot, sizeof boot);
  put(boot + (ntfs ? NTFS_SECTOR_COUNT_AT : REFS_SECTOR_COUNT_AT), file_system_sectors, 8);
  sector_store_write(&disk->sectors, partition->offset_bytes, boot, sizeof boot);
  if (ntfs) write_boot_copy(disk, partition, boot);
  return 0;
}
