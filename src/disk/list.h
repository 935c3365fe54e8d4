/* SPDX-License-Identifier: Apache-2.0
 *
 * What is asked of all disks at once. One odd disk never fails the whole: what it does not tell is left
 * out, with a line in the log at level 2.
 */
#ifndef CSI_DISK_LIST_H
#define CSI_DISK_LIST_H

#include "csi-proxy/disk.h"
#include "disk/host.h"

bool csi_list_disk_locations(struct csi_ctx *ctx, const struct csi_disk_host *host,
                             struct csi_disk_list_disk_locations_response *response) CSI_MUST_CHECK;

bool csi_list_disk_ids(struct csi_ctx *ctx, const struct csi_disk_host *host,
                       struct csi_disk_list_disk_ids_response *response) CSI_MUST_CHECK;

/* Finds the first disk whose page 83 identifier is name. */
bool csi_find_disk_by_page83(struct csi_ctx *ctx, const struct csi_disk_host *host, const char *name,
                             uint32_t *number_out) CSI_MUST_CHECK;

#endif
