/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for what comes some time after a command.
 */
#ifndef CSI_TESTBED_CTL_WAIT_H
#define CSI_TESTBED_CTL_WAIT_H

#include <stdbool.h>

#include "control.h"
#include "driver/words.h"

/* wait-disks N [timeout=MS]
 * Returns when SetupDi lists exactly N disk interfaces and each of them can be opened. */
bool csi_wait_disks_command(struct vdisk_words *words, struct csi_ctl_error *error);

/* wait-volumes disk=N [count=M] [timeout=MS]
 * Returns when exactly M volumes (default 1) of the disk have arrived. */
bool csi_wait_volumes_command(struct csi_control_device *control, struct vdisk_words *words,
                              struct csi_ctl_error *error);

#endif
