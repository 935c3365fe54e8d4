/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log_file.h"
#include "base/log_settings.h"
#include "base/text.h"

/* What holds until the command line is parsed. */
struct csi_log_settings csi_log_settings = {
    .to_stderr = true,
    .legacy_stderr_threshold = true,
    .stderr_threshold = CSI_SEVERITY_ERROR,
    .file = "",
    .directory = "",
};

atomic_int csi_log_highest_level;

static void update_highest_level(void) {
  int highest = csi_log_settings.verbosity;
  for (size_t i = 0; i < csi_log_settings.vmodule.count; i++) {
    int level = csi_log_settings.vmodule.entries[i].level;
    if (level > highest) highest = level;
  }
  atomic_store(&csi_log_highest_level, highest);
}

bool csi_log_level_is_on(int level, const char *file) {
  if (level <= csi_log_settings.verbosity) return true;
  return level <= csi_log_vmodule_level(&csi_log_settings.vmodule, file);
}

/* A decimal number of 32 bits; on failure gives the reason in the words of Go's strconv. */
static bool parse_int32(const char *text, int *number_out, char *reason, size_t reason_bytes) {
  char quoted[128];
  const char *digits = text + (text[0] == '-' || text[0] == '+');
  size_t count = strspn(digits, "0123456789");
  bool valid = count > 0 && digits[count] == '\0';
  long long number = valid ? strtoll(text, NULL, 10) : 0; /* far outside it gives the nearest limit */
  bool in_range = number >= INT32_MIN && number <= INT32_MAX;
  if (valid && in_range) {
    *number_out = (int)number;
    return true;
  }
  (void)snprintf(reason, reason_bytes, "strconv.ParseInt: parsing %s: %s",
                 csi_text_quote(quoted, sizeof quoted, text),
                 valid ? "value out of range" : "invalid syntax");
  return false;
}

static bool set_verbosity(void *value, const char *text, char *reason, size_t reason_bytes) {
  if (!parse_int32(text, value, reason, reason_bytes)) return false;
  update_highest_level();
  return true;
}

static bool set_severity(void *value, const char *text, char *reason, size_t reason_bytes) {
  static const char *const names[] = {"INFO", "WARNING", "ERROR", "FATAL"};
  for (int severity = 0; severity < CSI_SEVERITY_COUNT; severity++) {
    if (csi_utf8_equal_ignore_case(text, names[severity])) {
      *(int *)value = severity;
      return true;
    }
  }
  return parse_int32(text, value, reason, reason_bytes);
}

static bool set_vmodule(void *value, const char *text, char *reason, size_t reason_bytes) {
  if (!csi_log_vmodule_parse(value, text, reason, reason_bytes)) return false;
  update_highest_level();
  return true;
}

static bool set_backtrace_at(void *value, const char *text, char *reason, size_t reason_bytes) {
  struct csi_log_settings *settings = value;
  const char *colon = strrchr(text, ':');
  int line = 0;
  bool valid =
      colon != NULL && colon > text && parse_int32(colon + 1, &line, reason, reason_bytes) && line > 0;
  if (!valid && text[0] != '\0') {
    (void)snprintf(reason, reason_bytes, "syntax error: expect file.c:234");
    return false;
  }
  settings->backtrace_file = valid ? text : NULL;
  settings->backtrace_file_bytes = valid ? (size_t)(colon - text) : 0;
  settings->backtrace_line = line;
  return true;
}

static const struct csi_flag flags[] = {
    {.name = "v",
     .type = CSI_FLAG_CUSTOM,
     .value = &csi_log_settings.verbosity,
     .set = set_verbosity,
     .default_text = "0",
     .usage = "Verbosity: messages of this level and below are logged."},
    {.name = "vmodule",
     .type = CSI_FLAG_CUSTOM,
     .value = &csi_log_settings.vmodule,
     .set = set_vmodule,
     .default_text = "",
     .usage = "Verbosity of single source files: comma-separated list of pattern=N, where the pattern\n"
              "is a file name without .c and may hold * ? [set]."},
    {.name = "logtostderr",
     .type = CSI_FLAG_BOOL,
     .value = &csi_log_settings.to_stderr,
     .default_text = "true",
     .usage = "Log to standard error instead of files."},
    {.name = "alsologtostderr",
     .type = CSI_FLAG_BOOL,
     .value = &csi_log_settings.also_to_stderr,
     .default_text = "false",
     .usage = "Log to standard error as well as files (no effect when -logtostderr=true)."},
    {.name = "alsologtostderrthreshold",
     .type = CSI_FLAG_CUSTOM,
     .value = &csi_log_settings.also_stderr_threshold,
     .set = set_severity,
     .default_text = "0",
     .usage = "Lowest severity that -alsologtostderr copies to standard error."},
    {.name = "stderrthreshold",
     .type = CSI_FLAG_CUSTOM,
     .value = &csi_log_settings.stderr_threshold,
     .set = set_severity,
     .default_text = "2",
     .usage = "Lowest severity that goes to standard error when logging to files."},
    {.name = "legacy_stderr_threshold_behavior",
     .type = CSI_FLAG_BOOL,
     .value = &csi_log_settings.legacy_stderr_threshold,
     .default_text = "true",
     .usage = "Ignore -stderrthreshold when -logtostderr=true."},
    {.name = "log_file",
     .type = CSI_FLAG_STRING,
     .value = &csi_log_settings.file,
     .default_text = "",
     .usage = "Log everything to this one file (no effect when -logtostderr=true)."},
    {.name = "log_file_max_size",
     .type = CSI_FLAG_UINT,
     .value = &csi_log_settings.file_max_mb,
     .maximum = INT64_MAX / (1024 * 1024),
     .default_text = "1800",
     .usage = "Size in megabytes at which the -log_file is renamed and begun anew; 0 means no limit."},
    {.name = "log_file_max_backups",
     .type = CSI_FLAG_UINT,
     .value = &csi_log_settings.file_max_backups,
     .maximum = INT64_MAX,
     .default_text = "1", /* a node's disk was sized for the original, which keeps none */
     .usage = "How many renamed log files are kept; 0 means all."},
    {.name = "log_file_max_age",
     .type = CSI_FLAG_DURATION,
     .value = &csi_log_settings.file_max_age_ns,
     .minimum = 0,
     .maximum = INT64_MAX,
     .default_text = "0s",
     .usage = "Age, since it was begun, at which a log file is renamed and begun anew, when the next line\n"
              "comes; for example 24h; 0 means never."},
    {.name = "log_dir",
     .type = CSI_FLAG_STRING,
     .value = &csi_log_settings.directory,
     .default_text = "",
     .usage = "Log to one file per severity in this directory (no effect when -logtostderr=true)."},
    {.name = "one_output",
     .type = CSI_FLAG_BOOL,
     .value = &csi_log_settings.one_output,
     .default_text = "false",
     .usage = "Write a message to the file of its own severity only, not also to the lower ones."},
    {.name = "skip_headers",
     .type = CSI_FLAG_BOOL,
     .value = &csi_log_settings.skip_headers,
     .default_text = "false",
     .usage = "Leave out severity, time, process and place in front of the messages."},
    {.name = "skip_log_headers",
     .type = CSI_FLAG_BOOL,
     .value = &csi_log_settings.skip_log_headers,
     .default_text = "false",
     .usage = "Leave out the lines at the beginning of a log file."},
    {.name = "add_dir_header",
     .type = CSI_FLAG_BOOL,
     .value = &csi_log_settings.add_dir_header,
     .default_text = "false",
     .usage = "Show the directory of the source file in front of its name."},
    {.name = "log_backtrace_at",
     .type = CSI_FLAG_CUSTOM,
     .value = &csi_log_settings,
     .set = set_backtrace_at,
     .default_text = "",
     .usage = "Log the return addresses when the given `file:line` logs."},
};

void csi_log_rotation_rules(struct csi_log_file *file) {
  const struct csi_log_settings *settings = &csi_log_settings;
  file->limit_bytes = settings->file_max_mb == 0 ? UINT64_MAX : settings->file_max_mb * 1024 * 1024;
  file->max_backups = settings->file_max_backups;
  file->max_age_ms = settings->file_max_age_ns / 1000000;
}

const char *csi_log_file_name(void) {
  return csi_log_settings.file;
}

struct csi_flag_table csi_log_flags(void) {
  return (struct csi_flag_table){.flags = flags, .count = sizeof flags / sizeof flags[0]};
}
