/* SPDX-License-Identifier: Apache-2.0
 *
 * From the bytes of a request to the bytes of its response, without gRPC: look up, check, decode,
 * convert and handle, encode.
 */
#ifndef CSI_RPC_DISPATCH_H
#define CSI_RPC_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "rpc/method.h"

/* Finds the method of "/<service>/<method>". NULL and UNIMPLEMENTED with the texts grpc-go uses. */
const struct csi_method *csi_dispatch_find(const struct csi_service *service, const char *path, size_t length,
                                           struct csi_status *status);

/* Decodes into ctx->arena. The bytes must have passed csi_wire_check(). NULL and status on failure. */
const ProtobufCMessage *csi_dispatch_decode(struct csi_ctx *ctx, const struct csi_method *method,
                                            const uint8_t *bytes, size_t length);

#endif
