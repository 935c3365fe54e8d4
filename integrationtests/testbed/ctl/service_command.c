/* SPDX-License-Identifier: Apache-2.0 */
#include "service_command.h"

#include <windows.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <winsvc.h>

#include "services/finish.h"

#define PROGRAM L"csi-test-service.exe"

enum {
  NAME_UNITS = 257,
  PATH_UNITS = 1024,
  LIST_BYTES = 256 * 1024,
  WAIT_MS = 20 * 1000,
  LOOK_MS = 10,
};

static void close_service(SC_HANDLE *handle) {
  if (*handle != NULL) CloseServiceHandle(*handle);
}

#define SCOPED_SERVICE __attribute__((cleanup(close_service))) SC_HANDLE

static SC_HANDLE open_manager(struct csi_ctl_error *error) {
  SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_ALL_ACCESS);
  if (manager == NULL) csi_ctl_fail_win32(error, GetLastError(), "OpenSCManagerW");
  return manager;
}

/* ---- Words. ---- */

/* The value of key as UTF-16, at most `units` with the NUL; "" when it is not there. */
static bool read_text(struct vdisk_words *words, const char *key, wchar_t *text_out_w, int units,
                      struct csi_ctl_error *error) {
  char *value = vdisk_words_value(words, key);
  text_out_w[0] = L'\0';
  if (value == NULL) return true;
  return (vdisk_percent_decode(value) &&
          MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, value, -1, text_out_w, units) > 0) ||
         csi_ctl_fail(error, "bad %s", key);
}

struct choice {
  const char *word;
  DWORD value;
};

static bool read_choice(struct vdisk_words *words, const char *key, const struct choice *choices,
                        DWORD *value_out, struct csi_ctl_error *error) {
  const char *value = vdisk_words_value(words, key);
  if (value == NULL) return true;
  for (; choices->word != NULL; choices++) {
    if (strcmp(choices->word, value) != 0) continue;
    *value_out = choices->value;
    return true;
  }
  return csi_ctl_fail(error, "not understood: %s=%s", key, value);
}

/* ---- One service. ---- */

static bool query(SC_HANDLE service, SERVICE_STATUS_PROCESS *status_out) {
  DWORD needed_bytes;
  return QueryServiceStatusEx(service, SC_STATUS_PROCESS_INFO, (BYTE *)status_out, sizeof *status_out,
                              &needed_bytes);
}

static bool await_state(SC_HANDLE service, DWORD state, struct csi_ctl_error *error) {
  SERVICE_STATUS_PROCESS status = {0};
  for (ULONGLONG end = GetTickCount64() + WAIT_MS; GetTickCount64() < end; Sleep(LOOK_MS)) {
    if (!query(service, &status)) return csi_ctl_fail_win32(error, GetLastError(), "QueryServiceStatusEx");
    if (status.dwCurrentState == state) return true;
  }
  return csi_ctl_fail(error, "the service is in state %lu, not %lu", (unsigned long)status.dwCurrentState,
                      (unsigned long)state);
}

/* Ends its process: a test service may refuse to stop, or take for ever. */
static void end_process(SC_HANDLE service) {
  SERVICE_STATUS_PROCESS status;
  if (!query(service, &status) || status.dwProcessId == 0) return;
  HANDLE process = OpenProcess(PROCESS_TERMINATE | SYNCHRONIZE, FALSE, status.dwProcessId);
  if (process == NULL) return;
  TerminateProcess(process, 1);
  WaitForSingleObject(process, WAIT_MS);
  CloseHandle(process);
}

static bool await_end(SC_HANDLE manager, const wchar_t *name_w, struct csi_ctl_error *error) {
  for (ULONGLONG end = GetTickCount64() + WAIT_MS; GetTickCount64() < end; Sleep(LOOK_MS)) {
    SCOPED_SERVICE service = OpenServiceW(manager, name_w, SERVICE_QUERY_STATUS);
    if (service == NULL) return true;
  }
  return csi_ctl_fail(error, "the service %ls does not go", name_w);
}

static bool remove_service(SC_HANDLE manager, const wchar_t *name_w, struct csi_ctl_error *error) {
  {
    SCOPED_SERVICE service = OpenServiceW(manager, name_w, SERVICE_ALL_ACCESS);
    if (service == NULL) return csi_ctl_fail_win32(error, GetLastError(), "service %ls", name_w);
    end_process(service);
    if (!DeleteService(service) && GetLastError() != ERROR_SERVICE_MARKED_FOR_DELETE)
      return csi_ctl_fail_win32(error, GetLastError(), "DeleteService %ls", name_w);
  }
  return await_end(manager, name_w, error);
}

/* ---- Those that are ours. ---- */

static bool is_ours(const wchar_t *name_w) {
  wchar_t key_w[NAME_UNITS + 64], path_w[PATH_UNITS] = L"";
  DWORD size_bytes = sizeof path_w - sizeof path_w[0];
  swprintf(key_w, sizeof key_w / sizeof key_w[0], L"SYSTEM\\CurrentControlSet\\Services\\%ls", name_w);
  return RegGetValueW(HKEY_LOCAL_MACHINE, key_w, L"ImagePath",
                      RRF_RT_REG_SZ | RRF_RT_REG_EXPAND_SZ | RRF_NOEXPAND, NULL, path_w,
                      &size_bytes) == ERROR_SUCCESS &&
         wcsstr(path_w, PROGRAM) != NULL;
}

/* Calls visit with each test service; ends when it fails. */
static bool visit_all(bool (*visit)(SC_HANDLE manager, const ENUM_SERVICE_STATUS_PROCESSW *service,
                                    struct vdisk_text *reply, struct csi_ctl_error *error),
                      struct vdisk_text *reply, struct csi_ctl_error *error) {
  SCOPED_SERVICE manager = open_manager(error);
  if (manager == NULL) return false;
  ENUM_SERVICE_STATUS_PROCESSW *list = calloc(1, LIST_BYTES);
  DWORD needed_bytes, count = 0, resume = 0;
  if (list == NULL) return csi_ctl_fail(error, "out of memory");
  bool done = EnumServicesStatusExW(manager, SC_ENUM_PROCESS_INFO, SERVICE_WIN32, SERVICE_STATE_ALL,
                                    (BYTE *)list, LIST_BYTES, &needed_bytes, &count, &resume, NULL) ||
              csi_ctl_fail_win32(error, GetLastError(), "EnumServicesStatusExW");
  for (DWORD i = 0; i < count && done; i++)
    if (is_ours(list[i].lpServiceName)) done = visit(manager, &list[i], reply, error);
  free(list);
  return done;
}

static bool remove_listed(SC_HANDLE manager, const ENUM_SERVICE_STATUS_PROCESSW *service,
                          struct vdisk_text *reply, struct csi_ctl_error *error) {
  (void)reply;
  return remove_service(manager, service->lpServiceName, error);
}

static bool show_listed(SC_HANDLE manager, const ENUM_SERVICE_STATUS_PROCESSW *service,
                        struct vdisk_text *reply, struct csi_ctl_error *error) {
  (void)manager;
  (void)error;
  vdisk_text_add(reply, "name=");
  vdisk_text_add_utf16(reply, (const uint16_t *)service->lpServiceName, wcslen(service->lpServiceName));
  vdisk_text_add_number_word(reply, "state", service->ServiceStatusProcess.dwCurrentState);
  vdisk_text_add(reply, "\n");
  return true;
}

/* ---- service add ---- */

/* Where the testbed has put the program; without it, ..\services beside this one, in the build. */
static bool find_program(wchar_t path_out_w[PATH_UNITS]) {
  static const wchar_t installed_w[] = L"C:\\csi-testbed\\" PROGRAM;
  memcpy(path_out_w, installed_w, sizeof installed_w);
  if (GetFileAttributesW(path_out_w) != INVALID_FILE_ATTRIBUTES) return true;
  wchar_t folder_w[PATH_UNITS];
  DWORD length = GetModuleFileNameW(NULL, folder_w, PATH_UNITS);
  for (int folders = 0; folders < 2 && length > 0; folders++) {
    while (length > 0 && folder_w[--length] != L'\\')
      continue;
    folder_w[length] = L'\0';
  }
  return swprintf(path_out_w, PATH_UNITS, L"%ls\\services\\" PROGRAM, folder_w) > 0 &&
         GetFileAttributesW(path_out_w) != INVALID_FILE_ATTRIBUTES;
}

static bool make_command_line(struct vdisk_words *words, wchar_t line_out_w[PATH_UNITS],
                              struct csi_ctl_error *error) {
  static const char *const numbers[] = {"start-delay", "stop-delay", "fail-start"};
  static const char *const flags[] = {"refuse-stop", "silent"};
  wchar_t path_w[PATH_UNITS];
  if (!find_program(path_w)) return csi_ctl_fail(error, "there is no %ls", PROGRAM);
  int units = swprintf(line_out_w, PATH_UNITS, L"\"%ls\"", path_w);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && units > 0; i++) {
    const char *value = vdisk_words_value(words, numbers[i]);
    uint64_t number;
    if (value == NULL) continue;
    if (!vdisk_number_parse(value, &number)) return csi_ctl_fail(error, "bad number: %s", numbers[i]);
    units += swprintf(line_out_w + units, PATH_UNITS - (size_t)units, L" %hs=%llu", numbers[i],
                      (unsigned long long)number);
  }
  for (size_t i = 0; i < sizeof flags / sizeof flags[0] && units > 0; i++)
    if (vdisk_words_flag(words, flags[i]))
      units += swprintf(line_out_w + units, PATH_UNITS - (size_t)units, L" %hs", flags[i]);
  return (units > 0 && units < PATH_UNITS) || csi_ctl_fail(error, "the command line is too long");
}

/* A,B becomes A, NUL, B, NUL, NUL. list_w: with room for one more. */
static void split_list(wchar_t *list_w) {
  list_w[wcslen(list_w) + 1] = L'\0';
  for (; *list_w != L'\0'; list_w++)
    if (*list_w == L',') *list_w = L'\0';
}

/* What the service is doing has taken long enough. */
static bool finish(const wchar_t *name_w, struct csi_ctl_error *error) {
  wchar_t event_w[CSI_TEST_SERVICE_EVENT_UNITS];
  swprintf(event_w, CSI_TEST_SERVICE_EVENT_UNITS, CSI_TEST_SERVICE_EVENT, name_w);
  /* The service manager says that a service starts before its program runs. */
  HANDLE event = OpenEventW(EVENT_MODIFY_STATE, FALSE, event_w);
  for (ULONGLONG end = GetTickCount64() + WAIT_MS; event == NULL && GetTickCount64() < end; Sleep(LOOK_MS))
    event = OpenEventW(EVENT_MODIFY_STATE, FALSE, event_w);
  if (event == NULL) return csi_ctl_fail_win32(error, GetLastError(), "OpenEventW %ls", event_w);
  bool done = SetEvent(event) || csi_ctl_fail_win32(error, GetLastError(), "SetEvent");
  CloseHandle(event);
  return done;
}

static bool start_at_once(SC_HANDLE service, const wchar_t *name_w, DWORD state,
                          struct csi_ctl_error *error) {
  const wchar_t *argument = state == SERVICE_PAUSED ? L"paused" : L"at-once";
  if (!StartServiceW(service, 1, &argument))
    return csi_ctl_fail_win32(error, GetLastError(), "StartServiceW");
  if (state == SERVICE_PAUSED && !finish(name_w, error)) return false;
  return await_state(service, state, error);
}

static bool add(struct vdisk_words *words, struct csi_ctl_error *error) {
  static const struct choice start_types[] = {{"auto", SERVICE_AUTO_START},
                                              {"manual", SERVICE_DEMAND_START},
                                              {"disabled", SERVICE_DISABLED},
                                              {NULL, 0}};
  static const struct choice states[] = {
      {"stopped", SERVICE_STOPPED}, {"running", SERVICE_RUNNING}, {"paused", SERVICE_PAUSED}, {NULL, 0}};
  wchar_t name_w[NAME_UNITS], display_w[NAME_UNITS], depends_w[PATH_UNITS], line_w[PATH_UNITS];
  DWORD start_type = SERVICE_DEMAND_START, state = SERVICE_STOPPED;
  if (!read_text(words, "name", name_w, NAME_UNITS, error) ||
      !read_text(words, "display", display_w, NAME_UNITS, error) ||
      !read_text(words, "depends", depends_w, PATH_UNITS - 1, error) ||
      !read_choice(words, "start", start_types, &start_type, error) ||
      !read_choice(words, "state", states, &state, error) || !make_command_line(words, line_w, error))
    return false;
  if (name_w[0] == L'\0') return csi_ctl_fail(error, "name is missing");
  const char *unused = vdisk_words_unused(words);
  if (unused != NULL) return csi_ctl_fail(error, "not understood: %s", unused);
  split_list(depends_w);
  SCOPED_SERVICE manager = open_manager(error);
  if (manager == NULL) return false;
  {
    SCOPED_SERVICE service =
        CreateServiceW(manager, name_w, display_w[0] != L'\0' ? display_w : name_w, SERVICE_ALL_ACCESS,
                       SERVICE_WIN32_OWN_PROCESS, start_type, SERVICE_ERROR_IGNORE, line_w, NULL, NULL,
                       depends_w[0] != L'\0' ? depends_w : NULL, NULL, NULL);
    if (service == NULL) return csi_ctl_fail_win32(error, GetLastError(), "CreateServiceW %ls", name_w);
    if (state == SERVICE_STOPPED || start_at_once(service, name_w, state, error)) return true;
  }
  struct csi_ctl_error ignored;
  remove_service(manager, name_w, &ignored);
  return false;
}

/* ---- The command. ---- */

static bool remove_by_words(struct vdisk_words *words, struct csi_ctl_error *error) {
  wchar_t name_w[NAME_UNITS];
  if (!read_text(words, "name", name_w, NAME_UNITS, error)) return false;
  if (vdisk_words_flag(words, "all") || wcscmp(name_w, L"all") == 0) return csi_service_reset(error);
  if (!is_ours(name_w)) return csi_ctl_fail(error, "no such service");
  SCOPED_SERVICE manager = open_manager(error);
  return manager != NULL && remove_service(manager, name_w, error);
}

static bool finish_by_words(struct vdisk_words *words, struct csi_ctl_error *error) {
  wchar_t name_w[NAME_UNITS];
  return read_text(words, "name", name_w, NAME_UNITS, error) && finish(name_w, error);
}

bool csi_service_command(struct vdisk_words *words, struct vdisk_text *reply, struct csi_ctl_error *error) {
  const char *verb = vdisk_words_take(words);
  if (strcmp(verb, "add") == 0) return add(words, error);
  if (strcmp(verb, "remove") == 0) return remove_by_words(words, error);
  if (strcmp(verb, "list") == 0) return visit_all(show_listed, reply, error);
  if (strcmp(verb, "finish") == 0) return finish_by_words(words, error);
  return csi_ctl_fail(error, "service add|remove|finish|list");
}

bool csi_service_reset(struct csi_ctl_error *error) {
  return visit_all(remove_listed, NULL, error);
}
