/* SPDX-License-Identifier: Apache-2.0
 *
 * LUNs as disks of the testbed's driver.
 */
#ifndef CSI_TESTBED_ISCSIDSC_LUN_DISKS_H
#define CSI_TESTBED_ISCSIDSC_LUN_DISKS_H

#include <stdbool.h>

#include "ctl/control.h"
#include "targets.h"

/* Attaches the LUNs of targets with a session, and removes the others' disks, where that is not so already.
 * LUNs of targets that are gone are forgotten. Whoever changes sessions calls it afterwards. A disk that
 * comes late because of its target's delay comes when somebody asks for a session's devices. */
bool lun_disks_settle(struct network_state *state, struct csi_ctl_error *error);

#endif
