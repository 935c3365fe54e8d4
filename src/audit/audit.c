/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/record.h"
#include "base/log.h"
#include "base/log_file.h"
#include "base/log_os.h"
#include "base/outbox.h"
#include "service/event_log.h"

enum {
  QUEUE_BYTES = 4 * 1024 * 1024, /* some thousand records */
};

struct csi_audit {
  struct csi_outbox *outbox; /* NULL: no file */
  struct csi_log_file file;  /* of the outbox's thread */
  uint64_t told_bytes;       /* lost ones that were told; of the outbox's thread */
};

/* ---- The file, on the outbox's thread ---- */

static size_t loss_line(char *out, size_t out_bytes, const char *what, uint64_t count) {
  char time[CSI_AUDIT_TIME_BYTES];
  csi_audit_time(csi_log_os_unix_ms(), time);
  return (size_t)snprintf(out, out_bytes, "{\"time\":\"%s\",\"%s\":%" PRIu64 "}\n", time, what, count);
}

static size_t lost_bytes_line(char *out, size_t out_bytes, uint64_t lost_bytes) {
  return loss_line(out, out_bytes, "lost_bytes", lost_bytes);
}

static void deliver(void *context, const void *message, size_t length_bytes) {
  struct csi_audit *audit = context;
  csi_log_file_write(&audit->file, message, length_bytes);
}

static void tell_loss(const struct csi_audit *audit, const char *what, uint64_t count) {
  char text[96];
  (void)snprintf(text, sizeof text, "%" PRIu64 " %s", count, what);
  CSI_LOG(ERROR, "The audit log has lost %s. File: %s", text, audit->file.path);
  CSI_EVENT(AUDIT_LOST, text, audit->file.path);
}

static void tell_lost_records(void *context, uint64_t count) {
  struct csi_audit *audit = context;
  char line[128];
  csi_log_file_write(&audit->file, line, loss_line(line, sizeof line, "lost_records", count));
  tell_loss(audit, "records", count);
}

/* Bytes that the disk did not take are told once for each time it begins to fail. */
static void tell_lost_bytes(struct csi_audit *audit) {
  if (audit->file.lost_bytes > 0 && audit->told_bytes == 0) tell_loss(audit, "bytes", audit->file.lost_bytes);
  audit->told_bytes = audit->file.lost_bytes;
}

static void flush(void *context) {
  struct csi_audit *audit = context;
  csi_log_file_flush(&audit->file);
  tell_lost_bytes(audit);
}

static bool check_length(const char *path, struct csi_status *status) {
  return strlen(path) < CSI_LOG_PATH_BYTES ||
         csi_fail(status, CSI_INVALID_ARGUMENT, "-audit-log: file name is too long: %s", path);
}

bool csi_audit_check(const char *path, struct csi_status *status) {
  if (path[0] == '\0') return true;
  if (!check_length(path, status)) return false;
  char directory[CSI_LOG_PATH_BYTES] = ".";
  const size_t length = csi_log_directory_bytes(path);
  if (length > 0) (void)snprintf(directory, sizeof directory, "%.*s", (int)length, path);
  if (!csi_log_os_is_directory(directory))
    return csi_fail(status, CSI_INVALID_ARGUMENT, "-audit-log: %s: directory %s is not there", path,
                    directory);
  return !csi_log_os_is_directory(path) ||
         csi_fail(status, CSI_INVALID_ARGUMENT, "-audit-log: %s is a directory", path);
}

static bool open_file(struct csi_audit *audit, const char *path, uint64_t max_backups,
                      struct csi_status *status) {
  struct csi_log_file *file = &audit->file;
  if (!check_length(path, status)) return false;
  (void)snprintf(file->path, sizeof file->path, "%s", path);
  csi_log_rotation_rules(file);
  file->max_backups = max_backups;
  file->loss = lost_bytes_line;
  if (csi_log_file_open(file, status)) return true;
  csi_explain(status, "-audit-log: ");
  if (status->code == CSI_NOT_FOUND) status->code = CSI_INVALID_ARGUMENT; /* the directory is missing */
  return false;
}

static bool open_outbox(struct csi_audit *audit, struct csi_status *status) {
  const struct csi_outbox_receiver receiver = {
      .context = audit, .deliver = deliver, .lost = tell_lost_records, .drained = flush};
  audit->outbox = csi_outbox_open(&receiver, QUEUE_BYTES, status);
  if (audit->outbox) return true;
  csi_log_file_close(&audit->file);
  return csi_explain(status, "-audit-log: ");
}

struct csi_audit *csi_audit_open(const char *path, uint64_t max_backups, struct csi_status *status) {
  struct csi_audit *audit = calloc(1, sizeof *audit);
  if (!audit) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  if (path[0] == '\0' || (open_file(audit, path, max_backups, status) && open_outbox(audit, status)))
    return audit;
  free(audit);
  return NULL;
}

/* They may get there until the process ends, a moment from now. */
static void lose_rest(const struct csi_audit *audit, struct csi_outbox_load left) {
  if (left.messages == 0) return; /* it is about those that were lost before */
  csi_log_file_count_lost(left.bytes);
  tell_loss(audit, "records, the last ones: the disk does not take them", left.messages);
}

void csi_audit_close(struct csi_audit *audit, bool keep) {
  if (!audit) return;
  struct csi_outbox_load left;
  if (audit->outbox) {
    const bool written = keep ? csi_outbox_flush(audit->outbox, CSI_AUDIT_CLOSE_MS, &left)
                              : csi_outbox_close(audit->outbox, CSI_AUDIT_CLOSE_MS, &left);
    if (!written) {
      lose_rest(audit, left);
      return; /* the thread that writes still needs it */
    }
  }
  if (keep) return; /* a call still needs it */
  csi_log_file_close(&audit->file);
  tell_lost_bytes(audit);
  free(audit);
}

uint64_t csi_audit_lost(struct csi_audit *audit) {
  return audit->outbox ? csi_outbox_lost(audit->outbox) : 0;
}

/* ---- Calls, on the server's threads ---- */

static enum csi_event_id event_of(enum csi_audit_result result) {
  static const enum csi_event_id ids[] = {[CSI_AUDIT_DONE] = CSI_EVENT_ID_CALL_DONE,
                                          [CSI_AUDIT_FAILED] = CSI_EVENT_ID_CALL_FAILED,
                                          [CSI_AUDIT_REFUSED] = CSI_EVENT_ID_CALL_REFUSED,
                                          [CSI_AUDIT_REJECTED] = CSI_EVENT_ID_CALL_REJECTED};
  return ids[result];
}

/* Numbers as the inserts of an event. */
struct numbers {
  char method[160], process_id[16], session_id[16], duration_ms[32], id[24], number[64];
};

static void print_numbers(const struct csi_call_info *call, struct numbers *out) {
  const struct csi_peer *peer = call->peer;
  const int64_t duration_us = (call->ended_ns - call->arrived_ns) / 1000;
  (void)snprintf(out->method, sizeof out->method, "/%s/%s", call->service->name, call->method->name);
  (void)snprintf(out->process_id, sizeof out->process_id, "%" PRIu32, peer->process_id);
  out->session_id[0] = out->number[0] = '\0';
  if (peer->session_id != CSI_NO_SESSION_ID)
    (void)snprintf(out->session_id, sizeof out->session_id, "%" PRIu32, peer->session_id);
  (void)snprintf(out->duration_ms, sizeof out->duration_ms, "%" PRId64 ".%03d", duration_us / 1000,
                 (int)(duration_us % 1000));
  (void)snprintf(out->id, sizeof out->id, "%" PRIu64, call->id);
  if (call->rejection != CSI_NOT_REJECTED)
    (void)snprintf(out->number, sizeof out->number, "%s", csi_rejection_name(call->rejection));
  else if (call->status->space != CSI_SPACE_NONE)
    (void)snprintf(out->number, sizeof out->number, "%s %" PRIu32, csi_error_space_name(call->status->space),
                   call->status->number);
}

static void report_event(const struct csi_call_info *call) {
  const enum csi_audit_result result = csi_audit_result_of(call);
  const enum csi_event_id id = event_of(result);
  if (!csi_event_is_on(id)) return;
  struct numbers numbers;
  print_numbers(call, &numbers);
  const char *const inserts[CSI_EVENT_MAX_INSERTS] = {
      numbers.method,
      call->object,
      call->peer->image_path,
      numbers.process_id,
      numbers.session_id,
      call->peer->account,
      call->peer->container,
      numbers.duration_ms,
      numbers.id,
      csi_code_name(call->wire_code),
      csi_code_name(call->status->code),
      numbers.number,
      call->status->call,
      call->status->text,
  };
  csi_event_report(id, inserts, csi_event_kind(id)->insert_count);
}

static void ended(void *context, const struct csi_call_info *call) {
  struct csi_audit *audit = context;
  if (!csi_audit_is_wanted(call)) return;
  report_event(call);
  if (!audit->outbox) return;
  char line[CSI_AUDIT_LINE_BYTES];
  const size_t length = csi_audit_line(call, csi_log_os_unix_ms(), line);
  if (!csi_outbox_put(audit->outbox, line, length)) csi_log_file_count_lost(length);
}

struct csi_call_observer csi_audit_observer(struct csi_audit *audit) {
  return (struct csi_call_observer){.context = audit, .ended = ended};
}
