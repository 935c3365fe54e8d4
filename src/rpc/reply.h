/* SPDX-License-Identifier: Apache-2.0
 *
 * What a status looks like on the wire.
 */
#ifndef CSI_RPC_REPLY_H
#define CSI_RPC_REPLY_H

#include <grpc/grpc.h>

#include "base/arena.h"
#include "base/status.h"

/* The trailing metadata that carries what the text alone does not: the precise code, and the system
 * error with its space and the failing call. The client library reads the same keys. */
#define CSI_METADATA_CODE "csi-proxy-code"
#define CSI_METADATA_ERROR_SPACE "csi-proxy-error-space"
#define CSI_METADATA_ERROR_NUMBER "csi-proxy-error-number"
#define CSI_METADATA_ERROR_CALL "csi-proxy-error-call"

enum { CSI_METADATA_MAX = 4 };

/* Who found the failure, which decides the code on the wire. */
enum csi_failure_origin {
  CSI_FROM_HANDLER, /* UNKNOWN, as the original sends: drivers match text, and print the code */
  CSI_FROM_RPC,     /* the status' own code */
};

/* is_awaited: the caller still waits. A device or a service that took too long is UNKNOWN to it, like every
 * other failure. */
grpc_status_code csi_reply_code(const struct csi_status *status, enum csi_failure_origin origin,
                                bool is_awaited);

/* A status on its way to the client; embedded by who sends it. */
struct csi_reply {
  grpc_slice text; /* private, all of it */
  grpc_metadata metadata[CSI_METADATA_MAX];
  char number_text[12];
};

void csi_reply_init(struct csi_reply *reply);
void csi_reply_clear(struct csi_reply *reply);

/* Fills in the operation that sends the status, once; the rest of *operation is zero. reply must live until
 * it is done. */
void csi_reply_operation(struct csi_reply *reply, const struct csi_status *status, grpc_status_code code,
                         grpc_op *operation);

#endif
