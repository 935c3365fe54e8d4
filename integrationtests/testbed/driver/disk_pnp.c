/* SPDX-License-Identifier: Apache-2.0 */
#include "disk_pnp.h"

#include <string.h>

#include "bus.h"
#include "disk.h"
#include "interface_key.h"
#include "lock.h"
#include "name.h"
#include "park.h"

static const GUID disk_interface = {
    0x53f56307, 0xb6bf, 0x11d0, {0x94, 0xf2, 0x00, 0xa0, 0xc9, 0x1e, 0xfb, 0x8b}};

/* Returns the name in memory that plug and play frees: a multi-string, so with two NULs at its end. */
static NTSTATUS return_id(IRP *irp, const char *id) {
  struct vdisk_name name;
  vdisk_name_set(&name, id);
  size_t bytes = name.string.Length + 2 * sizeof(WCHAR);
  WCHAR *copy_w = ExAllocatePoolWithTag(PagedPool, bytes, VDISK_POOL_TAG);
  if (copy_w == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  memset(copy_w, 0, bytes);
  memcpy(copy_w, name.buffer_w, name.string.Length);
  irp->IoStatus.Information = (ULONG_PTR)copy_w;
  return STATUS_SUCCESS;
}

static NTSTATUS query_id(const struct vdisk_disk *disk, IRP *irp) {
  char buffer[16];
  struct vdisk_text number;
  switch (IoGetCurrentIrpStackLocation(irp)->Parameters.QueryId.IdType) {
  case BusQueryDeviceID:
  case BusQueryHardwareIDs:
    return return_id(irp, "VDISK\\Disk");
  case BusQueryCompatibleIDs:
    return return_id(irp, "GenDisk");
  case BusQueryInstanceID:
    vdisk_text_init(&number, buffer, sizeof buffer);
    vdisk_text_add_number(&number, disk->object.disk_number);
    return return_id(irp, buffer);
  default:
    return irp->IoStatus.Status;
  }
}

static NTSTATUS query_capabilities(IRP *irp) {
  DEVICE_CAPABILITIES *capabilities =
      IoGetCurrentIrpStackLocation(irp)->Parameters.DeviceCapabilities.Capabilities;
  capabilities->RawDeviceOK = TRUE;
  capabilities->UniqueID = TRUE;
  capabilities->Removable = TRUE;
  capabilities->SurpriseRemovalOK = TRUE;
  return STATUS_SUCCESS;
}

static NTSTATUS start(struct vdisk_disk *disk) {
  NTSTATUS status =
      IoRegisterDeviceInterface(disk->object.device, &disk_interface, NULL, &disk->interface_name);
  if (NT_SUCCESS(status)) status = IoSetDeviceInterfaceState(&disk->interface_name, TRUE);
  vdisk_lock();
  if (NT_SUCCESS(status)) vdisk_disk_started(disk);
  vdisk_park_end(&disk->object, VDISK_WAIT_STARTED, status);
  vdisk_unlock();
  return status;
}

static NTSTATUS remove_disk(struct vdisk_disk *disk) {
  if (disk->interface_name.Buffer != NULL) {
    /* An interface whose link is gone (interface-broken) stays enabled in Wine, and the next disk of this
     * number has none: any link will do. It fails where there is one. */
    UNICODE_STRING anything;
    RtlInitUnicodeString(&anything, L"\\Device\\Null");
    IoCreateSymbolicLink(&disk->interface_name, &anything);
    IoSetDeviceInterfaceState(&disk->interface_name, FALSE);
    vdisk_interface_key_delete(&disk->interface_name);
    RtlFreeUnicodeString(&disk->interface_name);
  }
  vdisk_lock();
  vdisk_disk_removed(disk);
  vdisk_unlock();
  return STATUS_SUCCESS;
}

NTSTATUS vdisk_disk_pnp(struct vdisk_disk *disk, IRP *irp) {
  switch (IoGetCurrentIrpStackLocation(irp)->MinorFunction) {
  case IRP_MN_QUERY_ID:
    return query_id(disk, irp);
  case IRP_MN_QUERY_CAPABILITIES:
    return query_capabilities(irp);
  case IRP_MN_START_DEVICE:
    return start(disk);
  case IRP_MN_QUERY_REMOVE_DEVICE:
  case IRP_MN_SURPRISE_REMOVAL:
  case IRP_MN_QUERY_PNP_DEVICE_STATE:
    return STATUS_SUCCESS;
  case IRP_MN_REMOVE_DEVICE:
    return remove_disk(disk);
  default:
    return irp->IoStatus.Status;
  }
}
