/* SPDX-License-Identifier: Apache-2.0
 *
 * One command line, whoever carries it out: most the driver, some this program with the calls that any
 * Windows program has.
 *
 *   wait-disks N [timeout=MS]            until SetupDi lists N disks that can be opened
 *   wait-volumes disk=N [count=M] [timeout=MS]   until M volumes of the disk have arrived
 *   table disk=N style=gpt|mbr|raw [partition=TYPE,OFFSET,LENGTH ...]   writes a partition table
 *   signature disk=N partition=M type=TYPE   writes the beginning of a file system
 *   format volume={GUID} ...             formats with fmifs.dll
 *   update disk=N                        IOCTL_DISK_UPDATE_PROPERTIES: the disk looks at its medium again
 *   show-disks, show-volumes             what Windows programs see
 *   share, network                       the network's shares, faults and counters
 *   target, session, initiator           iSCSI targets, whose LUNs are disks while there is a session
 *   service                              test services in the service manager
 *   reset                                no disks, no network, no test services
 */
#ifndef CSI_TESTBED_CTL_COMMAND_H
#define CSI_TESTBED_CTL_COMMAND_H

#include <stdbool.h>

#include "control.h"

/* Executes line. *reply_out: the answer, lives until the next command. */
bool csi_command_execute(struct csi_control_device *control, const char *line, const char **reply_out,
                         struct csi_ctl_error *error);

#endif
