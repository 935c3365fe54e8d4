/* SPDX-License-Identifier: Apache-2.0
 *
 * Dispatch tables of the thing group.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#include "thing/services.h"

#include "codegen/runtime/convert.h"
#include "thing/descriptors.h"
#include "thing/convert_v1alpha1.h"
#include "thing/convert_v1.h"
#include "thing/handlers.h"
#include "thing/wire.h"

static bool serve_v1alpha1_search(struct csi_ctx *ctx, void *group,
    const ProtobufCMessage *request_message, const ProtobufCMessage **response_out) {
  struct csi_thing_find_request request = {0};
  struct csi_thing_find_response response = {0};
  if (!csi_thing_v1alpha1_search_request_from_wire(ctx->arena, &ctx->status,
          (const V1alpha1__SearchRequest *)request_message, &request))
    return false;
  if (!csi_thing_serve_find(ctx, group, &request, &response))
    return false;
  V1alpha1__SearchResponse *message = csi_convert_array(ctx->arena, &ctx->status, 1, sizeof *message);
  if (message == NULL)
    return false;
  v1alpha1__search_response__init(message);
  *response_out = &message->base;
  return csi_thing_v1alpha1_search_response_to_wire(ctx->arena, &ctx->status, &response, message);
}

static bool serve_v1alpha1_count(struct csi_ctx *ctx, void *group,
    const ProtobufCMessage *request_message, const ProtobufCMessage **response_out) {
  struct csi_thing_count_request request = {0};
  struct csi_thing_count_response response = {0};
  if (!csi_thing_v1alpha1_count_request_from_wire(ctx->arena, &ctx->status,
          (const V1alpha1__CountRequest *)request_message, &request))
    return false;
  if (!csi_thing_serve_count(ctx, group, &request, &response))
    return false;
  V1alpha1__CountResponse *message = csi_convert_array(ctx->arena, &ctx->status, 1, sizeof *message);
  if (message == NULL)
    return false;
  v1alpha1__count_response__init(message);
  *response_out = &message->base;
  return csi_thing_v1alpha1_count_response_to_wire(ctx->arena, &ctx->status, &response, message);
}

static const struct csi_method methods_v1alpha1[] = {
    {.name = "Search",
     .lane = CSI_LANE_SHORT,
     .mutating = false,
     .secret = false,
     .request = &v1alpha1__search_request__descriptor,
     .request_wire = &csi_thing_v1alpha1_search_request_wire,
     .serve = serve_v1alpha1_search},
    {.name = "Count",
     .lane = CSI_LANE_INLINE,
     .mutating = false,
     .secret = false,
     .request = &v1alpha1__count_request__descriptor,
     .request_wire = &csi_thing_v1alpha1_count_request_wire,
     .serve = serve_v1alpha1_count},
};

static const struct csi_service service_v1alpha1 = {
    .group = "thing",
    .version = "v1alpha1",
    .name = "v1alpha1.Thing",
    .methods = methods_v1alpha1,
    .method_count = 2,
};

static bool serve_v1_find(struct csi_ctx *ctx, void *group,
    const ProtobufCMessage *request_message, const ProtobufCMessage **response_out) {
  struct csi_thing_find_request request = {0};
  struct csi_thing_find_response response = {0};
  if (!csi_thing_v1_find_request_from_wire(ctx->arena, &ctx->status,
          (const V1__FindRequest *)request_message, &request))
    return false;
  if (!csi_thing_serve_find(ctx, group, &request, &response))
    return false;
  V1__FindResponse *message = csi_convert_array(ctx->arena, &ctx->status, 1, sizeof *message);
  if (message == NULL)
    return false;
  v1__find_response__init(message);
  *response_out = &message->base;
  return csi_thing_v1_find_response_to_wire(ctx->arena, &ctx->status, &response, message);
}

static bool serve_v1_count(struct csi_ctx *ctx, void *group,
    const ProtobufCMessage *request_message, const ProtobufCMessage **response_out) {
  struct csi_thing_count_request request = {0};
  struct csi_thing_count_response response = {0};
  if (!csi_thing_v1_count_request_from_wire(ctx->arena, &ctx->status,
          (const V1__CountRequest *)request_message, &request))
    return false;
  if (!csi_thing_serve_count(ctx, group, &request, &response))
    return false;
  V1__CountResponse *message = csi_convert_array(ctx->arena, &ctx->status, 1, sizeof *message);
  if (message == NULL)
    return false;
  v1__count_response__init(message);
  *response_out = &message->base;
  return csi_thing_v1_count_response_to_wire(ctx->arena, &ctx->status, &response, message);
}

static const struct csi_method methods_v1[] = {
    {.name = "Find",
     .lane = CSI_LANE_SHORT,
     .mutating = false,
     .secret = false,
     .request = &v1__find_request__descriptor,
     .request_wire = &csi_thing_v1_find_request_wire,
     .serve = serve_v1_find},
    {.name = "Count",
     .lane = CSI_LANE_INLINE,
     .mutating = false,
     .secret = false,
     .request = &v1__count_request__descriptor,
     .request_wire = &csi_thing_v1_count_request_wire,
     .serve = serve_v1_count},
};

static const struct csi_service service_v1 = {
    .group = "thing",
    .version = "v1",
    .name = "v1.Thing",
    .methods = methods_v1,
    .method_count = 2,
};

static const struct csi_service *const services[] = {
    &service_v1alpha1,
    &service_v1,
};

const struct csi_service_list csi_thing_services = {
    .services = services,
    .service_count = 2,
    .descriptor_set = csi_thing_descriptor_set,
    .descriptor_set_bytes = sizeof csi_thing_descriptor_set,
    .secret_fields = csi_thing_secret_fields,
};
