/* SPDX-License-Identifier: Apache-2.0
 *
 * The service manager's calls of csi-proxy-testbed.exe. Wine's service manager keeps what a service depends
 * on and does nothing with it: it lists no dependents, and stops a service that others need. Here both are as
 * documented for Windows: dependents are listed at any distance, and while there are active ones a service is
 * not stopped.
 */
#include <windows.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "system/scm_calls_win32.h"

enum {
  NAME_UNITS = 257,
  LIST_BYTES = 256 * 1024,
  SERVICES_MAX = 1024,
  NEEDS_UNITS = 2048,
};

/* The service this thread has opened last: no call tells the name behind a handle. */
static _Thread_local wchar_t opened_w[NAME_UNITS];

/* All services of this moment. */
struct services {
  ENUM_SERVICE_STATUS_PROCESSW *list;
  DWORD count;
  bool marked[SERVICES_MAX];
};

static bool list_services(struct services *services) {
  *services = (struct services){.list = calloc(1, LIST_BYTES)};
  SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT | SC_MANAGER_ENUMERATE_SERVICE);
  DWORD needed_bytes, resume = 0;
  bool listed = services->list != NULL && manager != NULL &&
                EnumServicesStatusExW(manager, SC_ENUM_PROCESS_INFO, SERVICE_WIN32, SERVICE_STATE_ALL,
                                      (BYTE *)services->list, LIST_BYTES, &needed_bytes, &services->count,
                                      &resume, NULL) &&
                services->count <= SERVICES_MAX;
  if (manager != NULL) CloseServiceHandle(manager);
  return listed;
}

static bool needs(const wchar_t *name_w, const wchar_t *needed_w) {
  wchar_t key_w[NAME_UNITS + 64], value_w[NEEDS_UNITS] = L"";
  DWORD size_bytes = sizeof value_w - 2 * sizeof(wchar_t);
  swprintf(key_w, sizeof key_w / sizeof key_w[0], L"SYSTEM\\CurrentControlSet\\Services\\%ls", name_w);
  if (RegGetValueW(HKEY_LOCAL_MACHINE, key_w, L"DependOnService", RRF_RT_REG_MULTI_SZ, NULL, value_w,
                   &size_bytes) != ERROR_SUCCESS)
    return false;
  for (const wchar_t *each_w = value_w; *each_w != L'\0'; each_w += wcslen(each_w) + 1)
    if (_wcsicmp(each_w, needed_w) == 0) return true;
  return false;
}

static void mark_dependents(struct services *services, const wchar_t *needed_w) {
  for (DWORD i = 0; i < services->count; i++) {
    const ENUM_SERVICE_STATUS_PROCESSW *each = &services->list[i];
    if (services->marked[i] || each->ServiceStatusProcess.dwCurrentState == SERVICE_STOPPED ||
        !needs(each->lpServiceName, needed_w))
      continue;
    services->marked[i] = true;
    mark_dependents(services, each->lpServiceName);
  }
}

static bool has_active_dependents(void) {
  struct services services;
  bool found = false;
  if (list_services(&services)) mark_dependents(&services, opened_w);
  for (DWORD i = 0; i < services.count && i < SERVICES_MAX; i++)
    found |= services.marked[i];
  free(services.list);
  return found;
}

static SC_HANDLE WINAPI open_service(SC_HANDLE manager, const wchar_t *name_w, DWORD access) {
  swprintf(opened_w, NAME_UNITS, L"%ls", name_w);
  return OpenServiceW(manager, name_w, access);
}

static BOOL WINAPI control_service(SC_HANDLE service, DWORD code, SERVICE_STATUS *status_out) {
  if (code != SERVICE_CONTROL_STOP || !has_active_dependents())
    return ControlService(service, code, status_out);
  SetLastError(ERROR_DEPENDENT_SERVICES_RUNNING);
  return FALSE;
}

/* Copies text to the end of the buffer; returns its new end. */
static BYTE *put_text(BYTE *end, const wchar_t *text_w, wchar_t **text_out_w) {
  size_t size_bytes = (wcslen(text_w) + 1) * sizeof *text_w;
  memcpy(end - size_bytes, text_w, size_bytes);
  *text_out_w = (wchar_t *)(void *)(end - size_bytes);
  return end - size_bytes;
}

static BOOL WINAPI enum_dependent_services(SC_HANDLE service, DWORD wanted, ENUM_SERVICE_STATUSW *list,
                                           DWORD size_bytes, DWORD *needed_bytes_out, DWORD *count_out) {
  (void)service;
  (void)wanted; /* only the active ones are ever asked for */
  struct services services;
  size_t needed_bytes = 0;
  bool listed = list_services(&services);
  if (listed) mark_dependents(&services, opened_w);
  for (DWORD i = 0; listed && i < services.count; i++)
    if (services.marked[i])
      needed_bytes += sizeof *list + (wcslen(services.list[i].lpServiceName) + 1 +
                                      wcslen(services.list[i].lpDisplayName) + 1) *
                                         sizeof(wchar_t);
  *count_out = 0;
  *needed_bytes_out = needed_bytes > size_bytes ? (DWORD)needed_bytes : 0;
  BYTE *end = (BYTE *)list + size_bytes / sizeof(wchar_t) * sizeof(wchar_t);
  for (DWORD i = 0; listed && needed_bytes <= size_bytes && i < services.count; i++) {
    if (!services.marked[i]) continue;
    ENUM_SERVICE_STATUSW *entry = &list[(*count_out)++];
    end = put_text(end, services.list[i].lpServiceName, &entry->lpServiceName);
    end = put_text(end, services.list[i].lpDisplayName, &entry->lpDisplayName);
    entry->ServiceStatus.dwCurrentState = services.list[i].ServiceStatusProcess.dwCurrentState;
  }
  free(services.list);
  if (listed && needed_bytes <= size_bytes) return TRUE;
  SetLastError(listed ? ERROR_MORE_DATA : ERROR_GEN_FAILURE);
  return FALSE;
}

const struct csi_scm_calls csi_scm = {
    .open_service = open_service,
    .control_service = control_service,
    .enum_dependent_services = enum_dependent_services,
};
