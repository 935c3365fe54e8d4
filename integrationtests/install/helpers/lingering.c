/* SPDX-License-Identifier: Apache-2.0
 *
 * A service as the original is one: it reports STOPPED when it is told to stop, and its process goes on. Its
 * pipe, the argument behind -pipe-prefix=, stays with it. Other arguments are ignored.
 */
#include <windows.h>

#include <stdio.h>
#include <wchar.h>

#define PREFIX L"-pipe-prefix="

static wchar_t name_w[] = L"";
static SERVICE_STATUS_HANDLE manager;

static void report(DWORD state) {
  SERVICE_STATUS status = {
      .dwServiceType = SERVICE_WIN32_OWN_PROCESS,
      .dwCurrentState = state,
      .dwControlsAccepted = state == SERVICE_RUNNING ? SERVICE_ACCEPT_STOP : 0,
  };
  SetServiceStatus(manager, &status);
}

static DWORD WINAPI handle_control(DWORD control, DWORD event, void *event_data, void *context) {
  (void)event;
  (void)event_data;
  (void)context;
  if (control == SERVICE_CONTROL_STOP) report(SERVICE_STOPPED);
  return NO_ERROR;
}

static void WINAPI service_main(DWORD argc, wchar_t **argv_w) {
  manager = RegisterServiceCtrlHandlerExW(argc > 0 ? argv_w[0] : name_w, handle_control, NULL);
  report(SERVICE_RUNNING);
}

static DWORD WINAPI dispatch(void *unused) {
  (void)unused;
  const SERVICE_TABLE_ENTRYW table[] = {{name_w, service_main}, {NULL, NULL}};
  return StartServiceCtrlDispatcherW(table) ? 0 : 1;
}

int wmain(int argc, wchar_t **argv_w);
int wmain(int argc, wchar_t **argv_w) {
  for (int i = 1; i < argc; i++) {
    wchar_t pipe_w[MAX_PATH];
    if (wcsncmp(argv_w[i], PREFIX, wcslen(PREFIX)) != 0) continue;
    _snwprintf(pipe_w, MAX_PATH, L"%lsfilesystem-v1alpha1", argv_w[i] + wcslen(PREFIX));
    CreateNamedPipeW(pipe_w, PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE, PIPE_TYPE_BYTE, 1, 0, 0, 0,
                     NULL);
  }
  CreateThread(NULL, 0, dispatch, NULL, 0, NULL);
  Sleep(INFINITE);
  return 0;
}
