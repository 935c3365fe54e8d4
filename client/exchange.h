/* SPDX-License-Identifier: Apache-2.0
 *
 * One call from bytes to bytes, whatever they mean.
 */
#ifndef CSI_CLIENT_EXCHANGE_H
#define CSI_CLIENT_EXCHANGE_H

#include <grpc/grpc.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "client/session.h"

/* What came of a call: what gRPC fills in. */
struct csi_exchange {
  grpc_call *call; /* owns the bytes of the metadata */
  grpc_metadata_array initial;
  grpc_metadata_array trailing;
  grpc_byte_buffer *reply; /* NULL when there was none */
  grpc_status_code code;
  grpc_slice message;
};

void csi_exchange_init(struct csi_exchange *exchange);
void csi_exchange_clear(struct csi_exchange *exchange);

/* Sends a request and waits for the status, on a second connection when the first turns out to be dead.
 *
 * request (in): borrowed.
 * timeout_ms (in): most time for all of it; 0 = no limit.
 * exchange (in, out): initialised; whatever comes of this, to be cleared.
 *
 * False with status for a failure on this side: UNAVAILABLE or DEADLINE_EXCEEDED when there is no connection,
 * INTERNAL when gRPC does not take the call, RESOURCE_EXHAUSTED. Otherwise the outcome is in the exchange. */
bool csi_exchange_run(struct csi_client *client, struct csi_rpc rpc, grpc_slice request, uint32_t timeout_ms,
                      struct csi_exchange *exchange, struct csi_status *status);

/* The bytes of a reply in one piece.
 *
 * reply (in): NULL fails.
 * what (in): path of the call, for the text of the failure.
 * bytes_out (out): a slice of its own, to be given back with grpc_slice_unref().
 *
 * False: INTERNAL. */
bool csi_reply_bytes(grpc_byte_buffer *reply, const char *what, grpc_slice *bytes_out,
                     struct csi_status *status);

/* A slice of bytes in an arena; the arena is freed with its last reference, and wiped when it is marked
 * secret. */
grpc_slice csi_slice_of_arena(struct csi_arena *arena, void *bytes, size_t size_bytes);

#endif
