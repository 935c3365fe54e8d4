/* SPDX-License-Identifier: Apache-2.0
 *
 * What is common to everything that has a device object: the bus, the control device, disks, volumes and the
 * mount manager. Functions are called with the lock held.
 */
#ifndef VDISK_OBJECT_H
#define VDISK_OBJECT_H

#include "nt.h"
#include "task.h"
#include "text.h"

enum vdisk_kind {
  VDISK_BUS,
  VDISK_CONTROL,
  VDISK_DISK,
  VDISK_VOLUME,
  VDISK_MOUNT_MANAGER,
};

/* First member of each of them. */
struct vdisk_object {
  enum vdisk_kind kind;
  DEVICE_OBJECT *device;
  uint32_t disk_number; /* of a disk */
  uint8_t guid[16];     /* of a volume */
  uint32_t open_handles;
  bool is_gone;     /* unplugged, or its partition deleted: answers STATUS_DEVICE_DOES_NOT_EXIST */
  bool is_hidden;   /* its names lead nowhere, so that it cannot be opened */
  bool is_released; /* nobody but programs that have it open knows it any more */
  void (*free)(struct vdisk_object *object);
  struct vdisk_task free_task;
};

/* The object of a device of ours. */
struct vdisk_object *vdisk_object_of(DEVICE_OBJECT *device);

/* Creates the device `name` for an object in zeroed memory. free gives the memory back once the object is
 * gone and nobody has a handle; NULL for an object that stays. */
NTSTATUS vdisk_object_create(struct vdisk_object *object, enum vdisk_kind kind, const char *name,
                             DEVICE_TYPE type, void (*free)(struct vdisk_object *object));

/* Counts handles. */
void vdisk_object_opened(struct vdisk_object *object);
void vdisk_object_closed(struct vdisk_object *object);

/* Marks the object as gone and ends its calls. */
void vdisk_object_retire(struct vdisk_object *object);

/* Says that it is known to no other part of the driver: it is freed when the last handle is closed. */
void vdisk_object_release(struct vdisk_object *object);

/* `disk=3`, `volume={..}`, `mount-manager`: how commands name the object. */
void vdisk_object_describe(const struct vdisk_object *object, struct vdisk_text *text);

/* Remembered by IoCreateDevice; set before the first vdisk_object_create(). */
void vdisk_object_set_driver(DRIVER_OBJECT *driver);

#endif
