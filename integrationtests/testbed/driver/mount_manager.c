/* SPDX-License-Identifier: Apache-2.0 */
#include "mount_manager.h"

#include <string.h>

#include "mount_folder.h"
#include "mount_points.h"
#include "name.h"
#include "object.h"

static const char wine_device[] = "\\Device\\MountPointManager";
static const char our_device[] = "\\Device\\VdiskMountManager";
static const char link[] = "\\??\\MountPointManager";

static struct vdisk_object manager;
static HANDLE wine_manager;

static NTSTATUS open_wine_manager(void) {
  struct vdisk_name name;
  vdisk_name_set(&name, wine_device);
  OBJECT_ATTRIBUTES attributes;
  IO_STATUS_BLOCK result;
  InitializeObjectAttributes(&attributes, &name.string, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL, NULL);
  return ZwOpenFile(&wine_manager, GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE, &attributes, &result,
                    FILE_SHARE_READ | FILE_SHARE_WRITE, FILE_SYNCHRONOUS_IO_NONALERT);
}

NTSTATUS vdisk_mount_manager_create(void) {
  NTSTATUS status = open_wine_manager();
  if (NT_SUCCESS(status))
    status = vdisk_object_create(&manager, VDISK_MOUNT_MANAGER, our_device, MOUNTMGRCONTROLTYPE, NULL);
  return NT_SUCCESS(status) ? vdisk_link_set(link, our_device) : status;
}

void vdisk_mount_manager_delete(void) {
  if (manager.device == NULL) return;
  vdisk_link_set(link, wine_device);
  IoDeleteDevice(manager.device);
  ZwClose(wine_manager);
}

void vdisk_mount_manager_hide(bool is_hidden) {
  if (is_hidden)
    vdisk_link_remove(link);
  else
    vdisk_link_set(link, our_device);
}

/* Asks Wine's. Its answer goes to the output. */
static NTSTATUS ask_wine(const struct vdisk_call *call, void *output, uint32_t output_bytes,
                         uint32_t *bytes_out) {
  IO_STATUS_BLOCK result = {.Information = 0};
  NTSTATUS status = ZwDeviceIoControlFile(wine_manager, NULL, NULL, NULL, &result, call->code, call->buffer,
                                          call->input_bytes, output, output_bytes);
  *bytes_out = (uint32_t)result.Information;
  return status;
}

static NTSTATUS pass_on(struct vdisk_call *call) {
  if (call->output_bytes == 0) return ask_wine(call, NULL, 0, &call->information);
  void *output = ExAllocatePoolWithTag(PagedPool, call->output_bytes, VDISK_POOL_TAG);
  if (output == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  NTSTATUS status = ask_wine(call, output, call->output_bytes, &call->information);
  memcpy(call->buffer, output, call->information <= call->output_bytes ? call->information : 0);
  ExFreePoolWithTag(output, VDISK_POOL_TAG);
  return status;
}

/* Wine's points and ours. Wine has few, one or two for each of its drives. */
static NTSTATUS query_points(struct vdisk_call *call) {
  enum { WINE_POINTS_BYTES = 65536 };
  MOUNTMGR_MOUNT_POINTS *points = ExAllocatePoolWithTag(PagedPool, WINE_POINTS_BYTES, VDISK_POOL_TAG);
  if (points == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  uint32_t bytes;
  NTSTATUS wine_status = ask_wine(call, points, WINE_POINTS_BYTES, &bytes);
  NTSTATUS status = vdisk_mount_points_query(call, wine_status, points, NT_SUCCESS(wine_status) ? bytes : 0);
  ExFreePoolWithTag(points, VDISK_POOL_TAG);
  return status;
}

NTSTATUS vdisk_mount_manager_serve(struct vdisk_call *call) {
  NTSTATUS status;
  switch (call->code) {
  case IOCTL_MOUNTMGR_QUERY_POINTS:
    return query_points(call);
  case IOCTL_MOUNTMGR_QUERY_DOS_VOLUME_PATH:
  case IOCTL_MOUNTMGR_QUERY_DOS_VOLUME_PATHS:
    status = vdisk_mount_paths_query(call);
    break;
  case IOCTL_MOUNTMGR_VOLUME_MOUNT_POINT_CREATED:
  case IOCTL_MOUNTMGR_VOLUME_MOUNT_POINT_DELETED:
    status = vdisk_mount_folder_changed(call);
    break;
  default:
    return pass_on(call);
  }
  return status == STATUS_NO_SUCH_DEVICE ? pass_on(call) : status;
}
