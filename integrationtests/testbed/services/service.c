/* SPDX-License-Identifier: Apache-2.0
 *
 * csi-test-service.exe [start-delay=MS] [stop-delay=MS] [refuse-stop] [fail-start=CODE] [silent]: a service
 * that does nothing, as slowly and as badly as it is told; see docs/TESTBED.md. Only the service manager can
 * start it. Arguments of StartServiceW() are about that one start: "at-once" = quickly and without failing,
 * "paused" = that, and then pauses when it is told to finish.
 */
#include <windows.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

#include "driver/words.h"
#include "services/finish.h"

enum {
  LINE_BYTES = 1024,
  CHECK_POINT_MS = 50,
};

/* What the command line tells. */
static struct {
  uint64_t start_delay_ms, stop_delay_ms, fail_start;
  bool refuse_stop, silent;
} behaviour;

static SERVICE_STATUS_HANDLE status_handle;
static HANDLE stop_event, finish_event;

static void tell_more(DWORD state, DWORD check_point, DWORD exit_code, bool accepts_stop) {
  SERVICE_STATUS status = {.dwServiceType = SERVICE_WIN32_OWN_PROCESS,
                           .dwCurrentState = state,
                           .dwCheckPoint = check_point,
                           .dwWaitHint = check_point > 0 ? 10 * CHECK_POINT_MS : 0,
                           .dwWin32ExitCode = exit_code};
  if (accepts_stop) status.dwControlsAccepted = SERVICE_ACCEPT_STOP;
  SetServiceStatus(status_handle, &status);
}

static void tell(DWORD state, DWORD check_point, DWORD exit_code) {
  bool is_up = state == SERVICE_RUNNING || state == SERVICE_PAUSED;
  tell_more(state, check_point, exit_code, is_up && !behaviour.refuse_stop);
}

/* Is in a pending state for so long, or until it is told to finish, with check points. A silent one stays
 * there for ever. */
static void linger(DWORD state, uint64_t duration_ms) {
  if (behaviour.silent) {
    tell(state, 0, NO_ERROR);
    Sleep(INFINITE);
  }
  ULONGLONG end = GetTickCount64() + duration_ms;
  for (DWORD check_point = 1; GetTickCount64() < end; check_point++) {
    tell(state, check_point, NO_ERROR);
    if (WaitForSingleObject(finish_event, CHECK_POINT_MS) == WAIT_OBJECT_0) return;
  }
}

static DWORD WINAPI control(DWORD code, DWORD event_type, void *event_data, void *context) {
  (void)event_type;
  (void)event_data;
  (void)context;
  if (code != SERVICE_CONTROL_STOP)
    return code == SERVICE_CONTROL_INTERROGATE ? NO_ERROR : ERROR_CALL_NOT_IMPLEMENTED;
  tell(SERVICE_STOP_PENDING, behaviour.silent ? 0 : 1, NO_ERROR);
  SetEvent(stop_event);
  return NO_ERROR;
}

static bool is_said(DWORD count, wchar_t **arguments, const wchar_t *word) {
  for (DWORD i = 1; i < count; i++)
    if (wcscmp(arguments[i], word) == 0) return true;
  return false;
}

static void WINAPI service_main(DWORD count, wchar_t **arguments) {
  bool pauses = is_said(count, arguments, L"paused");
  bool at_once = pauses || is_said(count, arguments, L"at-once");
  wchar_t event_w[CSI_TEST_SERVICE_EVENT_UNITS];
  swprintf(event_w, CSI_TEST_SERVICE_EVENT_UNITS, CSI_TEST_SERVICE_EVENT, count > 0 ? arguments[0] : L"");
  finish_event = CreateEventW(NULL, FALSE, FALSE, event_w);
  status_handle = RegisterServiceCtrlHandlerExW(L"", control, NULL);
  if (finish_event == NULL || status_handle == NULL) return;
  if (!at_once) linger(SERVICE_START_PENDING, behaviour.start_delay_ms);
  if (!at_once && behaviour.fail_start != 0) {
    tell(SERVICE_STOPPED, 0, (DWORD)behaviour.fail_start);
    return;
  }
  if (pauses) { /* Wine's StartServiceW() has to see it running; nobody can stop it meanwhile */
    tell_more(SERVICE_RUNNING, 0, NO_ERROR, false);
    WaitForSingleObject(finish_event, INFINITE);
  }
  tell(pauses ? SERVICE_PAUSED : SERVICE_RUNNING, 0, NO_ERROR);
  WaitForSingleObject(stop_event, INFINITE);
  linger(SERVICE_STOP_PENDING, behaviour.stop_delay_ms);
  tell(SERVICE_STOPPED, 0, NO_ERROR);
}

static void read_number(struct vdisk_words *words, const char *key, uint64_t *number_out) {
  const char *value = vdisk_words_value(words, key);
  if (value != NULL && !vdisk_number_parse(value, number_out)) *number_out = 0;
}

int wmain(int count, wchar_t **arguments);

int wmain(int count, wchar_t **arguments) {
  char line[LINE_BYTES] = "";
  size_t length = 0;
  for (int i = 1; i < count && length < sizeof line; i++)
    length += (size_t)snprintf(line + length, sizeof line - length, "%ls ", arguments[i]);
  struct vdisk_words words;
  if (length >= sizeof line || !vdisk_words_split(&words, line)) return 2;
  read_number(&words, "start-delay", &behaviour.start_delay_ms);
  read_number(&words, "stop-delay", &behaviour.stop_delay_ms);
  read_number(&words, "fail-start", &behaviour.fail_start);
  behaviour.refuse_stop = vdisk_words_flag(&words, "refuse-stop");
  behaviour.silent = vdisk_words_flag(&words, "silent");
  stop_event = CreateEventW(NULL, TRUE, FALSE, NULL);
  wchar_t no_name_w[] = L"";
  const SERVICE_TABLE_ENTRYW table[] = {{no_name_w, service_main}, {NULL, NULL}};
  return stop_event != NULL && StartServiceCtrlDispatcherW(table) ? 0 : (int)GetLastError();
}
