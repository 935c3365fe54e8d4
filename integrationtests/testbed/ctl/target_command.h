/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands `target`, `session` and `initiator`: iSCSI targets, whose LUNs are disks while there is a
 * session. Their words are in ../iscsidsc/target_words.h.
 */
#ifndef CSI_TESTBED_CTL_TARGET_COMMAND_H
#define CSI_TESTBED_CTL_TARGET_COMMAND_H

#include <stdbool.h>

#include "control.h"
#include "driver/text.h"
#include "driver/words.h"

/* words: with the first one taken, which is one of the three. */
bool csi_target_command(struct vdisk_words *words, struct vdisk_text *reply, struct csi_ctl_error *error);

/* Ends all sessions; their disks vanish. */
bool csi_target_end_sessions(struct csi_ctl_error *error);

#endif
