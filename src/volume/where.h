/* SPDX-License-Identifier: Apache-2.0
 *
 * Where on which disks a volume is.
 */
#ifndef CSI_VOLUME_WHERE_H
#define CSI_VOLUME_WHERE_H

#include "disk/target.h"
#include "volume/reach.h"

/* A disk to be opened, with csi_target_open(). */
struct csi_target csi_volume_disk(const struct csi_volume *group, struct csi_ctx *ctx, uint32_t number);

/* Finds the disk of a volume, with one device call; that of the first extent, with a second call, when the
 * volume is spread over several. */
bool csi_volume_find_disk(struct csi_ctx *ctx, const struct csi_volume_handle *volume,
                          uint32_t *disk_number_out) CSI_MUST_CHECK;

/* Finds the one piece that a volume consists of. FAILED_PRECONDITION when there are several. */
bool csi_volume_find_extent(struct csi_ctx *ctx, const struct csi_volume_handle *volume,
                            struct csi_extent *extent_out) CSI_MUST_CHECK;

#endif
