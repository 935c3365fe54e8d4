/* SPDX-License-Identifier: Apache-2.0 */
#include "call.h"

#include <string.h>

#include "bus.h"
#include "control.h"
#include "disk.h"
#include "mount_manager.h"
#include "object.h"
#include "volume.h"

static void init_control(struct vdisk_call *call, const IO_STACK_LOCATION *stack) {
  call->code = stack->Parameters.DeviceIoControl.IoControlCode;
  call->input_bytes = stack->Parameters.DeviceIoControl.InputBufferLength;
  call->output_bytes = stack->Parameters.DeviceIoControl.OutputBufferLength;
}

static void *data_buffer(IRP *irp) {
  if (irp->AssociatedIrp.SystemBuffer != NULL) return irp->AssociatedIrp.SystemBuffer;
  if (irp->MdlAddress != NULL) return MmGetSystemAddressForMdlSafe(irp->MdlAddress, NormalPagePriority);
  return irp->UserBuffer;
}

void vdisk_call_init(struct vdisk_call *call, DEVICE_OBJECT *device, IRP *irp) {
  const IO_STACK_LOCATION *stack = IoGetCurrentIrpStackLocation(irp);
  *call = (struct vdisk_call){.irp = irp, .object = vdisk_object_of(device), .buffer = data_buffer(irp)};
  switch (stack->MajorFunction) {
  case IRP_MJ_CREATE:
    call->code = VDISK_CALL_OPEN;
    break;
  case IRP_MJ_CLOSE:
    call->code = VDISK_CALL_CLOSE;
    break;
  case IRP_MJ_READ:
    call->code = VDISK_CALL_READ;
    call->offset_bytes = (uint64_t)stack->Parameters.Read.ByteOffset.QuadPart;
    call->output_bytes = stack->Parameters.Read.Length;
    break;
  case IRP_MJ_WRITE:
    call->code = VDISK_CALL_WRITE;
    call->offset_bytes = (uint64_t)stack->Parameters.Write.ByteOffset.QuadPart;
    call->input_bytes = stack->Parameters.Write.Length;
    break;
  case IRP_MJ_FLUSH_BUFFERS:
    call->code = VDISK_CALL_FLUSH;
    break;
  case IRP_MJ_QUERY_VOLUME_INFORMATION:
    call->code = VDISK_CALL_QUERY_VOLUME;
    call->query_class = stack->Parameters.QueryVolume.FsInformationClass;
    call->output_bytes = stack->Parameters.QueryVolume.Length;
    break;
  case IRP_MJ_DEVICE_CONTROL:
  case IRP_MJ_FILE_SYSTEM_CONTROL:
    init_control(call, stack);
    break;
  default:
    call->code = VDISK_CALL_OTHER;
    break;
  }
}

NTSTATUS vdisk_call_serve(struct vdisk_call *call) {
  if (call->code == VDISK_CALL_OPEN || call->code == VDISK_CALL_CLOSE) return STATUS_SUCCESS;
  if (call->object->is_gone) return STATUS_DEVICE_DOES_NOT_EXIST;
  switch (call->object->kind) {
  case VDISK_BUS:
    return vdisk_bus_serve(call);
  case VDISK_CONTROL:
    return vdisk_control_serve(call);
  case VDISK_DISK:
    return vdisk_disk_serve(call);
  case VDISK_VOLUME:
    return vdisk_volume_serve(call);
  case VDISK_MOUNT_MANAGER:
    return vdisk_mount_manager_serve(call);
  default:
    return STATUS_INVALID_DEVICE_REQUEST;
  }
}

void vdisk_call_complete(struct vdisk_call *call, NTSTATUS status) {
  call->irp->IoStatus.Status = status;
  call->irp->IoStatus.Information = NT_ERROR(status) ? 0 : call->information;
  IoCompleteRequest(call->irp, IO_NO_INCREMENT);
}

NTSTATUS vdisk_call_reply(struct vdisk_call *call, const void *result, size_t bytes) {
  if (call->output_bytes < bytes) return STATUS_BUFFER_TOO_SMALL;
  memcpy(call->buffer, result, bytes);
  call->information = (uint32_t)bytes;
  return STATUS_SUCCESS;
}

NTSTATUS vdisk_call_input(const struct vdisk_call *call, void *input_out, size_t bytes) {
  if (call->input_bytes < bytes) return STATUS_INVALID_PARAMETER;
  memcpy(input_out, call->buffer, bytes);
  return STATUS_SUCCESS;
}
