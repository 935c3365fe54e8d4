/* SPDX-License-Identifier: Apache-2.0
 *
 * The testbed's command `network` (docs/TESTBED.md) for the fakes of shares and iSCSI targets.
 */
#ifndef CSI_FAKENODE_NETWORK_COMMAND_H
#define CSI_FAKENODE_NETWORK_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "network_faults.h"

/* As csi_fake_command_run() of command_line.h. */
bool csi_fake_network_command(struct csi_fake_network *network, const char *line, char *reply,
                              size_t reply_bytes, bool *done_out);

#endif
