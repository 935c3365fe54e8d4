/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSI_CTL_READ_FILE_H
#define CSI_CTL_READ_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/ctl/ctl.h"

/* Reads a whole file into ctl->arena, with a NUL behind it that does not count. A byte order mark at its
 * beginning is left out: editors and PowerShell put it there, JSON has none. UTF-16 (little-endian) with such
 * a mark is converted.
 *
 * path (in): UTF-8; NULL is standard input.
 * limit_bytes (in): a longer one is refused.
 *
 * False: wrong usage. Blocks as long as the file does. */
bool csi_ctl_read_file(struct csi_ctl *ctl, const char *path, size_t limit_bytes, const char **text_out,
                       size_t *length_out, struct csi_ctl_error *error);

/* Opens a file for reading, bytes as they are; standard input for NULL. NULL and errno on failure.
 * Rests on _wfopen (Windows). */
FILE *csi_ctl_open_file(const char *path);

#endif
