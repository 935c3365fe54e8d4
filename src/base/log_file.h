/* SPDX-License-Identifier: Apache-2.0
 *
 * One log file: buffered, and renamed when it is full; private to log*.c. Called with the log locked.
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
  bool skip_header;
  char *buffer; /* NULL: not open */
  size_t buffered_bytes;
  intptr_t handle;          /* CSI_LOG_OS_NO_FILE while it cannot be opened again */
  uint64_t size_bytes;      /* in the file and in the buffer */
  uint64_t empty_bytes;     /* size with nothing but the header in it */
  uint64_t rotate_at_bytes; /* limit_bytes, or more when renaming failed */
  uint64_t lost_bytes;      /* could not be written; told in the file once it can be again */
  int64_t open_again_at_ns; /* when to try next while handle is not open */
};

/* Opens path, limit and backups of which are set, and appends the header lines. */
bool csi_log_file_open(struct csi_log_file *file, struct csi_status *status);

/* Adds one line. A full file is renamed to <stem>.<yyyymmdd-hhmmss><extension> first, and the oldest
 * such files beyond max_backups are deleted. When the file cannot be renamed it goes on growing. */
void csi_log_file_write(struct csi_log_file *file, const char *line, size_t length_bytes);

void csi_log_file_flush(struct csi_log_file *file);
void csi_log_file_close(struct csi_log_file *file);

#endif
