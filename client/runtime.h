/* SPDX-License-Identifier: Apache-2.0
 *
 * What the generated stubs stand on: tables per group, and one function that makes any call.
 */
#ifndef CSI_CLIENT_RUNTIME_H
#define CSI_CLIENT_RUNTIME_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "csi-proxy/client.h"
#include "rpc/wire.h"

/* One RPC in one version. */
struct csi_client_method {
  const char *path; /* "/v1.Filesystem/PathExists"; NULL when this version does not have the RPC */
  const ProtobufCMessageDescriptor *response;
  const struct csi_wire_message *response_wire;
  /* Version-agnostic request to a message in the arena; false and status when it does not fit or memory is
   * short. */
  bool (*request_to_wire)(struct csi_arena *arena, struct csi_status *status, const void *request,
                          ProtobufCMessage **message_out);
  /* Message to a version-agnostic response whose pointers stay in the arena. */
  bool (*response_from_wire)(struct csi_arena *arena, struct csi_status *status,
                             const ProtobufCMessage *message, void *response);
};

struct csi_client_version {
  const char *version;                     /* "v1" */
  const struct csi_client_method *methods; /* indexed like csi_client_group.rpc_names */
};

/* The generator emits csi_<group>_client_group; versions in csi_client_connect()'s default order. */
struct csi_client_group {
  const char *group;
  const char *const *rpc_names;
  const size_t *response_bytes; /* size of each version-agnostic response structure */
  size_t rpc_count;
  const struct csi_client_version *versions;
  size_t version_count;
};

/* Makes the call number `rpc` of the client's group. On success *response_out is freed with
 * csi_response_free(). */
enum csi_code csi_client_call(struct csi_client *client, const struct csi_client_group *group, size_t rpc,
                              const void *request, const struct csi_call_options *options,
                              void **response_out, struct csi_error *error_out);

#endif
