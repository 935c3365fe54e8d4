/* SPDX-License-Identifier: Apache-2.0 */
#include "service/scm_win32.h"

#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "service/command_line.h"
#include "service/daemon.h"

enum {
  POLL_MS = 50,
  PROGRESS_MS = 2000,
  CONFIG_BYTES = 8 * 1024, /* more than that QueryServiceConfigW() never needs */
  RESTART_DELAY_MS = 10000,
  START_ATTEMPTS = 3,
};

static wchar_t local_system_w[] = L"LocalSystem";
static wchar_t description_w[] =
    L"Formats disks, mounts volumes and reaches SMB shares and iSCSI targets of this node for CSI drivers in "
    L"containers.";

static bool fail(struct csi_scm_service *service, const char *call, DWORD error, struct csi_status *status) {
  csi_fail_system(status, CSI_SPACE_WIN32, error, call, "service %s", service->name);
  if (error == ERROR_ACCESS_DENIED) return csi_advise(status, "; run this as administrator");
  if (error == ERROR_SERVICE_MARKED_FOR_DELETE)
    return csi_advise(
        status, "; it goes when the last program that looks at it (services.msc, for one) is closed, or "
                "with the next restart of Windows");
  return false;
}

static wchar_t *wide(struct csi_arena *arena, const char *text, struct csi_status *status) {
  return csi_utf16_from_utf8(arena, text, strlen(text), NULL, status);
}

bool csi_scm_connect(struct csi_scm_service *service, struct csi_arena *arena, const char *name,
                     struct csi_status *status) {
  *service = (struct csi_scm_service){.name = name, .name_w = wide(arena, name, status)};
  if (service->name_w == NULL) return csi_explain(status, "-name: ");
  service->manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT | SC_MANAGER_CREATE_SERVICE);
  return service->manager != NULL || fail(service, "OpenSCManagerW", GetLastError(), status);
}

static void close_service(struct csi_scm_service *service) {
  if (service->handle != NULL) CloseServiceHandle(service->handle);
  service->handle = NULL;
}

void csi_scm_close(struct csi_scm_service *service) {
  close_service(service);
  if (service->manager != NULL) CloseServiceHandle(service->manager);
  service->manager = NULL;
}

bool csi_scm_find(struct csi_scm_service *service, bool *exists_out, struct csi_status *status) {
  close_service(service);
  service->handle = OpenServiceW(service->manager, service->name_w, SERVICE_ALL_ACCESS);
  DWORD error = service->handle != NULL ? ERROR_SUCCESS : GetLastError();
  *exists_out = error == ERROR_SUCCESS;
  return error == ERROR_SUCCESS || error == ERROR_SERVICE_DOES_NOT_EXIST ||
         fail(service, "OpenServiceW", error, status);
}

static const char *narrow(struct csi_arena *arena, const wchar_t *text_w) {
  return text_w == NULL ? "" : csi_utf8_from_utf16(arena, text_w, wcslen(text_w));
}

static QUERY_SERVICE_CONFIGW *query_config(struct csi_scm_service *service, struct csi_arena *arena,
                                           struct csi_status *status) {
  QUERY_SERVICE_CONFIGW *config = csi_arena_alloc(arena, CONFIG_BYTES);
  DWORD needed = 0;
  if (config == NULL)
    csi_fail_out_of_memory(status);
  else if (!QueryServiceConfigW(service->handle, config, CONFIG_BYTES, &needed))
    fail(service, "QueryServiceConfigW", GetLastError(), status);
  else
    return config;
  return NULL;
}

bool csi_scm_read(struct csi_scm_service *service, struct csi_arena *arena, struct csi_install_config *out,
                  struct csi_status *status) {
  *out = (struct csi_install_config){0};
  const QUERY_SERVICE_CONFIGW *config = query_config(service, arena, status);
  if (config == NULL) return false;
  const char *command_line = narrow(arena, config->lpBinaryPathName);
  out->display_name = narrow(arena, config->lpDisplayName);
  out->account = narrow(arena, config->lpServiceStartName);
  out->own_process = (config->dwServiceType & SERVICE_WIN32_OWN_PROCESS) != 0;
  out->auto_start = config->dwStartType == SERVICE_AUTO_START;
  out->disabled = config->dwStartType == SERVICE_DISABLED;
  if (command_line == NULL || out->display_name == NULL || out->account == NULL)
    return csi_fail_out_of_memory(status);
  return csi_install_config_read_command(arena, command_line, out, status) ||
         csi_explain(status, "service %s: its command line: ", service->name);
}

/* What the service manager wants to have, in UTF-16. */
struct texts {
  const wchar_t *command_line_w, *display_name_w;
};

static bool make_texts(struct csi_arena *arena, const struct csi_install_config *config, struct texts *out,
                       struct csi_status *status) {
  size_t count;
  char **arguments = csi_service_arguments(arena, config, &count, status);
  char *command_line = arguments == NULL ? NULL : csi_command_line_join(arena, arguments, count, status);
  if (command_line == NULL) return false;
  out->command_line_w = wide(arena, command_line, status);
  out->display_name_w = wide(arena, config->display_name, status);
  return out->command_line_w != NULL && out->display_name_w != NULL;
}

bool csi_scm_create(struct csi_scm_service *service, struct csi_arena *arena,
                    const struct csi_install_config *config, struct csi_status *status) {
  struct texts texts;
  if (!make_texts(arena, config, &texts, status)) return false;
  service->handle = CreateServiceW(
      service->manager, service->name_w, texts.display_name_w, SERVICE_ALL_ACCESS, SERVICE_WIN32_OWN_PROCESS,
      config->auto_start ? SERVICE_AUTO_START : SERVICE_DEMAND_START, SERVICE_ERROR_NORMAL,
      texts.command_line_w, NULL, NULL, NULL, local_system_w, NULL);
  return service->handle != NULL || fail(service, "CreateServiceW", GetLastError(), status);
}

/* A name is refused when a service has it, be it this one: what stays the same is not said. */
static const wchar_t *if_changed(const wchar_t *now_w, const wchar_t *wanted_w) {
  return now_w != NULL && wcscmp(now_w, wanted_w) == 0 ? NULL : wanted_w;
}

bool csi_scm_change(struct csi_scm_service *service, struct csi_arena *arena,
                    const struct csi_install_config *config, struct csi_status *status) {
  struct texts texts;
  const QUERY_SERVICE_CONFIGW *now = query_config(service, arena, status);
  if (now == NULL || !make_texts(arena, config, &texts, status)) return false;
  return ChangeServiceConfigW(service->handle,
                              config->own_process ? SERVICE_WIN32_OWN_PROCESS : SERVICE_WIN32_SHARE_PROCESS,
                              config->auto_start ? SERVICE_AUTO_START : SERVICE_NO_CHANGE, SERVICE_NO_CHANGE,
                              texts.command_line_w, NULL, NULL, NULL, NULL, NULL,
                              if_changed(now->lpDisplayName, texts.display_name_w)) ||
         fail(service, "ChangeServiceConfigW", GetLastError(), status);
}

bool csi_scm_check_changeable(struct csi_scm_service *service, struct csi_status *status) {
  return ChangeServiceConfigW(service->handle, SERVICE_NO_CHANGE, SERVICE_NO_CHANGE, SERVICE_NO_CHANGE, NULL,
                              NULL, NULL, NULL, NULL, NULL, NULL) ||
         fail(service, "ChangeServiceConfigW", GetLastError(), status);
}

/* -- Extras ----------------------------------------------------------------------------------------- */

static const struct {
  DWORD level;
  const char *name;
} extras[CSI_SCM_EXTRAS] = {
    {SERVICE_CONFIG_DESCRIPTION, "SERVICE_CONFIG_DESCRIPTION"},
    {SERVICE_CONFIG_FAILURE_ACTIONS, "SERVICE_CONFIG_FAILURE_ACTIONS"},
    {SERVICE_CONFIG_FAILURE_ACTIONS_FLAG, "SERVICE_CONFIG_FAILURE_ACTIONS_FLAG"},
    {SERVICE_CONFIG_PRESHUTDOWN_INFO, "SERVICE_CONFIG_PRESHUTDOWN_INFO"},
};

/* infos: one for each of extras; NULL = leave it as it is. left_out: may be NULL. */
static bool set_extras(struct csi_scm_service *service, void *const infos[CSI_SCM_EXTRAS],
                       void (*left_out)(const char *what), struct csi_status *status) {
  for (size_t i = 0; i < CSI_SCM_EXTRAS; i++) {
    if (infos[i] == NULL || ChangeServiceConfig2W(service->handle, extras[i].level, infos[i])) continue;
    DWORD error = GetLastError();
    if (error != ERROR_INVALID_LEVEL) {
      fail(service, "ChangeServiceConfig2W", error, status);
      return csi_explain(status, "%s: ", extras[i].name);
    }
    if (left_out != NULL) left_out(extras[i].name); /* Wine does not know all of them */
  }
  return true;
}

/* UNVERIFIED ON WINDOWS: the restart, since Wine keeps recovery actions without using them. */
bool csi_scm_set_extras(struct csi_scm_service *service, uint32_t preshutdown_ms,
                        void (*left_out)(const char *call), struct csi_status *status) {
  SC_ACTION restart = {.Type = SC_ACTION_RESTART, .Delay = RESTART_DELAY_MS};
  SERVICE_FAILURE_ACTIONSW recovery = {.dwResetPeriod = 0, .cActions = 1, .lpsaActions = &restart};
  SERVICE_FAILURE_ACTIONS_FLAG on_errors = {.fFailureActionsOnNonCrashFailures = TRUE};
  SERVICE_PRESHUTDOWN_INFO preshutdown = {.dwPreshutdownTimeout = preshutdown_ms};
  SERVICE_DESCRIPTIONW description = {.lpDescription = description_w};
  void *const infos[CSI_SCM_EXTRAS] = {&description, &recovery, &on_errors, &preshutdown};
  return set_extras(service, infos, left_out, status);
}

/* For ChangeServiceConfig2W() NULL means "leave it": what was empty must be said to be empty. */
static void spell_out_nothing(const struct csi_scm_kept *kept) {
  static wchar_t nothing_w[] = L"";
  static SC_ACTION no_action;
  SERVICE_DESCRIPTIONW *description = kept->extras[0];
  SERVICE_FAILURE_ACTIONSW *recovery = kept->extras[1];
  if (description != NULL && description->lpDescription == NULL) description->lpDescription = nothing_w;
  if (recovery != NULL && recovery->cActions == 0) recovery->lpsaActions = &no_action;
}

bool csi_scm_keep(struct csi_scm_service *service, struct csi_arena *arena, struct csi_scm_kept *out,
                  struct csi_status *status) {
  *out = (struct csi_scm_kept){.config = query_config(service, arena, status)};
  if (out->config == NULL) return false;
  for (size_t i = 0; i < CSI_SCM_EXTRAS; i++) {
    DWORD needed = 0;
    BYTE *info = csi_arena_alloc(arena, CONFIG_BYTES);
    if (info == NULL) return csi_fail_out_of_memory(status);
    if (QueryServiceConfig2W(service->handle, extras[i].level, info, CONFIG_BYTES, &needed))
      out->extras[i] = info;
    else if (GetLastError() != ERROR_INVALID_LEVEL)
      return fail(service, "QueryServiceConfig2W", GetLastError(), status);
  }
  spell_out_nothing(out);
  return true;
}

bool csi_scm_restore(struct csi_scm_service *service, struct csi_arena *arena,
                     const struct csi_scm_kept *kept, struct csi_status *status) {
  const QUERY_SERVICE_CONFIGW *config = kept->config, *now = query_config(service, arena, status);
  if (now == NULL) return false;
  if (!ChangeServiceConfigW(service->handle, config->dwServiceType, config->dwStartType, SERVICE_NO_CHANGE,
                            config->lpBinaryPathName, NULL, NULL, NULL, NULL, NULL,
                            if_changed(now->lpDisplayName, config->lpDisplayName)))
    return fail(service, "ChangeServiceConfigW", GetLastError(), status);
  return set_extras(service, kept->extras, NULL, status);
}

bool csi_scm_delete(struct csi_scm_service *service, struct csi_status *status) {
  bool deleted = DeleteService(service->handle) || fail(service, "DeleteService", GetLastError(), status);
  close_service(service);
  return deleted;
}

bool csi_scm_status(struct csi_scm_service *service, SERVICE_STATUS_PROCESS *out, struct csi_status *status) {
  DWORD needed = 0;
  return QueryServiceStatusEx(service->handle, SC_STATUS_PROCESS_INFO, (BYTE *)out, sizeof *out, &needed) ||
         fail(service, "QueryServiceStatusEx", GetLastError(), status);
}

/* -- Start ------------------------------------------------------------------------------------------ */

static bool fail_start(struct csi_scm_service *service, const SERVICE_STATUS_PROCESS *at_end,
                       struct csi_status *status) {
  if (at_end->dwWin32ExitCode == ERROR_SERVICE_SPECIFIC_ERROR)
    return csi_fail(status, CSI_FAILED_PRECONDITION, "service %s stopped with its own error %lu: %s",
                    service->name, at_end->dwServiceSpecificExitCode,
                    at_end->dwServiceSpecificExitCode == CSI_EXIT_CONFIG
                        ? "flags or their values are wrong, or the log file cannot be opened"
                        : "it could not start; its log has the reason");
  if (at_end->dwWin32ExitCode == ERROR_SUCCESS)
    return csi_fail(status, CSI_FAILED_PRECONDITION, "service %s stopped at once", service->name);
  return csi_fail_system(status, CSI_SPACE_WIN32, at_end->dwWin32ExitCode, "StartServiceW",
                         "service %s does not start", service->name);
}

/* Waits while the service is in `passing`; *left_ms is what remains of the time. */
static bool wait_while(struct csi_scm_service *service, DWORD passing, DWORD *left_ms,
                       void (*progress)(uint32_t elapsed_ms), SERVICE_STATUS_PROCESS *at_end_out,
                       struct csi_status *status) {
  uint32_t told_ms = 0;
  for (uint32_t elapsed_ms = 0;; elapsed_ms += POLL_MS) {
    if (!csi_scm_status(service, at_end_out, status)) return false;
    if (at_end_out->dwCurrentState != passing) return true;
    if (*left_ms < POLL_MS)
      return csi_fail(status, CSI_DEADLINE_EXCEEDED, "service %s is %s and has not got on for %u ms",
                      service->name, passing == SERVICE_START_PENDING ? "starting" : "stopping", elapsed_ms);
    Sleep(POLL_MS);
    *left_ms -= POLL_MS;
    if (progress == NULL || elapsed_ms - told_ms < PROGRESS_MS) continue;
    told_ms = elapsed_ms;
    progress(elapsed_ms);
  }
}

bool csi_scm_start(struct csi_scm_service *service, uint32_t timeout_ms, struct csi_status *status) {
  DWORD left_ms = timeout_ms;
  SERVICE_STATUS_PROCESS now;
  /* More than once: Wine can lose a service that is started while its last process is ending. */
  for (int attempt = 0; attempt < START_ATTEMPTS; attempt++) {
    if (!StartServiceW(service->handle, 0, NULL)) {
      DWORD error = GetLastError();
      if (error != ERROR_SERVICE_ALREADY_RUNNING) return fail(service, "StartServiceW", error, status);
    }
    if (!wait_while(service, SERVICE_START_PENDING, &left_ms, NULL, &now, status)) return false;
    if (now.dwCurrentState == SERVICE_RUNNING) return true;
    if (now.dwWin32ExitCode != ERROR_SUCCESS) break;
  }
  return fail_start(service, &now, status);
}

/* -- Stop ------------------------------------------------------------------------------------------- */

bool csi_scm_stop(struct csi_scm_service *service, uint32_t timeout_ms, void (*progress)(uint32_t elapsed_ms),
                  struct csi_status *status) {
  DWORD left_ms = timeout_ms;
  SERVICE_STATUS_PROCESS now;
  /* One that is starting takes no controls. */
  if (!wait_while(service, SERVICE_START_PENDING, &left_ms, progress, &now, status)) return false;
  SERVICE_STATUS ignored;
  if (now.dwCurrentState == SERVICE_RUNNING &&
      !ControlService(service->handle, SERVICE_CONTROL_STOP, &ignored)) {
    DWORD error = GetLastError();
    if (error != ERROR_SERVICE_NOT_ACTIVE && error != ERROR_SERVICE_CANNOT_ACCEPT_CTRL)
      return fail(service, "ControlService", error, status);
  }
  do {
    if (!wait_while(service, SERVICE_STOP_PENDING, &left_ms, progress, &now, status)) return false;
    if (now.dwCurrentState == SERVICE_STOPPED) return true;
    Sleep(POLL_MS); /* it has the control, and has not reported yet */
    left_ms -= left_ms < POLL_MS ? left_ms : POLL_MS;
  } while (left_ms > 0);
  return csi_fail(status, CSI_DEADLINE_EXCEEDED, "service %s has not stopped within %u ms", service->name,
                  timeout_ms);
}
