/* SPDX-License-Identifier: Apache-2.0
 *
 * The testbed's commands (docs/TESTBED.md) for the services and the firmware in memory: `service add name=N
 * [display=T] [start=auto|manual|disabled] [state=running|stopped|paused] [depends=A,B] [start-delay=MS]
 * [stop-delay=MS] [refuse-stop] [fail-start=CODE] [silent]`, `service remove name=N|all`,
 * `service finish name=N`, `service list`, `smbios set hex=...`.
 */
#ifndef CSI_FAKENODE_SYSTEM_COMMAND_H
#define CSI_FAKENODE_SYSTEM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "system_fake.h"

/* As csi_fake_command_run() of command_line.h. */
bool csi_fake_system_command(struct csi_fake_system *system, const char *line, char *reply,
                             size_t reply_bytes, bool *done_out);

#endif
