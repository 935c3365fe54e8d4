/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the host that have files of their own, see iscsi/host.h, and what they share.
 */
#ifndef CSI_ISCSI_HOST_WIN32_PARTS_H
#define CSI_ISCSI_HOST_WIN32_PARTS_H

#include "iscsi/host.h"
#include "iscsi/iscsidsc_win32.h"

/* host_win32.c: fills a zeroed portal for the library. An address of "" is any. */
bool csi_win32_fill_portal(struct csi_ctx *ctx, const struct csi_iscsi_portal *portal,
                           ISCSI_TARGET_PORTALW *portal_out) CSI_MUST_CHECK;

/* targets_win32.c */
bool csi_win32_list_targets(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal,
                            const char ***names_out, size_t *count_out);

/* login_win32.c: what is called with secrets. */
bool csi_win32_login(void *self, struct csi_ctx *ctx, const struct csi_iscsi_login *login);
bool csi_win32_set_chap_secret(void *self, struct csi_ctx *ctx, const char *secret);

#endif
