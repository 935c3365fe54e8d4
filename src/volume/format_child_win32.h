/* SPDX-License-Identifier: Apache-2.0
 *
 * Formatting in a process of its own: fmifs.dll cannot be stopped, and may crash; a process can be ended.
 */
#ifndef CSI_VOLUME_FORMAT_CHILD_WIN32_H
#define CSI_VOLUME_FORMAT_CHILD_WIN32_H

#include "volume/host.h"

/* Does csi_volume_host.format: runs this program again, as the helper of format_helper_win32.h, and ends
 * it with the deadline of ctx and when ctx is cancelled. */
bool csi_format_in_child(struct csi_ctx *ctx, const struct csi_guid *guid,
                         const struct csi_format *format) CSI_MUST_CHECK;

#endif
