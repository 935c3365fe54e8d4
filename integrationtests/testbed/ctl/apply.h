/* SPDX-License-Identifier: Apache-2.0
 *
 * Executes the commands of a profile.
 */
#ifndef CSI_TESTBED_CTL_APPLY_H
#define CSI_TESTBED_CTL_APPLY_H

#include <stdbool.h>
#include <wchar.h>

#include "control.h"

/* Executes the profile file_w line by line and stops at the first that fails; the error names file and line.
 * What the commands answer goes to stdout. variables_w: NAME=VALUE, ends with NULL. */
bool csi_apply(const wchar_t *file_w, wchar_t **variables_w, struct csi_ctl_error *error);

#endif
