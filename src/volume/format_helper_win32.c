/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/format_helper_win32.h"

#include <windows.h>

#include <string.h>

#include "volume/format_protocol.h"
#include "volume/volume_id.h"
#include "win32/ascii.h"

enum {
  EXIT_FORMATTED = 0,
  EXIT_NOT_FORMATTED = 1,
};

/* -- fmifs.dll ------------------------------------------------------------------------------------- */

/* There is no header for it. What Windows calls with: a command, and an argument that depends on it. Others
 * than these are refusals (format_protocol.h), or of no interest. */
enum {
  COMMAND_PROGRESS = 0x00, /* DWORD *per_cent */
  COMMAND_DONE = 0x0B,     /* BOOLEAN *success */
  FIXED_MEDIA = 12,        /* MEDIA_TYPE */
};

typedef BOOLEAN(WINAPI *fmifs_callback)(ULONG command, ULONG action, void *argument);
typedef void(WINAPI *fmifs_format)(wchar_t *root_w, ULONG media_type, wchar_t *file_system_w,
                                   wchar_t *label_w, BOOLEAN quick, ULONG cluster_bytes,
                                   fmifs_callback callback);

/* UNVERIFIED ON WINDOWS: that FormatEx() takes a volume name without a drive letter, and its commands. */

/* The callback is told of no context, and FormatEx() may call it on another thread; there is one format in
 * the life of this process. */
static struct {
  HANDLE reports;
  bool success;
  uint32_t refusal; /* the first; only of interest when there is no success */
} helper = {.refusal = CSI_FORMAT_NO_REASON};

static bool report(enum csi_format_report_kind kind, enum csi_format_call call, uint32_t value) {
  uint8_t bytes[CSI_FORMAT_REPORT_BYTES];
  DWORD written;
  csi_format_report_encode(&(struct csi_format_report){.kind = kind, .call = call, .value = value}, bytes);
  return WriteFile(helper.reports, bytes, sizeof bytes, &written, NULL) && written == sizeof bytes;
}

/* False ends the formatting: nobody listens any more, or it cannot go on. */
static BOOLEAN WINAPI on_command(ULONG command, ULONG action, void *argument) {
  (void)action;
  if (command == COMMAND_PROGRESS) {
    DWORD percent = argument == NULL ? 0 : *(const DWORD *)argument;
    return report(CSI_FORMAT_PROGRESS, CSI_FORMAT_CALL_NONE, percent > 100 ? 100 : percent);
  }
  if (command == COMMAND_DONE) helper.success = argument != NULL && *(const BOOLEAN *)argument;
  if (!csi_format_is_refusal(command)) return TRUE;
  if (helper.refusal == CSI_FORMAT_NO_REASON) helper.refusal = command;
  return FALSE;
}

/* `\\?\Volume{guid}`, without the backslash at the end: with it, it would be the root directory. */
static void name_volume(const struct csi_guid *guid, wchar_t name_w[CSI_VOLUME_ID_BYTES]) {
  char id[CSI_VOLUME_ID_BYTES];
  csi_volume_id_format(guid, id);
  id[strlen(id) - 1] = '\0';
  csi_widen_ascii(id, name_w, CSI_VOLUME_ID_BYTES);
}

static bool format_volume(const struct csi_format_job *job) {
  HMODULE library = LoadLibraryExW(L"fmifs.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (library == NULL) {
    report(CSI_FORMAT_FAILED, CSI_FORMAT_CALL_LOAD, GetLastError());
    return false;
  }
  union {
    FARPROC found;
    fmifs_format call;
  } format_ex = {.found = GetProcAddress(library, "FormatEx")};
  if (format_ex.found == NULL) {
    report(CSI_FORMAT_FAILED, CSI_FORMAT_CALL_FIND, GetLastError());
    return false;
  }
  wchar_t volume_w[CSI_VOLUME_ID_BYTES], file_system_w[CSI_FORMAT_FILE_SYSTEM_BYTES], no_label_w[] = L"";
  name_volume(&job->guid, volume_w);
  csi_widen_ascii(job->file_system, file_system_w, CSI_FORMAT_FILE_SYSTEM_BYTES);
  format_ex.call(volume_w, FIXED_MEDIA, file_system_w, no_label_w, TRUE, job->cluster_bytes, on_command);

  if (helper.success) return report(CSI_FORMAT_DONE, CSI_FORMAT_CALL_NONE, 0);
  report(CSI_FORMAT_REFUSED, CSI_FORMAT_CALL_NONE, helper.refusal);
  return false;
}

/* -- Process --------------------------------------------------------------------------------------- */

typedef BOOL(WINAPI *set_policy)(PROCESS_MITIGATION_POLICY policy, PVOID value, SIZE_T value_bytes);

/* What is loaded into a process that writes to raw volumes comes from the system directory of this machine,
 * and starts nothing. UNVERIFIED ON WINDOWS: Wine accepts the policies without effect. */
static void harden(void) {
  union {
    FARPROC found;
    set_policy call;
  } set = {.found = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "SetProcessMitigationPolicy")};
  if (set.found == NULL) return;
  PROCESS_MITIGATION_EXTENSION_POINT_DISABLE_POLICY no_extensions = {.DisableExtensionPoints = 1};
  set.call(ProcessExtensionPointDisablePolicy, &no_extensions, sizeof no_extensions);
  PROCESS_MITIGATION_IMAGE_LOAD_POLICY local_images = {
      .NoRemoteImages = 1, .NoLowMandatoryLabelImages = 1, .PreferSystem32Images = 1};
  set.call(ProcessImageLoadPolicy, &local_images, sizeof local_images);
}

static bool read_job(struct csi_format_job *job_out) {
  uint8_t bytes[CSI_FORMAT_JOB_BYTES];
  HANDLE jobs = GetStdHandle(STD_INPUT_HANDLE);
  DWORD size_bytes = 0;
  if (!ReadFile(jobs, bytes, sizeof bytes, &size_bytes, NULL)) {
    report(CSI_FORMAT_FAILED, CSI_FORMAT_CALL_READ, GetLastError());
    return false;
  }
  if (size_bytes == sizeof bytes && csi_format_job_decode(bytes, job_out)) return true;
  report(CSI_FORMAT_FAILED, CSI_FORMAT_CALL_READ, ERROR_INVALID_DATA);
  return false;
}

bool csi_format_helper_is_wanted(int argc, wchar_t *const *argv_w) {
  return argc == 2 && wcscmp(argv_w[1], CSI_FORMAT_HELPER_ARGUMENT) == 0;
}

int csi_format_helper_run(void) {
  struct csi_format_job job;
  harden();
  helper.reports = GetStdHandle(STD_OUTPUT_HANDLE);
  return read_job(&job) && format_volume(&job) ? EXIT_FORMATTED : EXIT_NOT_FORMATTED;
}
