/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver: what Wine calls first, and the way of every call.
 */
#include "bus.h"
#include "call.h"
#include "counter.h"
#include "fault.h"
#include "lock.h"
#include "object.h"
#include "task.h"

DRIVER_INITIALIZE DriverEntry;

static NTSTATUS serve(struct vdisk_call *call) {
  vdisk_counter_count(call);
  if (call->code == VDISK_CALL_OPEN) vdisk_object_opened(call->object);
  if (call->code == VDISK_CALL_CLOSE) vdisk_object_closed(call->object);
  return vdisk_fault_serve(call);
}

static NTSTATUS NTAPI dispatch(DEVICE_OBJECT *device, IRP *irp) {
  struct vdisk_call call;
  vdisk_call_init(&call, device, irp);
  vdisk_lock();
  NTSTATUS status = serve(&call);
  vdisk_unlock();
  if (status != STATUS_PENDING) vdisk_call_complete(&call, status);
  return status;
}

static NTSTATUS NTAPI power(DEVICE_OBJECT *device, IRP *irp) {
  (void)device;
  irp->IoStatus.Status = STATUS_SUCCESS;
  IoCompleteRequest(irp, IO_NO_INCREMENT);
  return STATUS_SUCCESS;
}

static void NTAPI unload(DRIVER_OBJECT *driver) {
  (void)driver;
  vdisk_tasks_stop();
  vdisk_counters_free();
}

NTSTATUS NTAPI DriverEntry(DRIVER_OBJECT *driver, UNICODE_STRING *registry_path) {
  (void)registry_path;
  vdisk_lock_init();
  vdisk_object_set_driver(driver);
  NTSTATUS status = vdisk_counters_init();
  if (!NT_SUCCESS(status)) return status;
  status = vdisk_tasks_start();
  if (!NT_SUCCESS(status)) {
    vdisk_counters_free();
    return status;
  }
  for (unsigned i = 0; i <= IRP_MJ_MAXIMUM_FUNCTION; i++)
    driver->MajorFunction[i] = dispatch;
  driver->MajorFunction[IRP_MJ_PNP] = vdisk_bus_pnp;
  driver->MajorFunction[IRP_MJ_POWER] = power;
  driver->DriverExtension->AddDevice = vdisk_bus_add;
  driver->DriverUnload = unload;
  return STATUS_SUCCESS;
}
