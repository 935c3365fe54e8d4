/* SPDX-License-Identifier: Apache-2.0
 *
 * servicetool SERVICE: prints how a service is configured, one "name: value" a line, as the service manager
 * says; "absent" when there is none. What it cannot be asked is left out.
 *
 * servicetool SERVICE START ACCOUNT DESCRIPTION: sets the start type (a number), the account and the
 * description.
 */
#include <windows.h>

#include <stdio.h>
#include <wchar.h>

enum {
  BUFFER_BYTES = 8 * 1024,
};

static BYTE buffer[BUFFER_BYTES] __attribute__((aligned(16)));

static int failed(const char *call) {
  DWORD error = GetLastError();
  fprintf(stderr, "%s failed with %lu\n", call, error);
  return 1;
}

static BOOL query(SC_HANDLE service, DWORD level) {
  DWORD needed;
  return QueryServiceConfig2W(service, level, buffer, sizeof buffer, &needed);
}

static void print_extras(SC_HANDLE service) {
  if (query(service, SERVICE_CONFIG_DESCRIPTION))
    printf("description: %ls\n", ((SERVICE_DESCRIPTIONW *)buffer)->lpDescription);
  if (query(service, SERVICE_CONFIG_PRESHUTDOWN_INFO))
    printf("preshutdown ms: %lu\n", ((SERVICE_PRESHUTDOWN_INFO *)buffer)->dwPreshutdownTimeout);
  if (query(service, SERVICE_CONFIG_FAILURE_ACTIONS)) {
    const SERVICE_FAILURE_ACTIONSW *recovery = (SERVICE_FAILURE_ACTIONSW *)buffer;
    for (DWORD i = 0; i < recovery->cActions; i++)
      printf("recovery: %d after %lu ms\n", (int)recovery->lpsaActions[i].Type,
             recovery->lpsaActions[i].Delay);
  }
  if (query(service, SERVICE_CONFIG_FAILURE_ACTIONS_FLAG))
    printf("recovery on errors: %d\n",
           ((SERVICE_FAILURE_ACTIONS_FLAG *)buffer)->fFailureActionsOnNonCrashFailures);
}

static int change(SC_HANDLE manager, wchar_t **argv_w) {
  SC_HANDLE service = OpenServiceW(manager, argv_w[1], SERVICE_ALL_ACCESS);
  SERVICE_DESCRIPTIONW description = {argv_w[4]};
  if (service == NULL) return failed("OpenServiceW");
  if (!ChangeServiceConfigW(service, SERVICE_NO_CHANGE, (DWORD)wcstoul(argv_w[2], NULL, 10),
                            SERVICE_NO_CHANGE, NULL, NULL, NULL, NULL, argv_w[3], NULL, NULL))
    return failed("ChangeServiceConfigW");
  return ChangeServiceConfig2W(service, SERVICE_CONFIG_DESCRIPTION, &description)
             ? 0
             : failed("ChangeServiceConfig2W");
}

int wmain(int argc, wchar_t **argv_w);
int wmain(int argc, wchar_t **argv_w) {
  SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
  if (argc == 5) return change(manager, argv_w);
  if (argc != 2) return 1;
  SC_HANDLE service =
      manager == NULL ? NULL : OpenServiceW(manager, argv_w[1], SERVICE_QUERY_CONFIG | SERVICE_QUERY_STATUS);
  if (service == NULL && GetLastError() == ERROR_SERVICE_DOES_NOT_EXIST) return puts("absent") < 0;
  if (service == NULL) return failed("OpenServiceW");
  DWORD needed;
  QUERY_SERVICE_CONFIGW *config = (QUERY_SERVICE_CONFIGW *)buffer;
  if (!QueryServiceConfigW(service, config, sizeof buffer, &needed)) return failed("QueryServiceConfigW");
  printf("type: %lu\nstart: %lu\ncommand line: %ls\naccount: %ls\ndisplay name: %ls\n", config->dwServiceType,
         config->dwStartType, config->lpBinaryPathName, config->lpServiceStartName, config->lpDisplayName);
  print_extras(service);
  SERVICE_STATUS_PROCESS status;
  if (!QueryServiceStatusEx(service, SC_STATUS_PROCESS_INFO, (BYTE *)&status, sizeof status, &needed))
    return failed("QueryServiceStatusEx");
  printf("state: %lu\nprocess: %lu\n", status.dwCurrentState, status.dwProcessId);
  return 0;
}
