/* SPDX-License-Identifier: Apache-2.0
 *
 * The disks that Windows lists.
 */
#ifndef CSI_TESTBED_CTL_DISK_INTERFACES_H
#define CSI_TESTBED_CTL_DISK_INTERFACES_H

#include <stdbool.h>
#include <wchar.h>

#include "control.h"

/* Calls visit for each present disk interface, with its path. */
bool csi_disk_interfaces(void (*visit)(void *context, const wchar_t *path_w), void *context,
                         struct csi_ctl_error *error);

#endif
