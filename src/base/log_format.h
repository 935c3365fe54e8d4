/* SPDX-License-Identifier: Apache-2.0
 *
 * What log lines and file headers look like; private to log*.c. Any thread.
 */
#ifndef CSI_BASE_LOG_FORMAT_H
#define CSI_BASE_LOG_FORMAT_H

#include "base/log.h"

/* Writes a whole line, with prefix and newline, to out (CSI_LOG_LINE_BYTES); returns its length. */
size_t csi_log_format_line(char *out, enum csi_severity severity, const char *file, int line,
                           const char *format, va_list args) CSI_PRINTF(5, 0);

/* Writes the lines at the beginning of a log file; returns their length. */
size_t csi_log_format_file_header(char *out, size_t out_bytes);

/* "csi-proxy.host.DOMAIN_user.log.INFO.20240131-150405.1234" */
void csi_log_format_file_name(char *out, size_t out_bytes, const char *program, enum csi_severity severity);

#endif
