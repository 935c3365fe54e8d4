/* SPDX-License-Identifier: Apache-2.0 */
#include "bus.h"

#include <string.h>

#include "control.h"
#include "disk.h"
#include "disk_pnp.h"
#include "lock.h"
#include "mount_manager.h"
#include "object.h"

static const GUID adapter_interface = {
    0x2accfe60, 0xc130, 0x11d2, {0xb0, 0x82, 0x00, 0xa0, 0xc9, 0x1e, 0xfb, 0x8b}};

static struct vdisk_object bus;
static DEVICE_OBJECT *physical_device, *lower_device;
static UNICODE_STRING interface_name;

struct vdisk_object *vdisk_bus_object(void) {
  return &bus;
}

void vdisk_bus_changed(void) {
  IoInvalidateDeviceRelations(physical_device, BusRelations);
}

NTSTATUS vdisk_bus_serve(struct vdisk_call *call) {
  if (call->code != IOCTL_SCSI_RESCAN_BUS) return STATUS_INVALID_DEVICE_REQUEST;
  NTSTATUS status = STATUS_SUCCESS;
  for (struct vdisk_disk *disk = vdisk_disk_next(NULL); disk != NULL; disk = vdisk_disk_next(disk)) {
    NTSTATUS disk_status = vdisk_disk_refresh(disk);
    if (NT_SUCCESS(status)) status = disk_status;
  }
  return status;
}

static NTSTATUS start_bus(void) {
  NTSTATUS status = IoRegisterDeviceInterface(physical_device, &adapter_interface, NULL, &interface_name);
  return NT_SUCCESS(status) ? IoSetDeviceInterfaceState(&interface_name, TRUE) : status;
}

NTSTATUS NTAPI vdisk_bus_add(DRIVER_OBJECT *driver, DEVICE_OBJECT *device) {
  (void)driver;
  vdisk_lock();
  NTSTATUS status =
      vdisk_object_create(&bus, VDISK_BUS, "\\Device\\VdiskBus", FILE_DEVICE_BUS_EXTENDER, NULL);
  if (NT_SUCCESS(status)) {
    physical_device = device;
    lower_device = IoAttachDeviceToDeviceStack(bus.device, device);
    status = vdisk_mount_manager_create();
    if (NT_SUCCESS(status)) status = vdisk_control_create();
  }
  vdisk_unlock();
  return status;
}

static NTSTATUS query_disks(IRP *irp) {
  vdisk_lock();
  size_t bytes = sizeof(DEVICE_RELATIONS) + vdisk_disk_count() * sizeof(DEVICE_OBJECT *);
  DEVICE_RELATIONS *relations = ExAllocatePoolWithTag(PagedPool, bytes, VDISK_POOL_TAG);
  if (relations != NULL) {
    relations->Count = 0;
    for (struct vdisk_disk *disk = vdisk_disk_next(NULL); disk != NULL; disk = vdisk_disk_next(disk)) {
      disk->is_reported = true;
      ObReferenceObject(disk->object.device);
      relations->Objects[relations->Count++] = disk->object.device;
    }
  }
  vdisk_unlock();
  if (relations == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  irp->IoStatus.Information = (ULONG_PTR)relations;
  return STATUS_SUCCESS;
}

static NTSTATUS remove_bus(IRP *irp) {
  if (interface_name.Buffer != NULL) {
    IoSetDeviceInterfaceState(&interface_name, FALSE);
    RtlFreeUnicodeString(&interface_name);
  }
  IoSkipCurrentIrpStackLocation(irp);
  NTSTATUS status = IoCallDriver(lower_device, irp);
  vdisk_lock();
  vdisk_control_delete();
  vdisk_mount_manager_delete();
  IoDetachDevice(lower_device);
  IoDeleteDevice(bus.device);
  bus.device = NULL;
  vdisk_unlock();
  return status;
}

static NTSTATUS bus_pnp(IRP *irp) {
  const IO_STACK_LOCATION *stack = IoGetCurrentIrpStackLocation(irp);
  switch (stack->MinorFunction) {
  case IRP_MN_QUERY_DEVICE_RELATIONS:
    if (stack->Parameters.QueryDeviceRelations.Type == BusRelations) irp->IoStatus.Status = query_disks(irp);
    break;
  case IRP_MN_START_DEVICE:
    irp->IoStatus.Status = start_bus();
    break;
  case IRP_MN_QUERY_REMOVE_DEVICE:
  case IRP_MN_SURPRISE_REMOVAL:
    irp->IoStatus.Status = STATUS_SUCCESS;
    break;
  case IRP_MN_REMOVE_DEVICE:
    irp->IoStatus.Status = STATUS_SUCCESS;
    return remove_bus(irp);
  default:
    break;
  }
  IoSkipCurrentIrpStackLocation(irp);
  return IoCallDriver(lower_device, irp);
}

NTSTATUS NTAPI vdisk_bus_pnp(DEVICE_OBJECT *device, IRP *irp) {
  struct vdisk_object *object = vdisk_object_of(device);
  if (object->kind == VDISK_BUS) return bus_pnp(irp);
  NTSTATUS status = irp->IoStatus.Status;
  if (object->kind == VDISK_DISK) status = vdisk_disk_pnp((struct vdisk_disk *)object, irp);
  irp->IoStatus.Status = status;
  IoCompleteRequest(irp, IO_NO_INCREMENT);
  return status;
}
