/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/nt.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum {
  PREFIX_UNITS = 4, /* `\??\` */
};

uint32_t csi_win32_of_ntstatus(NTSTATUS status) {
  if (status >= 0 || status == CSI_STATUS_BUFFER_OVERFLOW) return ERROR_SUCCESS;
  if (status == CSI_STATUS_DELETE_PENDING) return ERROR_DELETE_PENDING;
  return RtlNtStatusToDosError(status);
}

wchar_t *csi_nt_path_new(const char *path) {
  if (strncmp(path, "\\\\?\\", 4) == 0) path += 4;
  int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
  if (units == 0) return NULL;
  if (units > CSI_NT_PATH_UNITS_MAX - PREFIX_UNITS) {
    SetLastError(ERROR_FILENAME_EXCED_RANGE);
    return NULL;
  }
  wchar_t *path_w = malloc(((size_t)units + PREFIX_UNITS) * sizeof *path_w);
  if (path_w == NULL) {
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return NULL;
  }
  wmemcpy(path_w, L"\\??\\", PREFIX_UNITS);
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, path_w + PREFIX_UNITS, units);
  return path_w;
}

void csi_nt_path_free(wchar_t **path_w) {
  free(*path_w);
  *path_w = NULL;
}

UNICODE_STRING csi_unicode_string(const wchar_t *text_w, size_t units) {
  return (UNICODE_STRING){
      .Length = (USHORT)(units * sizeof *text_w),
      .MaximumLength = (USHORT)(units * sizeof *text_w),
      .Buffer = (wchar_t *)text_w,
  };
}
