/* SPDX-License-Identifier: Apache-2.0
 *
 * Dispatch tables of the thing group.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#include "thing/services.h"

#include "codegen/runtime/convert.h"
#include "thing/descriptors.h"
#include "thing/convert_v1beta2.h"
#include "thing/handlers.h"
#include "thing/wire.h"

static bool serve_v1beta2_echo(struct csi_ctx *ctx, void *group,
    const ProtobufCMessage *request_message, const ProtobufCMessage **response_out) {
  struct csi_thing_everything request = {0};
  struct csi_thing_everything response = {0};
  if (!csi_thing_v1beta2_everything_from_wire(ctx->arena, &ctx->status,
          (const V1beta2__Everything *)request_message, &request))
    return false;
  if (!csi_thing_serve_echo(ctx, group, &request, &response))
    return false;
  V1beta2__Everything *message = csi_convert_array(ctx->arena, &ctx->status, 1, sizeof *message);
  if (message == NULL)
    return false;
  v1beta2__everything__init(message);
  *response_out = &message->base;
  return csi_thing_v1beta2_everything_to_wire(ctx->arena, &ctx->status, &response, message);
}

static const struct csi_method methods_v1beta2[] = {
    {.name = "Echo",
     .lane = CSI_LANE_LONG,
     .mutating = true,
     .secret = true,
     .request = &v1beta2__everything__descriptor,
     .request_wire = &csi_thing_v1beta2_everything_wire,
     .serve = serve_v1beta2_echo},
};

static const struct csi_service service_v1beta2 = {
    .group = "thing",
    .version = "v1beta2",
    .name = "v1beta2.Thing",
    .methods = methods_v1beta2,
    .method_count = 1,
};

static const struct csi_service *const services[] = {
    &service_v1beta2,
};

const struct csi_service_list csi_thing_services = {
    .services = services,
    .service_count = 1,
    .descriptor_set = csi_thing_descriptor_set,
    .descriptor_set_bytes = sizeof csi_thing_descriptor_set,
    .secret_fields = csi_thing_secret_fields,
};
