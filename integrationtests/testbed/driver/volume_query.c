/* SPDX-License-Identifier: Apache-2.0
 *
 * NtQueryVolumeInformationFile() on volumes: GetVolumeInformation(), GetDiskFreeSpaceEx().
 */
#include <string.h>

#include "volume.h"

/* Named streams, sparse files, reparse points and what else NTFS has. */
enum { NTFS_ATTRIBUTES = 0x03E706FF, NAME_UNITS_MAX = 255 };

static NTSTATUS query_volume(const struct vdisk_boot *boot, struct vdisk_call *call) {
  uint8_t buffer[sizeof(FILE_FS_VOLUME_INFORMATION) + sizeof boot->label_w] = {0};
  FILE_FS_VOLUME_INFORMATION *information = (FILE_FS_VOLUME_INFORMATION *)buffer;
  while (boot->label_w[information->VolumeLabelLength / sizeof(WCHAR)] != 0)
    information->VolumeLabelLength += sizeof(WCHAR);
  memcpy(information->VolumeLabel, boot->label_w, information->VolumeLabelLength);
  information->VolumeSerialNumber = (ULONG)boot->serial;
  information->SupportsObjects = TRUE;
  return vdisk_call_reply(call, buffer,
                          offsetof(FILE_FS_VOLUME_INFORMATION, VolumeLabel) + information->VolumeLabelLength);
}

static NTSTATUS query_attributes(const struct vdisk_boot *boot, struct vdisk_call *call) {
  enum { NAME_BYTES = 4 * sizeof(WCHAR) };
  uint8_t buffer[offsetof(FILE_FS_ATTRIBUTE_INFORMATION, FileSystemName) + NAME_BYTES] = {0};
  FILE_FS_ATTRIBUTE_INFORMATION *information = (FILE_FS_ATTRIBUTE_INFORMATION *)buffer;
  information->FileSystemAttributes = NTFS_ATTRIBUTES;
  information->MaximumComponentNameLength = NAME_UNITS_MAX;
  information->FileSystemNameLength = NAME_BYTES;
  memcpy(information->FileSystemName, boot->fs == VDISK_FS_NTFS ? L"NTFS" : L"ReFS", NAME_BYTES);
  return vdisk_call_reply(call, buffer, sizeof buffer);
}

static LONGLONG total_clusters(const struct vdisk_boot *boot) {
  return (LONGLONG)(boot->sector_count * boot->sector_bytes / boot->cluster_bytes);
}

static NTSTATUS query_size(const struct vdisk_boot *boot, LONGLONG free_clusters, struct vdisk_call *call) {
  FILE_FS_SIZE_INFORMATION information = {
      .TotalAllocationUnits.QuadPart = total_clusters(boot),
      .AvailableAllocationUnits.QuadPart = free_clusters,
      .SectorsPerAllocationUnit = boot->cluster_bytes / boot->sector_bytes,
      .BytesPerSector = boot->sector_bytes,
  };
  return vdisk_call_reply(call, &information, sizeof information);
}

static NTSTATUS query_full_size(const struct vdisk_boot *boot, LONGLONG free_clusters,
                                struct vdisk_call *call) {
  FILE_FS_FULL_SIZE_INFORMATION information = {
      .TotalAllocationUnits.QuadPart = total_clusters(boot),
      .CallerAvailableAllocationUnits.QuadPart = free_clusters,
      .ActualAvailableAllocationUnits.QuadPart = free_clusters,
      .SectorsPerAllocationUnit = boot->cluster_bytes / boot->sector_bytes,
      .BytesPerSector = boot->sector_bytes,
  };
  return vdisk_call_reply(call, &information, sizeof information);
}

static NTSTATUS query_device(const struct vdisk_volume *volume, struct vdisk_call *call) {
  FILE_FS_DEVICE_INFORMATION information = {
      .DeviceType = FILE_DEVICE_DISK,
      .Characteristics = volume->disk->settings.is_removable ? FILE_REMOVABLE_MEDIA : 0,
  };
  return vdisk_call_reply(call, &information, sizeof information);
}

NTSTATUS vdisk_volume_query(struct vdisk_volume *volume, struct vdisk_call *call) {
  if (call->query_class == FileFsDeviceInformation) return query_device(volume, call);
  struct vdisk_boot boot;
  NTSTATUS status = vdisk_volume_mount(volume, &boot);
  if (!NT_SUCCESS(status)) return status;
  LONGLONG free_clusters = (LONGLONG)(vdisk_volume_free_bytes(volume, &boot) / boot.cluster_bytes);
  switch (call->query_class) {
  case FileFsVolumeInformation:
    return query_volume(&boot, call);
  case FileFsAttributeInformation:
    return query_attributes(&boot, call);
  case FileFsSizeInformation:
    return query_size(&boot, free_clusters, call);
  case FileFsFullSizeInformation:
    return query_full_size(&boot, free_clusters, call);
  default:
    return STATUS_INVALID_PARAMETER;
  }
}
