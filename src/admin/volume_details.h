/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything that one volume says of itself.
 */
#ifndef CSI_ADMIN_VOLUME_DETAILS_H
#define CSI_ADMIN_VOLUME_DETAILS_H

#include "admin/disk_details.h"
#include "volume/host.h"

/* Asks for file system, size and mount points of the volume on a partition. What is not answered is among the
 * errors; a volume that does not answer in time is asked nothing more. Fails only when memory is short, and
 * with a volume id that is none. */
bool csi_volume_describe(const struct csi_volume_host *host, struct csi_ctx *ctx, uint32_t disk_number,
                         const struct csi_admin_partition *partition,
                         struct csi_admin_volume_details *details_out) CSI_MUST_CHECK;

#endif
