/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/format_child_win32.h"

#include <windows.h>

#include <inttypes.h>
#include <string.h>

#include "base/call_timing.h"
#include "base/log.h"
#include "volume/format_helper_win32.h"
#include "volume/format_protocol.h"
#include "volume/volume_id.h"
#include "win32/device.h"
#include "win32/handle.h"

enum {
  END_MS = 5000, /* how long a process that has been told to end, or has closed its pipe, may take */
  PATH_UNITS = 32768,
  HANDLES_INHERITED = 2,
  ATTRIBUTES = 2,
  ATTRIBUTES_BYTES = 256,
  PROGRESS_STEP = 10, /* per cent */
  EXIT_KILLED = 0xDEAD,
};

/* One run of the helper, seen from this side. */
struct child {
  struct csi_ctx *ctx;
  const char *volume; /* its id, for texts */
  const struct csi_ctx *client;
  uint32_t limit_ms; /* what the whole of it may take */
  HANDLE job_out;    /* ours: the job is written to it */
  HANDLE reports_in; /* ours: reports are read from it */
  HANDLE child_input;
  HANDLE child_output;
  HANDLE process;
  HANDLE limits; /* job object: what is in it ends with it */
  struct csi_format_reports reports;
};

static bool fail(struct child *child, const char *call) {
  DWORD error = GetLastError();
  return csi_fail_system(&child->ctx->status, CSI_SPACE_WIN32, error, call, "format helper");
}

static void close_child(struct child *child) {
  csi_handle_close(&child->job_out);
  csi_handle_close(&child->reports_in);
  csi_handle_close(&child->child_input);
  csi_handle_close(&child->child_output);
  csi_handle_close(&child->process);
  csi_handle_close(&child->limits); /* ends what is left */
}

/* -- Start ----------------------------------------------------------------------------------------- */

static bool make_pipes(struct child *child) {
  return (CreatePipe(&child->child_input, &child->job_out, NULL, 0) &&
          CreatePipe(&child->reports_in, &child->child_output, NULL, 0) &&
          SetHandleInformation(child->child_input, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) &&
          SetHandleInformation(child->child_output, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT)) ||
         fail(child, "CreatePipe");
}

/* No limits on the user interface: with those, it could not be within the job that a container, or a remote
 * shell, has put the service in. */
static bool make_limits(struct child *child) {
  child->limits = CreateJobObjectW(NULL, NULL);
  if (child->limits == NULL) return fail(child, "CreateJobObjectW");
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {
      .BasicLimitInformation = {.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE |
                                              JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION |
                                              JOB_OBJECT_LIMIT_ACTIVE_PROCESS,
                                .ActiveProcessLimit = 1},
  };
  if (!SetInformationJobObject(child->limits, JobObjectExtendedLimitInformation, &limits, sizeof limits))
    return fail(child, "SetInformationJobObject");
  return true;
}

/* `"C:\...\csi-proxy.exe" format-volume-helper`. Nothing in it comes from a request. */
static bool make_command_line(struct child *child, wchar_t **program_w_out, wchar_t **command_line_w_out) {
  static const wchar_t argument_w[] = L"\" " CSI_FORMAT_HELPER_ARGUMENT;
  wchar_t *line_w = csi_arena_alloc_array(child->ctx->arena, PATH_UNITS + 64, sizeof *line_w);
  wchar_t *program_w = csi_arena_alloc_array(child->ctx->arena, PATH_UNITS, sizeof *program_w);
  if (line_w == NULL || program_w == NULL) return csi_fail_out_of_memory(&child->ctx->status);
  DWORD units = GetModuleFileNameW(NULL, program_w, PATH_UNITS);
  if (units == 0 || units >= PATH_UNITS) return fail(child, "GetModuleFileNameW");
  line_w[0] = L'"'; /* which no path may contain */
  wmemcpy(line_w + 1, program_w, units);
  wmemcpy(line_w + 1 + units, argument_w, sizeof argument_w / sizeof *argument_w);
  *program_w_out = program_w;
  *command_line_w_out = line_w;
  return true;
}

static bool create_process(struct child *child, LPPROC_THREAD_ATTRIBUTE_LIST attributes,
                           PROCESS_INFORMATION *process_out) {
  wchar_t *program_w = NULL, *command_line_w = NULL;
  if (!make_command_line(child, &program_w, &command_line_w)) return false;
  STARTUPINFOEXW startup = {
      .StartupInfo = {.cb = sizeof startup,
                      .dwFlags = STARTF_USESTDHANDLES,
                      .hStdInput = child->child_input,
                      .hStdOutput = child->child_output},
      .lpAttributeList = attributes,
  };
  DWORD flags = EXTENDED_STARTUPINFO_PRESENT | DETACHED_PROCESS | CREATE_UNICODE_ENVIRONMENT;
  return CreateProcessW(program_w, command_line_w, NULL, NULL, TRUE, flags, NULL, NULL, &startup.StartupInfo,
                        process_out) ||
         fail(child, "CreateProcessW");
}

static bool set_attribute(struct child *child, LPPROC_THREAD_ATTRIBUTE_LIST attributes, DWORD_PTR attribute,
                          HANDLE *handles, size_t handles_bytes) {
  return UpdateProcThreadAttribute(attributes, 0, attribute, handles, handles_bytes, NULL, NULL) ||
         fail(child, "UpdateProcThreadAttribute");
}

/* It inherits the ends of its pipes and nothing else, whatever other handles may be inheritable; and it is
 * born into its job, so that it ends with the service whenever that ends. */
static bool create_confined(struct child *child, PROCESS_INFORMATION *process_out) {
  HANDLE inherited[HANDLES_INHERITED] = {child->child_input, child->child_output};
  _Alignas(max_align_t) uint8_t space[ATTRIBUTES_BYTES];
  LPPROC_THREAD_ATTRIBUTE_LIST attributes = (LPPROC_THREAD_ATTRIBUTE_LIST)space;
  SIZE_T space_bytes = sizeof space;
  if (!InitializeProcThreadAttributeList(attributes, ATTRIBUTES, 0, &space_bytes))
    return fail(child, "InitializeProcThreadAttributeList");
  bool created =
      set_attribute(child, attributes, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, inherited, sizeof inherited) &&
      set_attribute(child, attributes, PROC_THREAD_ATTRIBUTE_JOB_LIST, &child->limits,
                    sizeof child->limits) &&
      create_process(child, attributes, process_out);
  DeleteProcThreadAttributeList(attributes);
  return created;
}

static bool start(struct child *child) {
  PROCESS_INFORMATION process;
  if (!make_pipes(child) || !make_limits(child) || !create_confined(child, &process)) return false;
  child->process = process.hProcess;
  CloseHandle(process.hThread);
  /* Only the helper has them now: when it ends, its pipe does. */
  csi_handle_close(&child->child_input);
  csi_handle_close(&child->child_output);
  return true;
}

/* -- Work ------------------------------------------------------------------------------------------ */

static bool send_job(struct child *child, const struct csi_guid *guid, const struct csi_format *format) {
  struct csi_format_job job = {.guid = *guid, .cluster_bytes = format->cluster_bytes};
  size_t name_bytes = strlen(format->file_system);
  if (name_bytes >= sizeof job.file_system)
    return csi_fail(&child->ctx->status, CSI_INVALID_ARGUMENT, "there is no file system %s",
                    format->file_system);
  memcpy(job.file_system, format->file_system, name_bytes);
  uint8_t bytes[CSI_FORMAT_JOB_BYTES];
  DWORD written;
  csi_format_job_encode(&job, bytes);
  /* Does not block: a pipe takes that much. */
  bool sent = WriteFile(child->job_out, bytes, sizeof bytes, &written, NULL);
  if (!sent && GetLastError() != ERROR_BROKEN_PIPE && GetLastError() != ERROR_NO_DATA)
    return fail(child, "WriteFile");
  csi_handle_close(&child->job_out);
  return true;
}

static void log_progress(const struct child *child, uint32_t before) {
  uint32_t percent = child->reports.percent;
  if (percent / PROGRESS_STEP > before / PROGRESS_STEP)
    CSI_V(1, "Formatting %s: %" PRIu32 " %%", child->volume, percent);
}

/* How long the next report may take. */
static uint32_t report_limit_ms(const struct child *child) {
  if (child->client == NULL) return UINT32_MAX;
  return csi_ctx_remaining_ms(child->client, UINT32_MAX - CSI_FORMAT_PATIENCE_MS) + CSI_FORMAT_PATIENCE_MS;
}

/* Reads until the helper closes its end, at the latest by ending. */
static bool read_reports(struct child *child) {
  for (;;) {
    uint8_t bytes[CSI_FORMAT_REPORT_BYTES];
    DWORD size_bytes = 0;
    struct csi_device_watch watch;
    csi_device_watch_begin(child->ctx, &watch, report_limit_ms(child), NULL);
    BOOL read = ReadFile(child->reports_in, bytes, sizeof bytes, &size_bytes, NULL);
    DWORD error = read ? ERROR_SUCCESS : GetLastError();
    csi_device_watch_end(&watch, read);
    if (!read && error == ERROR_BROKEN_PIPE) return true;
    if (child->client == NULL)
      watch.limit_ms = child->limit_ms; /* for the text: not what was left for this report */
    if (!read) return csi_device_fail(child->ctx, &watch, error, "FormatEx", "format helper");
    uint32_t before = child->reports.percent;
    csi_format_reports_add(&child->reports, bytes, size_bytes);
    log_progress(child, before);
  }
}

static bool judge(struct child *child) {
  DWORD exit_code = EXIT_KILLED;
  if (WaitForSingleObject(child->process, END_MS) == WAIT_TIMEOUT)
    TerminateJobObject(child->limits, EXIT_KILLED);
  else
    GetExitCodeProcess(child->process, &exit_code);
  return csi_format_verdict(&child->reports, exit_code, &child->ctx->status);
}

/* A process that waits in a driver ends only when the driver lets it; nothing of its own runs before. */
static bool kill_child(struct child *child) {
  TerminateJobObject(child->limits, EXIT_KILLED);
  if (WaitForSingleObject(child->process, END_MS) != WAIT_OBJECT_0)
    CSI_LOG(WARNING, "The format helper of %s was killed, but its device does not let go of it",
            child->volume);
  return false;
}

static bool run(struct child *child, const struct csi_guid *guid, const struct csi_format *format) {
  if (!start(child)) return false;
  if (!send_job(child, guid, format) || !read_reports(child)) return kill_child(child);
  return judge(child);
}

bool csi_format_in_child(struct csi_ctx *ctx, const struct csi_guid *guid, const struct csi_format *format) {
  char volume[CSI_VOLUME_ID_BYTES];
  csi_volume_id_format(guid, volume);
  if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "format %s: ", volume);
  CSI_LOG(INFO, "Formatting %s as %s", volume, format->file_system);
  int64_t begin_ns = csi_now_ns();
  struct child child = {.ctx = ctx,
                        .volume = volume,
                        .client = format->client,
                        .limit_ms = csi_ctx_remaining_ms(ctx, UINT32_MAX)};
  bool formatted = run(&child, guid, format);
  close_child(&child);
  int64_t took_ns = csi_now_ns() - begin_ns;
  long long took_ms = took_ns / 1000000;
  csi_call_timing_tell("FormatEx", took_ns, formatted); /* with its helper's start and end */
  if (formatted)
    CSI_LOG(INFO, "Formatted %s as %s in %lld ms", volume, format->file_system, took_ms);
  else
    CSI_LOG(INFO, "Formatting %s failed at %" PRIu32 " %% after %lld ms", volume, child.reports.percent,
            took_ms);
  return formatted || csi_explain(&ctx->status, "format %s: ", volume);
}
