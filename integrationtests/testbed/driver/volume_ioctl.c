/* SPDX-License-Identifier: Apache-2.0
 *
 * Control requests on volumes, reading and writing.
 */
#include <string.h>

#include "name.h"
#include "partition_info.h"
#include "volume.h"

static NTSTATUS get_device_number(const struct vdisk_volume *volume, struct vdisk_call *call) {
  STORAGE_DEVICE_NUMBER number = {
      .DeviceType = FILE_DEVICE_DISK,
      .DeviceNumber = volume->disk->object.disk_number,
      .PartitionNumber = volume->partition.number,
  };
  return vdisk_call_reply(call, &number, sizeof number);
}

static NTSTATUS get_extents(const struct vdisk_volume *volume, struct vdisk_call *call) {
  VOLUME_DISK_EXTENTS extents = {.NumberOfDiskExtents = 1};
  extents.Extents[0].DiskNumber = volume->disk->object.disk_number;
  extents.Extents[0].StartingOffset.QuadPart = (LONGLONG)vdisk_volume_offset_bytes(volume);
  extents.Extents[0].ExtentLength.QuadPart = (LONGLONG)vdisk_volume_length_bytes(volume);
  return vdisk_call_reply(call, &extents, sizeof extents);
}

static NTSTATUS get_partition_info(const struct vdisk_volume *volume, struct vdisk_call *call) {
  PARTITION_INFORMATION_EX info;
  vdisk_partition_describe(&volume->disk->table, &volume->partition, volume->disk->settings.sector_bytes,
                           &info);
  return vdisk_call_reply(call, &info, sizeof info);
}

static NTSTATUS get_length(const struct vdisk_volume *volume, struct vdisk_call *call) {
  GET_LENGTH_INFORMATION length = {.Length.QuadPart = (LONGLONG)vdisk_volume_length_bytes(volume)};
  return vdisk_call_reply(call, &length, sizeof length);
}

/* On a volume the size is still the disk's. */
static NTSTATUS forward_to_disk(struct vdisk_volume *volume, struct vdisk_call *call) {
  struct vdisk_call disk_call = *call;
  disk_call.object = &volume->disk->object;
  NTSTATUS status = vdisk_disk_serve(&disk_call);
  call->information = disk_call.information;
  return status;
}

static NTSTATUS set_online(struct vdisk_volume *volume, bool is_online) {
  if (is_online && volume->disk->settings.is_offline) return STATUS_DEVICE_NOT_READY;
  volume->is_offline = !is_online;
  return STATUS_SUCCESS;
}

static NTSTATUS get_attributes(const struct vdisk_volume *volume, struct vdisk_call *call) {
  if (volume->style != VDISK_STYLE_GPT) return STATUS_INVALID_PARAMETER;
  VOLUME_GET_GPT_ATTRIBUTES_INFORMATION attributes = {.GptAttributes = volume->partition.attributes};
  return vdisk_call_reply(call, &attributes, sizeof attributes);
}

static NTSTATUS set_attributes(struct vdisk_volume *volume, struct vdisk_call *call) {
  VOLUME_SET_GPT_ATTRIBUTES_INFORMATION set;
  struct vdisk_disk *disk = volume->disk;
  NTSTATUS status = vdisk_call_input(call, &set, sizeof set);
  if (NT_SUCCESS(status)) status = vdisk_disk_check_writable(disk);
  if (!NT_SUCCESS(status)) return status;
  struct vdisk_partition *partition = vdisk_table_find(&disk->table, volume->partition.number);
  if (volume->style != VDISK_STYLE_GPT || partition == NULL) return STATUS_INVALID_PARAMETER;
  partition->attributes = set.GptAttributes;
  return vdisk_disk_write_table(disk);
}

/* MOUNTDEV_NAME and MOUNTDEV_UNIQUE_ID alike: a length, then the bytes. When they do not fit, the length
 * alone. */
static NTSTATUS reply_counted(struct vdisk_call *call, const void *bytes, USHORT length_bytes) {
  size_t total = sizeof length_bytes + length_bytes;
  if (call->output_bytes < sizeof length_bytes) return STATUS_INVALID_PARAMETER;
  memcpy(call->buffer, &length_bytes, sizeof length_bytes);
  bool fits = call->output_bytes >= total;
  if (fits) memcpy((char *)call->buffer + sizeof length_bytes, bytes, length_bytes);
  call->information = (uint32_t)(fits ? total : sizeof length_bytes);
  return fits ? STATUS_SUCCESS : STATUS_BUFFER_OVERFLOW;
}

static NTSTATUS get_device_name(const struct vdisk_volume *volume, struct vdisk_call *call) {
  char buffer[VDISK_VOLUME_NAME_LIMIT];
  struct vdisk_name name;
  vdisk_volume_device_name(volume, buffer);
  vdisk_name_set(&name, buffer);
  return reply_counted(call, name.string.Buffer, name.string.Length);
}

static NTSTATUS get_unique_id(const struct vdisk_volume *volume, struct vdisk_call *call) {
  uint8_t id[VDISK_UNIQUE_ID_LIMIT_BYTES];
  size_t bytes = vdisk_volume_unique_id(volume, id);
  return reply_counted(call, id, (USHORT)bytes);
}

/* Bounds are the volume's, everything else as on the disk. */
static NTSTATUS transfer(struct vdisk_volume *volume, struct vdisk_call *call) {
  uint64_t length_bytes = vdisk_volume_length_bytes(volume);
  uint32_t bytes = call->code == VDISK_CALL_WRITE ? call->input_bytes : call->output_bytes;
  if (volume->is_offline) return STATUS_DEVICE_NOT_READY;
  if (call->offset_bytes > length_bytes || bytes > length_bytes - call->offset_bytes)
    return STATUS_END_OF_FILE;
  struct vdisk_call disk_call = *call;
  disk_call.offset_bytes += vdisk_volume_offset_bytes(volume);
  NTSTATUS status = vdisk_disk_transfer(volume->disk, &disk_call);
  call->information = disk_call.information;
  return status;
}

NTSTATUS vdisk_volume_serve(struct vdisk_call *call) {
  struct vdisk_volume *volume = CONTAINING_RECORD(call->object, struct vdisk_volume, object);
  switch (call->code) {
  case VDISK_CALL_READ:
  case VDISK_CALL_WRITE:
    return transfer(volume, call);
  case VDISK_CALL_FLUSH:
    return volume->is_offline ? STATUS_DEVICE_NOT_READY : vdisk_backing_flush(&volume->disk->backing);
  case VDISK_CALL_QUERY_VOLUME:
    return vdisk_volume_query(volume, call);
  case IOCTL_STORAGE_GET_DEVICE_NUMBER:
    return get_device_number(volume, call);
  case IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS:
    return get_extents(volume, call);
  case IOCTL_DISK_GET_PARTITION_INFO_EX:
    return get_partition_info(volume, call);
  case IOCTL_DISK_GET_LENGTH_INFO:
    return get_length(volume, call);
  case IOCTL_DISK_GET_DRIVE_GEOMETRY:
  case IOCTL_DISK_GET_DRIVE_GEOMETRY_EX:
  case IOCTL_DISK_IS_WRITABLE:
  case IOCTL_STORAGE_QUERY_PROPERTY:
    return forward_to_disk(volume, call);
  case IOCTL_VOLUME_ONLINE:
  case IOCTL_VOLUME_POST_ONLINE:
    return set_online(volume, true);
  case IOCTL_VOLUME_OFFLINE:
    return set_online(volume, false);
  case IOCTL_VOLUME_IS_OFFLINE:
    return volume->is_offline ? STATUS_SUCCESS : STATUS_UNSUCCESSFUL;
  case IOCTL_VOLUME_GET_GPT_ATTRIBUTES:
    return get_attributes(volume, call);
  case IOCTL_VOLUME_SET_GPT_ATTRIBUTES:
    return set_attributes(volume, call);
  case IOCTL_MOUNTDEV_QUERY_DEVICE_NAME:
    return get_device_name(volume, call);
  case IOCTL_MOUNTDEV_QUERY_UNIQUE_ID:
    return get_unique_id(volume, call);
  case IOCTL_MOUNTDEV_QUERY_STABLE_GUID:
    return vdisk_call_reply(call, volume->object.guid, sizeof volume->object.guid);
  default:
    return vdisk_volume_serve_fsctl(volume, call);
  }
}
