/* SPDX-License-Identifier: Apache-2.0
 *
 * What Windows needs a disk for. Whatever cannot be found out is a failure: the caller must then assume the
 * worst.
 */
#include <windows.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "disk/extents.h"
#include "disk/host_win32_parts.h"
#include "win32/device.h"
#include "win32/device_query.h"
#include "win32/handle.h"
#include "win32/storage_ioctl.h"

enum {
  TEXT_UNITS = 4096, /* longest registry value that is looked at */
  PATH_UNITS = 320,
  DRIVE_UNITS = 8, /* `\\.\C:` */
  EXTENTS_FIRST_BYTES = CSI_EXTENTS_BYTES(8),
  EXTENTS_MAX_BYTES = 64 << 10,
};

#define MEMORY_KEY L"SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management"
#define CRASH_KEY L"SYSTEM\\CurrentControlSet\\Control\\CrashControl"
#define SETUP_KEY L"SYSTEM\\Setup"

struct survey {
  struct csi_ctx *ctx;
  uint32_t disk_number;
  unsigned roles;
  wchar_t asked_w[PATH_UNITS]; /* the volume that was asked last, for mostly it is the same again */
  bool asked_is_here;
};

/* --- Is a volume on the disk? */

/* A simple volume tells its disk at once, one on several disks only its extents. */
static bool look_at_volume(struct survey *survey, HANDLE volume, const char *object, bool *here_out) {
  struct csi_ctx *ctx = survey->ctx;
  STORAGE_DEVICE_NUMBER number;
  if (csi_device_query(ctx, volume, CSI_CONTROL(IOCTL_STORAGE_GET_DEVICE_NUMBER), &number, sizeof number,
                       sizeof number, object)) {
    *here_out = number.DeviceType == FILE_DEVICE_DISK && number.DeviceNumber == survey->disk_number;
    return true;
  }
  if (!csi_ctx_alive(ctx)) return false;
  csi_status_clear(&ctx->status);
  const uint8_t *bytes;
  struct csi_extent *extents;
  size_t size_bytes, count;
  if (!csi_device_control_grow(ctx, volume, CSI_CONTROL(IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS), NULL, 0,
                               EXTENTS_FIRST_BYTES, EXTENTS_MAX_BYTES, &bytes, &size_bytes, object) ||
      !csi_extents_parse(ctx->arena, bytes, size_bytes, &extents, &count, &ctx->status))
    return false;
  *here_out = false;
  for (size_t i = 0; i < count; i++)
    if (extents[i].disk_number == survey->disk_number) *here_out = true;
  return true;
}

/* Adds role when the volume is on the disk. may_be_missing: settings may name volumes that are gone. */
static bool survey_volume(struct survey *survey, const wchar_t *path_w, unsigned role, bool may_be_missing) {
  struct csi_ctx *ctx = survey->ctx;
  if (wcscmp(path_w, survey->asked_w) != 0) {
    const char *object = csi_utf8_from_utf16(ctx->arena, path_w, wcslen(path_w));
    if (object == NULL) return csi_fail_out_of_memory(&ctx->status);
    CSI_SCOPED_HANDLE volume = NULL;
    if (!csi_device_open(ctx, path_w, 0, object, &volume)) {
      if (!may_be_missing || ctx->status.code != CSI_NOT_FOUND) return false;
      csi_status_clear(&ctx->status);
      return true;
    }
    if (!look_at_volume(survey, volume, object, &survey->asked_is_here)) return false;
    swprintf(survey->asked_w, PATH_UNITS, L"%ls", path_w);
  }
  if (survey->asked_is_here) survey->roles |= role;
  return true;
}

/* Adds role when the volume with this file is on the disk. file_w: `C:\...`, `\??\C:\...`, or
 * `\??\Volume{guid}\...`. */
static bool survey_file(struct survey *survey, const wchar_t *file_w, unsigned role, bool may_be_missing) {
  if (wcsncmp(file_w, L"\\??\\", 4) == 0) file_w += 4;
  wchar_t path_w[PATH_UNITS];
  size_t root_units = wcscspn(file_w, L"\\");
  bool drive = root_units == 2 && file_w[1] == L':';
  if (drive && file_w[0] == L'?') return true; /* "?:": chosen by Windows; the real one is listed apart */
  if (!drive && (wcsncmp(file_w, L"Volume{", 7) != 0 || root_units >= PATH_UNITS - DRIVE_UNITS))
    return csi_fail(&survey->ctx->status, CSI_FAILED_PRECONDITION,
                    "cannot tell which volume a file that Windows uses is on");
  swprintf(path_w, PATH_UNITS, L"\\\\?\\%.*ls", (int)root_units, file_w);
  return survey_volume(survey, path_w, role, may_be_missing);
}

/* --- Settings */

/* Reads a text or a list of texts; found_out is false when there is none. */
static bool read_setting(struct csi_ctx *ctx, const wchar_t *key_w, const wchar_t *value_w, DWORD types,
                         wchar_t text_w_out[TEXT_UNITS], bool *found_out) {
  DWORD bytes = (TEXT_UNITS - 2) * sizeof(wchar_t);
  memset(text_w_out, 0, TEXT_UNITS * sizeof(wchar_t)); /* ends a list, whatever is stored */
  LSTATUS error = RegGetValueW(HKEY_LOCAL_MACHINE, key_w, value_w, types, NULL, text_w_out, &bytes);
  *found_out = error == ERROR_SUCCESS;
  if (error == ERROR_SUCCESS || error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) return true;
  return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, (uint32_t)error, "RegGetValueW",
                         "settings of the machine");
}

/* Lines as in PagingFiles: a path, perhaps with sizes behind it. Page files with blanks in their names do
 * not exist: Windows does not take them. */
static bool survey_page_files(struct survey *survey, const wchar_t *value_w) {
  wchar_t *lines_w = csi_arena_alloc_array(survey->ctx->arena, TEXT_UNITS, sizeof *lines_w);
  if (lines_w == NULL) return csi_fail_out_of_memory(&survey->ctx->status);
  bool found;
  if (!read_setting(survey->ctx, MEMORY_KEY, value_w, RRF_RT_REG_MULTI_SZ | RRF_RT_REG_SZ, lines_w, &found))
    return false;
  for (const wchar_t *line_w = lines_w; found && *line_w != L'\0'; line_w += wcslen(line_w) + 1)
    if (!survey_file(survey, line_w, CSI_DISK_HOLDS_PAGE_FILE, true)) return false;
  return true;
}

static bool survey_dump_file(struct survey *survey, const wchar_t *value_w) {
  wchar_t *file_w = csi_arena_alloc_array(survey->ctx->arena, TEXT_UNITS, sizeof *file_w);
  if (file_w == NULL) return csi_fail_out_of_memory(&survey->ctx->status);
  bool found;
  /* REG_EXPAND_SZ comes expanded when REG_SZ is asked for. */
  if (!read_setting(survey->ctx, CRASH_KEY, value_w, RRF_RT_REG_SZ, file_w, &found)) return false;
  return !found || *file_w == L'\0' || survey_file(survey, file_w, CSI_DISK_HOLDS_CRASH_DUMP, true);
}

static bool survey_windows(struct survey *survey) {
  wchar_t path_w[MAX_PATH];
  UINT units = GetSystemWindowsDirectoryW(path_w, MAX_PATH);
  if (units == 0 || units >= MAX_PATH)
    return csi_fail_system(&survey->ctx->status, CSI_SPACE_WIN32, GetLastError(),
                           "GetSystemWindowsDirectoryW", "directory of Windows");
  return survey_file(survey, path_w, CSI_DISK_HOLDS_WINDOWS, false);
}

/* The partition that the firmware starts from, `\Device\HarddiskVolume1`: an EFI system partition, or one
 * of 100 to 500 MB that has no letter either. */
static bool survey_boot_files(struct survey *survey) {
  wchar_t *device_w = csi_arena_alloc_array(survey->ctx->arena, TEXT_UNITS, sizeof *device_w);
  if (device_w == NULL) return csi_fail_out_of_memory(&survey->ctx->status);
  bool found;
  if (!read_setting(survey->ctx, SETUP_KEY, L"SystemPartition", RRF_RT_REG_SZ, device_w, &found))
    return false;
  if (!found || *device_w == L'\0') return true; /* set by Windows' own setup; Wine has none */
  wchar_t path_w[PATH_UNITS];
  if (wcslen(device_w) > PATH_UNITS / 2)
    return csi_fail(&survey->ctx->status, CSI_FAILED_PRECONDITION, "impossible name of the system partition");
  swprintf(path_w, PATH_UNITS, L"\\\\?\\GLOBALROOT%ls", device_w);
  return survey_volume(survey, path_w, CSI_DISK_HOLDS_BOOT_FILES, false);
}

/* UNVERIFIED ON WINDOWS: that SystemPartition and ExistingPageFiles are as here on 2019, 2022 and 2025. */
bool csi_win32_get_roles(void *self, struct csi_ctx *ctx, uint32_t disk_number, unsigned *roles_out) {
  (void)self;
  struct survey survey = {.ctx = ctx, .disk_number = disk_number};
  if (!survey_windows(&survey) || !survey_page_files(&survey, L"ExistingPageFiles") ||
      !survey_page_files(&survey, L"PagingFiles") || !survey_dump_file(&survey, L"DumpFile") ||
      !survey_dump_file(&survey, L"DedicatedDumpFile") || !survey_boot_files(&survey))
    return false;
  *roles_out = survey.roles;
  return true;
}
