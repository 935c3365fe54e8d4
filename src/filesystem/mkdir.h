/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSI_FILESYSTEM_MKDIR_H
#define CSI_FILESYSTEM_MKDIR_H

#include <stdbool.h>

#include "filesystem/walk.h"

/* Makes a directory and its missing parents, the working directory included. Succeeds when the directory
 * is there already, or a link to one. */
bool csi_make_directory(const struct csi_walk *walk) CSI_MUST_CHECK;

#endif
