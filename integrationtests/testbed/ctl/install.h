/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts the driver into the system and takes it out again, through SetupDi and the service manager.
 */
#ifndef CSI_TESTBED_CTL_INSTALL_H
#define CSI_TESTBED_CTL_INSTALL_H

#include <stdbool.h>
#include <wchar.h>

#include "control.h"

/* Makes the testbed's root device, unless there is one, and gives it the driver whose .inf stands in
 * directory_w. Returns when the driver runs. A driver that runs already keeps running, even when its file
 * is another by now: end the Wine session first. */
bool csi_testbed_install(const wchar_t *directory_w, struct csi_ctl_error *error);

/* Removes all disks, the root device and the service. It succeeds when nothing of it is there. */
bool csi_testbed_uninstall(struct csi_ctl_error *error);

#endif
