/* SPDX-License-Identifier: Apache-2.0
 *
 * One file of lines: buffered, and renamed when it is full or old. For the log (log.c) and for the audit log;
 * calls for one file must not run at the same time. May block for file access.
 */
#ifndef CSI_BASE_LOG_FILE_H
#define CSI_BASE_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
  CSI_LOG_PATH_BYTES = 1024,
};

struct csi_log_file {
  char path[CSI_LOG_PATH_BYTES];
  uint64_t limit_bytes; /* UINT64_MAX: none */
  uint64_t max_backups; /* 0: all are kept */
  int64_t max_age_ms;   /* 0: none */
  /* Writes what a file begins with; returns its length. NULL: nothing. */
  size_t (*header)(char *out, size_t out_bytes);
  /* Writes the line, with its newline, that tells what is missing before it; returns its length. */
  size_t (*loss)(char *out, size_t out_bytes, uint64_t lost_bytes);
  int64_t (*unix_ms)(void); /* for tests; NULL: the system's clock */
  char *buffer;             /* NULL: not open */
  size_t buffered_bytes;
  size_t begun_bytes;       /* of them, the rest of a line of which the file has the beginning */
  size_t note_bytes;        /* length of the line in the buffer that tells of lost ones; 0: none */
  size_t note_end_bytes;    /* where it ends in the buffer */
  uint64_t noted_bytes;     /* what it tells */
  intptr_t handle;          /* CSI_LOG_OS_NO_FILE while it cannot be opened again */
  uint64_t size_bytes;      /* in the file and in the buffer */
  uint64_t empty_bytes;     /* size with nothing but the header in it */
  uint64_t rotate_at_bytes; /* limit_bytes, or more when renaming failed */
  int64_t rotate_at_ms;     /* when it is too old; later when renaming failed */
  uint64_t lost_bytes;      /* could not be written, and the file does not say so yet */
  int64_t open_again_at_ns; /* when to try next while handle is not open */
};

/* Sets the limits of size and age and the number of backups to what the logging flags say. */
void csi_log_rotation_rules(struct csi_log_file *file);

/* Opens path and appends the header. The members up to unix_ms are set; all others are zero, or what
 * csi_log_file_close() left. */
bool csi_log_file_open(struct csi_log_file *file, struct csi_status *status);

/* Adds one line, with its newline. A line of which only a part could be written is completed when the file
 * takes something again, or, in the next run, ended by a newline; whole lines that could not be written are
 * lost, and told by a line in their place. A file that is full, or was begun max_age_ms ago (by its creation
 * time, also in an earlier run of the program), is renamed to <stem>.<yyyymmdd-hhmmss><extension> first, and
 * the oldest such files beyond max_backups are deleted. When the file cannot be renamed it goes on growing.
 */
void csi_log_file_write(struct csi_log_file *file, const char *line, size_t length_bytes);

/* Hands what is buffered to the system. What it does not take is lost, but for the rest of a line. */
void csi_log_file_flush(struct csi_log_file *file);
void csi_log_file_close(struct csi_log_file *file);

/* How long the directory is that a path begins with, without the separator behind it unless it is the root; 0
 * when the path is only a name. */
size_t csi_log_directory_bytes(const char *path);

/* Bytes that no file of the process could take, since it began. Any thread. */
uint64_t csi_log_file_lost_bytes(void);

/* Counts bytes that were meant for a file and lost on the way to it. Any thread. */
void csi_log_file_count_lost(size_t length_bytes);

#endif
