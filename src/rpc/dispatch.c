/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/dispatch.h"

#include <string.h>

#include "rpc/pb_arena.h"

static const struct csi_method *find_method(const struct csi_service *service, const char *name,
                                            size_t length) {
  for (size_t i = 0; i < service->method_count; i++) {
    const char *known = service->methods[i].name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) return &service->methods[i];
  }
  return NULL;
}

static const struct csi_binding *find_service(const struct csi_binding *bindings, size_t binding_count,
                                              const char *name, size_t length) {
  for (size_t i = 0; i < binding_count; i++) {
    const char *known = bindings[i].service->name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) return &bindings[i];
  }
  return NULL;
}

const struct csi_binding *csi_dispatch_find(const struct csi_binding *bindings, size_t binding_count,
                                            const char *path, size_t length,
                                            const struct csi_method **method_out, struct csi_status *status) {
  /* As grpc-go: the service is everything up to the last slash. */
  size_t slash = length;
  while (slash > 0 && path[slash - 1] != '/')
    slash--;
  if (length == 0 || path[0] != '/' || slash < 2) {
    csi_fail(status, CSI_UNIMPLEMENTED, "malformed method name: \"%.*s\"", (int)length, path);
    return NULL;
  }
  const char *service_name = path + 1;
  size_t service_length = slash - 2;
  const struct csi_binding *binding = find_service(bindings, binding_count, service_name, service_length);
  if (!binding) {
    csi_fail(status, CSI_UNIMPLEMENTED, "unknown service %.*s", (int)service_length, service_name);
    return NULL;
  }
  *method_out = find_method(binding->service, path + slash, length - slash);
  if (*method_out) return binding;
  csi_fail(status, CSI_UNIMPLEMENTED, "unknown method %.*s for service %s", (int)(length - slash),
           path + slash, binding->service->name);
  return NULL;
}

const ProtobufCMessage *csi_dispatch_decode(struct csi_ctx *ctx, const struct csi_method *method,
                                            const uint8_t *bytes, size_t length) {
  ProtobufCAllocator allocator = csi_pb_arena_allocator(ctx->arena);
  const ProtobufCMessage *message = protobuf_c_message_unpack(method->request, &allocator, length, bytes);
  /* The bytes are well-formed, so what is left is memory. */
  if (!message) csi_fail_out_of_memory(&ctx->status);
  return message;
}
