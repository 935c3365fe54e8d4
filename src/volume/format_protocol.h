/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service and its format helper tell one another: one job in, reports out, all of fixed size.
 * Neither side trusts the other's bytes. Portable and pure.
 */
#ifndef CSI_VOLUME_FORMAT_PROTOCOL_H
#define CSI_VOLUME_FORMAT_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/guid.h"
#include "base/status.h"

enum {
  CSI_FORMAT_JOB_BYTES = 56,
  CSI_FORMAT_REPORT_BYTES = 8,
  CSI_FORMAT_FILE_SYSTEM_BYTES = 32, /* longest name, NUL included */
};

/* What is to be formatted, and how. */
struct csi_format_job {
  struct csi_guid guid;
  uint32_t cluster_bytes; /* 0 = the default */
  char file_system[CSI_FORMAT_FILE_SYSTEM_BYTES];
};

void csi_format_job_encode(const struct csi_format_job *job, uint8_t bytes_out[CSI_FORMAT_JOB_BYTES]);
/* False when the bytes are no job. */
bool csi_format_job_decode(const uint8_t bytes[CSI_FORMAT_JOB_BYTES], struct csi_format_job *job_out);

enum csi_format_report_kind {
  CSI_FORMAT_PROGRESS = 1, /* value: per cent */
  CSI_FORMAT_DONE = 2,
  CSI_FORMAT_REFUSED = 3, /* value: command that fmifs.dll gave its callback, or CSI_FORMAT_NO_REASON */
  CSI_FORMAT_FAILED = 4,  /* value: Win32 error of `call` */
};
#define CSI_FORMAT_NO_REASON UINT32_MAX

/* Calls of the helper that may fail. */
enum csi_format_call {
  CSI_FORMAT_CALL_NONE = 0,
  CSI_FORMAT_CALL_READ = 1, /* ReadFile */
  CSI_FORMAT_CALL_LOAD = 2, /* LoadLibraryExW */
  CSI_FORMAT_CALL_FIND = 3, /* GetProcAddress */
  CSI_FORMAT_CALL_COUNT = 4,
};

struct csi_format_report {
  enum csi_format_report_kind kind;
  enum csi_format_call call; /* CSI_FORMAT_FAILED only */
  uint32_t value;
};

void csi_format_report_encode(const struct csi_format_report *report,
                              uint8_t bytes_out[CSI_FORMAT_REPORT_BYTES]);

/* The reports so far; begins as zero. */
struct csi_format_reports {
  uint8_t pending[CSI_FORMAT_REPORT_BYTES]; /* beginning of the next report */
  size_t pending_bytes;
  uint32_t percent;                 /* the last progress */
  struct csi_format_report outcome; /* kind 0 = none yet */
  bool nonsense;                    /* it sent something that is no report, or one too many */
};

/* Takes what came from the helper, in pieces of any size. */
void csi_format_reports_add(struct csi_format_reports *reports, const uint8_t *bytes, size_t size_bytes);

/* True for the commands by which fmifs.dll tells its callback why it does not format. */
bool csi_format_is_refusal(uint32_t command);

/* Says whether the helper, which has ended with exit_code, has formatted the volume; if not, status says
 * why. */
bool csi_format_verdict(const struct csi_format_reports *reports, uint32_t exit_code,
                        struct csi_status *status) CSI_MUST_CHECK;

#endif
