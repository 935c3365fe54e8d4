/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>
#include <winioctl.h>

#include "open.h"
#include "record.h"
#include "reparse_data.h"
#include "volume.h"
#include "win32/handle.h"

enum {
  SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
  FILE_STAT_INFORMATION = 68,
};

#define STATUS_ACCESS_DENIED ((NTSTATUS)0xC0000022)
#define STATUS_BUFFER_TOO_SMALL ((NTSTATUS)0xC0000023)
#define STATUS_DIRECTORY_NOT_EMPTY ((NTSTATUS)0xC0000101)
#define STATUS_NOT_A_DIRECTORY ((NTSTATUS)0xC0000103)
#define TAG_OF_FULL_DIRECTORIES 0x10000000UL /* such a directory may have entries */

/* ---- Making, reading and deleting reparse points. ---- */

static NTSTATUS check_may_write(HANDLE handle) {
  ACCESS_MASK access = 0;
  IO_STATUS_BLOCK io;
  NTSTATUS status = NtQueryInformationFile(handle, &io, &access, sizeof access, FileAccessInformation);
  if (!NT_SUCCESS(status)) return status;
  return (access & (FILE_WRITE_DATA | FILE_WRITE_ATTRIBUTES)) != 0 ? CSI_STATUS_SUCCESS
                                                                   : STATUS_ACCESS_DENIED;
}

/* Opens what is behind a handle once more, to list it. */
static NTSTATUS open_listing(HANDLE handle, HANDLE *listing_out) {
  UNICODE_STRING same = {0};
  OBJECT_ATTRIBUTES attributes;
  InitializeObjectAttributes(&attributes, &same, 0, handle, NULL);
  IO_STATUS_BLOCK io;
  return NtCreateFile(listing_out, FILE_LIST_DIRECTORY | SYNCHRONIZE, &attributes, &io, NULL, 0, SHARE_ALL,
                      FILE_OPEN, FILE_SYNCHRONOUS_IO_NONALERT | FILE_DIRECTORY_FILE, NULL, 0);
}

static bool is_dots(const FILE_DIRECTORY_INFORMATION *entry) {
  size_t units = entry->FileNameLength / sizeof(wchar_t);
  return entry->FileName[0] == '.' && (units == 1 || (units == 2 && entry->FileName[1] == '.'));
}

static NTSTATUS check_is_empty(HANDLE handle) {
  CSI_SCOPED_HANDLE listing = NULL;
  NTSTATUS status = open_listing(handle, &listing);
  union {
    FILE_DIRECTORY_INFORMATION entry;
    uint8_t bytes[sizeof(FILE_DIRECTORY_INFORMATION) + 256 * sizeof(wchar_t)];
  } buffer;
  while (NT_SUCCESS(status)) {
    IO_STATUS_BLOCK io;
    status = NtQueryDirectoryFile(listing, NULL, NULL, NULL, &io, &buffer, sizeof buffer,
                                  FileDirectoryInformation, TRUE, NULL, FALSE);
    if (NT_SUCCESS(status) && !is_dots(&buffer.entry)) return STATUS_DIRECTORY_NOT_EMPTY;
  }
  return status == CSI_STATUS_NO_MORE_FILES ? CSI_STATUS_SUCCESS : status;
}

static NTSTATUS check_kind(HANDLE handle, ULONG tag) {
  FILE_STANDARD_INFORMATION standard;
  IO_STATUS_BLOCK io;
  NTSTATUS status = NtQueryInformationFile(handle, &io, &standard, sizeof standard, FileStandardInformation);
  if (!NT_SUCCESS(status)) return status;
  if (!standard.Directory) return tag == LINKS_TAG_MOUNT_POINT ? STATUS_NOT_A_DIRECTORY : CSI_STATUS_SUCCESS;
  return (tag & TAG_OF_FULL_DIRECTORIES) == 0 ? check_is_empty(handle) : CSI_STATUS_SUCCESS;
}

static NTSTATUS set_reparse_point(HANDLE handle, const uint8_t *bytes, size_t size_bytes) {
  NTSTATUS status = check_may_write(handle);
  if (NT_SUCCESS(status)) status = links_check_data(bytes, size_bytes);
  if (NT_SUCCESS(status)) status = check_kind(handle, links_tag_of(bytes));
  if (!NT_SUCCESS(status)) return status;
  ULONG tag;
  status = links_record_read_tag(handle, &tag);
  if (!NT_SUCCESS(status) && status != LINKS_STATUS_NOT_A_REPARSE_POINT) return status;
  if (NT_SUCCESS(status) && tag != links_tag_of(bytes)) return LINKS_STATUS_TAG_MISMATCH;
  return links_record_write(handle, bytes, size_bytes);
}

static NTSTATUS get_reparse_point(HANDLE handle, uint8_t *bytes, size_t capacity_bytes, size_t *size_out) {
  struct links_record record;
  NTSTATUS status = links_record_read(handle, &record);
  if (!NT_SUCCESS(status)) return status;
  if (capacity_bytes < LINKS_HEADER_BYTES) return STATUS_BUFFER_TOO_SMALL;
  bool fits = record.size_bytes <= capacity_bytes;
  *size_out = fits ? record.size_bytes : capacity_bytes;
  memcpy(bytes, record.bytes, *size_out);
  return fits ? CSI_STATUS_SUCCESS : CSI_STATUS_BUFFER_OVERFLOW;
}

static NTSTATUS delete_reparse_point(HANDLE handle, const uint8_t *bytes, size_t size_bytes) {
  NTSTATUS status = check_may_write(handle);
  if (NT_SUCCESS(status)) status = links_check_header(bytes, size_bytes);
  ULONG tag;
  if (NT_SUCCESS(status)) status = links_record_read_tag(handle, &tag);
  if (!NT_SUCCESS(status)) return status;
  return tag == links_tag_of(bytes) ? links_record_delete(handle) : LINKS_STATUS_TAG_MISMATCH;
}

NTSTATUS NTAPI links_fs_control_file(HANDLE handle, HANDLE event, PIO_APC_ROUTINE apc, PVOID apc_context,
                                     PIO_STATUS_BLOCK io, ULONG code, PVOID in, ULONG in_bytes, PVOID out,
                                     ULONG out_bytes) {
  NTSTATUS status;
  size_t returned_bytes = 0;
  switch (code) {
  case FSCTL_SET_REPARSE_POINT:
    status = set_reparse_point(handle, in, in_bytes);
    break;
  case FSCTL_GET_REPARSE_POINT:
    status = get_reparse_point(handle, out, out_bytes, &returned_bytes);
    break;
  case FSCTL_DELETE_REPARSE_POINT:
    status = delete_reparse_point(handle, in, in_bytes);
    break;
  default:
    return NtFsControlFile(handle, event, apc, apc_context, io, code, in, in_bytes, out, out_bytes);
  }
  io->Status = status;
  io->Information = returned_bytes;
  return status;
}

/* ---- Looking. ---- */

static bool find_tag(HANDLE handle, ULONG *tag_out) {
  return NT_SUCCESS(links_record_read_tag(handle, tag_out));
}

/* What the entry that a listing shows is, by its own handle. */
static void mark_entry(HANDLE directory, FILE_DIRECTORY_INFORMATION *entry) {
  if (is_dots(entry) || entry->EndOfFile.QuadPart > 0) return;
  UNICODE_STRING name = csi_unicode_string(entry->FileName, entry->FileNameLength / sizeof(wchar_t));
  OBJECT_ATTRIBUTES attributes;
  InitializeObjectAttributes(&attributes, &name, 0, directory, NULL);
  IO_STATUS_BLOCK io;
  CSI_SCOPED_HANDLE child = NULL;
  NTSTATUS status =
      NtCreateFile(&child, FILE_READ_ATTRIBUTES | SYNCHRONIZE, &attributes, &io, NULL, 0, SHARE_ALL,
                   FILE_OPEN, FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT, NULL, 0);
  ULONG tag;
  if (NT_SUCCESS(status) && find_tag(child, &tag)) entry->FileAttributes |= FILE_ATTRIBUTE_REPARSE_POINT;
}

NTSTATUS NTAPI links_query_directory_file(HANDLE handle, HANDLE event, PIO_APC_ROUTINE apc, PVOID apc_context,
                                          PIO_STATUS_BLOCK io, PVOID buffer, ULONG buffer_bytes,
                                          FILE_INFORMATION_CLASS information_class, BOOLEAN single_entry,
                                          PUNICODE_STRING pattern, BOOLEAN restart) {
  if (information_class != FileDirectoryInformation) return CSI_STATUS_NOT_IMPLEMENTED;
  NTSTATUS status = NtQueryDirectoryFile(handle, event, apc, apc_context, io, buffer, buffer_bytes,
                                         information_class, single_entry, pattern, restart);
  if (!NT_SUCCESS(status)) return status;
  FILE_DIRECTORY_INFORMATION *entry = buffer;
  mark_entry(handle, entry);
  while (entry->NextEntryOffset != 0) {
    entry = (void *)((uint8_t *)entry + entry->NextEntryOffset);
    mark_entry(handle, entry);
  }
  return status;
}

/* 0 for what is not on an emulated volume. */
static ULONG serial_of(HANDLE handle) {
  void *buffer = malloc(LINKS_NAME_BYTES);
  UNICODE_STRING name;
  ULONG serial = 0;
  if (buffer != NULL && NT_SUCCESS(links_query_name(handle, buffer, &name)))
    serial = links_volume_serial(name.Buffer, name.Length / sizeof(wchar_t));
  free(buffer);
  return serial;
}

static void mark_tag(HANDLE handle, FILE_ATTRIBUTE_TAG_INFORMATION *information) {
  ULONG tag;
  if (!find_tag(handle, &tag)) return;
  information->FileAttributes |= FILE_ATTRIBUTE_REPARSE_POINT;
  information->ReparseTag = tag;
}

static void mark_basic(HANDLE handle, FILE_BASIC_INFORMATION *information) {
  ULONG tag;
  if (find_tag(handle, &tag)) information->FileAttributes |= FILE_ATTRIBUTE_REPARSE_POINT;
}

static void mark_id(HANDLE handle, FILE_ID_INFO *information) {
  ULONG serial = serial_of(handle);
  if (serial != 0) information->VolumeSerialNumber = serial;
}

NTSTATUS NTAPI links_query_information_file(HANDLE handle, PIO_STATUS_BLOCK io, PVOID buffer,
                                            ULONG buffer_bytes, FILE_INFORMATION_CLASS information_class) {
  switch ((int)information_class) {
  case FileAllInformation:
  case FileNetworkOpenInformation:
  case FILE_STAT_INFORMATION:
    return CSI_STATUS_NOT_IMPLEMENTED;
  }
  NTSTATUS status = NtQueryInformationFile(handle, io, buffer, buffer_bytes, information_class);
  if (!NT_SUCCESS(status)) return status;
  switch ((int)information_class) {
  case FileAttributeTagInformation:
    mark_tag(handle, buffer);
    break;
  case FileBasicInformation:
    mark_basic(handle, buffer);
    break;
  case CSI_FILE_ID_INFORMATION:
    mark_id(handle, buffer);
    break;
  }
  return status;
}

NTSTATUS NTAPI links_query_volume_information_file(HANDLE handle, PIO_STATUS_BLOCK io, PVOID buffer,
                                                   ULONG buffer_bytes,
                                                   FS_INFORMATION_CLASS information_class) {
  NTSTATUS status = NtQueryVolumeInformationFile(handle, io, buffer, buffer_bytes, information_class);
  if (!NT_SUCCESS(status) || information_class != FileFsVolumeInformation) return status;
  ULONG serial = serial_of(handle);
  if (serial != 0) ((FILE_FS_VOLUME_INFORMATION *)buffer)->VolumeSerialNumber = serial;
  return status;
}

/* ---- Removing. ---- */

static bool asks_for_removal(const void *buffer, ULONG buffer_bytes, int information_class) {
  ULONG flags = 0;
  switch (information_class) {
  case FileDispositionInformation:
    return buffer_bytes >= 1 && *(const BOOLEAN *)buffer;
  case CSI_FILE_DISPOSITION_INFORMATION_EX:
    if (buffer_bytes >= sizeof flags) memcpy(&flags, buffer, sizeof flags);
    return (flags & CSI_FILE_DISPOSITION_DELETE) != 0;
  default:
    return false;
  }
}

NTSTATUS NTAPI links_set_information_file(HANDLE handle, PIO_STATUS_BLOCK io, PVOID buffer,
                                          ULONG buffer_bytes, FILE_INFORMATION_CLASS information_class) {
  NTSTATUS status = NtSetInformationFile(handle, io, buffer, buffer_bytes, information_class);
  if (NT_SUCCESS(status) && asks_for_removal(buffer, buffer_bytes, (int)information_class))
    (void)links_record_delete(handle); /* if it is one */
  return status;
}
