/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "disk.h"
#include "park.h"
#include "volume.h"

static NTSTATUS get_device_number(const struct vdisk_disk *disk, struct vdisk_call *call) {
  STORAGE_DEVICE_NUMBER number = {.DeviceType = FILE_DEVICE_DISK, .DeviceNumber = disk->object.disk_number};
  return vdisk_call_reply(call, &number, sizeof number);
}

/* The GUID stays the same as long as the disk is plugged in. */
static NTSTATUS get_device_number_ex(const struct vdisk_disk *disk, struct vdisk_call *call) {
  struct vdisk_device_number_ex number = {
      .version = sizeof number,
      .size = sizeof number,
      .device_type = FILE_DEVICE_DISK,
      .device_number = disk->object.disk_number,
      .device_guid = {.Data1 = disk->generation, .Data2 = 0x7664, .Data3 = 0x4b73},
  };
  return vdisk_call_reply(call, &number, sizeof number);
}

static NTSTATUS get_address(const struct vdisk_disk *disk, struct vdisk_call *call) {
  if (!disk->settings.has_address) return STATUS_INVALID_DEVICE_REQUEST;
  const struct vdisk_address *address = &disk->settings.address;
  SCSI_ADDRESS reply = {
      .Length = sizeof reply,
      .PortNumber = address->port,
      .PathId = address->path,
      .TargetId = address->target,
      .Lun = address->lun,
  };
  return vdisk_call_reply(call, &reply, sizeof reply);
}

static DISK_GEOMETRY geometry_of(const struct vdisk_disk *disk) {
  enum { HEADS = 255, SECTORS_PER_TRACK = 63 };
  uint64_t cylinder_bytes = (uint64_t)HEADS * SECTORS_PER_TRACK * disk->settings.sector_bytes;
  return (DISK_GEOMETRY){
      .Cylinders.QuadPart = (LONGLONG)(disk->size_bytes / cylinder_bytes),
      .MediaType = disk->settings.is_removable ? RemovableMedia : FixedMedia,
      .TracksPerCylinder = HEADS,
      .SectorsPerTrack = SECTORS_PER_TRACK,
      .BytesPerSector = disk->settings.sector_bytes,
  };
}

static NTSTATUS get_geometry(const struct vdisk_disk *disk, struct vdisk_call *call) {
  DISK_GEOMETRY geometry = geometry_of(disk);
  return vdisk_call_reply(call, &geometry, sizeof geometry);
}

/* Callers may leave out what follows the size. */
static NTSTATUS get_geometry_ex(const struct vdisk_disk *disk, struct vdisk_call *call) {
  DISK_GEOMETRY_EX geometry = {.Geometry = geometry_of(disk)};
  geometry.DiskSize.QuadPart = (LONGLONG)disk->size_bytes;
  return vdisk_call_reply(call, &geometry, offsetof(DISK_GEOMETRY_EX, Data));
}

static NTSTATUS get_length(const struct vdisk_disk *disk, struct vdisk_call *call) {
  GET_LENGTH_INFORMATION length = {.Length.QuadPart = (LONGLONG)disk->size_bytes};
  return vdisk_call_reply(call, &length, sizeof length);
}

static NTSTATUS get_attributes(const struct vdisk_disk *disk, struct vdisk_call *call) {
  struct vdisk_get_disk_attributes attributes = {
      .version = sizeof attributes,
      .attributes = (disk->settings.is_offline ? DISK_ATTRIBUTE_OFFLINE : 0) |
                    (disk->settings.is_read_only ? DISK_ATTRIBUTE_READ_ONLY : 0),
  };
  return vdisk_call_reply(call, &attributes, sizeof attributes);
}

static NTSTATUS set_attributes(struct vdisk_disk *disk, struct vdisk_call *call) {
  struct vdisk_set_disk_attributes set;
  NTSTATUS status = vdisk_call_input(call, &set, sizeof set);
  if (!NT_SUCCESS(status)) return status;
  if (set.version != sizeof set ||
      (set.attributes_mask & ~(DISK_ATTRIBUTE_OFFLINE | DISK_ATTRIBUTE_READ_ONLY)) != 0)
    return STATUS_INVALID_PARAMETER;
  if (set.attributes_mask & DISK_ATTRIBUTE_OFFLINE)
    disk->settings.is_offline = (set.attributes & DISK_ATTRIBUTE_OFFLINE) != 0;
  if (set.attributes_mask & DISK_ATTRIBUTE_READ_ONLY)
    disk->settings.is_read_only = (set.attributes & DISK_ATTRIBUTE_READ_ONLY) != 0;
  vdisk_volumes_update(disk);
  return STATUS_SUCCESS;
}

static NTSTATUS are_volumes_ready(struct vdisk_disk *disk, struct vdisk_call *call) {
  if (vdisk_volumes_have_arrived(disk)) return STATUS_SUCCESS;
  return vdisk_park(call, &disk->object, VDISK_WAIT_VOLUMES, 0);
}

NTSTATUS vdisk_disk_serve(struct vdisk_call *call) {
  struct vdisk_disk *disk = CONTAINING_RECORD(call->object, struct vdisk_disk, object);
  switch (call->code) {
  case VDISK_CALL_READ:
  case VDISK_CALL_WRITE:
    return vdisk_disk_transfer(disk, call);
  case VDISK_CALL_FLUSH:
    return vdisk_backing_flush(&disk->backing);
  case IOCTL_STORAGE_GET_DEVICE_NUMBER:
    return get_device_number(disk, call);
  case IOCTL_STORAGE_GET_DEVICE_NUMBER_EX:
    return get_device_number_ex(disk, call);
  case IOCTL_STORAGE_QUERY_PROPERTY:
    return vdisk_disk_query_property(disk, call);
  case IOCTL_SCSI_GET_ADDRESS:
    return get_address(disk, call);
  case IOCTL_DISK_GET_DRIVE_GEOMETRY:
    return get_geometry(disk, call);
  case IOCTL_DISK_GET_DRIVE_GEOMETRY_EX:
    return get_geometry_ex(disk, call);
  case IOCTL_DISK_GET_LENGTH_INFO:
    return get_length(disk, call);
  case IOCTL_DISK_GET_DISK_ATTRIBUTES:
    return get_attributes(disk, call);
  case IOCTL_DISK_SET_DISK_ATTRIBUTES:
    return set_attributes(disk, call);
  case IOCTL_DISK_IS_WRITABLE:
    return disk->settings.is_read_only ? STATUS_MEDIA_WRITE_PROTECTED : STATUS_SUCCESS;
  case IOCTL_DISK_UPDATE_PROPERTIES:
  case IOCTL_SCSI_RESCAN_BUS:
    return vdisk_disk_refresh(disk);
  case IOCTL_DISK_ARE_VOLUMES_READY:
    return are_volumes_ready(disk, call);
  default:
    return vdisk_disk_serve_layout(disk, call);
  }
}
