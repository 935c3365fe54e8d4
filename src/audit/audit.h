/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes an audit record of every call of a method that changes something, whatever came of it: as a line of
 * JSON in a file of its own (-audit-log), and as an event. No call waits for either.
 */
#ifndef CSI_AUDIT_AUDIT_H
#define CSI_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "rpc/observer.h"

struct csi_audit;

enum {
  CSI_AUDIT_CLOSE_MS = 5000, /* how long csi_audit_close() waits for the disk */
};

/* Opens the audit log. The file is rotated as the log's files are (-log_file_max_size, -log_file_max_age), is
 * appended to when it exists, and is flushed as soon as no more records wait.
 * Records that cannot be written are counted; a line {"time":...,"lost_records":N} or
 * {"time":...,"lost_bytes":N}, the program's log and an event tell, and csi_log_file_lost_bytes() has them.
 *
 * path: UTF-8; "" for no file, events only.
 * max_backups: how many renamed files are kept; 0 means all.
 * Returns NULL when the file cannot be opened (its error is in the text, and stays the number of the status):
 * with INVALID_ARGUMENT when no retry makes the path valid; RESOURCE_EXHAUSTED when memory or threads are
 * short. Blocks for file access. */
struct csi_audit *csi_audit_open(const char *path, uint64_t max_backups,
                                 struct csi_status *status) CSI_MUST_CHECK;

/* Checks what can be known of a path without making the file: its length, that its directory is there, and
 * that it is none itself. Whether the file may be written to shows only when it is opened. False with
 * INVALID_ARGUMENT. Blocks for file access. */
bool csi_audit_check(const char *path, struct csi_status *status) CSI_MUST_CHECK;

/* Who is to be told of the calls; lives as long as the audit log. */
struct csi_call_observer csi_audit_observer(struct csi_audit *audit);

/* Records that did not get into the file. Any thread. */
uint64_t csi_audit_lost(struct csi_audit *audit);

/* Writes what waits, for CSI_AUDIT_CLOSE_MS at most, and, unless keep, closes the file and frees the audit
 * log; no call may be running then. Records that the disk has not taken by then count as lost. keep: calls
 * hang in the system, and may end after all. NULL is accepted. */
void csi_audit_close(struct csi_audit *audit, bool keep);

#endif
