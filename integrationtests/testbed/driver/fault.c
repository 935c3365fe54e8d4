/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <string.h>

#include "disk.h"
#include "mount_manager.h"
#include "park.h"
#include "volume.h"

enum { GARBAGE_BYTE = 0xA5 };

static LIST_ENTRY faults = {&faults, &faults};

static struct vdisk_fault *fault_of(LIST_ENTRY *entry) {
  return CONTAINING_RECORD(entry, struct vdisk_fault, link);
}

static bool is_for(const struct vdisk_fault *fault, const struct vdisk_call *call) {
  const struct vdisk_object *object = call->object;
  if (fault->code != call->code || fault->code == VDISK_CALL_OPEN || object->kind == VDISK_CONTROL)
    return false;
  if (fault->is_for_any) return true;
  return fault->kind == object->kind && fault->disk_number == object->disk_number &&
         memcmp(fault->guid, object->guid, sizeof fault->guid) == 0;
}

static void remove(struct vdisk_fault *fault) {
  RemoveEntryList(&fault->link);
  ExFreePoolWithTag(fault, VDISK_POOL_TAG);
}

/* Counts the call for each fault up to the first one that is due. False when none is. */
static bool take(const struct vdisk_call *call, struct vdisk_fault *taken_out) {
  for (LIST_ENTRY *entry = faults.Flink; entry != &faults; entry = entry->Flink) {
    struct vdisk_fault *fault = fault_of(entry);
    if (!is_for(fault, call)) continue;
    if (fault->skip_count > 0) {
      fault->skip_count--;
      continue;
    }
    *taken_out = *fault;
    if (fault->remaining_count > 0 && --fault->remaining_count == 0) remove(fault);
    return true;
  }
  return false;
}

static void pull_disk_of(struct vdisk_object *object) {
  if (object->is_gone) return;
  if (object->kind == VDISK_DISK) vdisk_disk_pull(CONTAINING_RECORD(object, struct vdisk_disk, object));
  if (object->kind == VDISK_VOLUME)
    vdisk_disk_pull(CONTAINING_RECORD(object, struct vdisk_volume, object)->disk);
}

static NTSTATUS spoil(struct vdisk_call *call, enum vdisk_fault_action action) {
  NTSTATUS status = vdisk_call_serve(call);
  if (status != STATUS_SUCCESS || call->output_bytes == 0) return status;
  if (action == VDISK_FAULT_SHORT)
    call->information /= 2;
  else
    memset(call->buffer, GARBAGE_BYTE, call->information);
  return status;
}

static NTSTATUS act(const struct vdisk_fault *fault, struct vdisk_call *call) {
  switch (fault->action) {
  case VDISK_FAULT_FAIL:
    return (NTSTATUS)fault->parameter;
  case VDISK_FAULT_DELAY:
    return vdisk_park(call, call->object, VDISK_WAIT_DELAY, fault->parameter);
  case VDISK_FAULT_HANG:
    return vdisk_park(call, call->object, VDISK_WAIT_HANG, 0);
  case VDISK_FAULT_HANG_HARD:
    return vdisk_park(call, call->object, VDISK_WAIT_HANG_HARD, 0);
  case VDISK_FAULT_REMOVE:
    pull_disk_of(call->object);
    return STATUS_DEVICE_DOES_NOT_EXIST;
  default:
    return spoil(call, fault->action);
  }
}

NTSTATUS vdisk_fault_serve(struct vdisk_call *call) {
  struct vdisk_fault fault;
  return take(call, &fault) ? act(&fault, call) : vdisk_call_serve(call);
}

static NTSTATUS hide(const struct vdisk_fault *fault) {
  struct vdisk_disk *disk = fault->kind == VDISK_DISK ? vdisk_disk_find(fault->disk_number) : NULL;
  struct vdisk_volume *volume = fault->kind == VDISK_VOLUME ? vdisk_volume_find(fault->guid) : NULL;
  if (disk != NULL)
    vdisk_disk_hide(disk, true);
  else if (volume != NULL)
    vdisk_volume_hide(volume, true);
  else if (fault->kind == VDISK_MOUNT_MANAGER)
    vdisk_mount_manager_hide(true);
  else
    return STATUS_NO_SUCH_DEVICE;
  return STATUS_SUCCESS;
}

static void show_all(void) {
  for (struct vdisk_disk *disk = vdisk_disk_next(NULL); disk != NULL; disk = vdisk_disk_next(disk))
    if (disk->object.is_hidden) vdisk_disk_hide(disk, false);
  for (struct vdisk_volume *volume = vdisk_volume_next(NULL); volume != NULL;
       volume = vdisk_volume_next(volume))
    if (volume->object.is_hidden) vdisk_volume_hide(volume, false);
  vdisk_mount_manager_hide(false);
}

NTSTATUS vdisk_fault_add(const struct vdisk_fault *fault) {
  NTSTATUS status = fault->code == VDISK_CALL_OPEN ? hide(fault) : STATUS_SUCCESS;
  if (!NT_SUCCESS(status)) return status;
  struct vdisk_fault *copy = ExAllocatePoolWithTag(NonPagedPool, sizeof *copy, VDISK_POOL_TAG);
  if (copy == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  *copy = *fault;
  InsertTailList(&faults, &copy->link);
  return STATUS_SUCCESS;
}

void vdisk_fault_clear(void) {
  while (!IsListEmpty(&faults))
    remove(fault_of(faults.Flink));
  show_all();
  vdisk_park_resume(VDISK_WAIT_HANG);
  vdisk_park_resume(VDISK_WAIT_HANG_HARD);
}

const struct vdisk_fault *vdisk_fault_next(const struct vdisk_fault *fault) {
  LIST_ENTRY *next = fault == NULL ? faults.Flink : fault->link.Flink;
  return next == &faults ? NULL : fault_of(next);
}
