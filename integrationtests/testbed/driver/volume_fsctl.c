/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests to the file system on a volume.
 */
#include <string.h>

#include "volume.h"

enum { FILE_RECORD_BYTES = 1024 };

static LARGE_INTEGER large(uint64_t value) {
  return (LARGE_INTEGER){.QuadPart = (LONGLONG)value};
}

static NTSTATUS get_ntfs_data(struct vdisk_volume *volume, struct vdisk_call *call) {
  struct vdisk_boot boot;
  NTSTATUS status = vdisk_volume_mount(volume, &boot);
  if (!NT_SUCCESS(status))
    return status == STATUS_UNRECOGNIZED_VOLUME ? STATUS_INVALID_DEVICE_REQUEST : status;
  if (boot.fs != VDISK_FS_NTFS) return STATUS_INVALID_DEVICE_REQUEST;
  NTFS_VOLUME_DATA_BUFFER data = {
      .VolumeSerialNumber = large(boot.serial),
      .NumberSectors = large(boot.sector_count),
      .TotalClusters = large(boot.sector_count * boot.sector_bytes / boot.cluster_bytes),
      .FreeClusters = large(vdisk_volume_free_bytes(volume, &boot) / boot.cluster_bytes),
      .BytesPerSector = boot.sector_bytes,
      .BytesPerCluster = boot.cluster_bytes,
      .BytesPerFileRecordSegment = FILE_RECORD_BYTES,
      .MftValidDataLength = large(FILE_RECORD_BYTES * 256),
      .MftStartLcn = large(boot.mft_cluster),
      .Mft2StartLcn = large(boot.mft_mirror_cluster),
  };
  return vdisk_call_reply(call, &data, sizeof data);
}

static NTSTATUS get_refs_data(struct vdisk_volume *volume, struct vdisk_call *call) {
  struct vdisk_boot boot;
  NTSTATUS status = vdisk_volume_mount(volume, &boot);
  if (!NT_SUCCESS(status))
    return status == STATUS_UNRECOGNIZED_VOLUME ? STATUS_INVALID_DEVICE_REQUEST : status;
  if (boot.fs != VDISK_FS_REFS) return STATUS_INVALID_DEVICE_REQUEST;
  struct vdisk_refs_volume_data data = {
      .byte_count = sizeof data,
      .major_version = 3,
      .minor_version = 4,
      .bytes_per_physical_sector = 4096,
      .volume_serial_number = large(boot.serial),
      .number_sectors = large(boot.sector_count),
      .total_clusters = large(boot.sector_count * boot.sector_bytes / boot.cluster_bytes),
      .free_clusters = large(vdisk_volume_free_bytes(volume, &boot) / boot.cluster_bytes),
      .bytes_per_sector = boot.sector_bytes,
      .bytes_per_cluster = boot.cluster_bytes,
  };
  return vdisk_call_reply(call, &data, sizeof data);
}

/* The input is the number of sectors the volume is to have: at most those of the partition, and never less
 * than before. NTFS keeps the last one for the copy of its boot sector. */
static NTSTATUS extend(struct vdisk_volume *volume, struct vdisk_call *call) {
  int64_t wanted;
  NTSTATUS status = vdisk_call_input(call, &wanted, sizeof wanted);
  if (!NT_SUCCESS(status)) return status;
  struct vdisk_boot boot;
  status = vdisk_volume_mount(volume, &boot);
  if (!NT_SUCCESS(status))
    return status == STATUS_UNRECOGNIZED_VOLUME ? STATUS_INVALID_DEVICE_REQUEST : status;
  uint64_t kept_sectors = boot.fs == VDISK_FS_NTFS ? 1 : 0;
  if (wanted < 0 || (uint64_t)wanted > vdisk_volume_length_bytes(volume) / boot.sector_bytes ||
      (uint64_t)wanted < boot.sector_count + kept_sectors)
    return STATUS_INVALID_PARAMETER;
  return vdisk_volume_set_sector_count(volume, &boot, (uint64_t)wanted - kept_sectors);
}

/* Says which file system is on a volume that none has mounted. */
static NTSTATUS query_recognition(struct vdisk_volume *volume, struct vdisk_call *call) {
  struct vdisk_boot boot;
  NTSTATUS status = vdisk_volume_boot(volume, &boot);
  if (!NT_SUCCESS(status)) return status;
  const char *name = boot.fs == VDISK_FS_NTFS        ? "NTFS"
                     : boot.fs == VDISK_FS_REFS      ? "ReFS"
                     : boot.fs == VDISK_FS_BITLOCKER ? "-FVE-FS-"
                                                     : NULL;
  if (name == NULL) return STATUS_UNRECOGNIZED_VOLUME;
  FILE_SYSTEM_RECOGNITION_INFORMATION information = {{0}};
  memcpy(information.FileSystem, name, strlen(name));
  return vdisk_call_reply(call, &information, sizeof information);
}

NTSTATUS vdisk_volume_serve_fsctl(struct vdisk_volume *volume, struct vdisk_call *call) {
  switch (call->code) {
  case FSCTL_GET_NTFS_VOLUME_DATA:
    return get_ntfs_data(volume, call);
  case FSCTL_GET_REFS_VOLUME_DATA:
    return get_refs_data(volume, call);
  case FSCTL_EXTEND_VOLUME:
    return extend(volume, call);
  case FSCTL_QUERY_FILE_SYSTEM_RECOGNITION:
    return query_recognition(volume, call);
  case FSCTL_LOCK_VOLUME:
  case FSCTL_UNLOCK_VOLUME:
  case FSCTL_DISMOUNT_VOLUME:
  case FSCTL_IS_VOLUME_MOUNTED:
  case FSCTL_ALLOW_EXTENDED_DASD_IO:
    return volume->is_offline ? STATUS_DEVICE_NOT_READY : STATUS_SUCCESS;
  default:
    return STATUS_INVALID_DEVICE_REQUEST;
  }
}
