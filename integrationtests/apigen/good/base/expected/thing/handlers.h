/* SPDX-License-Identifier: Apache-2.0
 *
 * The handlers of the thing group, to be written by hand: one for each operation, whatever the version.
 * A handler returns false after recording why in ctx->status. The request is borrowed; the response is
 * zeroed, and what it points to must be constant or in ctx->arena. Requests were checked against the
 * limits of group.proto.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#ifndef CSI_GEN_THING_HANDLERS_H
#define CSI_GEN_THING_HANDLERS_H

#include <stdbool.h>

#include "base/ctx.h"
#include "csi-proxy/thing.h"

/* What the handlers work on; defined by hand, handed through by the server. */
struct csi_thing;

/* Finds a thing. */
bool csi_thing_serve_find(struct csi_ctx *ctx, struct csi_thing *group,
    const struct csi_thing_find_request *request,
    struct csi_thing_find_response *response);

/* Counts things. */
bool csi_thing_serve_count(struct csi_ctx *ctx, struct csi_thing *group,
    const struct csi_thing_count_request *request,
    struct csi_thing_count_response *response);

#endif
