/* SPDX-License-Identifier: Apache-2.0
 *
 * Removing entries and trees.
 */
#ifndef CSI_FILESYSTEM_REMOVE_H
#define CSI_FILESYSTEM_REMOVE_H

#include <stdbool.h>

#include "filesystem/walk.h"

/* Removes one entry: a file, a link, a mounted folder, an empty directory. */
bool csi_remove_entry(const struct csi_walk *walk) CSI_MUST_CHECK;

/* Removes an entry with everything below it; succeeds when it is not there. Links and mounted folders
 * are removed as such. Goes on past what cannot be removed, and fails at the end with the first of these,
 * naming it. Memory does not depend on how many entries there are, only on how deep they are nested. */
bool csi_remove_tree(const struct csi_walk *walk) CSI_MUST_CHECK;

/* The same for what is inside a directory. When the path is a mounted folder, the volume is emptied,
 * unless a working directory or Windows itself is on that volume; any other link is refused. */
bool csi_remove_contents(const struct csi_walk *walk) CSI_MUST_CHECK;

#endif
