/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/health.h"

#include <string.h>

#include "grpc/descriptors.h"
#include "grpc/health/v1/health.pb-c.h"

enum {
  LONGEST_NAME_BYTES = 256,
};

typedef Grpc__Health__V1__HealthCheckRequest Request;
typedef Grpc__Health__V1__HealthCheckResponse Response;
typedef Grpc__Health__V1__HealthCheckResponse__ServingStatus Serving;

#define SERVING GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING
#define NOT_SERVING GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING
#define SERVICE_UNKNOWN GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN

/* The group that a name means; NULL when none does. */
static const char *find_group(const struct csi_service_list *const *lists, const char *name) {
  for (; *lists; lists++) {
    for (size_t i = 0; i < (*lists)->service_count; i++) {
      const struct csi_service *service = (*lists)->services[i];
      if (strcmp(service->name, name) == 0 || strcmp(service->group, name) == 0) return service->group;
    }
  }
  return NULL;
}

static Serving look(const struct csi_ctx *ctx, const struct csi_health *health, const char *name) {
  if (name[0] == '\0')
    return csi_readiness_is_ready(health->readiness, ctx->deadline_ns) ? SERVING : NOT_SERVING;
  const char *group = find_group(health->groups, name);
  bool is_own = !group && find_group(health->own, name);
  if (!group && !is_own) return SERVICE_UNKNOWN;
  if (csi_readiness_is_stopping(health->readiness)) return NOT_SERVING;
  return is_own || csi_readiness_group_is_ready(health->readiness, group, ctx->deadline_ns) ? SERVING
                                                                                            : NOT_SERVING;
}

static bool respond(struct csi_ctx *ctx, Serving status, const ProtobufCMessage **response_out) {
  Response *response = csi_arena_alloc(ctx->arena, sizeof *response);
  if (!response) return csi_fail_out_of_memory(&ctx->status);
  grpc__health__v1__health_check_response__init(response);
  response->status = status;
  *response_out = &response->base;
  return true;
}

static bool serve_check(struct csi_ctx *ctx, void *group, const ProtobufCMessage *request,
                        const ProtobufCMessage **response_out) {
  const char *name = ((const Request *)request)->service;
  Serving status = look(ctx, group, name);
  if (status == SERVICE_UNKNOWN) return csi_fail(&ctx->status, CSI_NOT_FOUND, "unknown service %s", name);
  return respond(ctx, status, response_out);
}

static bool serve_watch(struct csi_ctx *ctx, void *group, const ProtobufCMessage *request,
                        const ProtobufCMessage **response_out) {
  return respond(ctx, look(ctx, group, ((const Request *)request)->service), response_out);
}

/* -- Tables ---------------------------------------------------------------------------------------- */

static const struct csi_wire_field request_fields[] = {
    {.number = 1, .kind = CSI_WIRE_STRING, .max_bytes = LONGEST_NAME_BYTES, .name = "service"},
};
static const struct csi_wire_message request_wire = {
    .name = "grpc.health.v1.HealthCheckRequest", .fields = request_fields, .field_count = 1};

static const struct csi_method methods[] = {
    {.name = "Check",
     .lane = CSI_LANE_SHORT,
     .request = &grpc__health__v1__health_check_request__descriptor,
     .request_wire = &request_wire,
     .serve = serve_check},
    {.name = "Watch",
     .lane = CSI_LANE_SHORT,
     .streaming = CSI_WATCHES,
     .request = &grpc__health__v1__health_check_request__descriptor,
     .request_wire = &request_wire,
     .serve = serve_watch},
};
static const struct csi_service health_v1 = {
    .group = "health",
    .version = "v1",
    .name = "grpc.health.v1.Health",
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
    .precise_codes = true,
};
static const struct csi_service *const services[] = {&health_v1};

const struct csi_service_list csi_health_services = {
    .services = services,
    .service_count = 1,
    .descriptor_set = csi_grpc_descriptor_set,
    .descriptor_set_bytes = sizeof csi_grpc_descriptor_set,
};
