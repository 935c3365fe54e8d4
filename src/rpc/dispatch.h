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

struct csi_method_counters; /* rpc/record.h */

/* A service as one endpoint has it. */
struct csi_binding {
  const struct csi_service_list *list;
  const struct csi_service *service;
  void *group;                          /* what its handlers get */
  struct csi_method_counters *counters; /* one a method */
};

/* Finds the method of "/<service>/<method>". Returns its service; NULL and UNIMPLEMENTED, with the texts
 * grpc-go uses, when there is no such service or no such method. */
const struct csi_binding *csi_dispatch_find(const struct csi_binding *bindings, size_t binding_count,
                                            const char *path, size_t length,
                                            const struct csi_method **method_out, struct csi_status *status);

/* Decodes into ctx->arena. The bytes must have passed csi_wire_check(). NULL and status on failure. */
const ProtobufCMessage *csi_dispatch_decode(struct csi_ctx *ctx, const struct csi_method *method,
                                            const uint8_t *bytes, size_t length);

#endif
