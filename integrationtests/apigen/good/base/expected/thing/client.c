/* SPDX-License-Identifier: Apache-2.0
 *
 * Client stubs of the thing group.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#include "thing/client_group.h"

#include "codegen/runtime/convert.h"
#include "csi-proxy/thing.h"
#include "thing/convert_v1alpha1.h"
#include "thing/convert_v1.h"
#include "thing/wire.h"

enum {
  RPC_FIND,
  RPC_COUNT,
  RPC_COUNT
};

static const char *const rpc_names[RPC_COUNT] = {
    [RPC_FIND] = "Find",
    [RPC_COUNT] = "Count",
};

static const size_t response_bytes[RPC_COUNT] = {
    [RPC_FIND] = sizeof(struct csi_thing_find_response),
    [RPC_COUNT] = sizeof(struct csi_thing_count_response),
};

static bool v1alpha1_search_request(struct csi_arena *arena, struct csi_status *status, const void *request,
    ProtobufCMessage **message_out) {
  V1alpha1__SearchRequest *message = csi_convert_array(arena, status, 1, sizeof *message);
  if (message == NULL)
    return false;
  v1alpha1__search_request__init(message);
  *message_out = &message->base;
  return csi_thing_v1alpha1_search_request_to_wire(arena, status, request, message);
}

static bool v1alpha1_search_response(struct csi_arena *arena, struct csi_status *status,
    const ProtobufCMessage *message, void *response) {
  return csi_thing_v1alpha1_search_response_from_wire(arena, status, (const V1alpha1__SearchResponse *)message, response);
}

static bool v1alpha1_count_request(struct csi_arena *arena, struct csi_status *status, const void *request,
    ProtobufCMessage **message_out) {
  V1alpha1__CountRequest *message = csi_convert_array(arena, status, 1, sizeof *message);
  if (message == NULL)
    return false;
  v1alpha1__count_request__init(message);
  *message_out = &message->base;
  return csi_thing_v1alpha1_count_request_to_wire(arena, status, request, message);
}

static bool v1alpha1_count_response(struct csi_arena *arena, struct csi_status *status,
    const ProtobufCMessage *message, void *response) {
  return csi_thing_v1alpha1_count_response_from_wire(arena, status, (const V1alpha1__CountResponse *)message, response);
}

static const struct csi_client_method methods_v1alpha1[RPC_COUNT] = {
    [RPC_FIND] = {.path = "/v1alpha1.Thing/Search",
        .response = &v1alpha1__search_response__descriptor,
        .response_wire = &csi_thing_v1alpha1_search_response_wire,
        .request_to_wire = v1alpha1_search_request,
        .response_from_wire = v1alpha1_search_response},
    [RPC_COUNT] = {.path = "/v1alpha1.Thing/Count",
        .response = &v1alpha1__count_response__descriptor,
        .response_wire = &csi_thing_v1alpha1_count_response_wire,
        .request_to_wire = v1alpha1_count_request,
        .response_from_wire = v1alpha1_count_response},
};

static bool v1_find_request(struct csi_arena *arena, struct csi_status *status, const void *request,
    ProtobufCMessage **message_out) {
  V1__FindRequest *message = csi_convert_array(arena, status, 1, sizeof *message);
  if (message == NULL)
    return false;
  v1__find_request__init(message);
  *message_out = &message->base;
  return csi_thing_v1_find_request_to_wire(arena, status, request, message);
}

static bool v1_find_response(struct csi_arena *arena, struct csi_status *status,
    const ProtobufCMessage *message, void *response) {
  return csi_thing_v1_find_response_from_wire(arena, status, (const V1__FindResponse *)message, response);
}

static bool v1_count_request(struct csi_arena *arena, struct csi_status *status, const void *request,
    ProtobufCMessage **message_out) {
  V1__CountRequest *message = csi_convert_array(arena, status, 1, sizeof *message);
  if (message == NULL)
    return false;
  v1__count_request__init(message);
  *message_out = &message->base;
  return csi_thing_v1_count_request_to_wire(arena, status, request, message);
}

static bool v1_count_response(struct csi_arena *arena, struct csi_status *status,
    const ProtobufCMessage *message, void *response) {
  return csi_thing_v1_count_response_from_wire(arena, status, (const V1__CountResponse *)message, response);
}

static const struct csi_client_method methods_v1[RPC_COUNT] = {
    [RPC_FIND] = {.path = "/v1.Thing/Find",
        .response = &v1__find_response__descriptor,
        .response_wire = &csi_thing_v1_find_response_wire,
        .request_to_wire = v1_find_request,
        .response_from_wire = v1_find_response},
    [RPC_COUNT] = {.path = "/v1.Thing/Count",
        .response = &v1__count_response__descriptor,
        .response_wire = &csi_thing_v1_count_response_wire,
        .request_to_wire = v1_count_request,
        .response_from_wire = v1_count_response},
};

static const struct csi_client_version versions[] = {
    {.version = "v1", .methods = methods_v1},
    {.version = "v1alpha1", .methods = methods_v1alpha1},
};

const struct csi_client_group csi_thing_client_group = {
    .group = "thing",
    .rpc_names = rpc_names,
    .response_bytes = response_bytes,
    .rpc_count = RPC_COUNT,
    .versions = versions,
    .version_count = 2,
};

enum csi_code csi_thing_find(
    struct csi_client *client, const struct csi_thing_find_request *request,
    const struct csi_call_options *options, struct csi_thing_find_response **response_out,
    struct csi_error *error_out) {
  static const struct csi_thing_find_request defaults;
  void *response = NULL;
  enum csi_code code = csi_client_call(client, &csi_thing_client_group, RPC_FIND,
      request != NULL ? request : &defaults, options, &response, error_out);
  *response_out = response;
  return code;
}

enum csi_code csi_thing_count(
    struct csi_client *client, const struct csi_thing_count_request *request,
    const struct csi_call_options *options, struct csi_thing_count_response **response_out,
    struct csi_error *error_out) {
  static const struct csi_thing_count_request defaults;
  void *response = NULL;
  enum csi_code code = csi_client_call(client, &csi_thing_client_group, RPC_COUNT,
      request != NULL ? request : &defaults, options, &response, error_out);
  *response_out = response;
  return code;
}

