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

/* Fills metadata (room for CSI_METADATA_MAX) and returns how many there are. The slices refer to static
 * text and to number_text. */
size_t csi_reply_metadata(const struct csi_status *status, char number_text[12], grpc_metadata *metadata);

#endif
