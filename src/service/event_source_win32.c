/* SPDX-License-Identifier: Apache-2.0 */
#include "service/event_source_win32.h"

#include <windows.h>

#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "service/event_log.h"

enum {
  PATH_UNITS = 4096,
};

#define SOURCE "event source " CSI_EVENT_SOURCE

static const wchar_t key_w[] =
    L"SYSTEM\\CurrentControlSet\\Services\\EventLog\\Application\\" CSI_EVENT_SOURCE;

static bool fail(LSTATUS error, const char *call, struct csi_status *status) {
  csi_fail_system(status, CSI_SPACE_WIN32, (uint32_t)error, call, SOURCE);
  return error == ERROR_ACCESS_DENIED && csi_advise(status, "; run this as administrator");
}

static LSTATUS set_file(HKEY key, const wchar_t *value_w, const wchar_t *file_w) {
  return RegSetValueExW(key, value_w, 0, REG_EXPAND_SZ, (const BYTE *)file_w,
                        (DWORD)((wcslen(file_w) + 1) * sizeof *file_w));
}

static LSTATUS set_number(HKEY key, const wchar_t *value_w, DWORD number) {
  return RegSetValueExW(key, value_w, 0, REG_DWORD, (const BYTE *)&number, sizeof number);
}

static LSTATUS fill(HKEY key, const wchar_t *file_w) {
  LSTATUS error = set_file(key, L"EventMessageFile", file_w);
  if (error == ERROR_SUCCESS)
    error = set_number(key, L"TypesSupported",
                       EVENTLOG_ERROR_TYPE | EVENTLOG_WARNING_TYPE | EVENTLOG_INFORMATION_TYPE);
  if (error == ERROR_SUCCESS) error = set_file(key, L"CategoryMessageFile", file_w);
  if (error == ERROR_SUCCESS) error = set_number(key, L"CategoryCount", CSI_EVENT_CATEGORY_COUNT);
  return error;
}

bool csi_event_source_register(struct csi_arena *arena, const char *executable, bool *made_out,
                               struct csi_status *status) {
  const wchar_t *file_w = csi_utf16_from_utf8(arena, executable, strlen(executable), NULL, status);
  if (file_w == NULL) return csi_explain(status, SOURCE ": ");
  HKEY key;
  DWORD disposition;
  LSTATUS error = RegCreateKeyExW(HKEY_LOCAL_MACHINE, key_w, 0, NULL, REG_OPTION_NON_VOLATILE, KEY_SET_VALUE,
                                  NULL, &key, &disposition);
  if (error != ERROR_SUCCESS) return fail(error, "RegCreateKeyExW", status);
  error = fill(key, file_w);
  RegCloseKey(key);
  if (made_out != NULL) *made_out = disposition == REG_CREATED_NEW_KEY;
  return error == ERROR_SUCCESS || fail(error, "RegSetValueExW", status);
}

bool csi_event_source_remove(struct csi_arena *arena, const char *executable, struct csi_status *status) {
  wchar_t file_w[PATH_UNITS];
  DWORD size_bytes = sizeof file_w;
  LSTATUS error =
      RegGetValueW(HKEY_LOCAL_MACHINE, key_w, L"EventMessageFile",
                   RRF_RT_REG_SZ | RRF_RT_REG_EXPAND_SZ | RRF_NOEXPAND, NULL, file_w, &size_bytes);
  if (error == ERROR_FILE_NOT_FOUND) return true;
  if (error != ERROR_SUCCESS) return fail(error, "RegGetValueW", status);
  const char *file = csi_utf8_from_utf16(arena, file_w, wcslen(file_w));
  if (file == NULL) return csi_fail_out_of_memory(status);
  if (!csi_utf8_equal_ignore_case(file, executable)) return true;
  error = RegDeleteKeyW(HKEY_LOCAL_MACHINE, key_w);
  return error == ERROR_SUCCESS || error == ERROR_FILE_NOT_FOUND || fail(error, "RegDeleteKeyW", status);
}
