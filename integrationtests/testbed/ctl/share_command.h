/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands `share` and `network`: shares, their mappings, and faults of the stand-in DLLs. Their words
 * are in ../network/shares.h and ../network/faults.h.
 */
#ifndef CSI_TESTBED_CTL_SHARE_COMMAND_H
#define CSI_TESTBED_CTL_SHARE_COMMAND_H

#include <stdbool.h>

#include "control.h"
#include "driver/text.h"
#include "driver/words.h"

bool csi_share_command(struct vdisk_words *words, struct vdisk_text *reply, struct csi_ctl_error *error);
bool csi_network_command(struct vdisk_words *words, struct vdisk_text *reply, struct csi_ctl_error *error);

/* `network reset`: nothing of all this. */
bool csi_network_reset(struct csi_ctl_error *error);

#endif
