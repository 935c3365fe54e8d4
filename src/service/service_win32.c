/* SPDX-License-Identifier: Apache-2.0 */
#include "service/service_win32.h"

#include <stdio.h>
#include <windows.h>

#include "base/log.h"
#include "service/event_log.h"
#include "service/service_state.h"

enum {
  START_HINT_MS = 10000, /* until the next check point of a start; each is a few milliseconds of work */
  STOP_MARGIN_MS = 5000, /* for what comes after the grace period: cancelling, closing */
};

static wchar_t service_name_w[] = L"csiproxy";

struct service {
  const struct csi_options *options;
  const struct csi_program *program;
  const struct csi_status *refused;
  SERVICE_STATUS_HANDLE manager;
  HANDLE stop;
  struct csi_service_state state;
  enum csi_exit result;
};

/* ServiceMain has no context argument. */
static struct service the_service;

static const DWORD manager_state[CSI_SERVICE_PHASE_COUNT] = {
    [CSI_SERVICE_NEW] = SERVICE_STOPPED,     [CSI_SERVICE_START_PENDING] = SERVICE_START_PENDING,
    [CSI_SERVICE_RUNNING] = SERVICE_RUNNING, [CSI_SERVICE_STOP_PENDING] = SERVICE_STOP_PENDING,
    [CSI_SERVICE_STOPPED] = SERVICE_STOPPED,
};

static void report_to_manager(void *context, const struct csi_service_report *report) {
  struct service *service = context;
  SERVICE_STATUS status = {
      .dwServiceType = SERVICE_WIN32_OWN_PROCESS,
      .dwCurrentState = manager_state[report->phase],
      .dwControlsAccepted = report->accepts_stop
                                ? SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_SHUTDOWN | SERVICE_ACCEPT_PRESHUTDOWN
                                : 0,
      .dwWin32ExitCode = report->specific_code == 0 ? NO_ERROR : ERROR_SERVICE_SPECIFIC_ERROR,
      .dwServiceSpecificExitCode = report->specific_code,
      .dwCheckPoint = report->check_point,
      .dwWaitHint = report->wait_hint_ms,
  };
  if (!SetServiceStatus(service->manager, &status)) {
    DWORD error = GetLastError();
    CSI_LOG(ERROR, "SetServiceStatus failed with %lu", error);
  }
}

static const char *control_name(DWORD control) {
  switch (control) {
  case SERVICE_CONTROL_STOP:
    return "stop";
  case SERVICE_CONTROL_SHUTDOWN:
    return "shutdown";
  default:
    return "pre-shutdown";
  }
}

static DWORD WINAPI handle_control(DWORD control, DWORD event, void *event_data, void *context) {
  (void)event;
  (void)event_data;
  struct service *service = context;
  switch (control) {
  case SERVICE_CONTROL_INTERROGATE:
    return NO_ERROR; /* the service manager remembers the last report */
  case SERVICE_CONTROL_STOP:
  case SERVICE_CONTROL_SHUTDOWN:
  case SERVICE_CONTROL_PRESHUTDOWN:
    if (!csi_service_state_pending(&service->state, CSI_SERVICE_STOP_PENDING,
                                   csi_options_stop_grace_ms(service->options) + STOP_MARGIN_MS))
      return ERROR_SERVICE_CANNOT_ACCEPT_CTRL;
    CSI_LOG(INFO, "Received the control %s", control_name(control));
    SetEvent(service->stop);
    return NO_ERROR;
  default:
    return ERROR_CALL_NOT_IMPLEMENTED;
  }
}

static void starting(void *context) {
  struct service *service = context;
  csi_service_state_pending(&service->state, CSI_SERVICE_START_PENDING, START_HINT_MS);
}

static void running(void *context) {
  struct service *service = context;
  csi_service_state_running(&service->state);
}

static void wait_for_stop(void *context) {
  struct service *service = context;
  WaitForSingleObject(service->stop, INFINITE);
}

static void stopping(void *context, size_t calls, uint32_t left_ms) {
  (void)calls;
  struct service *service = context;
  const uint32_t hint_ms = left_ms + STOP_MARGIN_MS;
  if (!csi_service_state_pending(&service->state, CSI_SERVICE_STOP_PENDING, hint_ms)) /* the start failed */
    csi_service_state_pending(&service->state, CSI_SERVICE_START_PENDING, hint_ms);
}

static enum csi_exit run(struct service *service) {
  if (service->refused->code != CSI_OK) {
    CSI_LOG(ERROR, "%s", service->refused->text);
    CSI_EVENT(CONFIGURATION_REFUSED, service->refused->text);
    return CSI_EXIT_CONFIG;
  }
  const struct csi_daemon_host host = {.context = service,
                                       .starting = starting,
                                       .running = running,
                                       .wait_for_stop = wait_for_stop,
                                       .stopping = stopping};
  CSI_LOG(INFO, "Running as a Windows service.");
  return csi_daemon_run(service->options, service->program, &host);
}

/* Start arguments are ignored, as the service's command line says everything. */
static void WINAPI service_main(DWORD argc, wchar_t **argv_w) {
  struct service *service = &the_service;
  /* The installed name, which need not be ours. */
  const wchar_t *name_w = argc > 0 ? argv_w[0] : service_name_w;
  service->manager = RegisterServiceCtrlHandlerExW(name_w, handle_control, service);
  if (service->manager == NULL) {
    DWORD error = GetLastError();
    CSI_LOG(ERROR, "RegisterServiceCtrlHandlerExW failed with %lu", error);
    service->result = CSI_EXIT_START;
    return;
  }
  starting(service);
  service->result = run(service);
  stopping(service, 0, CSI_EVENT_LOG_CLOSE_MS);
  csi_event_log_close();
  csi_log_flush();
  /* Last: from here on the service manager may start the next process. */
  csi_service_state_stopped(&service->state, (uint32_t)service->result);
}

static void explain_console(void) {
  fputs("csi-proxy: with -windows-service this program can only be started by the Windows service manager.\n"
        "To run it here, leave the flag out. To install and start it as a service:\n"
        "  csi-proxy.exe install <flags>\n",
        stderr);
}

enum csi_exit csi_service_run(const struct csi_options *options, const struct csi_program *program,
                              const struct csi_status *refused) {
  struct service *service = &the_service;
  *service =
      (struct service){.options = options, .program = program, .refused = refused, .result = CSI_EXIT_START};
  service->stop = CreateEventW(NULL, TRUE, FALSE, NULL);
  if (service->stop == NULL) {
    DWORD error = GetLastError();
    CSI_LOG(ERROR, "CreateEventW failed with %lu", error);
    return CSI_EXIT_START;
  }
  csi_service_state_init(&service->state, report_to_manager, service);

  const SERVICE_TABLE_ENTRYW table[] = {{service_name_w, service_main}, {NULL, NULL}};
  if (!StartServiceCtrlDispatcherW(table)) {
    DWORD error = GetLastError();
    if (error == ERROR_FAILED_SERVICE_CONTROLLER_CONNECT) {
      explain_console();
      return CSI_EXIT_CONFIG;
    }
    CSI_LOG(ERROR, "StartServiceCtrlDispatcherW failed with %lu", error);
  }
  /* The event and the state stay: a control may still be on its way. */
  return service->result;
}
