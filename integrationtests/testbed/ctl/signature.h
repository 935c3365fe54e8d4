/* SPDX-License-Identifier: Apache-2.0
 *
 * Beginnings of file systems, for tests of what must not be formatted and what has to be.
 */
#ifndef CSI_TESTBED_CTL_SIGNATURE_H
#define CSI_TESTBED_CTL_SIGNATURE_H

#include <stdbool.h>

#include "control.h"
#include "driver/words.h"

/* signature disk=N partition=M type=ntfs|refs|bitlocker|fat32|exfat|noise|none
 * Writes the first 64 KiB of the partition and, for NTFS, its last sector. `noise` is no file system that
 * anything knows, `none` is all zeros. */
bool csi_signature_command(struct vdisk_words *words, struct csi_ctl_error *error);

#endif
