/* SPDX-License-Identifier: Apache-2.0
 *
 * Logging with the flags, the line format and the file names of klog.
 *
 *   CSI_LOG(INFO, "Starting CSI-Proxy Server ...");
 *   CSI_LOG(ERROR, "cannot listen on %s: %s", pipe, status.text);
 *   CSI_V(4, "Request: %s", method);
 *
 *   I0131 15:04:05.000000    1234 server.c:42] Starting CSI-Proxy Server ...
 *
 * A message is always one line: control characters and bytes that are not UTF-8 are escaped, so that
 * text from a request cannot forge a line. Never log a secret. All functions may be called from any
 * thread, before csi_log_open() (then they write to stderr) and when there is no usable stderr.
 * Memory is only allocated when a file is opened.
 *
 * Other than klog: a -log_file that reaches -log_file_max_size is renamed and kept
 * (-log_file_max_backups) instead of emptied; there are no links named <program>.INFO, for which
 * Windows wants a privilege; -log_backtrace_at and FATAL give the return addresses of the logging
 * thread only.
 */
#ifndef CSI_BASE_LOG_H
#define CSI_BASE_LOG_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/flags.h"
#include "base/status.h"

enum {
  CSI_LOG_LINE_BYTES = 8192, /* a longer line is cut and ends in "..." */
};

enum csi_severity {
  CSI_SEVERITY_INFO = 0,
  CSI_SEVERITY_WARNING = 1,
  CSI_SEVERITY_ERROR = 2,
  CSI_SEVERITY_FATAL = 3, /* logs, flushes, ends the process with exit code 255 */
  CSI_SEVERITY_COUNT = 4,
};

/* CSI_LOG(INFO | WARNING | ERROR | FATAL, format, ...): logs one line. */
#define CSI_LOG(severity, ...) csi_log_write(CSI_SEVERITY_##severity, __FILE__, __LINE__, __VA_ARGS__)

/* True when CSI_V(level, ...) at this place would log: for messages that cost something to prepare. */
#define CSI_V_IS_ON(level)                                                                                   \
  ((level) <= atomic_load_explicit(&csi_log_highest_level, memory_order_relaxed) &&                          \
   csi_log_level_is_on((level), __FILE__))

/* Logs one INFO line when -v, or -vmodule for this file, is at least level. Costs one load and one
 * comparison when it does not; the arguments are not evaluated then. */
#define CSI_V(level, ...)                                                                                    \
  do {                                                                                                       \
    if (CSI_V_IS_ON(level)) csi_log_write(CSI_SEVERITY_INFO, __FILE__, __LINE__, __VA_ARGS__);               \
  } while (0)

/* The logging flags, for csi_flags_parse(): -v, -vmodule, -logtostderr, -log_file and so on. */
struct csi_flag_table csi_log_flags(void);

/* The -log_file as parsed; "" when there is none. */
const char *csi_log_file_name(void);

/* Starts to log where the parsed flags say. With -logtostderr=false this opens the first log file.
 *
 * program: first part of the file names in -log_dir, for example "csi-proxy"; copied.
 * status: why the log file cannot be opened. The caller prints "log: exiting because of error: <text>"
 *   and ends with exit code 2. Blocks for file access. */
bool csi_log_open(const char *program, struct csi_status *status) CSI_MUST_CHECK;

/* Writes everything buffered to the files; waits until that is done. WARNING and above do this by
 * themselves, INFO within 200 ms on stderr and within five seconds in files. */
void csi_log_flush(void);

/* Flushes, ends the flushing thread and closes the files; later messages go to stderr. */
void csi_log_close(void);

/* Where lines go in tests, instead of stderr and files. The line ends in a newline and a NUL. Called
 * with the log locked: must not log. */
typedef void csi_log_sink(void *data, enum csi_severity severity, const char *line, size_t length_bytes);
void csi_log_set_sink(csi_log_sink *sink, void *data);

/* Behind the macros. */
extern atomic_int csi_log_highest_level;
bool csi_log_level_is_on(int level, const char *file);
void csi_log_write(enum csi_severity severity, const char *file, int line, const char *format, ...)
    CSI_PRINTF(4, 5);
void csi_log_write_v(enum csi_severity severity, const char *file, int line, const char *format, va_list args)
    CSI_PRINTF(4, 0);

#endif
