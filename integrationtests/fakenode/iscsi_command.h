/* SPDX-License-Identifier: Apache-2.0
 *
 * The testbed's commands `target`, `session` and `initiator` (docs/TESTBED.md) for the targets in memory.
 */
#ifndef CSI_FAKENODE_ISCSI_COMMAND_H
#define CSI_FAKENODE_ISCSI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "iscsi_fake.h"

/* As csi_fake_command_run() of command_line.h. */
bool csi_fake_iscsi_command(struct csi_fake_iscsi *iscsi, const char *line, char *reply, size_t reply_bytes,
                            bool *done_out);

/* The same; aborts the program when the command is none, or cannot be done. */
void csi_fake_iscsi_do(struct csi_fake_iscsi *iscsi, const char *line);

#endif
