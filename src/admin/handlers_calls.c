/* SPDX-License-Identifier: Apache-2.0
 *
 * ListCalls.
 */
#include "admin/state.h"
#include "rpc/snapshot.h"

enum {
  NS_PER_US = 1000,
  NS_PER_MS = 1000000,
};

static bool list_calls(struct csi_ctx *ctx, struct csi_server *server,
                       struct csi_admin_list_calls_response *response) {
  const struct csi_running_call *calls;
  size_t count;
  if (!csi_server_list_calls(server, ctx->arena, &calls, &count)) return csi_fail_out_of_memory(&ctx->status);
  struct csi_admin_running_call *listed = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *listed);
  if (listed == NULL) return csi_fail_out_of_memory(&ctx->status);
  int64_t now_ns = csi_now_ns();
  for (size_t i = 0; i < count; i++)
    listed[i] = (struct csi_admin_running_call){
        .id = calls[i].id,
        .service = calls[i].service->name,
        .method = calls[i].method != NULL ? calls[i].method->name : "",
        .process_id = calls[i].process_id,
        .image_path = calls[i].image_path,
        .age_ms = (now_ns - calls[i].arrived_ns) / NS_PER_MS,
        .state = csi_call_state_name(calls[i].state),
        .object = calls[i].object,
    };
  response->calls = listed;
  response->calls_count = count;
  return true;
}

static bool list_methods(struct csi_ctx *ctx, struct csi_server *server,
                         struct csi_admin_list_calls_response *response) {
  const struct csi_method_totals *methods;
  size_t count;
  if (!csi_server_list_methods(server, ctx->arena, &methods, &count))
    return csi_fail_out_of_memory(&ctx->status);
  struct csi_admin_method_totals *listed = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *listed);
  if (listed == NULL) return csi_fail_out_of_memory(&ctx->status);
  response->methods = listed;
  for (size_t i = 0; i < count; i++) {
    if (methods[i].started == 0) continue;
    listed[response->methods_count++] = (struct csi_admin_method_totals){
        .service = methods[i].service->name,
        .method = methods[i].method->name,
        .started = methods[i].started,
        .succeeded = methods[i].succeeded,
        .failed = methods[i].failed,
        .duration_us = methods[i].duration_ns / NS_PER_US,
        .longest_us = methods[i].longest_ns / NS_PER_US,
    };
  }
  return true;
}

bool csi_admin_serve_list_calls(struct csi_ctx *ctx, struct csi_admin *group,
                                const struct csi_admin_list_calls_request *request,
                                struct csi_admin_list_calls_response *response) {
  (void)request;
  struct csi_server *server = group->server;
  return server == NULL || (list_calls(ctx, server, response) && list_methods(ctx, server, response));
}
