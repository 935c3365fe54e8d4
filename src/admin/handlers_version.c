/* SPDX-License-Identifier: Apache-2.0
 *
 * GetVersion.
 */
#include "admin/state.h"
#include "rpc/snapshot.h"

static const char **list_rpcs(struct csi_ctx *ctx, const struct csi_service *service) {
  const char **names = csi_arena_alloc_array(ctx->arena, service->method_count + 1, sizeof *names);
  for (size_t i = 0; names != NULL && i < service->method_count; i++)
    names[i] = service->methods[i].name;
  return names;
}

static bool list_versions(struct csi_ctx *ctx, struct csi_server *server,
                          struct csi_admin_get_version_response *response) {
  const struct csi_endpoint_stats *endpoints;
  size_t count;
  if (!csi_server_list_endpoints(server, ctx->arena, &endpoints, &count))
    return csi_fail_out_of_memory(&ctx->status);
  struct csi_admin_api_version *versions = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *versions);
  if (versions == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++) {
    const struct csi_service *service = endpoints[i].service;
    versions[i] = (struct csi_admin_api_version){.group = service->group,
                                                 .version = service->version,
                                                 .service = service->name,
                                                 .pipe = endpoints[i].path,
                                                 .rpcs = list_rpcs(ctx, service),
                                                 .rpcs_count = service->method_count};
    if (versions[i].rpcs == NULL) return csi_fail_out_of_memory(&ctx->status);
  }
  response->api_versions = versions;
  response->api_versions_count = count;
  return true;
}

bool csi_admin_serve_get_version(struct csi_ctx *ctx, struct csi_admin *group,
                                 const struct csi_admin_get_version_request *request,
                                 struct csi_admin_get_version_response *response) {
  (void)request;
  const struct csi_admin_options *options = &group->options;
  response->version = options->version;
  response->grpc_version = options->grpc_version;
  response->os_version = options->os_version;
  response->architecture = options->architecture;
  response->capabilities = options->capabilities;
  response->capabilities_count = options->capability_count;
  return group->server == NULL || list_versions(ctx, group->server, response);
}
