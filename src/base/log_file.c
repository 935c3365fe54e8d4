/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/log_format.h"
#include "base/log_os.h"
#include "base/log_settings.h"

enum {
  BUFFER_BYTES = 65536,
  STAMP_BYTES = 15, /* yyyymmdd-hhmmss */
  RENAME_ATTEMPTS = 100,
  HEADER_BYTES = 1024,
};

static const int64_t open_again_after_ns = INT64_C(5000000000);

/* The path in three parts: "logs/csi-proxy.log" is "logs", "csi-proxy", ".log". */
struct path_parts {
  char directory[CSI_LOG_PATH_BYTES];
  char stem[CSI_LOG_PATH_BYTES];
  const char *extension; /* in the path itself */
};

static void split_path(const char *path, struct path_parts *parts_out) {
  const char *base = csi_log_base_name(path);
  const char *dot = strrchr(base, '.');
  parts_out->extension = dot == NULL || dot == base ? base + strlen(base) : dot;
  size_t directory_bytes = (size_t)(base - path);
  (void)snprintf(parts_out->directory, sizeof parts_out->directory, "%.*s", (int)directory_bytes,
                 directory_bytes == 0 ? "" : path);
  if (directory_bytes == 0) (void)snprintf(parts_out->directory, sizeof parts_out->directory, ".");
  (void)snprintf(parts_out->stem, sizeof parts_out->stem, "%.*s", (int)(parts_out->extension - base), base);
}

/* The oldest backup among the names of a directory, and how many there are. */
struct backup_search {
  const struct path_parts *parts;
  uint64_t count;
  char oldest[CSI_LOG_PATH_BYTES];
};

/* Length of the "yyyymmdd-hhmmss" or "yyyymmdd-hhmmss-2" that text begins with; 0 when it does not. */
static size_t stamp_length(const char *text) {
  for (size_t i = 0; i < STAMP_BYTES; i++) {
    bool right = i == 8 ? text[i] == '-' : text[i] >= '0' && text[i] <= '9';
    if (!right) return 0;
  }
  size_t digits = text[STAMP_BYTES] == '-' ? strspn(text + STAMP_BYTES + 1, "0123456789") : 0;
  return STAMP_BYTES + (digits == 0 ? 0 : digits + 1);
}

/* By time; within one second the shorter name has the smaller number. */
static bool is_older(const char *a, const char *b, size_t stem_bytes) {
  int result = strncmp(a + stem_bytes, b + stem_bytes, STAMP_BYTES + 1);
  if (result != 0) return result < 0;
  size_t a_bytes = strlen(a), b_bytes = strlen(b);
  return a_bytes != b_bytes ? a_bytes < b_bytes : strcmp(a, b) < 0;
}

static void note_backup(void *data, const char *name) {
  struct backup_search *search = data;
  size_t stem_bytes = strlen(search->parts->stem);
  if (strncmp(name, search->parts->stem, stem_bytes) != 0 || name[stem_bytes] != '.') return;
  size_t stamp_bytes = stamp_length(name + stem_bytes + 1);
  if (stamp_bytes == 0 || strcmp(name + stem_bytes + 1 + stamp_bytes, search->parts->extension) != 0) return;
  search->count++;
  if (search->oldest[0] == '\0' || is_older(name, search->oldest, stem_bytes))
    (void)snprintf(search->oldest, sizeof search->oldest, "%s", name);
}

static void delete_old_backups(const struct csi_log_file *file, const struct path_parts *parts) {
  if (file->max_backups == 0) return;
  /* One more than allowed is the rule; more only after the limit was lowered. */
  for (int i = 0; i < RENAME_ATTEMPTS; i++) {
    struct backup_search search = {.parts = parts};
    csi_log_os_each_name(parts->directory, note_backup, &search);
    if (search.count <= file->max_backups) return;
    char path[CSI_LOG_PATH_BYTES * 2];
    (void)snprintf(path, sizeof path, "%s%c%s", parts->directory, CSI_LOG_OS_SEPARATOR, search.oldest);
    csi_log_os_remove(path);
  }
}

static bool rename_to_backup(const struct csi_log_file *file, const struct path_parts *parts) {
  struct csi_log_time now;
  csi_log_os_now(&now);
  for (int attempt = 1; attempt <= RENAME_ATTEMPTS; attempt++) {
    char number[16] = "", backup[CSI_LOG_PATH_BYTES * 3];
    if (attempt > 1) (void)snprintf(number, sizeof number, "-%d", attempt);
    (void)snprintf(backup, sizeof backup, "%s%c%s.%04d%02d%02d-%02d%02d%02d%s%s", parts->directory,
                   CSI_LOG_OS_SEPARATOR, parts->stem, now.year, now.month, now.day, now.hour, now.minute,
                   now.second, number, parts->extension);
    if (csi_log_os_rename(file->path, backup)) return true;
  }
  return false;
}

static void add_to_buffer(struct csi_log_file *file, const char *data, size_t length_bytes) {
  if (length_bytes > BUFFER_BYTES - file->buffered_bytes) csi_log_file_flush(file);
  memcpy(file->buffer + file->buffered_bytes, data, length_bytes);
  file->buffered_bytes += length_bytes;
  file->size_bytes += length_bytes;
}

static bool open_handle(struct csi_log_file *file, struct csi_status *status) {
  if (!csi_log_os_open(file->path, &file->handle, &file->size_bytes, status)) {
    file->handle = CSI_LOG_OS_NO_FILE;
    file->open_again_at_ns = csi_now_ns() + open_again_after_ns;
    return false;
  }
  file->empty_bytes = 0;
  file->rotate_at_bytes = file->limit_bytes;
  if (!file->skip_header) {
    char header[HEADER_BYTES];
    size_t header_bytes = csi_log_format_file_header(header, sizeof header);
    add_to_buffer(file, header, header_bytes);
    file->empty_bytes = header_bytes;
  }
  return true;
}

bool csi_log_file_open(struct csi_log_file *file, struct csi_status *status) {
  file->buffer = malloc(BUFFER_BYTES);
  if (file->buffer == NULL) return csi_fail_out_of_memory(status);
  file->buffered_bytes = 0;
  file->lost_bytes = 0;
  if (open_handle(file, status)) return true;
  free(file->buffer);
  file->buffer = NULL;
  return false;
}

static void rotate(struct csi_log_file *file) {
  struct path_parts parts;
  split_path(file->path, &parts);
  csi_log_file_flush(file);
  csi_log_os_close(file->handle);
  bool renamed = rename_to_backup(file, &parts);

  struct csi_status status = {.code = CSI_OK};
  if (!open_handle(file, &status)) return;
  if (renamed)
    delete_old_backups(file, &parts);
  else /* somebody holds it open; try again when it has grown by another eighth */
    file->rotate_at_bytes = file->size_bytes + file->limit_bytes / 8;
}

/* True when lines can be taken; tries to open the file again now and then. */
static bool is_usable(struct csi_log_file *file) {
  struct csi_status status = {.code = CSI_OK};
  if (file->handle != CSI_LOG_OS_NO_FILE) return true;
  return csi_now_ns() >= file->open_again_at_ns && open_handle(file, &status);
}

static void tell_what_was_lost(struct csi_log_file *file) {
  char note[128];
  int length = snprintf(note, sizeof note, "-- %llu bytes of log could not be written and are lost --\n",
                        (unsigned long long)file->lost_bytes);
  file->lost_bytes = 0;
  add_to_buffer(file, note, (size_t)length);
}

void csi_log_file_write(struct csi_log_file *file, const char *line, size_t length_bytes) {
  if (!is_usable(file)) {
    file->lost_bytes += length_bytes;
    return;
  }
  bool has_lines = file->size_bytes > file->empty_bytes;
  bool full =
      file->size_bytes >= file->rotate_at_bytes || length_bytes > file->rotate_at_bytes - file->size_bytes;
  if (full && has_lines) {
    rotate(file);
    if (!is_usable(file)) {
      file->lost_bytes += length_bytes;
      return;
    }
  }
  if (file->lost_bytes > 0) tell_what_was_lost(file);
  add_to_buffer(file, line, length_bytes);
}

void csi_log_file_flush(struct csi_log_file *file) {
  if (file->buffered_bytes == 0) return;
  bool written = file->handle != CSI_LOG_OS_NO_FILE &&
                 csi_log_os_write(file->handle, file->buffer, file->buffered_bytes);
  if (!written) file->lost_bytes += file->buffered_bytes;
  file->buffered_bytes = 0;
}

void csi_log_file_close(struct csi_log_file *file) {
  if (file->buffer == NULL) return;
  csi_log_file_flush(file);
  if (file->handle != CSI_LOG_OS_NO_FILE) csi_log_os_close(file->handle);
  free(file->buffer);
  file->buffer = NULL;
  file->handle = CSI_LOG_OS_NO_FILE;
}
