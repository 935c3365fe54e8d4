/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "disk/host_win32_parts.h"
#include "disk/mount_points.h"
#include "win32/device.h"
#include "win32/handle.h"
#include "win32/storage_ioctl.h"

enum {
  PATH_UNITS = 48,
  OBJECT_BYTES = 48,
  DEVICE_UNITS = 512, /* longest name of a volume device */
  POINTS_FIRST_BYTES = 4096,
  POINTS_MAX_BYTES = 1 << 20,
};

struct partition {
  uint32_t disk_number;
  uint32_t number;
  char object[OBJECT_BYTES]; /* for errors */
};

static struct partition partition_of(uint32_t disk_number, uint32_t partition_number) {
  struct partition partition = {.disk_number = disk_number, .number = partition_number};
  snprintf(partition.object, sizeof partition.object, "partition %" PRIu32 " of disk %" PRIu32,
           partition_number, disk_number);
  return partition;
}

/* The volume behind the partition. While Windows replaces it, it is there and not there by turns: then the
 * failure is NOT_FOUND, and worth another try. */
static bool open_volume(struct csi_ctx *ctx, const struct partition *partition, DWORD access,
                        HANDLE *handle_out) {
  wchar_t path_w[PATH_UNITS];
  swprintf(path_w, PATH_UNITS, L"\\\\.\\Harddisk%uPartition%u", partition->disk_number, partition->number);
  if (csi_device_open(ctx, path_w, access, partition->object, handle_out)) return true;
  if (ctx->status.code == CSI_UNAVAILABLE) ctx->status.code = CSI_NOT_FOUND;
  return false;
}

/* The name of the device, `\Device\HarddiskVolume3`, as the mount manager knows it. */
struct device_name {
  MOUNTDEV_NAME head;
  wchar_t room_w[DEVICE_UNITS];
};

static bool get_device_name(struct csi_ctx *ctx, const struct partition *partition,
                            struct device_name *name_out) {
  CSI_SCOPED_HANDLE volume = NULL;
  size_t returned_bytes;
  if (!open_volume(ctx, partition, 0, &volume)) return false;
  if (!csi_device_control(ctx, volume, CSI_CONTROL(IOCTL_MOUNTDEV_QUERY_DEVICE_NAME), NULL, 0, name_out,
                          sizeof *name_out, &returned_bytes, partition->object)) {
    if (ctx->status.code == CSI_UNAVAILABLE) ctx->status.code = CSI_NOT_FOUND;
    return false;
  }
  size_t head_bytes = offsetof(MOUNTDEV_NAME, Name);
  if (returned_bytes < head_bytes || name_out->head.NameLength > returned_bytes - head_bytes ||
      name_out->head.NameLength > DEVICE_UNITS * sizeof(wchar_t) || name_out->head.NameLength % 2 != 0)
    return csi_fail(&ctx->status, CSI_DATA_LOSS, "%s: impossible name of its device", partition->object);
  return true;
}

/* Everything that the mount manager knows about the device. */
static bool query_points(struct csi_ctx *ctx, const struct device_name *name, const uint8_t **points_out,
                         size_t *size_bytes_out) {
  CSI_SCOPED_HANDLE manager = NULL;
  if (!csi_device_open(ctx, L"\\\\.\\MountPointManager", 0, "mount manager", &manager)) return false;
  struct {
    MOUNTMGR_MOUNT_POINT point;
    wchar_t name_w[DEVICE_UNITS];
  } query = {.point.DeviceNameOffset = sizeof query.point, .point.DeviceNameLength = name->head.NameLength};
  memcpy(query.name_w, name->head.Name, name->head.NameLength);
  return csi_device_control_grow(ctx, manager, CSI_CONTROL(IOCTL_MOUNTMGR_QUERY_POINTS), &query,
                                 sizeof query.point + name->head.NameLength, POINTS_FIRST_BYTES,
                                 POINTS_MAX_BYTES, points_out, size_bytes_out, "mount manager");
}

bool csi_win32_find_volume(void *self, struct csi_ctx *ctx, uint32_t disk_number, uint32_t partition_number,
                           char volume_id_out[CSI_VOLUME_ID_BYTES]) {
  (void)self;
  struct partition partition = partition_of(disk_number, partition_number);
  struct device_name name = {0};
  const uint8_t *points;
  size_t size_bytes;
  if (!get_device_name(ctx, &partition, &name) || !query_points(ctx, &name, &points, &size_bytes))
    return false;
  struct csi_guid guid;
  if (!csi_mount_points_find_volume(points, size_bytes, name.head.Name,
                                    name.head.NameLength / sizeof(wchar_t), &guid))
    return csi_fail(&ctx->status, CSI_NOT_FOUND, "the mount manager has no name for %s", partition.object);
  char text[CSI_GUID_TEXT_BYTES];
  csi_guid_format(&guid, text);
  snprintf(volume_id_out, CSI_VOLUME_ID_BYTES, "\\\\?\\Volume{%s}\\", text);
  return true;
}

/* UNVERIFIED ON WINDOWS: that this gives a volume its name where automatic mounting is off (mountvol /N). */
bool csi_win32_online_volume(void *self, struct csi_ctx *ctx, uint32_t disk_number,
                             uint32_t partition_number) {
  (void)self;
  struct partition partition = partition_of(disk_number, partition_number);
  CSI_SCOPED_HANDLE volume = NULL;
  return open_volume(ctx, &partition, GENERIC_READ | GENERIC_WRITE, &volume) &&
         csi_device_control(ctx, volume, CSI_CONTROL(IOCTL_VOLUME_ONLINE), NULL, 0, NULL, 0, NULL,
                            partition.object);
}
