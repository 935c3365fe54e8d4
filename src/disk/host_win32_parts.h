/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the host that have files of their own; see disk/host.h.
 */
#ifndef CSI_DISK_HOST_WIN32_PARTS_H
#define CSI_DISK_HOST_WIN32_PARTS_H

#include "disk/host.h"

/* interfaces_win32.c */
bool csi_win32_list_disks(void *self, struct csi_ctx *ctx, const char ***paths_out, size_t *count_out);

/* volume_name_win32.c */
bool csi_win32_find_volume(void *self, struct csi_ctx *ctx, uint32_t disk_number, uint32_t partition_number,
                           char volume_id_out[CSI_VOLUME_ID_BYTES]);
bool csi_win32_online_volume(void *self, struct csi_ctx *ctx, uint32_t disk_number,
                             uint32_t partition_number);

/* rescan_win32.c */
bool csi_win32_rescan(void *self, struct csi_ctx *ctx);

/* roles_win32.c */
bool csi_win32_get_roles(void *self, struct csi_ctx *ctx, uint32_t disk_number, unsigned *roles_out);

#endif
