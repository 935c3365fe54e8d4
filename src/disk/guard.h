/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps the node alive: disks that Windows needs for itself are neither partitioned, formatted, resized
 * nor taken offline.
 */
#ifndef CSI_DISK_GUARD_H
#define CSI_DISK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ctx.h"
#include "disk/host.h"

/* True when the disk may be changed. Else FAILED_PRECONDITION, with what the disk is needed for and which
 * flag lifts the guard; also when that could not be found out.
 *
 * layout: the disk's partition table, to look for an EFI system partition; NULL when it has none. */
bool csi_disk_guard_check(const struct csi_disk_host *host, struct csi_ctx *ctx, uint32_t disk_number,
                          const struct csi_layout *layout) CSI_MUST_CHECK;

#endif
