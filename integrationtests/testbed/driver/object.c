/* SPDX-License-Identifier: Apache-2.0 */
#include "object.h"

#include "name.h"
#include "park.h"

/* Wine still touches a device object right after the call that we return from. */
enum { FREE_DELAY_MS = 2000 };

static DRIVER_OBJECT *driver;

void vdisk_object_set_driver(DRIVER_OBJECT *driver_object) {
  driver = driver_object;
}

struct vdisk_object *vdisk_object_of(DEVICE_OBJECT *device) {
  return *(struct vdisk_object **)device->DeviceExtension;
}

NTSTATUS vdisk_object_create(struct vdisk_object *object, enum vdisk_kind kind, const char *name,
                             DEVICE_TYPE type, void (*free)(struct vdisk_object *)) {
  struct vdisk_name name_w;
  vdisk_name_set(&name_w, name);
  NTSTATUS status =
      IoCreateDevice(driver, sizeof(struct vdisk_object *), &name_w.string, type, 0, FALSE, &object->device);
  if (!NT_SUCCESS(status)) return status;
  object->kind = kind;
  object->free = free;
  *(struct vdisk_object **)object->device->DeviceExtension = object;
  object->device->Flags |= DO_BUFFERED_IO;
  object->device->Flags &= ~(ULONG)DO_DEVICE_INITIALIZING;
  return STATUS_SUCCESS;
}

static void free_now(struct vdisk_task *task) {
  struct vdisk_object *object = CONTAINING_RECORD(task, struct vdisk_object, free_task);
  IoDeleteDevice(object->device);
  object->free(object);
}

static void free_if_unused(struct vdisk_object *object) {
  if (object->is_released && object->open_handles == 0 && !object->free_task.is_scheduled)
    vdisk_task_schedule(&object->free_task, free_now, FREE_DELAY_MS);
}

void vdisk_object_opened(struct vdisk_object *object) {
  vdisk_task_cancel(&object->free_task);
  object->open_handles++;
}

void vdisk_object_closed(struct vdisk_object *object) {
  if (object->open_handles > 0) object->open_handles--;
  free_if_unused(object);
}

void vdisk_object_retire(struct vdisk_object *object) {
  object->is_gone = true;
  vdisk_park_end(object, VDISK_WAIT_ANY, STATUS_DEVICE_DOES_NOT_EXIST);
}

void vdisk_object_release(struct vdisk_object *object) {
  object->is_released = true;
  free_if_unused(object);
}

void vdisk_object_describe(const struct vdisk_object *object, struct vdisk_text *text) {
  switch (object->kind) {
  case VDISK_DISK:
    vdisk_text_add(text, "disk=");
    vdisk_text_add_number(text, object->disk_number);
    break;
  case VDISK_VOLUME:
    vdisk_text_add(text, "volume=");
    vdisk_text_add_guid(text, object->guid);
    break;
  case VDISK_MOUNT_MANAGER:
    vdisk_text_add(text, "mount-manager");
    break;
  case VDISK_CONTROL:
    vdisk_text_add(text, "control");
    break;
  case VDISK_BUS:
    vdisk_text_add(text, "bus");
    break;
  }
}
