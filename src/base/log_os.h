/* SPDX-License-Identifier: Apache-2.0
 *
 * What files of lines need from the operating system; for log*.c and the audit log. One implementation a
 * platform.
 * Paths are UTF-8. Nothing here logs, allocates, or may be called without the log's lock unless said.
 */
#ifndef CSI_BASE_LOG_OS_H
#define CSI_BASE_LOG_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define CSI_LOG_OS_NO_FILE ((intptr_t)-1)

#if defined(_WIN32)
#define CSI_LOG_OS_SEPARATOR '\\'
#else
#define CSI_LOG_OS_SEPARATOR '/'
#endif

struct csi_log_time {
  int year;
  int month; /* 1 to 12 */
  int day;   /* 1 to 31 */
  int hour;
  int minute;
  int second;
  int microsecond;
};

/* Local time. Any thread. */
void csi_log_os_now(struct csi_log_time *now_out);

/* Milliseconds since the beginning of 1970, UTC; follows the system's clock when that is set. Any thread. */
int64_t csi_log_os_unix_ms(void);

/* The same moment as date and time of UTC. Any thread. */
void csi_log_os_utc(int64_t unix_ms, struct csi_log_time *utc_out);

/* Any thread. */
unsigned long csi_log_os_process_id(void);

/* Does nothing when there is no standard error output. */
void csi_log_os_write_stderr(const char *text, size_t length_bytes);

/* Opens for appending, makes the file when it is missing. Others may read, rename and delete it.
 * is_cut_out: the file ends in the middle of a line.
 * begun_ms_out: when the file was made, as csi_log_os_unix_ms(); where the file system does not know, when it
 * was last written to. */
bool csi_log_os_open(const char *path, intptr_t *file_out, uint64_t *size_bytes_out, int64_t *begun_ms_out,
                     bool *is_cut_out, struct csi_status *status);
/* Returns how many bytes the system took: all, or less when it took no more. */
size_t csi_log_os_write(intptr_t file, const char *data, size_t length_bytes);
void csi_log_os_close(intptr_t file);

/* Fails when `to` exists. */
bool csi_log_os_rename(const char *from, const char *to);
void csi_log_os_remove(const char *path);

bool csi_log_os_is_directory(const char *path);

/* Calls visit for every name in the directory; a directory that cannot be read has none. */
void csi_log_os_each_name(const char *directory, void (*visit)(void *data, const char *name), void *data);

/* Each writes a NUL-terminated text, "unknown..." when the system does not tell. */
void csi_log_os_host_name(char *buffer, size_t buffer_bytes);
void csi_log_os_user_name(char *buffer, size_t buffer_bytes); /* DOMAIN_user where there are domains */
void csi_log_os_temp_directory(char *buffer, size_t buffer_bytes);

/* Return addresses of the callers, innermost first; returns how many. Any thread. */
size_t csi_log_os_backtrace(void **addresses, size_t limit);

#endif
