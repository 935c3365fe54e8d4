/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum {
  TEXT_BYTES = CSI_STATUS_TEXT_BYTES,
  PREFIX_SHARE_BYTES = TEXT_BYTES / 4, /* what context gets at least when the text is full */
};

void csi_status_clear(struct csi_status *status) {
  *status = (struct csi_status){.code = CSI_OK};
}

bool csi_status_ok(const struct csi_status *status) {
  return status->code == CSI_OK;
}

/* Formats to out as one line of valid UTF-8. Names of files and devices come from outside: this is
 * where they lose newlines and the like, for every status. */
static void format_line(char out[TEXT_BYTES], const char *format, va_list args) CSI_PRINTF(2, 0);
static void format_line(char out[TEXT_BYTES], const char *format, va_list args) {
  /* One character more than fits, so that a cut in the middle of a character falls behind the end. */
  char raw[TEXT_BYTES + 4];
  int length = vsnprintf(raw, sizeof raw, format, args);
  if (length < 0) raw[0] = '\0';
  size_t raw_bytes = strlen(raw);
  (void)csi_text_escape(out, TEXT_BYTES, raw, csi_utf8_cut(raw, raw_bytes, TEXT_BYTES - 1));
}

/* Copies as much of text as fits behind the used_bytes of out. */
static size_t append(char out[TEXT_BYTES], size_t used_bytes, const char *text, size_t length_bytes) {
  size_t take_bytes = csi_utf8_cut(text, length_bytes, TEXT_BYTES - 1 - used_bytes);
  memcpy(out + used_bytes, text, take_bytes);
  out[used_bytes + take_bytes] = '\0';
  return used_bytes + take_bytes;
}

/* Puts prefix before what out holds. When both do not fit, the prefix is cut first, because what it
 * explains stands at the end; but never below its share. */
static void prepend(char out[TEXT_BYTES], const char *prefix) {
  char old[TEXT_BYTES];
  size_t old_bytes = strlen(out);
  memcpy(old, out, old_bytes + 1);
  size_t room_bytes = TEXT_BYTES - 1 - old_bytes;
  if (room_bytes < PREFIX_SHARE_BYTES) room_bytes = PREFIX_SHARE_BYTES;
  size_t used_bytes = append(out, 0, prefix, csi_utf8_cut(prefix, strlen(prefix), room_bytes));
  append(out, used_bytes, old, old_bytes);
}

bool csi_fail(struct csi_status *status, enum csi_code code, const char *format, ...) {
  if (status->code != CSI_OK) return false;
  status->code = code == CSI_OK ? CSI_UNKNOWN : code;
  status->space = CSI_SPACE_NONE;
  status->number = 0;
  status->call = NULL;
  va_list args;
  va_start(args, format);
  format_line(status->text, format, args);
  va_end(args);
  return false;
}

/* " (Win32 error 3 in CreateFileW)": decimal where people know the numbers so, else hexadecimal. */
static void format_number(char *out, size_t out_bytes, const struct csi_status *status) {
  bool decimal = status->space == CSI_SPACE_WIN32 || status->space == CSI_SPACE_ERRNO;
  const char *name = csi_error_space_name(status->space);
  const char *in = status->call == NULL ? "" : " in ";
  const char *call = status->call == NULL ? "" : status->call;
  if (decimal)
    (void)snprintf(out, out_bytes, " (%s error %u%s%s)", name, (unsigned)status->number, in, call);
  else
    (void)snprintf(out, out_bytes, " (%s error 0x%08x%s%s)", name, (unsigned)status->number, in, call);
}

bool csi_fail_system(struct csi_status *status, enum csi_error_space space, uint32_t number, const char *call,
                     const char *format, ...) {
  if (status->code != CSI_OK) return false;
  status->code = csi_code_of_system_error(space, number);
  status->space = space;
  status->number = number;
  status->call = call;

  char system_text[512], number_text[128], tail[sizeof system_text + sizeof number_text + 2];
  format_number(number_text, sizeof number_text, status);
  (void)snprintf(tail, sizeof tail, ": %s%s",
                 csi_system_error_text(space, number, system_text, sizeof system_text), number_text);
  (void)csi_text_escape(status->text, TEXT_BYTES, tail, strlen(tail));

  char context[TEXT_BYTES];
  va_list args;
  va_start(args, format);
  format_line(context, format, args);
  va_end(args);
  prepend(status->text, context);
  return false;
}

bool csi_fail_out_of_memory(struct csi_status *status) {
  return csi_fail(status, CSI_RESOURCE_EXHAUSTED, "out of memory");
}

bool csi_explain(struct csi_status *status, const char *format, ...) {
  char context[TEXT_BYTES];
  va_list args;
  va_start(args, format);
  format_line(context, format, args);
  va_end(args);
  prepend(status->text, context);
  return false;
}

bool csi_advise(struct csi_status *status, const char *format, ...) {
  char advice[TEXT_BYTES];
  va_list args;
  va_start(args, format);
  format_line(advice, format, args);
  va_end(args);
  append(status->text, strlen(status->text), advice, strlen(advice));
  return false;
}
