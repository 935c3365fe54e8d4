/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log_file.h"
#include "base/log_format.h"
#include "base/log_os.h"
#include "base/log_settings.h"

enum {
  FILE_FLUSH_MS = 5000,
  STDERR_FLUSH_MS = 200, /* somebody may be looking */
  STDERR_BUFFER_BYTES = 16 * 1024,
  FATAL_FLUSH_LIMIT_S = 10,
  FATAL_EXIT_CODE = 255,
  DIRECTORY_FILE_MAX_MB = 1800, /* -log_file_max_size is for -log_file only */
  BACKTRACE_ADDRESSES = 48,
  PROGRAM_BYTES = 64,
  NAME_BYTES = 1024,
};

/* Everything that changes while logging; `lock` guards all of it. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* stopping, or the flusher has ended */
  bool flusher_runs;
  bool dirty; /* something is in a buffer */
  bool stopping;
  bool is_open;  /* between csi_log_open() and csi_log_close(), which flushes */
  bool to_files; /* csi_log_open() found that files are wanted */
  char program[PROGRAM_BYTES];
  /* With -log_file only the first one is used. */
  struct csi_log_file files[CSI_SEVERITY_COUNT];
  bool failed[CSI_SEVERITY_COUNT]; /* could not be opened; not tried again */
  char stderr_buffer[STDERR_BUFFER_BYTES];
  size_t stderr_bytes;
  csi_log_sink *sink;
  void *sink_data;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static const struct csi_log_settings *const settings = &csi_log_settings;

static bool goes_to_stderr(enum csi_severity severity) {
  int rank = (int)severity;
  if (!state.to_files) return settings->legacy_stderr_threshold || rank >= settings->stderr_threshold;
  if (settings->also_to_stderr && rank >= settings->also_stderr_threshold) return true;
  return rank >= settings->stderr_threshold;
}

static void flush_stderr(void) {
  if (state.stderr_bytes > 0) csi_log_os_write_stderr(state.stderr_buffer, state.stderr_bytes);
  state.stderr_bytes = 0;
}

static void flush_all(void) {
  flush_stderr();
  for (size_t i = 0; i < CSI_SEVERITY_COUNT; i++) {
    if (state.files[i].buffer != NULL) csi_log_file_flush(&state.files[i]);
  }
  state.dirty = false;
}

/* Waits for the next time to flush, or for the end. The lock is held. */
static void wait_to_flush(void) {
  int64_t wait_ms = goes_to_stderr(CSI_SEVERITY_INFO) ? STDERR_FLUSH_MS : FILE_FLUSH_MS;
  struct timespec until;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  int64_t nanoseconds = until.tv_nsec + wait_ms * 1000000;
  until.tv_sec += (time_t)(nanoseconds / 1000000000);
  until.tv_nsec = (long)(nanoseconds % 1000000000);
  int result = 0;
  while (!state.stopping && result == 0)
    result = pthread_cond_timedwait(&state.changed, &state.lock, &until);
}

/* Writes what has gathered, and ends when nothing has: an idle process has no flusher. */
static void *run_flusher(void *unused) {
  (void)pthread_mutex_lock(&state.lock);
  bool idle;
  do {
    wait_to_flush();
    idle = !state.dirty;
    flush_all();
  } while (!state.stopping && !idle);
  state.flusher_runs = false;
  (void)pthread_cond_broadcast(&state.changed);
  (void)pthread_mutex_unlock(&state.lock);
  return unused;
}

static bool start_flusher(void) {
  pthread_attr_t attributes;
  pthread_t flusher;
  (void)pthread_attr_init(&attributes);
  (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  bool started = pthread_create(&flusher, &attributes, run_flusher, NULL) == 0;
  (void)pthread_attr_destroy(&attributes);
  return started;
}

/* Called behind every write to a buffer. */
static void flush_soon(enum csi_severity severity) {
  state.dirty = true;
  if (!state.flusher_runs && severity < CSI_SEVERITY_WARNING && !state.stopping)
    state.flusher_runs = start_flusher();
  if (severity >= CSI_SEVERITY_WARNING || !state.flusher_runs) flush_all();
}

/* Errors are seen at once; other lines in blocks, because a console or a pipe takes longer for one than a
 * call does. */
static void write_to_stderr(enum csi_severity severity, const char *line, size_t length_bytes) {
  if (state.stderr_bytes + length_bytes > sizeof state.stderr_buffer) flush_stderr();
  memcpy(state.stderr_buffer + state.stderr_bytes, line, length_bytes);
  state.stderr_bytes += length_bytes;
  if (!state.is_open || severity >= CSI_SEVERITY_WARNING) flush_stderr();
}

static bool open_in_directory(enum csi_severity severity, const char *directory, struct csi_status *status) {
  struct csi_log_file *file = &state.files[severity];
  char name[NAME_BYTES];
  csi_log_format_file_name(name, sizeof name, state.program, severity);
  int length = snprintf(file->path, sizeof file->path, "%s%c%s", directory, CSI_LOG_OS_SEPARATOR, name);
  if (length < 0 || (size_t)length >= sizeof file->path)
    return csi_fail(status, CSI_INVALID_ARGUMENT, "log directory name is too long: %s", directory);
  return csi_log_file_open(file, status);
}

static size_t tell_loss(char *out, size_t out_bytes, uint64_t lost_bytes) {
  int length = snprintf(out, out_bytes, "-- %llu bytes of log could not be written and are lost --\n",
                        (unsigned long long)lost_bytes);
  return (size_t)length;
}

/* What the flags say of every file. */
static void set_rules(struct csi_log_file *file) {
  csi_log_rotation_rules(file);
  file->header = settings->skip_log_headers ? NULL : csi_log_format_file_header;
  file->loss = tell_loss;
}

/* Opens the file of one severity: in -log_dir, or where that fails in the temporary directory. */
static bool open_severity(enum csi_severity severity, struct csi_status *status) {
  struct csi_log_file *file = &state.files[severity];
  set_rules(file);
  file->limit_bytes = UINT64_C(1024) * 1024 * DIRECTORY_FILE_MAX_MB;
  if (settings->directory[0] != '\0' && open_in_directory(severity, settings->directory, status)) return true;
  char temporary[NAME_BYTES];
  csi_log_os_temp_directory(temporary, sizeof temporary);
  struct csi_status second = {.code = CSI_OK};
  if (open_in_directory(severity, temporary, &second)) {
    csi_status_clear(status);
    return true;
  }
  if (csi_status_ok(status)) *status = second;
  return false;
}

static bool open_single_file(struct csi_status *status) {
  struct csi_log_file *file = &state.files[CSI_SEVERITY_INFO];
  int length = snprintf(file->path, sizeof file->path, "%s", settings->file);
  if (length < 0 || (size_t)length >= sizeof file->path)
    return csi_fail(status, CSI_INVALID_ARGUMENT, "log file name is too long: %s", settings->file);
  set_rules(file);
  return csi_log_file_open(file, status);
}

bool csi_log_open(const char *program, struct csi_status *status) {
  csi_log_close();
  (void)pthread_mutex_lock(&state.lock);
  state.is_open = true;
  if (settings->to_stderr) {
    (void)pthread_mutex_unlock(&state.lock);
    return true;
  }
  (void)snprintf(state.program, sizeof state.program, "%s", program);
  memset(state.failed, 0, sizeof state.failed);
  bool single = settings->file[0] != '\0';
  state.to_files = single ? open_single_file(status) : open_severity(CSI_SEVERITY_INFO, status);
  bool opened = state.to_files;
  (void)pthread_mutex_unlock(&state.lock);
  return opened;
}

void csi_log_flush(void) {
  (void)pthread_mutex_lock(&state.lock);
  flush_all();
  (void)pthread_mutex_unlock(&state.lock);
}

void csi_log_close(void) {
  (void)pthread_mutex_lock(&state.lock);
  state.stopping = true;
  (void)pthread_cond_broadcast(&state.changed);
  while (state.flusher_runs)
    (void)pthread_cond_wait(&state.changed, &state.lock);
  state.stopping = false;
  state.to_files = state.is_open = false;
  flush_all();
  for (size_t i = 0; i < CSI_SEVERITY_COUNT; i++)
    csi_log_file_close(&state.files[i]);
  (void)pthread_mutex_unlock(&state.lock);
}

void csi_log_set_sink(csi_log_sink *sink, void *data) {
  (void)pthread_mutex_lock(&state.lock);
  state.sink = sink;
  state.sink_data = data;
  (void)pthread_mutex_unlock(&state.lock);
}

/* The file of a severity in -log_dir, opened when its first message comes; NULL when it cannot be. */
static struct csi_log_file *file_of(enum csi_severity severity) {
  struct csi_log_file *file = &state.files[severity];
  if (file->buffer != NULL) return file;
  if (state.failed[severity]) return NULL;
  struct csi_status status = {.code = CSI_OK};
  if (open_severity(severity, &status)) return file;
  state.failed[severity] = true;
  csi_log_os_write_stderr(status.text, strlen(status.text));
  csi_log_os_write_stderr("\n", 1);
  return NULL;
}

static void write_to_files(enum csi_severity severity, const char *line, size_t length_bytes) {
  if (settings->file[0] != '\0') {
    csi_log_file_write(&state.files[CSI_SEVERITY_INFO], line, length_bytes);
  } else {
    int lowest = settings->one_output ? (int)severity : CSI_SEVERITY_INFO;
    for (int rank = (int)severity; rank >= lowest; rank--) {
      struct csi_log_file *file = file_of((enum csi_severity)rank);
      if (file != NULL) csi_log_file_write(file, line, length_bytes);
    }
  }
}

static void emit(enum csi_severity severity, const char *line, size_t length_bytes) {
  (void)pthread_mutex_lock(&state.lock);
  if (state.sink != NULL) {
    state.sink(state.sink_data, severity, line, length_bytes);
  } else {
    if (goes_to_stderr(severity)) write_to_stderr(severity, line, length_bytes);
    if (state.to_files) write_to_files(severity, line, length_bytes);
    if (state.to_files || state.stderr_bytes > 0) flush_soon(severity);
  }
  (void)pthread_mutex_unlock(&state.lock);
}

static void format_and_emit(enum csi_severity severity, const char *file, int line, const char *format, ...)
    CSI_PRINTF(4, 5);
static void format_and_emit(enum csi_severity severity, const char *file, int line, const char *format, ...) {
  char text[CSI_LOG_LINE_BYTES];
  va_list args;
  va_start(args, format);
  size_t length_bytes = csi_log_format_line(text, severity, file, line, format, args);
  va_end(args);
  emit(severity, text, length_bytes);
}

/* One more line with the return addresses. Names would need the symbols, which the shipped program
 * does not have; a map file or addr2line tells them. */
static void log_backtrace(enum csi_severity severity, const char *file, int line) {
  void *addresses[BACKTRACE_ADDRESSES];
  size_t count = csi_log_os_backtrace(addresses, BACKTRACE_ADDRESSES);
  char text[BACKTRACE_ADDRESSES * 20 + 1] = "";
  size_t at = 0;
  for (size_t i = 0; i < count; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, " %p", addresses[i]);
  format_and_emit(severity, file, line, "called from:%s", text);
}

static bool wants_backtrace(enum csi_severity severity, const char *file, int line) {
  if (severity == CSI_SEVERITY_FATAL) return true;
  if (settings->backtrace_file == NULL || settings->backtrace_line != line) return false;
  const char *base = csi_log_base_name(file);
  return strlen(base) == settings->backtrace_file_bytes &&
         memcmp(base, settings->backtrace_file, settings->backtrace_file_bytes) == 0;
}

/* Ends the process even when a file system hangs while the last lines are flushed. */
static void *exit_in_time(void *unused) {
  (void)sleep(FATAL_FLUSH_LIMIT_S);
  _Exit(FATAL_EXIT_CODE);
  return unused;
}

static void exit_fatally(void) {
  pthread_t watchdog;
  (void)pthread_create(&watchdog, NULL, exit_in_time, NULL);
  csi_log_flush();
  _Exit(FATAL_EXIT_CODE);
}

void csi_log_write_v(enum csi_severity severity, const char *file, int line, const char *format,
                     va_list args) {
  char text[CSI_LOG_LINE_BYTES];
  size_t length_bytes = csi_log_format_line(text, severity, file, line, format, args);
  emit(severity, text, length_bytes);
  if (wants_backtrace(severity, file, line)) log_backtrace(severity, file, line);
  if (severity == CSI_SEVERITY_FATAL) exit_fatally();
}

void csi_log_write(enum csi_severity severity, const char *file, int line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  csi_log_write_v(severity, file, line, format, args);
  va_end(args);
}
