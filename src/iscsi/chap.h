/* SPDX-License-Identifier: Apache-2.0
 *
 * What a login proves itself with.
 */
#ifndef CSI_ISCSI_CHAP_H
#define CSI_ISCSI_CHAP_H

#include "base/ctx.h"
#include "csi-proxy/iscsi.h"
#include "iscsi/host.h"

/* Fills authentication, user and secret of a login from a request. Without authentication the login has
 * neither, whatever the request has: the original sent them, and targets did not look at them. Fails with
 * INVALID_ARGUMENT: an unknown authentication type; CHAP without a secret of 12 to 16 bytes. */
bool csi_iscsi_read_chap(struct csi_ctx *ctx, const struct csi_iscsi_connect_target_request *request,
                         struct csi_iscsi_login *login) CSI_MUST_CHECK;

#endif
