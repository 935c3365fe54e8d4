/* SPDX-License-Identifier: Apache-2.0
 *
 * Formatting through fmifs.dll, as Windows programs do it.
 */
#ifndef CSI_TESTBED_CTL_FORMAT_H
#define CSI_TESTBED_CTL_FORMAT_H

#include <stdbool.h>

#include "control.h"
#include "driver/text.h"
#include "driver/words.h"

/* format volume={GUID} [fs=NTFS] [cluster=BYTES] [label=TEXT]
 * Formats quickly. The answer is what the callback was told: a line for each command but progress, and the
 * last progress. Fails unless the last command said that it is done. */
bool csi_format_command(struct vdisk_words *words, struct vdisk_text *reply, struct csi_ctl_error *error);

#endif
