/* SPDX-License-Identifier: Apache-2.0
 *
 * The testbed's command lines for the disks in memory, so that a profile describes both (docs/TESTBED.md has
 * them all): disk, volume, mount, fault, counters, reset, table, signature, wait-disks, wait-volumes. What
 * only the fake has: `disk set number=N roles=windows,boot,page-file,crash-dump`, `automount on|off`,
 * `directory add|exists path=PATH` without following links, for what is on a volume.
 */
#ifndef CSI_FAKENODE_STORAGE_COMMAND_H
#define CSI_FAKENODE_STORAGE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "storage_fake.h"

enum {
  STORAGE_COMMAND_LINE_BYTES = 4096,
};

/* Does what the line says; may wait, for wait-volumes. reply: lines that end in \n, or what was wrong;
 * NUL-terminated. False: nothing was done, but that `table` may have left an empty one. */
bool csi_fake_storage_command(struct csi_fake_storage *storage, const char *line, char *reply,
                              size_t reply_bytes);

/* Does all the lines of a profile; ${images} is replaced by "images". False: reply says what was wrong with
 * which line; those before it are done. */
bool csi_fake_storage_profile(struct csi_fake_storage *storage, const char *text, char *reply,
                              size_t reply_bytes);

#endif
