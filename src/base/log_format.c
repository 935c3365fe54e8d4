/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log_format.h"

#include <stdio.h>
#include <string.h>

#include "base/log_os.h"
#include "base/log_settings.h"
#include "base/text.h"

enum {
  NAME_BYTES = 256,
  SOURCE_BYTES = 64, /* of a source file's name; longer ones are cut */
};

#if defined(_WIN32)
#define PLATFORM "windows/amd64"
#else
#define PLATFORM "native"
#endif

static const char ellipsis[] = "...";

/* The base name, or with -add_dir_header the directory, too. */
static const char *source_name(const char *file) {
  const char *base = csi_log_base_name(file);
  if (!csi_log_settings.add_dir_header || base == file) return base;
  const char *start = base - 1;
  while (start > file && start[-1] != '/' && start[-1] != '\\')
    start--;
  return start;
}

static size_t format_prefix(char *out, size_t out_bytes, enum csi_severity severity, const char *file,
                            int line) {
  if (csi_log_settings.skip_headers) return 0;
  struct csi_log_time now;
  csi_log_os_now(&now);
  int length = snprintf(out, out_bytes, "%c%02d%02d %02d:%02d:%02d.%06d %7lu %.*s:%d] ", "IWEF"[severity],
                        now.month, now.day, now.hour, now.minute, now.second, now.microsecond,
                        csi_log_os_process_id(), SOURCE_BYTES, source_name(file), line);
  return length < 0 ? 0 : (size_t)length;
}

size_t csi_log_format_line(char *out, enum csi_severity severity, const char *file, int line,
                           const char *format, va_list args) {
  size_t at = format_prefix(out, CSI_LOG_LINE_BYTES, severity, file, line);

  char message[CSI_LOG_LINE_BYTES];
  int wanted = vsnprintf(message, sizeof message, format, args);
  size_t message_bytes = strlen(message);
  if (wanted < 0) message_bytes = 0;
  bool cut = wanted > 0 && (size_t)wanted > message_bytes;
  if (cut) message_bytes = csi_utf8_cut(message, message_bytes, message_bytes - 4);

  size_t room_bytes = CSI_LOG_LINE_BYTES - at - sizeof ellipsis - 1;
  cut |= csi_text_escape(out + at, room_bytes, message, message_bytes) < message_bytes;
  at += strlen(out + at);
  int tail = snprintf(out + at, CSI_LOG_LINE_BYTES - at, "%s\n", cut ? ellipsis : "");
  return at + (size_t)tail;
}

/* The host's name up to the first dot. */
static void short_host_name(char name[NAME_BYTES]) {
  csi_log_os_host_name(name, NAME_BYTES);
  name[strcspn(name, ".")] = '\0';
}

size_t csi_log_format_file_header(char *out, size_t out_bytes) {
  char host[NAME_BYTES];
  struct csi_log_time now;
  short_host_name(host);
  csi_log_os_now(&now);
  int length = snprintf(out, out_bytes,
                        "Log file created at: %04d/%02d/%02d %02d:%02d:%02d\n"
                        "Running on machine: %s\n"
                        "Binary: Built with C compiler " __VERSION__ " for " PLATFORM "\n"
                        "Log line format: [IWEF]mmdd hh:mm:ss.uuuuuu threadid file:line] msg\n",
                        now.year, now.month, now.day, now.hour, now.minute, now.second, host);
  return length < 0 ? 0 : (size_t)length < out_bytes ? (size_t)length : out_bytes - 1;
}

void csi_log_format_file_name(char *out, size_t out_bytes, const char *program, enum csi_severity severity) {
  static const char *const names[] = {"INFO", "WARNING", "ERROR", "FATAL"};
  char host[NAME_BYTES], user[NAME_BYTES];
  struct csi_log_time now;
  short_host_name(host);
  csi_log_os_user_name(user, sizeof user);
  for (char *at = user; *at != '\0'; at++) {
    if (strchr("\\/:*?\"<>|", *at) != NULL) *at = '_';
  }
  csi_log_os_now(&now);
  (void)snprintf(out, out_bytes, "%s.%s.%s.log.%s.%04d%02d%02d-%02d%02d%02d.%lu", program, host, user,
                 names[severity], now.year, now.month, now.day, now.hour, now.minute, now.second,
                 csi_log_os_process_id());
}
