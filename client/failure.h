/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills the public struct csi_error from what the library or the service has to say.
 */
#ifndef CSI_CLIENT_FAILURE_H
#define CSI_CLIENT_FAILURE_H

#include <grpc/grpc.h>

#include "base/status.h"
#include "csi-proxy/error.h"

struct csi_error;

/* A failure on this side of the connection. Returns its code. */
enum csi_code csi_error_from_status(const struct csi_status *status, struct csi_error *error_out);

/* A status that ended a call: code, message and trailing metadata (see rpc/reply.h; the Go csi-proxy
 * sends none), none of them trusted. */
enum csi_code csi_error_from_reply(grpc_status_code code, grpc_slice message,
                                   const grpc_metadata_array *trailing, struct csi_error *error_out);

#endif
