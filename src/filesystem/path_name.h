/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether one name means on Windows what it says. Pure functions.
 */
#ifndef CSI_FILESYSTEM_PATH_NAME_H
#define CSI_FILESYSTEM_PATH_NAME_H

#include <stddef.h>

/* What is wrong with a component of a path, as a phrase for people; NULL when nothing is.
 *
 * name: UTF-8, `bytes` long, not empty. Refused are `.` and `..`, a dot or blank at the end (the Win32
 * layer drops them, so two spellings would name one entry), characters that no name may hold, stream
 * colons, and device names, with or without extension. */
const char *csi_path_name_flaw(const char *name, size_t bytes);

#endif
