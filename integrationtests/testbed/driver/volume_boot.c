/* SPDX-License-Identifier: Apache-2.0
 *
 * The file system on a volume: its boot sector is all there is of it.
 */
#include <string.h>

#include "volume.h"

/* What a file system uses of itself before there is anything in it: part of it, but not more than. */
enum { BASIC_USE_DIVISOR = 100, BASIC_USE_MAX_BYTES = 64 << 20 };

/* Both copies: the first sector of the partition, and the last. */
enum { COPIES = 2 };

static uint64_t copy_offset(const struct vdisk_volume *volume, unsigned copy) {
  uint64_t offset_bytes = vdisk_volume_offset_bytes(volume);
  if (copy == 0) return offset_bytes;
  return offset_bytes + vdisk_volume_length_bytes(volume) - volume->disk->settings.sector_bytes;
}

static NTSTATUS read_boot(struct vdisk_volume *volume, uint8_t sector[VDISK_SECTOR_BYTES_MAX]) {
  if (volume->is_offline) return STATUS_DEVICE_NOT_READY;
  return vdisk_backing_read(&volume->disk->backing, copy_offset(volume, 0), sector,
                            volume->disk->settings.sector_bytes);
}

static NTSTATUS write_boot(struct vdisk_volume *volume, const uint8_t sector[VDISK_SECTOR_BYTES_MAX]) {
  NTSTATUS status = vdisk_disk_check_writable(volume->disk);
  for (unsigned copy = 0; copy < COPIES && NT_SUCCESS(status); copy++)
    status = vdisk_backing_write(&volume->disk->backing, copy_offset(volume, copy), sector,
                                 volume->disk->settings.sector_bytes);
  return status;
}

NTSTATUS vdisk_volume_boot(struct vdisk_volume *volume, struct vdisk_boot *boot_out) {
  uint8_t sector[VDISK_SECTOR_BYTES_MAX];
  NTSTATUS status = read_boot(volume, sector);
  if (NT_SUCCESS(status)) vdisk_boot_decode(sector, boot_out);
  return status;
}

NTSTATUS vdisk_volume_mount(struct vdisk_volume *volume, struct vdisk_boot *boot_out) {
  NTSTATUS status = vdisk_volume_boot(volume, boot_out);
  if (!NT_SUCCESS(status)) return status;
  switch (boot_out->fs) {
  case VDISK_FS_NTFS:
  case VDISK_FS_REFS:
    return STATUS_SUCCESS;
  case VDISK_FS_BITLOCKER:
    return STATUS_FVE_LOCKED_VOLUME;
  default:
    return STATUS_UNRECOGNIZED_VOLUME;
  }
}

NTSTATUS vdisk_volume_set_sector_count(struct vdisk_volume *volume, const struct vdisk_boot *boot,
                                       uint64_t sector_count) {
  uint8_t sector[VDISK_SECTOR_BYTES_MAX];
  NTSTATUS status = read_boot(volume, sector);
  if (!NT_SUCCESS(status)) return status;
  vdisk_boot_set_sector_count(sector, boot, sector_count);
  return write_boot(volume, sector);
}

NTSTATUS vdisk_volume_set_label(struct vdisk_volume *volume, const char *label) {
  uint8_t sector[VDISK_SECTOR_BYTES_MAX];
  struct vdisk_boot boot;
  NTSTATUS status = vdisk_volume_mount(volume, &boot);
  if (NT_SUCCESS(status)) status = read_boot(volume, sector);
  WCHAR label_w[VDISK_LABEL_UNITS];
  ULONG bytes = 0;
  if (NT_SUCCESS(status))
    status = RtlUTF8ToUnicodeN(label_w, sizeof label_w, &bytes, label, (ULONG)strlen(label));
  if (!NT_SUCCESS(status)) return status;
  vdisk_boot_set_label(sector, label_w, bytes / sizeof label_w[0]);
  return write_boot(volume, sector);
}

uint64_t vdisk_volume_free_bytes(const struct vdisk_volume *volume, const struct vdisk_boot *boot) {
  uint64_t total_bytes = boot->sector_count * boot->sector_bytes;
  uint64_t basic_bytes = total_bytes / BASIC_USE_DIVISOR;
  if (basic_bytes > BASIC_USE_MAX_BYTES) basic_bytes = BASIC_USE_MAX_BYTES;
  uint64_t used_bytes = volume->used_bytes > basic_bytes ? volume->used_bytes : basic_bytes;
  return used_bytes < total_bytes ? total_bytes - used_bytes : 0;
}
