/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include <stdio.h>
#include <string.h>

#include "base/log_os.h"
#include "base/text.h"

enum {
  PATH_UNITS = 2048,
  CONSOLE_UNITS = 1024,
};

static struct csi_log_time to_log_time(const SYSTEMTIME *time, int microsecond) {
  return (struct csi_log_time){
      .year = time->wYear,
      .month = time->wMonth,
      .day = time->wDay,
      .hour = time->wHour,
      .minute = time->wMinute,
      .second = time->wSecond,
      .microsecond = microsecond,
  };
}

void csi_log_os_now(struct csi_log_time *now_out) {
  enum { TICKS_PER_SECOND = 10000000, TICKS_PER_MICROSECOND = 10 };
  FILETIME file_time;
  SYSTEMTIME utc, local;
  GetSystemTimePreciseAsFileTime(&file_time);
  uint64_t ticks = (uint64_t)file_time.dwHighDateTime << 32 | file_time.dwLowDateTime;
  if (!FileTimeToSystemTime(&file_time, &utc)) GetSystemTime(&utc);
  if (!SystemTimeToTzSpecificLocalTime(NULL, &utc, &local)) local = utc;
  *now_out = to_log_time(&local, (int)(ticks % TICKS_PER_SECOND / TICKS_PER_MICROSECOND));
}

static const int64_t ticks_to_1970 = INT64_C(116444736000000000), ticks_per_ms = 10000;

void csi_log_os_utc(int64_t unix_ms, struct csi_log_time *utc_out) {
  const int64_t ticks = unix_ms * ticks_per_ms + ticks_to_1970;
  const FILETIME time = {.dwLowDateTime = (DWORD)ticks, .dwHighDateTime = (DWORD)(ticks >> 32)};
  SYSTEMTIME utc = {0};
  (void)FileTimeToSystemTime(&time, &utc);
  *utc_out = to_log_time(&utc, (int)(unix_ms % 1000) * 1000);
}

static int64_t to_unix_ms(FILETIME time) {
  int64_t ticks = (int64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
  return (ticks - ticks_to_1970) / ticks_per_ms;
}

int64_t csi_log_os_unix_ms(void) {
  FILETIME now;
  GetSystemTimePreciseAsFileTime(&now);
  return to_unix_ms(now);
}

unsigned long csi_log_os_process_id(void) {
  return GetCurrentProcessId();
}

/* A console shows UTF-8 only to those who write UTF-16. */
static void write_console(HANDLE console, const char *text, size_t length_bytes) {
  while (length_bytes > 0) {
    wchar_t text_w[CONSOLE_UNITS];
    size_t take_bytes = csi_utf8_cut(text, length_bytes, CONSOLE_UNITS);
    int units = MultiByteToWideChar(CP_UTF8, 0, text, (int)take_bytes, text_w, CONSOLE_UNITS);
    DWORD written;
    if (units <= 0 || !WriteConsoleW(console, text_w, (DWORD)units, &written, NULL)) return;
    text += take_bytes;
    length_bytes -= take_bytes;
  }
}

void csi_log_os_write_stderr(const char *text, size_t length_bytes) {
  HANDLE output = GetStdHandle(STD_ERROR_HANDLE);
  DWORD mode;
  if (output == NULL || output == INVALID_HANDLE_VALUE) return; /* as services find it */
  if (GetConsoleMode(output, &mode))
    write_console(output, text, length_bytes);
  else
    (void)csi_log_os_write((intptr_t)output, text, length_bytes);
}

static bool to_wide(const char *path, wchar_t path_w[PATH_UNITS]) {
  return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, path_w, PATH_UNITS) > 0;
}

static void to_utf8(const wchar_t *text_w, char *buffer, size_t buffer_bytes) {
  if (WideCharToMultiByte(CP_UTF8, 0, text_w, -1, buffer, (int)buffer_bytes, NULL, NULL) <= 0)
    buffer[0] = '\0';
}

/* A new file that gets the name of one which was renamed a moment ago gets its creation time, too (NTFS calls
 * that tunnelling): it would be as old as the one before. UNVERIFIED ON WINDOWS that this helps. */
static void set_begin(HANDLE file) {
  FILETIME now;
  GetSystemTimePreciseAsFileTime(&now);
  (void)SetFileTime(file, &now, NULL, NULL);
}

/* Who may not read the file does not know. */
static bool is_cut(const wchar_t *path_w, uint64_t size_bytes) {
  if (size_bytes == 0) return false;
  HANDLE file = CreateFileW(path_w, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                            NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
  if (file == INVALID_HANDLE_VALUE) return false;
  const uint64_t at = size_bytes - 1;
  OVERLAPPED position = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
  char last;
  DWORD length;
  const bool cut = ReadFile(file, &last, 1, &length, &position) && length == 1 && last != '\n';
  CloseHandle(file);
  return cut;
}

bool csi_log_os_open(const char *path, intptr_t *file_out, uint64_t *size_bytes_out, int64_t *begun_ms_out,
                     bool *is_cut_out, struct csi_status *status) {
  wchar_t path_w[PATH_UNITS];
  if (!to_wide(path, path_w)) return csi_fail(status, CSI_INVALID_ARGUMENT, "open %s: unusable name", path);
  HANDLE file = CreateFileW(path_w, FILE_APPEND_DATA | FILE_WRITE_ATTRIBUTES,
                            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_ALWAYS,
                            FILE_ATTRIBUTE_NORMAL, NULL);
  if (file == INVALID_HANDLE_VALUE)
    return csi_fail_system(status, CSI_SPACE_WIN32, GetLastError(), "CreateFileW", "open %s", path);
  /* FILE_APPEND_DATA alone does not allow to ask the handle. */
  WIN32_FILE_ATTRIBUTE_DATA information = {0};
  bool known = GetFileAttributesExW(path_w, GetFileExInfoStandard, &information);
  *size_bytes_out = known ? (uint64_t)information.nFileSizeHigh << 32 | information.nFileSizeLow : 0;
  *begun_ms_out = known ? to_unix_ms(information.ftCreationTime) : csi_log_os_unix_ms();
  if (*size_bytes_out == 0) set_begin(file);
  *is_cut_out = is_cut(path_w, *size_bytes_out);
  *file_out = (intptr_t)file;
  return true;
}

size_t csi_log_os_write(intptr_t file, const char *data, size_t length_bytes) {
  size_t done = 0;
  while (done < length_bytes) {
    const size_t rest_bytes = length_bytes - done;
    DWORD part_bytes = rest_bytes > MAXLONG ? MAXLONG : (DWORD)rest_bytes, written;
    if (!WriteFile((HANDLE)file, data + done, part_bytes, &written, NULL) || written == 0) break;
    done += written;
  }
  return done;
}

void csi_log_os_close(intptr_t file) {
  (void)CloseHandle((HANDLE)file);
}

bool csi_log_os_rename(const char *from, const char *to) {
  wchar_t from_w[PATH_UNITS], to_w[PATH_UNITS];
  return to_wide(from, from_w) && to_wide(to, to_w) && MoveFileExW(from_w, to_w, 0);
}

void csi_log_os_remove(const char *path) {
  wchar_t path_w[PATH_UNITS];
  if (to_wide(path, path_w)) (void)DeleteFileW(path_w);
}

bool csi_log_os_is_directory(const char *path) {
  wchar_t path_w[PATH_UNITS];
  if (!to_wide(path, path_w)) return false;
  const DWORD attributes = GetFileAttributesW(path_w);
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

void csi_log_os_each_name(const char *directory, void (*visit)(void *data, const char *name), void *data) {
  char pattern[PATH_UNITS], name[MAX_PATH * 3];
  wchar_t pattern_w[PATH_UNITS];
  int length = snprintf(pattern, sizeof pattern, "%s\\*", directory);
  if (length < 0 || (size_t)length >= sizeof pattern || !to_wide(pattern, pattern_w)) return;
  WIN32_FIND_DATAW entry;
  HANDLE search = FindFirstFileW(pattern_w, &entry);
  if (search == INVALID_HANDLE_VALUE) return;
  do {
    to_utf8(entry.cFileName, name, sizeof name);
    visit(data, name);
  } while (FindNextFileW(search, &entry));
  (void)FindClose(search);
}

void csi_log_os_host_name(char *buffer, size_t buffer_bytes) {
  wchar_t name_w[256];
  DWORD units = 256;
  bool known = GetComputerNameExW(ComputerNameDnsHostname, name_w, &units);
  to_utf8(known ? name_w : L"unknownhost", buffer, buffer_bytes);
}

void csi_log_os_user_name(char *buffer, size_t buffer_bytes) {
  wchar_t name_w[512] = L"unknownuser";
  DWORD units = GetEnvironmentVariableW(L"USERDOMAIN", name_w, 255);
  if (units > 0 && units < 255) {
    name_w[units] = L'_';
    if (GetEnvironmentVariableW(L"USERNAME", name_w + units + 1, 255) == 0) name_w[units] = L'\0';
  }
  to_utf8(name_w, buffer, buffer_bytes);
}

void csi_log_os_temp_directory(char *buffer, size_t buffer_bytes) {
  wchar_t directory_w[MAX_PATH + 2];
  DWORD units = GetTempPathW(MAX_PATH + 2, directory_w);
  to_utf8(units > 0 && units < MAX_PATH + 2 ? directory_w : L"C:\\Windows\\Temp", buffer, buffer_bytes);
}

size_t csi_log_os_backtrace(void **addresses, size_t limit) {
  return CaptureStackBackTrace(0, (DWORD)limit, addresses, NULL);
}
