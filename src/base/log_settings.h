/* SPDX-License-Identifier: Apache-2.0
 *
 * What the logging flags say; private to log*.c. Written while the command line is parsed, before
 * there are other threads; read without a lock afterwards.
 */
#ifndef CSI_BASE_LOG_SETTINGS_H
#define CSI_BASE_LOG_SETTINGS_H

#include "base/log.h"

enum {
  CSI_LOG_VMODULE_ENTRIES = 32,
};

/* One "pattern=level" of -vmodule; the pattern is borrowed from the command line. */
struct csi_log_vmodule_entry {
  const char *pattern;
  size_t pattern_bytes;
  int level;
};

struct csi_log_vmodule {
  struct csi_log_vmodule_entry entries[CSI_LOG_VMODULE_ENTRIES];
  size_t count;
};

struct csi_log_settings {
  bool to_stderr;
  bool also_to_stderr;
  bool legacy_stderr_threshold;
  bool one_output;
  bool skip_headers;
  bool skip_log_headers;
  bool add_dir_header;
  int stderr_threshold;      /* enum csi_severity */
  int also_stderr_threshold; /* enum csi_severity */
  const char *file;          /* "" when there is none */
  const char *directory;     /* "" when there is none */
  uint64_t file_max_mb;      /* 0: no limit */
  uint64_t file_max_backups; /* 0: all are kept */
  int64_t file_max_age_ns;   /* 0: none is too old */
  int verbosity;
  struct csi_log_vmodule vmodule;
  const char *backtrace_file; /* base name; NULL when there is none */
  size_t backtrace_file_bytes;
  int backtrace_line;
};

extern struct csi_log_settings csi_log_settings;

/* Parses -vmodule. On failure vmodule is unchanged. */
bool csi_log_vmodule_parse(struct csi_log_vmodule *vmodule, const char *text, char *reason,
                           size_t reason_bytes);

/* The level of the first entry whose pattern matches the source file's base name without ".c"; 0
 * when none does. */
int csi_log_vmodule_level(const struct csi_log_vmodule *vmodule, const char *file);

/* The part of a source path behind the last separator of either kind. */
const char *csi_log_base_name(const char *file);

#endif
