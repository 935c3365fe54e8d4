/* SPDX-License-Identifier: Apache-2.0 */
#include "backing.h"

#include "name.h"
#include "text.h"

NTSTATUS vdisk_backing_open(struct vdisk_backing *backing, const char *path, uint64_t size_bytes) {
  char buffer[VDISK_NAME_LIMIT];
  struct vdisk_text nt_path;
  vdisk_text_init(&nt_path, buffer, sizeof buffer);
  vdisk_text_add(&nt_path, "\\??\\");
  vdisk_text_add(&nt_path, path);
  if (nt_path.is_cut) return STATUS_NAME_TOO_LONG;
  struct vdisk_name name;
  vdisk_name_set(&name, buffer);

  OBJECT_ATTRIBUTES attributes;
  IO_STATUS_BLOCK result;
  InitializeObjectAttributes(&attributes, &name.string, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL, NULL);
  NTSTATUS status =
      ZwCreateFile(&backing->file, GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE, &attributes, &result, NULL,
                   FILE_ATTRIBUTE_NORMAL, FILE_SHARE_READ | FILE_SHARE_WRITE, FILE_OPEN_IF,
                   FILE_NON_DIRECTORY_FILE | FILE_SYNCHRONOUS_IO_NONALERT, NULL, 0);
  if (!NT_SUCCESS(status)) {
    backing->file = NULL;
    return status;
  }
  status = vdisk_backing_grow(backing, size_bytes);
  if (!NT_SUCCESS(status)) vdisk_backing_close(backing);
  return status;
}

void vdisk_backing_close(struct vdisk_backing *backing) {
  if (backing->file != NULL) ZwClose(backing->file);
  backing->file = NULL;
}

NTSTATUS vdisk_backing_grow(struct vdisk_backing *backing, uint64_t size_bytes) {
  IO_STATUS_BLOCK result;
  FILE_STANDARD_INFORMATION now;
  NTSTATUS status = ZwQueryInformationFile(backing->file, &result, &now, sizeof now, FileStandardInformation);
  if (!NT_SUCCESS(status) || (uint64_t)now.EndOfFile.QuadPart >= size_bytes) return status;
  FILE_END_OF_FILE_INFORMATION end = {.EndOfFile.QuadPart = (LONGLONG)size_bytes};
  return ZwSetInformationFile(backing->file, &result, &end, sizeof end, FileEndOfFileInformation);
}

NTSTATUS vdisk_backing_read(struct vdisk_backing *backing, uint64_t offset_bytes, void *buffer,
                            uint32_t bytes) {
  IO_STATUS_BLOCK result;
  LARGE_INTEGER offset = {.QuadPart = (LONGLONG)offset_bytes};
  NTSTATUS status = ZwReadFile(backing->file, NULL, NULL, NULL, &result, buffer, bytes, &offset, NULL);
  if (NT_SUCCESS(status) && result.Information != bytes) return STATUS_UNEXPECTED_IO_ERROR;
  return status;
}

NTSTATUS vdisk_backing_write(struct vdisk_backing *backing, uint64_t offset_bytes, const void *buffer,
                             uint32_t bytes) {
  IO_STATUS_BLOCK result;
  LARGE_INTEGER offset = {.QuadPart = (LONGLONG)offset_bytes};
  NTSTATUS status =
      ZwWriteFile(backing->file, NULL, NULL, NULL, &result, (void *)(uintptr_t)buffer, bytes, &offset, NULL);
  if (NT_SUCCESS(status) && result.Information != bytes) return STATUS_UNEXPECTED_IO_ERROR;
  return status;
}

NTSTATUS vdisk_backing_flush(struct vdisk_backing *backing) {
  IO_STATUS_BLOCK result;
  return ZwFlushBuffersFile(backing->file, &result);
}
