/* SPDX-License-Identifier: Apache-2.0
 *
 * Client stubs of the thing group.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#include "thing/client_group.h"

#include "codegen/runtime/convert.h"
#include "csi-proxy/thing.h"
#include "thing/convert_v1beta2.h"
#include "thing/wire.h"

enum {
  RPC_ECHO,
  RPC_COUNT
};

static const char *const rpc_names[RPC_COUNT] = {
    [RPC_ECHO] = "Echo",
};

static const size_t response_bytes[RPC_COUNT] = {
    [RPC_ECHO] = sizeof(struct csi_thing_everything),
};

static bool v1beta2_echo_request(struct csi_arena *arena, struct csi_status *status, const void *request,
    ProtobufCMessage **message_out) {
  V1beta2__Everything *message = csi_convert_array(arena, status, 1, sizeof *message);
  if (message == NULL)
    return false;
  v1beta2__everything__init(message);
  *message_out = &message->base;
  return csi_thing_v1beta2_everything_to_wire(arena, status, request, message);
}

static bool v1beta2_echo_response(struct csi_arena *arena, struct csi_status *status,
    const ProtobufCMessage *message, void *response) {
  return csi_thing_v1beta2_everything_from_wire(arena, status, (const V1beta2__Everything *)message, response);
}

static const struct csi_client_method methods_v1beta2[RPC_COUNT] = {
    [RPC_ECHO] = {.path = "/v1beta2.Thing/Echo",
        .response = &v1beta2__everything__descriptor,
        .response_wire = &csi_thing_v1beta2_everything_wire,
        .request_to_wire = v1beta2_echo_request,
        .response_from_wire = v1beta2_echo_response},
};

static const struct csi_client_version versions[] = {
    {.version = "v1beta2", .methods = methods_v1beta2},
};

const struct csi_client_group csi_thing_client_group = {
    .group = "thing",
    .rpc_names = rpc_names,
    .response_bytes = response_bytes,
    .rpc_count = RPC_COUNT,
    .versions = versions,
    .version_count = 1,
};

enum csi_code csi_thing_echo(
    struct csi_client *client, const struct csi_thing_everything *request,
    const struct csi_call_options *options, struct csi_thing_everything **response_out,
    struct csi_error *error_out) {
  static const struct csi_thing_everything defaults;
  void *response = NULL;
  enum csi_code code = csi_client_call(client, &csi_thing_client_group, RPC_ECHO,
      request != NULL ? request : &defaults, options, &response, error_out);
  *response_out = response;
  return code;
}

