/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log_os.h"
#include "base/text.h"

static const char ellipsis[] = "\xe2\x80\xa6";

/* How long texts may be in the line, quotes and escapes included. Together with names and numbers less than
 * CSI_AUDIT_LINE_BYTES. */
enum {
  NAME_BYTES = 256,
  IMAGE_BYTES = 2048,
  OBJECT_BYTES = 3072,
  ERROR_BYTES = 3072,
};

const char *csi_audit_result_name(enum csi_audit_result result) {
  static const char *const names[] = {[CSI_AUDIT_DONE] = "done",
                                      [CSI_AUDIT_FAILED] = "failed",
                                      [CSI_AUDIT_REFUSED] = "refused",
                                      [CSI_AUDIT_REJECTED] = "rejected"};
  return names[result];
}

bool csi_audit_is_wanted(const struct csi_call_info *call) {
  return call->method && call->method->mutating;
}

/* Hardly any rule of ours has a number of the system, and few refusals of the system have none. */
static bool is_refusal(const struct csi_status *status) {
  if (status->space != CSI_SPACE_NONE) return false;
  return status->code == CSI_INVALID_ARGUMENT || status->code == CSI_PERMISSION_DENIED ||
         status->code == CSI_FAILED_PRECONDITION;
}

enum csi_audit_result csi_audit_result_of(const struct csi_call_info *call) {
  if (call->rejection != CSI_NOT_REJECTED) return CSI_AUDIT_REJECTED;
  if (csi_status_ok(call->status)) return CSI_AUDIT_DONE;
  return is_refusal(call->status) ? CSI_AUDIT_REFUSED : CSI_AUDIT_FAILED;
}

void csi_audit_time(int64_t unix_ms, char text[CSI_AUDIT_TIME_BYTES]) {
  struct csi_log_time utc;
  csi_log_os_utc(unix_ms, &utc);
  (void)snprintf(text, CSI_AUDIT_TIME_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.year, utc.month,
                 utc.day, utc.hour, utc.minute, utc.second, utc.microsecond / 1000);
}

/* ---- JSON ---- */

struct line {
  char *text;
  size_t length;
};

static void put(struct line *line, const char *format, ...) CSI_PRINTF(2, 3);
static void put(struct line *line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int length = vsnprintf(line->text + line->length, CSI_AUDIT_LINE_BYTES - line->length, format, args);
  va_end(args);
  line->length += (size_t)length;
}

/* Writes what stands for the character at text to piece; returns how many bytes of text that were. */
static size_t escape_one(const char *text, size_t left_bytes, char piece[8]) {
  uint32_t point;
  const size_t size = csi_utf8_decode(text, left_bytes, &point);
  if (size == 0) {
    memcpy(piece, "\xef\xbf\xbd", 4);
    return 1;
  }
  if (point == '"' || point == '\\') {
    (void)snprintf(piece, 8, "\\%c", (char)point);
  } else if (point < 0x10000 && csi_character_is_treacherous(point)) {
    (void)snprintf(piece, 8, "\\u%04x", (unsigned)point);
  } else {
    memcpy(piece, text, size);
    piece[size] = '\0';
  }
  return size;
}

/* A key and a text of at most limit_bytes; NULL as "". */
static void put_text(struct line *line, const char *key, const char *text, size_t limit_bytes) {
  if (!text) text = "";
  put(line, ",\"%s\":\"", key);
  char *out = line->text + line->length;
  size_t written = 0, left_bytes = strlen(text);
  while (left_bytes > 0) {
    char piece[8];
    const size_t taken = escape_one(text, left_bytes, piece);
    const size_t piece_bytes = strlen(piece);
    const size_t reserve = left_bytes == taken ? 0 : sizeof ellipsis - 1;
    if (written + piece_bytes + reserve > limit_bytes) break;
    memcpy(out + written, piece, piece_bytes);
    written += piece_bytes;
    text += taken;
    left_bytes -= taken;
  }
  line->length += written;
  put(line, "%s\"", left_bytes > 0 ? ellipsis : "");
}

static void put_milliseconds(struct line *line, const char *key, int64_t duration_ns) {
  const int64_t duration_us = duration_ns < 0 ? 0 : duration_ns / 1000;
  put(line, ",\"%s\":%" PRId64 ".%03d", key, duration_us / 1000, (int)(duration_us % 1000));
}

static void put_peer(struct line *line, const struct csi_peer *peer) {
  const int64_t session_id = peer->session_id == CSI_NO_SESSION_ID ? -1 : (int64_t)peer->session_id;
  put(line, ",\"process_id\":%" PRIu32 ",\"session_id\":%" PRId64, peer->process_id, session_id);
  put_text(line, "image", peer->image_path, IMAGE_BYTES);
  put_text(line, "account", peer->account, NAME_BYTES);
  put_text(line, "container", peer->container, NAME_BYTES);
}

static void put_outcome(struct line *line, const struct csi_call_info *call) {
  const struct csi_status *status = call->status;
  put_text(line, "result", csi_audit_result_name(csi_audit_result_of(call)), NAME_BYTES);
  put_text(line, "code", csi_code_name(call->wire_code), NAME_BYTES);
  put_text(line, "precise_code", csi_code_name(status->code), NAME_BYTES);
  put_text(line, "rejection", csi_rejection_name(call->rejection), NAME_BYTES);
  put_text(line, "error_space", csi_error_space_name(status->space), NAME_BYTES);
  put(line, ",\"error_number\":%" PRIu32, status->number);
  put_text(line, "error_call", status->call, NAME_BYTES);
  put_milliseconds(line, "duration_ms", call->ended_ns - call->arrived_ns);
  put_milliseconds(line, "queued_ms", call->queued_ns);
  put_text(line, "error", status->text, ERROR_BYTES);
}

size_t csi_audit_line(const struct csi_call_info *call, int64_t unix_ms, char text[CSI_AUDIT_LINE_BYTES]) {
  struct line line = {.text = text};
  char time[CSI_AUDIT_TIME_BYTES];
  csi_audit_time(unix_ms, time);
  put(&line, "{\"time\":\"%s\",\"id\":%" PRIu64, time, call->id);
  put_peer(&line, call->peer);
  put_text(&line, "service", call->service->name, NAME_BYTES);
  put_text(&line, "method", call->method->name, NAME_BYTES);
  put_text(&line, "object", call->object, OBJECT_BYTES);
  put_outcome(&line, call);
  put(&line, "}\n");
  return line.length;
}
