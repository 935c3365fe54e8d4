/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log_file.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/log_os.h"
#include "base/log_settings.h"

enum {
  BUFFER_BYTES = 65536,
  STAMP_BYTES = 15, /* yyyymmdd-hhmmss */
  RENAME_ATTEMPTS = 100,
  HEADER_BYTES = 1024,
};

static const int64_t open_again_after_ns = INT64_C(5000000000);

static atomic_ullong all_lost_bytes;

uint64_t csi_log_file_lost_bytes(void) {
  return atomic_load(&all_lost_bytes);
}

void csi_log_file_count_lost(size_t length_bytes) {
  atomic_fetch_add(&all_lost_bytes, length_bytes);
}

static void lose(struct csi_log_file *file, size_t length_bytes) {
  file->lost_bytes += length_bytes;
  csi_log_file_count_lost(length_bytes);
}

static int64_t now_ms(const struct csi_log_file *file) {
  return file->unix_ms == NULL ? csi_log_os_unix_ms() : file->unix_ms();
}

size_t csi_log_directory_bytes(const char *path) {
  const size_t length = (size_t)(csi_log_base_name(path) - path);
  const bool is_root = length == 1 || (length == 3 && path[1] == ':');
  return length == 0 || is_root ? length : length - 1;
}

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

/* False when there is no room. */
static bool add_to_buffer(struct csi_log_file *file, const char *data, size_t length_bytes) {
  if (length_bytes > BUFFER_BYTES - file->buffered_bytes) csi_log_file_flush(file);
  if (length_bytes > BUFFER_BYTES - file->buffered_bytes) return false;
  memcpy(file->buffer + file->buffered_bytes, data, length_bytes);
  file->buffered_bytes += length_bytes;
  file->size_bytes += length_bytes;
  return true;
}

/* The end of the line that has begun within the first so many bytes of the buffer. */
static size_t end_of_begun_line(const struct csi_log_file *file, size_t written_bytes) {
  if (written_bytes <= file->begun_bytes) return file->begun_bytes;
  if (file->buffer[written_bytes - 1] == '\n') return written_bytes;
  const size_t rest_bytes = file->buffered_bytes - written_bytes;
  const char *newline = rest_bytes == 0 ? NULL : memchr(file->buffer + written_bytes, '\n', rest_bytes);
  return newline == NULL ? file->buffered_bytes : (size_t)(newline + 1 - file->buffer);
}

/* The line about lost ones is written, or stays, or is lost itself. */
static void settle_note(struct csi_log_file *file, size_t written_bytes, size_t kept_bytes) {
  if (file->note_bytes == 0) return;
  if (file->note_end_bytes > written_bytes && file->note_end_bytes <= kept_bytes) {
    file->note_end_bytes -= written_bytes;
    file->note_bytes = file->note_end_bytes; /* what stays is the rest of one line */
    return;
  }
  if (file->note_end_bytes <= written_bytes)
    file->lost_bytes -= file->noted_bytes;
  else
    file->buffered_bytes -= file->note_bytes; /* so that it is not counted: it was no line of theirs */
  file->note_bytes = 0;
}

/* The file has the first written_bytes of the buffer, and may get the rest of the line up to kept_bytes; what
 * is behind is lost. */
static void settle(struct csi_log_file *file, size_t written_bytes, size_t kept_bytes) {
  file->size_bytes -= file->buffered_bytes - kept_bytes;
  settle_note(file, written_bytes, kept_bytes);
  if (file->buffered_bytes > kept_bytes) lose(file, file->buffered_bytes - kept_bytes);
  file->buffered_bytes = file->begun_bytes = kept_bytes - written_bytes;
  memmove(file->buffer, file->buffer + written_bytes, file->buffered_bytes);
}

static void close_handle(struct csi_log_file *file) {
  csi_log_file_flush(file);
  settle(file, 0, 0);
  if (file->handle != CSI_LOG_OS_NO_FILE) csi_log_os_close(file->handle);
  file->handle = CSI_LOG_OS_NO_FILE;
}

static bool open_handle(struct csi_log_file *file, struct csi_status *status) {
  int64_t begun_ms;
  bool is_cut;
  if (!csi_log_os_open(file->path, &file->handle, &file->size_bytes, &begun_ms, &is_cut, status)) {
    file->handle = CSI_LOG_OS_NO_FILE;
    file->open_again_at_ns = csi_now_ns() + open_again_after_ns;
    return false;
  }
  if (file->size_bytes == 0) begun_ms = now_ms(file);
  file->empty_bytes = 0;
  file->rotate_at_bytes = file->limit_bytes;
  file->rotate_at_ms = file->max_age_ms == 0 ? INT64_MAX : begun_ms + file->max_age_ms;
  if (is_cut) (void)add_to_buffer(file, "\n", 1);
  if (file->header != NULL) {
    char header[HEADER_BYTES];
    size_t header_bytes = file->header(header, sizeof header);
    (void)add_to_buffer(file, header, header_bytes);
    file->empty_bytes = header_bytes;
  }
  return true;
}

bool csi_log_file_open(struct csi_log_file *file, struct csi_status *status) {
  file->buffer = malloc(BUFFER_BYTES);
  if (file->buffer == NULL) return csi_fail_out_of_memory(status);
  file->buffered_bytes = file->begun_bytes = file->note_bytes = 0;
  file->lost_bytes = 0;
  if (open_handle(file, status)) return true;
  free(file->buffer);
  file->buffer = NULL;
  return false;
}

static void rotate(struct csi_log_file *file) {
  struct path_parts parts;
  split_path(file->path, &parts);
  close_handle(file);
  bool renamed = rename_to_backup(file, &parts);

  struct csi_status status = {.code = CSI_OK};
  if (!open_handle(file, &status)) return;
  if (renamed) {
    delete_old_backups(file, &parts);
    return;
  }
  /* Somebody holds it open: try again when it has grown, or aged, by another eighth. */
  file->rotate_at_bytes =
      file->limit_bytes == UINT64_MAX ? UINT64_MAX : file->size_bytes + file->limit_bytes / 8;
  if (file->max_age_ms > 0) file->rotate_at_ms = now_ms(file) + file->max_age_ms / 8;
}

/* True when lines can be taken; tries to open the file again now and then. */
static bool is_usable(struct csi_log_file *file) {
  struct csi_status status = {.code = CSI_OK};
  if (file->handle != CSI_LOG_OS_NO_FILE) return true;
  return csi_now_ns() >= file->open_again_at_ns && open_handle(file, &status);
}

/* A second one waits until it is known what became of the first. */
static void note_what_was_lost(struct csi_log_file *file) {
  char note[128];
  const uint64_t lost_bytes = file->lost_bytes;
  const size_t length = file->loss(note, sizeof note, lost_bytes);
  if (file->note_bytes > 0 || !add_to_buffer(file, note, length)) return;
  file->note_bytes = length;
  file->note_end_bytes = file->buffered_bytes;
  file->noted_bytes = lost_bytes;
}

static bool wants_rotation(const struct csi_log_file *file, size_t length_bytes) {
  if (file->size_bytes <= file->empty_bytes) return false; /* no line in it yet */
  if (file->size_bytes >= file->rotate_at_bytes || length_bytes > file->rotate_at_bytes - file->size_bytes)
    return true;
  return file->rotate_at_ms != INT64_MAX && now_ms(file) >= file->rotate_at_ms;
}

void csi_log_file_write(struct csi_log_file *file, const char *line, size_t length_bytes) {
  if (is_usable(file) && wants_rotation(file, length_bytes)) rotate(file);
  if (!is_usable(file)) {
    lose(file, length_bytes);
    return;
  }
  if (file->lost_bytes > 0) note_what_was_lost(file);
  if (!add_to_buffer(file, line, length_bytes)) lose(file, length_bytes);
}

void csi_log_file_flush(struct csi_log_file *file) {
  if (file->buffered_bytes == 0) return;
  const size_t written_bytes = file->handle == CSI_LOG_OS_NO_FILE
                                   ? 0
                                   : csi_log_os_write(file->handle, file->buffer, file->buffered_bytes);
  settle(file, written_bytes, end_of_begun_line(file, written_bytes));
}

void csi_log_file_close(struct csi_log_file *file) {
  if (file->buffer == NULL) return;
  close_handle(file);
  free(file->buffer);
  file->buffer = NULL;
}
