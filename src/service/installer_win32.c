/* SPDX-License-Identifier: Apache-2.0 */
#include "service/installer_win32.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "rpc/method.h"
#include "service/groups.h"
#include "service/program_file_win32.h"
#include "service/program_win32.h"
#include "win32/handle.h"

enum {
  NANOSECONDS_PER_MS = 1000000,
  ARENA_BYTES = 16 << 20,
  DEFAULT_GRACE_MS = 30000,
  /* Beyond the grace period: what the service itself allows for cancelling and closing, and some more. */
  PRESHUTDOWN_MARGIN_MS = 15000,
  PROCESS_END_MS = 3000, /* how long a process may outlive its service */
  PIPE_WAIT_MS = 1000,
  LOCK_WAIT_MS = 120000,
  LOCK_POLL_MS = 200,
  PATH_UNITS = 32768,
};

static const char *const log_file_flags[] = {"log_file", "audit-log"};

void csi_installer_say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  fflush(stdout);
}

void csi_installer_say_item(void *unused, const char *line) {
  (void)unused;
  csi_installer_say("  %s", line);
}

/* -- What is wanted --------------------------------------------------------------------------------- */

void csi_installer_fill_wanted(const struct csi_installer *installer, struct csi_install_config *wanted) {
  wanted->display_name = installer->options->display_name;
  wanted->account = "LocalSystem";
  wanted->own_process = true;
  wanted->auto_start = true;
}

bool csi_installer_want_given(struct csi_installer *installer, struct csi_install_config *wanted) {
  const struct csi_install_options *options = installer->options;
  *wanted = (struct csi_install_config){.flags = options->flags};
  csi_installer_fill_wanted(installer, wanted);
  const char *path = options->to[0] != '\0' ? options->to : options->exe;
  wanted->executable = path[0] != '\0' ? csi_program_file_absolute(installer->arena, path, &installer->status)
                                       : csi_program_file_own(installer->arena, &installer->status);
  return wanted->executable != NULL &&
         csi_service_flags_add_log(installer->arena, &wanted->flags, &installer->status);
}

/* Reads the flags of config as the service will. */
static bool parse(struct csi_installer *installer, const struct csi_install_config *config,
                  struct csi_options *options_out, struct csi_status *status) {
  size_t count;
  char **arguments = csi_service_arguments(installer->arena, config, &count, status);
  if (arguments == NULL) return false;
  switch (csi_options_parse(options_out, (int)count, arguments, status)) {
  case CSI_OPTIONS_RUN:
    return true;
  case CSI_OPTIONS_HELP:
    return csi_fail(status, CSI_INVALID_ARGUMENT, "a service cannot have -help");
  case CSI_OPTIONS_INVALID:
    break;
  }
  return false;
}

bool csi_installer_check(struct csi_installer *installer, const struct csi_install_config *wanted) {
  static struct csi_options options;
  if (!parse(installer, wanted, &options, &installer->status)) return false;
  options.audit_log = ""; /* its directory is made after the check */
  enum csi_exit result = csi_daemon_check(&options, csi_program_win32(&options), stdout);
  fflush(stdout);
  return result == CSI_EXIT_OK || csi_fail(&installer->status, CSI_INVALID_ARGUMENT,
                                           "the flags of the service are not valid, see above");
}

bool csi_installer_find(struct csi_installer *installer, bool *exists_out,
                        struct csi_install_config *present) {
  struct csi_status *status = &installer->status;
  bool recovered;
  if (!csi_scm_find(&installer->service, exists_out, status)) return false;
  if (!*exists_out) return true;
  if (!csi_scm_read(&installer->service, installer->arena, present, status)) return false;
  if (!installer->options->force && !csi_install_is_csi_proxy(present->executable))
    return csi_fail(status, CSI_FAILED_PRECONDITION,
                    "service %s is not a csi-proxy but %s; with -force it is taken all the same",
                    installer->service.name, present->executable);
  if (!csi_scm_check_changeable(&installer->service, status) ||
      !csi_program_file_recover(installer->arena, present->executable, &recovered, status))
    return false;
  if (recovered)
    csi_installer_say("an upgrade had been interrupted: the former program is back as %s",
                      present->executable);
  return true;
}

bool csi_installer_compare(struct csi_installer *installer, const struct csi_install_config *present,
                           const struct csi_install_config *wanted, const char *source,
                           struct csi_installer_difference *out) {
  SERVICE_STATUS_PROCESS now;
  bool same = true;
  if (!csi_scm_status(&installer->service, &now, &installer->status) ||
      (source != NULL &&
       !csi_program_file_compare(installer->arena, source, wanted->executable, &same, &installer->status)))
    return false;
  out->file = !same;
  out->config = csi_install_config_compare(present, wanted, csi_installer_say_item, NULL) > 0;
  out->stopped = now.dwCurrentState == SERVICE_STOPPED;
  if (out->file) csi_installer_say("  program: %s is not the same as %s", wanted->executable, source);
  return true;
}

/* -- Directories ------------------------------------------------------------------------------------ */

static void warn_of_writers(struct csi_installer *installer, const char *path) {
  struct csi_status fault = {0};
  if (!csi_program_file_check_parent(installer->arena, path, &fault))
    csi_installer_say("warning: %s", fault.text);
}

bool csi_installer_make_program_directory(struct csi_installer *installer,
                                          const struct csi_install_config *config) {
  if (!csi_program_file_make_parent(installer->arena, config->executable, &installer->status)) return false;
  if (installer->options->to[0] != '\0' && !installer->options->force)
    return csi_program_file_check_parent(installer->arena, config->executable, &installer->status) ||
           csi_advise(&installer->status, ": a service of LocalSystem does not belong there; take that right "
                                          "away, choose another place, or use -force");
  warn_of_writers(installer, config->executable);
  return true;
}

bool csi_installer_make_log_directories(struct csi_installer *installer,
                                        const struct csi_install_config *wanted) {
  for (size_t i = 0; i < sizeof log_file_flags / sizeof *log_file_flags; i++) {
    const char *file = csi_service_flag_value(&wanted->flags, log_file_flags[i]);
    if (file != NULL && file[0] != '\0' &&
        !csi_program_file_make_parent(installer->arena, file, &installer->status))
      return csi_explain(&installer->status, "cannot make the directory of -%s: ", log_file_flags[i]);
    if (file != NULL) warn_of_writers(installer, file);
  }
  const char *directory = csi_service_flag_value(&wanted->flags, "log_dir");
  return directory == NULL || directory[0] == '\0' ||
         csi_program_file_make_directory(installer->arena, directory, &installer->status) ||
         csi_explain(&installer->status, "cannot make -log_dir: ");
}

uint32_t csi_installer_grace_ms(struct csi_installer *installer, const struct csi_install_config *config) {
  static struct csi_options options;
  struct csi_status ignored = {0};
  return parse(installer, config, &options, &ignored) ? csi_options_stop_grace_ms(&options)
                                                      : DEFAULT_GRACE_MS;
}

static void say_left_out(const char *call) {
  csi_installer_say("this system does not know %s: left out", call);
}

bool csi_installer_set_extras(struct csi_installer *installer, const struct csi_install_config *config) {
  uint32_t preshutdown_ms = csi_installer_grace_ms(installer, config) + PRESHUTDOWN_MARGIN_MS;
  return csi_scm_set_extras(&installer->service, preshutdown_ms, say_left_out, &installer->status);
}

enum csi_exit csi_installer_exit(const struct csi_status *status) {
  return status->code == CSI_INVALID_ARGUMENT && status->space == CSI_SPACE_NONE ? CSI_EXIT_CONFIG
                                                                                 : CSI_EXIT_START;
}

static uint32_t timeout_ms(const struct csi_installer *installer) {
  return (uint32_t)(installer->options->timeout_ns / NANOSECONDS_PER_MS);
}

/* -- Start ------------------------------------------------------------------------------------------ */

static const wchar_t *pipe_name(struct csi_installer *installer, const char *prefix,
                                const struct csi_service *service, char **pipe_out) {
  char *pipe = csi_arena_printf(installer->arena, "%s%s-%s", prefix, service->group, service->version);
  *pipe_out = pipe;
  struct csi_status ignored = {0};
  return pipe == NULL ? NULL : csi_utf16_from_utf8(installer->arena, pipe, strlen(pipe), NULL, &ignored);
}

static bool await_pipe(struct csi_installer *installer, const char *prefix,
                       const struct csi_service *service) {
  char *pipe;
  const wchar_t *pipe_w = pipe_name(installer, prefix, service, &pipe);
  if (pipe_w == NULL) return csi_fail_out_of_memory(&installer->status);
  if (WaitNamedPipeW(pipe_w, PIPE_WAIT_MS)) return true;
  DWORD error = GetLastError();
  return csi_fail_system(&installer->status, CSI_SPACE_WIN32, error, "WaitNamedPipeW",
                         "the service runs, but pipe %s does not answer", pipe);
}

/* Every pipe that drivers know. */
static bool await_pipes(struct csi_installer *installer, const struct csi_install_config *config,
                        size_t *pipes_out) {
  static struct csi_options options;
  *pipes_out = 0;
  if (!parse(installer, config, &options, &installer->status)) return false;
  for (size_t i = 0; i < CSI_GROUP_COUNT; i++) {
    if (csi_groups[i].is_admin) continue; /* may be switched off */
    const struct csi_service_list *list = csi_groups[i].services;
    for (size_t s = 0; s < list->service_count; s++, (*pipes_out)++)
      if (!await_pipe(installer, options.pipe_prefix, list->services[s])) return false;
  }
  return true;
}

bool csi_installer_start(struct csi_installer *installer, const struct csi_install_config *config,
                         size_t *pipes_out) {
  return csi_scm_start(&installer->service, timeout_ms(installer), &installer->status) &&
         await_pipes(installer, config, pipes_out);
}

/* -- Stop ------------------------------------------------------------------------------------------- */

static void say_progress(uint32_t elapsed_ms) {
  csi_installer_say("waiting for calls under way to end, %u s so far", elapsed_ms / 1000);
}

static bool has_image(struct csi_installer *installer, HANDLE process, const char *executable) {
  wchar_t *image_w = csi_arena_alloc_array(installer->arena, PATH_UNITS, sizeof *image_w);
  DWORD units = PATH_UNITS;
  if (image_w == NULL || !QueryFullProcessImageNameW(process, 0, image_w, &units)) return false;
  const char *image = csi_utf8_from_utf16(installer->arena, image_w, units);
  return image != NULL && csi_utf8_equal_ignore_case(image, executable);
}

static HANDLE open_process(DWORD process_id) {
  return OpenProcess(SYNCHRONIZE | PROCESS_TERMINATE | PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process_id);
}

/* The original goes on after its service has stopped, and keeps its pipes.
 * UNVERIFIED ON WINDOWS: whether its service manager ends such a process by itself, which would do as well.
 */
static bool end_process(struct csi_installer *installer, HANDLE process, DWORD process_id,
                        const struct csi_install_config *config) {
  if (WaitForSingleObject(process, PROCESS_END_MS) == WAIT_OBJECT_0) return true;
  if (!csi_install_is_csi_proxy(config->executable) || !has_image(installer, process, config->executable))
    return csi_fail(
        &installer->status, CSI_FAILED_PRECONDITION,
        "service %s has stopped, but its process %lu goes on, and is not the csi-proxy %s: end it first",
        installer->service.name, process_id, config->executable);
  csi_installer_say("service %s has stopped, but its process %lu goes on: ending it (%s)",
                    installer->service.name, process_id, config->executable);
  if (!TerminateProcess(process, 1)) {
    DWORD error = GetLastError();
    return csi_fail_system(&installer->status, CSI_SPACE_WIN32, error, "TerminateProcess", "process %lu",
                           process_id);
  }
  return WaitForSingleObject(process, PROCESS_END_MS) == WAIT_OBJECT_0 ||
         csi_fail(&installer->status, CSI_DEADLINE_EXCEEDED, "process %lu does not end", process_id);
}

/* The process that has the first of the pipes of config, as the original has them all; 0 when there is none.
 */
static DWORD find_pipe_owner(struct csi_installer *installer, const struct csi_install_config *config) {
  static struct csi_options options;
  struct csi_status ignored = {0};
  if (!parse(installer, config, &options, &ignored)) return 0;
  char *unused;
  const wchar_t *pipe_w =
      pipe_name(installer, options.pipe_prefix, csi_groups[0].services->services[0], &unused);
  ULONG process_id = 0;
  CSI_SCOPED_HANDLE handle = pipe_w == NULL ? NULL
                                            : CreateFileW(pipe_w, GENERIC_READ, 0, NULL, OPEN_EXISTING,
                                                          SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, NULL);
  if (handle == NULL || handle == INVALID_HANDLE_VALUE || !GetNamedPipeServerProcessId(handle, &process_id))
    return 0;
  return process_id;
}

/* A process of the original that an earlier stop has left. One of another program is none of ours; the start
 * says that it has the pipe. */
static bool end_left_over(struct csi_installer *installer, const struct csi_install_config *config) {
  DWORD process_id = find_pipe_owner(installer, config);
  CSI_SCOPED_HANDLE process = process_id == 0 ? NULL : open_process(process_id);
  return process == NULL || !has_image(installer, process, config->executable) ||
         end_process(installer, process, process_id, config);
}

bool csi_installer_stop(struct csi_installer *installer, const struct csi_install_config *config) {
  SERVICE_STATUS_PROCESS now;
  if (!csi_scm_status(&installer->service, &now, &installer->status)) return false;
  if (now.dwCurrentState == SERVICE_STOPPED) return !config->own_process || end_left_over(installer, config);
  /* Opened before the stop: afterwards the number may be another process's. */
  bool own = config->own_process && now.dwProcessId != 0;
  CSI_SCOPED_HANDLE process = own ? open_process(now.dwProcessId) : NULL;
  DWORD error = own && process == NULL ? GetLastError() : ERROR_SUCCESS;
  if (error != ERROR_SUCCESS && error != ERROR_INVALID_PARAMETER) /* that: it has ended */
    return csi_fail_system(&installer->status, CSI_SPACE_WIN32, error, "OpenProcess",
                           "process %lu of service %s", now.dwProcessId, installer->service.name);
  uint32_t limit_ms = csi_installer_grace_ms(installer, config) + timeout_ms(installer);
  if (!csi_scm_stop(&installer->service, limit_ms, say_progress, &installer->status)) return false;
  return process == NULL || end_process(installer, process, now.dwProcessId, config);
}

/* -- One piece of work ------------------------------------------------------------------------------ */

/* NULL with a status. One for all services of this program: they share the event source. A file that only
 * administrators can make, since a mutex could be taken by anybody. It is gone when it is closed. */
static HANDLE lock(struct csi_status *status) {
  static const wchar_t name_w[] = L"\\csi-proxy-install.lock";
  wchar_t path_w[MAX_PATH + sizeof name_w / sizeof *name_w];
  UINT units = GetSystemWindowsDirectoryW(path_w, MAX_PATH);
  DWORD error = ERROR_PATH_NOT_FOUND;
  if (units > 0 && units < MAX_PATH) wcscpy(path_w + units, name_w);
  for (DWORD waited_ms = 0; units > 0 && units < MAX_PATH; waited_ms += LOCK_POLL_MS) {
    HANDLE file = CreateFileW(path_w, GENERIC_WRITE, 0, NULL, OPEN_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL);
    if (file != INVALID_HANDLE_VALUE) return file;
    error = GetLastError();
    /* Denied for a moment, too, while the one before goes. */
    if (waited_ms >= LOCK_WAIT_MS || (error != ERROR_SHARING_VIOLATION && error != ERROR_ACCESS_DENIED))
      break;
    Sleep(LOCK_POLL_MS);
  }
  if (error == ERROR_SHARING_VIOLATION)
    csi_fail(status, CSI_DEADLINE_EXCEEDED, "another installation, upgrade or removal is going on");
  else
    csi_fail_system(status, CSI_SPACE_WIN32, error, "CreateFileW", "cannot lock out other installations: %ls",
                    path_w);
  return NULL;
}

bool csi_installer_run(const struct csi_install_options *options,
                       bool (*work)(struct csi_installer *installer), struct csi_status *status) {
  struct csi_installer installer = {.arena = csi_arena_new(ARENA_BYTES), .options = options};
  if (installer.arena == NULL) return csi_fail_out_of_memory(status);
  CSI_SCOPED_HANDLE locked = NULL;
  bool done = csi_scm_connect(&installer.service, installer.arena, options->name, &installer.status) &&
              (locked = lock(&installer.status)) != NULL && work(&installer);
  csi_scm_close(&installer.service);
  csi_arena_free(installer.arena);
  *status = installer.status;
  return done;
}
