/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <stdio.h>
#include <string.h>

#include "win32/handle.h"

enum {
  PATH_UNITS = 128,
  SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
};

#define STATUS_UNEXPECTED_IO_ERROR ((NTSTATUS)0xC00000E9)

static NTSTATUS path_of_record(HANDLE entry, wchar_t path_w[PATH_UNITS]) {
  FILE_INTERNAL_INFORMATION number;
  FILE_BASIC_INFORMATION basic;
  IO_STATUS_BLOCK io;
  NTSTATUS status = NtQueryInformationFile(entry, &io, &number, sizeof number, FileInternalInformation);
  if (NT_SUCCESS(status))
    status = NtQueryInformationFile(entry, &io, &basic, sizeof basic, FileBasicInformation);
  if (!NT_SUCCESS(status)) return status;
  swprintf(path_w, PATH_UNITS, LINKS_DIRECTORY_W L"\\%016llx-%016llx", number.IndexNumber.QuadPart,
           basic.LastWriteTime.QuadPart);
  return CSI_STATUS_SUCCESS;
}

/* Reads the first capacity_bytes of the record at most. */
static NTSTATUS read_some(HANDLE entry, uint8_t *bytes, DWORD capacity_bytes, DWORD *size_out) {
  wchar_t path_w[PATH_UNITS];
  NTSTATUS status = path_of_record(entry, path_w);
  if (!NT_SUCCESS(status)) return status;
  CSI_SCOPED_HANDLE file = CreateFileW(path_w, GENERIC_READ, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE) {
    DWORD error = GetLastError();
    bool missing = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
    return missing ? LINKS_STATUS_NOT_A_REPARSE_POINT : STATUS_UNEXPECTED_IO_ERROR;
  }
  bool complete = ReadFile(file, bytes, capacity_bytes, size_out, NULL) && *size_out >= sizeof(ULONG);
  return complete ? CSI_STATUS_SUCCESS : STATUS_UNEXPECTED_IO_ERROR;
}

NTSTATUS links_record_read(HANDLE entry, struct links_record *record_out) {
  DWORD size_bytes;
  NTSTATUS status = read_some(entry, record_out->bytes, sizeof record_out->bytes, &size_bytes);
  if (NT_SUCCESS(status)) record_out->size_bytes = size_bytes;
  return status;
}

NTSTATUS links_record_read_tag(HANDLE entry, ULONG *tag_out) {
  DWORD size_bytes;
  return read_some(entry, (uint8_t *)tag_out, sizeof *tag_out, &size_bytes);
}

static bool write_file(const wchar_t *path_w, const uint8_t *bytes, DWORD size_bytes) {
  CSI_SCOPED_HANDLE file = CreateFileW(path_w, GENERIC_WRITE, SHARE_ALL, NULL, CREATE_ALWAYS, 0, NULL);
  DWORD written;
  return file != INVALID_HANDLE_VALUE && WriteFile(file, bytes, size_bytes, &written, NULL) &&
         written == size_bytes;
}

NTSTATUS links_record_write(HANDLE entry, const uint8_t *bytes, size_t size_bytes) {
  wchar_t path_w[PATH_UNITS], draft_w[PATH_UNITS];
  NTSTATUS status = path_of_record(entry, path_w);
  if (!NT_SUCCESS(status)) return status;
  swprintf(draft_w, PATH_UNITS, LINKS_DIRECTORY_W L"\\draft-%lx-%lx", GetCurrentProcessId(),
           GetCurrentThreadId());
  CreateDirectoryW(L"C:\\testbed", NULL);
  CreateDirectoryW(LINKS_DIRECTORY_W, NULL);
  if (write_file(draft_w, bytes, (DWORD)size_bytes) &&
      MoveFileExW(draft_w, path_w, MOVEFILE_REPLACE_EXISTING))
    return CSI_STATUS_SUCCESS;
  DeleteFileW(draft_w);
  return STATUS_UNEXPECTED_IO_ERROR;
}

NTSTATUS links_record_delete(HANDLE entry) {
  wchar_t path_w[PATH_UNITS];
  NTSTATUS status = path_of_record(entry, path_w);
  if (!NT_SUCCESS(status)) return status;
  if (DeleteFileW(path_w)) return CSI_STATUS_SUCCESS;
  DWORD error = GetLastError();
  bool missing = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
  return missing ? LINKS_STATUS_NOT_A_REPARSE_POINT : STATUS_UNEXPECTED_IO_ERROR;
}
