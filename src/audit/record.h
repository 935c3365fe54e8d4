/* SPDX-License-Identifier: Apache-2.0
 *
 * One audit record: who changed, or tried to change, what, and what came of it. Pure; any thread.
 */
#ifndef CSI_AUDIT_RECORD_H
#define CSI_AUDIT_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "rpc/observer.h"

enum {
  CSI_AUDIT_LINE_BYTES = 10 * 1024, /* of a record; its texts are cut so that it always fits */
  CSI_AUDIT_TIME_BYTES = 96,
};

enum csi_audit_result {
  CSI_AUDIT_DONE,
  CSI_AUDIT_FAILED, /* with an error number of the system; or given up: deadline, client gone; or not found */
  CSI_AUDIT_REFUSED,  /* INVALID_ARGUMENT, PERMISSION_DENIED, FAILED_PRECONDITION without such a number: by a
                         rule of ours, or by Windows in words only. Says nothing about what was changed before
                       */
  CSI_AUDIT_REJECTED, /* its handler never ran */
};

/* "done", "failed", "refused", "rejected" */
const char *csi_audit_result_name(enum csi_audit_result result);

/* What came of a call that has ended. */
enum csi_audit_result csi_audit_result_of(const struct csi_call_info *call);

/* True when the call belongs into the audit log: its method changes something. */
bool csi_audit_is_wanted(const struct csi_call_info *call);

/* Writes "2026-01-31T15:04:05.123Z". unix_ms: of csi_log_os_unix_ms(). */
void csi_audit_time(int64_t unix_ms, char text[CSI_AUDIT_TIME_BYTES]);

/* Writes the record of an ended call as one line of JSON, with newline and NUL, and returns its length. All
 * keys are always there: "time" (UTC, when it ended), "id", "process_id", "session_id" (-1: not known),
 * "image", "account", "container", "service", "method", "object", "result", "code" (what the client got),
 * "precise_code", "rejection", "error_space" and "error_number" (of the system; "none" and 0 when it was not
 * the system), "error_call", "duration_ms", "queued_ms", "error". Texts that are not known are "". Text that
 * is no UTF-8 gets U+FFFD, a text that is cut ends in an ellipsis. */
size_t csi_audit_line(const struct csi_call_info *call, int64_t unix_ms, char line[CSI_AUDIT_LINE_BYTES]);

#endif
