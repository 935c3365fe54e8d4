/* SPDX-License-Identifier: Apache-2.0 */
#include "service/console_win32.h"

#include <stdatomic.h>
#include <windows.h>

#include "base/log.h"

/* What Windows itself ends a program with after Ctrl-C. */
#define EXIT_INTERRUPTED 0xC000013AU

/* The control handler has no context argument. */
static struct {
  HANDLE stop;
  atomic_bool interrupted;
} console;

static const char *event_name(DWORD event) {
  switch (event) {
  case CTRL_C_EVENT:
    return "Ctrl-C";
  case CTRL_BREAK_EVENT:
    return "Ctrl-Break";
  case CTRL_CLOSE_EVENT:
    return "console closed";
  default:
    return "system shuts down";
  }
}

/* Runs on a thread that Windows makes for it. */
static BOOL WINAPI handle_event(DWORD event) {
  /* Sent to every console process, whoever logs off: no reason to stop. */
  if (event == CTRL_LOGOFF_EVENT) return TRUE;
  bool again = atomic_exchange(&console.interrupted, true);
  bool interrupt = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
  if (again && interrupt) {
    CSI_LOG(WARNING, "Interrupted again (%s): exiting at once", event_name(event));
    TerminateProcess(GetCurrentProcess(), EXIT_INTERRUPTED);
  }
  CSI_LOG(INFO, "Interrupted (%s)", event_name(event));
  SetEvent(console.stop);
  /* Windows ends the process when this function returns from one of the other events: the main thread
   * ends it first, unless it takes longer than Windows waits (5 s). */
  if (!interrupt) Sleep(INFINITE);
  return TRUE;
}

static void nothing(void *context) {
  (void)context;
}

static void wait_for_stop(void *context) {
  (void)context;
  WaitForSingleObject(console.stop, INFINITE);
}

static void stopping(void *context, size_t running, uint32_t left_ms) {
  (void)context;
  if (running > 0) CSI_LOG(INFO, "Waiting for %zu calls, at most %u ms more", running, left_ms);
}

enum csi_exit csi_console_run(const struct csi_options *options, const struct csi_program *program) {
  static const struct csi_daemon_host host = {
      .starting = nothing, .running = nothing, .wait_for_stop = wait_for_stop, .stopping = stopping};
  console.stop = CreateEventW(NULL, TRUE, FALSE, NULL);
  if (console.stop == NULL || !SetConsoleCtrlHandler(handle_event, TRUE)) {
    DWORD error = GetLastError();
    CSI_LOG(ERROR, "cannot watch for Ctrl-C: error %lu", error);
    return CSI_EXIT_START;
  }
  /* The event stays open: the handler may run until the process ends. */
  return csi_daemon_run(options, program, &host);
}
