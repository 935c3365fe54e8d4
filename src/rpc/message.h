/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages on their way from and to gRPC, of calls and of streams alike.
 */
#ifndef CSI_RPC_MESSAGE_H
#define CSI_RPC_MESSAGE_H

#include <grpc/byte_buffer.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "rpc/record.h"

/* Many large requests at once are as good as one that is too large: false and RESOURCE_EXHAUSTED. To be given
 * back by csi_message_give_back(). */
bool csi_message_reserve(struct csi_call_environment *environment, size_t length, struct csi_status *status);
void csi_message_give_back(struct csi_call_environment *environment, size_t length);

/* Copies a received message into the arena and frees the buffer, which is wiped when it is secret. False: out
 * of memory. */
bool csi_message_copy(struct csi_arena *arena, grpc_byte_buffer **buffer, bool secret,
                      const uint8_t **bytes_out, size_t *length_out);

/* Holds a request against the wire format and the limits of the proto; false and why in ctx->status. One that
 * passes is logged, when that is wanted. */
bool csi_message_check(struct csi_ctx *ctx, const struct csi_call_record *record, const uint8_t *bytes,
                       size_t length);

/* A packed message, to be destroyed by the caller. */
grpc_byte_buffer *csi_message_encode(const ProtobufCMessage *message);

#endif
