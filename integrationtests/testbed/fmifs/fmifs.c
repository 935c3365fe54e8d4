/* SPDX-License-Identifier: Apache-2.0
 *
 * fmifs.dll for the testbed: FormatEx with the arguments and the callback of the one in Windows. It writes
 * what the testbed's driver takes for an NTFS volume: the boot sector, its copy, and zeros where something
 * else may have been recognised before. Formatting is always quick.
 */
#include <windows.h>

#include <bcrypt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <winioctl.h>

#include "fmifs/knobs.h"
#include "fmifs/ntfs_boot.h"
#include "testbed.h"

/* Commands of the callback, as Windows numbers them. */
enum {
  FMIFS_PROGRESS = 0x00,
  FMIFS_INCOMPATIBLE_FILE_SYSTEM = 0x03,
  FMIFS_ACCESS_DENIED = 0x06,
  FMIFS_WRITE_PROTECTED = 0x07,
  FMIFS_VOLUME_IN_USE = 0x08,
  FMIFS_DONE = 0x0B,
  FMIFS_BAD_LABEL = 0x0C,
  FMIFS_CLUSTER_TOO_SMALL = 0x10,
  FMIFS_CLUSTER_TOO_BIG = 0x11,
  FMIFS_VOLUME_TOO_SMALL = 0x12,
  FMIFS_VOLUME_TOO_BIG = 0x13,
  FMIFS_NO_MEDIA = 0x14,
  FMIFS_DEVICE_NOT_READY = 0x18,
};

enum {
  LABEL_UNITS_MAX = 32,
  BEGINNING_BYTES = 64 << 10,
  COMMAND_BYTES = 512,
};

/* Read at each call; see knobs.h. */
static const wchar_t knobs_file_w[] = L"C:\\csi-testbed\\fmifs.txt";

typedef BOOLEAN(WINAPI *fmifs_callback)(ULONG command, ULONG action, void *argument);

__declspec(dllexport) void WINAPI
    FormatEx(wchar_t *root_w, ULONG media_type, wchar_t *file_system_w, wchar_t *label_w, BOOLEAN quick,
             ULONG cluster_bytes, fmifs_callback callback);

/* One call of FormatEx. */
struct format {
  const wchar_t *root_w;
  const wchar_t *label_w;
  fmifs_callback callback;
  struct fmifs_knobs knobs;
  HANDLE volume;
  struct ntfs_boot_volume geometry;
  uint8_t *beginning; /* BEGINNING_BYTES of zeros */
};

static bool report(const struct format *format, ULONG command) {
  format->callback(command, 0, NULL);
  return false;
}

/* What a Win32 error is to those who format. */
static bool report_error(const struct format *format, DWORD error) {
  switch (error) {
  case ERROR_ACCESS_DENIED:
    return report(format, FMIFS_ACCESS_DENIED);
  case ERROR_WRITE_PROTECT:
    return report(format, FMIFS_WRITE_PROTECTED);
  case ERROR_SHARING_VIOLATION:
  case ERROR_LOCK_VIOLATION:
    return report(format, FMIFS_VOLUME_IN_USE);
  case ERROR_NO_MEDIA_IN_DRIVE:
    return report(format, FMIFS_NO_MEDIA);
  default:
    return report(format, FMIFS_DEVICE_NOT_READY);
  }
}

static bool report_size(const struct format *format, enum ntfs_boot_result result) {
  static const ULONG commands[] = {
      [NTFS_BOOT_VOLUME_TOO_SMALL] = FMIFS_VOLUME_TOO_SMALL,
      [NTFS_BOOT_VOLUME_TOO_BIG] = FMIFS_VOLUME_TOO_BIG,
      [NTFS_BOOT_CLUSTER_TOO_SMALL] = FMIFS_CLUSTER_TOO_SMALL,
      [NTFS_BOOT_CLUSTER_TOO_BIG] = FMIFS_CLUSTER_TOO_BIG,
  };
  return report(format, commands[result]);
}

/* ---- Faults. ---- */

static bool read_knobs(struct fmifs_knobs *knobs_out) {
  char text[FMIFS_KNOBS_BYTES] = "";
  HANDLE file = CreateFileW(knobs_file_w, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                            OPEN_EXISTING, 0, NULL);
  if (file != INVALID_HANDLE_VALUE) {
    DWORD read = 0;
    bool done = ReadFile(file, text, sizeof text - 1, &read, NULL);
    CloseHandle(file);
    if (!done) return false;
    text[read] = '\0';
  }
  return fmifs_knobs_parse(text, knobs_out);
}

/* What happens at the beginning of a step. */
static bool begin_step(const struct format *format, uint32_t step) {
  const struct fmifs_knobs *knobs = &format->knobs;
  if (knobs->step_ms != 0) Sleep(knobs->step_ms);
  if (step != knobs->step) return true;
  if (knobs->crashes) TerminateProcess(GetCurrentProcess(), (UINT)EXCEPTION_ACCESS_VIOLATION);
  if (knobs->hangs) Sleep(INFINITE);
  return !knobs->fails || report(format, knobs->fail_code);
}

/* ---- The volume. ---- */

static bool control(const struct format *format, DWORD code, void *out, size_t out_bytes) {
  DWORD returned = 0;
  return DeviceIoControl(format->volume, code, NULL, 0, out, (DWORD)out_bytes, &returned, NULL) ||
         report_error(format, GetLastError());
}

static bool open_volume(struct format *format) {
  format->volume = CreateFileW(format->root_w, GENERIC_READ | GENERIC_WRITE,
                               FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
  return format->volume != INVALID_HANDLE_VALUE || report_error(format, GetLastError());
}

static bool read_geometry(struct format *format, ULONG cluster_bytes) {
  DISK_GEOMETRY_EX geometry;
  GET_LENGTH_INFORMATION length;
  PARTITION_INFORMATION_EX partition;
  if (!control(format, IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, &geometry, sizeof geometry) ||
      !control(format, IOCTL_DISK_GET_LENGTH_INFO, &length, sizeof length) ||
      !control(format, IOCTL_DISK_GET_PARTITION_INFO_EX, &partition, sizeof partition)) {
    return false;
  }
  uint32_t sector_bytes = geometry.Geometry.BytesPerSector;
  if (sector_bytes < NTFS_BOOT_BYTES) return report(format, FMIFS_DEVICE_NOT_READY);
  format->geometry = (struct ntfs_boot_volume){
      .sector_count = (uint64_t)length.Length.QuadPart / sector_bytes,
      .hidden_sectors = (uint64_t)partition.StartingOffset.QuadPart / sector_bytes,
      .sector_bytes = sector_bytes,
      .cluster_bytes = cluster_bytes,
  };
  NTSTATUS status = BCryptGenRandom(NULL, (UCHAR *)&format->geometry.serial_number,
                                    sizeof format->geometry.serial_number, BCRYPT_USE_SYSTEM_PREFERRED_RNG);
  return status >= 0 || report(format, FMIFS_DEVICE_NOT_READY);
}

static bool write_at(const struct format *format, uint64_t offset_bytes, const void *bytes,
                     size_t size_bytes) {
  OVERLAPPED at = {.Offset = (DWORD)offset_bytes, .OffsetHigh = (DWORD)(offset_bytes >> 32)};
  DWORD written = 0;
  return WriteFile(format->volume, bytes, (DWORD)size_bytes, &written, &at) ||
         report_error(format, GetLastError());
}

/* Whatever was recognised before is gone. */
static bool wipe(const struct format *format) {
  uint64_t volume_bytes = format->geometry.sector_count * format->geometry.sector_bytes;
  return write_at(format, 0, format->beginning, BEGINNING_BYTES) &&
         write_at(format, volume_bytes - BEGINNING_BYTES, format->beginning, BEGINNING_BYTES);
}

/* Copy first: a volume whose formatting was interrupted has no valid boot sector. */
static bool write_boot_sectors(const struct format *format, const uint8_t boot[NTFS_BOOT_BYTES]) {
  uint32_t sector_bytes = format->geometry.sector_bytes;
  memcpy(format->beginning, boot, NTFS_BOOT_BYTES);
  return write_at(format, (format->geometry.sector_count - 1) * sector_bytes, format->beginning,
                  sector_bytes) &&
         write_at(format, 0, format->beginning, sector_bytes);
}

/* The driver keeps the label and how much of the volume is in use beside the volume. */
static bool set_label(const struct format *format) {
  const wchar_t *guid_w = wcschr(format->root_w, L'{');
  char command[COMMAND_BYTES];
  int used = snprintf(command, sizeof command,
                      "volume set guid=%.38ls used=0 label=", guid_w == NULL ? L"" : guid_w);
  for (const wchar_t *unit = format->label_w; unit != NULL && *unit != L'\0' && used > 0; unit++) {
    char utf8[8];
    int bytes = WideCharToMultiByte(CP_UTF8, 0, unit, 1, utf8, sizeof utf8, NULL, NULL);
    for (int i = 0; i < bytes && (size_t)used < sizeof command - 4; i++)
      used += snprintf(command + used, sizeof command - (size_t)used, "%%%02X", (unsigned char)utf8[i]);
  }
  HANDLE driver = CreateFileW(CSI_TESTBED_PATH, GENERIC_READ | GENERIC_WRITE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
  char reply[64];
  DWORD returned = 0;
  bool done = driver != INVALID_HANDLE_VALUE &&
              DeviceIoControl(driver, IOCTL_TESTBED_COMMAND, command, (DWORD)strlen(command), reply,
                              sizeof reply, &returned, NULL);
  if (driver != INVALID_HANDLE_VALUE) CloseHandle(driver);
  return done || report(format, FMIFS_BAD_LABEL);
}

/* ---- Formatting. ---- */

static bool check_arguments(const struct format *format, const wchar_t *file_system_w) {
  if (file_system_w == NULL || _wcsicmp(file_system_w, L"NTFS") != 0)
    return report(format, FMIFS_INCOMPATIBLE_FILE_SYSTEM);
  if (format->label_w != NULL && wcslen(format->label_w) > LABEL_UNITS_MAX)
    return report(format, FMIFS_BAD_LABEL);
  return true;
}

static bool do_step(struct format *format, uint32_t step, const uint8_t boot[NTFS_BOOT_BYTES]) {
  if (!begin_step(format, step)) return false;
  if (step == 0 && !wipe(format)) return false;
  if (step == FMIFS_STEPS) {
    DWORD returned = 0;
    if (!write_boot_sectors(format, boot)) return false;
    if (!FlushFileBuffers(format->volume)) return report_error(format, GetLastError());
    if (!set_label(format)) return false;
    /* So that the next who asks sees the new file system. */
    DeviceIoControl(format->volume, FSCTL_DISMOUNT_VOLUME, NULL, 0, NULL, 0, &returned, NULL);
  }
  DWORD percent = step * 100 / FMIFS_STEPS;
  return format->callback(FMIFS_PROGRESS, 0, &percent);
}

static bool format_volume(struct format *format, ULONG cluster_bytes) {
  if (!open_volume(format) || !read_geometry(format, cluster_bytes)) return false;
  uint8_t boot[NTFS_BOOT_BYTES];
  enum ntfs_boot_result result = ntfs_boot_make(&format->geometry, boot);
  if (result != NTFS_BOOT_DONE) return report_size(format, result);
  for (uint32_t step = 0; step <= FMIFS_STEPS; step++)
    if (!do_step(format, step, boot)) return false;
  return true;
}

void WINAPI FormatEx(wchar_t *root_w, ULONG media_type, wchar_t *file_system_w, wchar_t *label_w,
                     BOOLEAN quick, ULONG cluster_bytes, fmifs_callback callback) {
  (void)media_type;
  (void)quick;
  struct format format = {
      .root_w = root_w,
      .label_w = label_w,
      .callback = callback,
      .volume = INVALID_HANDLE_VALUE,
      .beginning = calloc(1, BEGINNING_BYTES),
  };
  BOOLEAN done = FALSE;
  if (format.beginning == NULL || !read_knobs(&format.knobs)) {
    report(&format, FMIFS_DEVICE_NOT_READY);
  } else {
    done = check_arguments(&format, file_system_w) && format_volume(&format, cluster_bytes);
  }
  if (format.volume != INVALID_HANDLE_VALUE) CloseHandle(format.volume);
  free(format.beginning);
  if (!format.knobs.is_silent) callback(FMIFS_DONE, 0, &done);
}
