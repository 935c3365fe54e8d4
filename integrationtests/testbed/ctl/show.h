/* SPDX-License-Identifier: Apache-2.0
 *
 * What a Windows program sees of the testbed, asked with the calls that it would use; the driver's own lists
 * are what there should be.
 */
#ifndef CSI_TESTBED_CTL_SHOW_H
#define CSI_TESTBED_CTL_SHOW_H

#include <stdbool.h>

#include "control.h"
#include "driver/text.h"

/* show-disks: a line for each disk interface that SetupDi lists. A disk that cannot be opened has error=N
 * alone; a value that cannot be had is error-N, with the Win32 error number. */
bool csi_show_disks(struct vdisk_text *reply, struct csi_ctl_error *error);

/* show-volumes: a line for each volume that FindFirstVolumeW lists and that is on a disk of the testbed. */
bool csi_show_volumes(struct vdisk_text *reply, struct csi_ctl_error *error);

/* Adds ` key=value` with %XX for bytes that a command could not have in a value. */
void csi_show_add_escaped(struct vdisk_text *reply, const char *key, const char *value, size_t value_bytes);
void csi_show_add_wide(struct vdisk_text *reply, const char *key, const wchar_t *value_w);

/* Adds ` key=error-N` with the last Win32 error. */
void csi_show_add_error(struct vdisk_text *reply, const char *key);

#endif
