/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/format_protocol.h"

#include <inttypes.h>
#include <string.h>

#include "base/little_endian.h"

enum {
  HUNDRED_PER_CENT = 100,
  JOB_MAGIC = 0x46495343, /* "CSIF" */
};

/* -- Job ------------------------------------------------------------------------------------------- */

/* Magic, cluster size, GUID, name of the file system. */
enum {
  JOB_CLUSTER_AT = 4,
  JOB_GUID_AT = 8,
  JOB_NAME_AT = 24,
};
_Static_assert(JOB_NAME_AT + CSI_FORMAT_FILE_SYSTEM_BYTES == CSI_FORMAT_JOB_BYTES, "layout of a job");

void csi_format_job_encode(const struct csi_format_job *job, uint8_t bytes_out[CSI_FORMAT_JOB_BYTES]) {
  csi_put_u32(bytes_out, JOB_MAGIC);
  csi_put_u32(bytes_out + JOB_CLUSTER_AT, job->cluster_bytes);
  memcpy(bytes_out + JOB_GUID_AT, &job->guid, sizeof job->guid);
  memcpy(bytes_out + JOB_NAME_AT, job->file_system, sizeof job->file_system);
}

static bool is_name_character(char character) {
  return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
         (character >= '0' && character <= '9');
}

/* Letters and digits, then zeros to the end. */
static bool is_name(const char *name, size_t size_bytes) {
  size_t length = 0;
  while (length < size_bytes && is_name_character(name[length]))
    length++;
  size_t end = length;
  while (end < size_bytes && name[end] == '\0')
    end++;
  return length > 0 && length < size_bytes && end == size_bytes;
}

bool csi_format_job_decode(const uint8_t bytes[CSI_FORMAT_JOB_BYTES], struct csi_format_job *job_out) {
  if (csi_get_u32(bytes) != JOB_MAGIC) return false;
  struct csi_format_job job = {.cluster_bytes = csi_get_u32(bytes + JOB_CLUSTER_AT)};
  memcpy(&job.guid, bytes + JOB_GUID_AT, sizeof job.guid);
  memcpy(job.file_system, bytes + JOB_NAME_AT, sizeof job.file_system);
  if (!is_name(job.file_system, sizeof job.file_system)) return false;
  *job_out = job;
  return true;
}

/* -- Reports --------------------------------------------------------------------------------------- */

/* Kind, call, two zeros, value. */
enum {
  REPORT_VALUE_AT = 4,
};

void csi_format_report_encode(const struct csi_format_report *report,
                              uint8_t bytes_out[CSI_FORMAT_REPORT_BYTES]) {
  memset(bytes_out, 0, CSI_FORMAT_REPORT_BYTES);
  bytes_out[0] = (uint8_t)report->kind;
  bytes_out[1] = (uint8_t)report->call;
  csi_put_u32(bytes_out + REPORT_VALUE_AT, report->value);
}

static bool decode_report(const uint8_t bytes[CSI_FORMAT_REPORT_BYTES],
                          struct csi_format_report *report_out) {
  if (bytes[2] != 0 || bytes[3] != 0) return false;
  struct csi_format_report report = {
      .kind = (enum csi_format_report_kind)bytes[0],
      .call = (enum csi_format_call)bytes[1],
      .value = csi_get_u32(bytes + REPORT_VALUE_AT),
  };
  *report_out = report;
  if (report.kind == CSI_FORMAT_FAILED)
    return report.call > CSI_FORMAT_CALL_NONE && report.call < CSI_FORMAT_CALL_COUNT;
  if (report.call != CSI_FORMAT_CALL_NONE) return false;
  switch (report.kind) {
  case CSI_FORMAT_PROGRESS:
    return report.value <= HUNDRED_PER_CENT;
  case CSI_FORMAT_DONE:
    return report.value == 0;
  default:
    return report.kind == CSI_FORMAT_REFUSED;
  }
}

static void take_report(struct csi_format_reports *reports) {
  struct csi_format_report report;
  /* Nothing may follow the outcome. */
  if (reports->outcome.kind != 0 || !decode_report(reports->pending, &report)) {
    reports->nonsense = true;
  } else if (report.kind == CSI_FORMAT_PROGRESS) {
    reports->percent = report.value;
  } else {
    reports->outcome = report;
  }
}

void csi_format_reports_add(struct csi_format_reports *reports, const uint8_t *bytes, size_t size_bytes) {
  while (size_bytes > 0 && !reports->nonsense) {
    size_t take_bytes = CSI_FORMAT_REPORT_BYTES - reports->pending_bytes;
    if (take_bytes > size_bytes) take_bytes = size_bytes;
    memcpy(reports->pending + reports->pending_bytes, bytes, take_bytes);
    reports->pending_bytes += take_bytes;
    bytes += take_bytes;
    size_bytes -= take_bytes;
    if (reports->pending_bytes < CSI_FORMAT_REPORT_BYTES) return;
    take_report(reports);
    reports->pending_bytes = 0;
  }
}

/* -- Verdict --------------------------------------------------------------------------------------- */

/* Why fmifs.dll refuses: the commands that it gives its callback. */
static const struct refusal {
  uint32_t command;
  enum csi_code code;
  const char *text;
} refusals[] = {
    {0x02, CSI_FAILED_PRECONDITION, "a medium is to be inserted"},
    {0x03, CSI_FAILED_PRECONDITION, "the volume cannot have this file system"},
    {0x05, CSI_FAILED_PRECONDITION, "the medium cannot have this file system"},
    {0x06, CSI_PERMISSION_DENIED, "access to the volume was denied"},
    {0x07, CSI_FAILED_PRECONDITION, "the volume is write-protected"},
    {0x08, CSI_FAILED_PRECONDITION, "the volume is in use by another process"},
    {0x09, CSI_FAILED_PRECONDITION, "the volume cannot be formatted quickly"},
    {0x0A, CSI_UNAVAILABLE, "the volume could not be read or written"},
    {0x0C, CSI_INVALID_ARGUMENT, "the label is not valid"},
    {0x10, CSI_INVALID_ARGUMENT, "the cluster size is too small for the volume"},
    {0x11, CSI_INVALID_ARGUMENT, "the cluster size is too large for the volume"},
    {0x12, CSI_FAILED_PRECONDITION, "the volume is too small for the file system"},
    {0x13, CSI_FAILED_PRECONDITION, "the volume is too large for the file system"},
    {0x14, CSI_UNAVAILABLE, "there is no medium in the drive"},
    {0x15, CSI_INVALID_ARGUMENT, "the cluster size is too small: there would be more clusters than numbers"},
    {0x18, CSI_UNAVAILABLE, "the device is not ready"},
};

static const struct refusal *find_refusal(uint32_t command) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    if (refusals[i].command == command) return &refusals[i];
  return NULL;
}

bool csi_format_is_refusal(uint32_t command) {
  return find_refusal(command) != NULL;
}

static bool fail_refused(uint32_t command, struct csi_status *status) {
  if (command == CSI_FORMAT_NO_REASON)
    return csi_fail(status, CSI_INTERNAL, "fmifs.dll failed to format it and gave no reason");
  const struct refusal *refusal = find_refusal(command);
  if (refusal != NULL)
    return csi_fail(status, refusal->code, "%s (fmifs.dll command 0x%02" PRIx32 ")", refusal->text, command);
  return csi_fail(status, CSI_INTERNAL, "fmifs.dll failed to format it (command 0x%02" PRIx32 ")", command);
}

static const char *call_name(enum csi_format_call call) {
  static const char *const names[CSI_FORMAT_CALL_COUNT] = {
      [CSI_FORMAT_CALL_READ] = "ReadFile",
      [CSI_FORMAT_CALL_LOAD] = "LoadLibraryExW",
      [CSI_FORMAT_CALL_FIND] = "GetProcAddress",
  };
  return names[call];
}

bool csi_format_verdict(const struct csi_format_reports *reports, uint32_t exit_code,
                        struct csi_status *status) {
  const struct csi_format_report *outcome = &reports->outcome;
  if (reports->nonsense || (reports->pending_bytes > 0 && outcome->kind != 0))
    return csi_fail(status, CSI_INTERNAL,
                    "the format helper sent what is no report (exit code 0x%" PRIx32 ")", exit_code);
  if (outcome->kind == CSI_FORMAT_REFUSED) return fail_refused(outcome->value, status);
  if (outcome->kind == CSI_FORMAT_FAILED)
    return csi_fail_system(status, CSI_SPACE_WIN32, outcome->value, call_name(outcome->call),
                           "the format helper cannot use fmifs.dll");
  if (outcome->kind == CSI_FORMAT_DONE && exit_code == 0) return true;
  return csi_fail(status, CSI_INTERNAL,
                  "the format helper ended with exit code 0x%" PRIx32 " %s, at %" PRIu32 " %%", exit_code,
                  outcome->kind == CSI_FORMAT_DONE ? "after it was done" : "before it was done",
                  reports->percent);
}
