/* SPDX-License-Identifier: Apache-2.0
 *
 * GetStatus.
 */
#include <unistd.h>

#include "admin/state.h"
#include "metrics/process.h"
#include "rpc/snapshot.h"

enum {
  NS_PER_MS = 1000000,
};

/* ---- Groups. ---- */

static bool list_parts(struct csi_ctx *ctx, const struct csi_group_parts *group,
                       struct csi_admin_group_status *status_out) {
  struct csi_admin_part_status *parts = csi_arena_alloc_array(ctx->arena, group->count + 1, sizeof *parts);
  if (parts == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < group->count; i++)
    parts[i] = (struct csi_admin_part_status){.name = group->parts[i].name,
                                              .state = (enum csi_admin_part_state)group->parts[i].state,
                                              .required = group->parts[i].required,
                                              .detail = group->parts[i].detail};
  *status_out = (struct csi_admin_group_status){.group = group->group,
                                                .ready = group->is_ready,
                                                .required = group->is_required,
                                                .parts = parts,
                                                .parts_count = group->count};
  return true;
}

static bool list_groups(struct csi_ctx *ctx, struct csi_readiness *readiness,
                        struct csi_admin_get_status_response *response) {
  struct csi_group_parts *groups;
  struct csi_admin_group_status *statuses =
      csi_arena_alloc_array(ctx->arena, CSI_PARTS_GROUPS, sizeof *statuses);
  if (statuses == NULL) return csi_fail_out_of_memory(&ctx->status);
  response->stopping = csi_readiness_is_stopping(readiness);
  response->ready = csi_readiness_is_ready(readiness, ctx->deadline_ns);
  if (!csi_readiness_copy(readiness, ctx, &groups)) return false;
  for (size_t i = 0; i < CSI_PARTS_GROUPS; i++)
    if (!list_parts(ctx, &groups[i], &statuses[i])) return false;
  response->groups = statuses;
  response->groups_count = CSI_PARTS_GROUPS;
  return true;
}

/* ---- Calls and pipes. ---- */

static bool list_pipes(struct csi_ctx *ctx, struct csi_server *server,
                       struct csi_admin_get_status_response *response) {
  const struct csi_endpoint_stats *endpoints;
  size_t count;
  if (!csi_server_list_endpoints(server, ctx->arena, &endpoints, &count))
    return csi_fail_out_of_memory(&ctx->status);
  struct csi_admin_pipe_status *pipes = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *pipes);
  if (pipes == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++)
    pipes[i] = (struct csi_admin_pipe_status){.pipe = endpoints[i].path,
                                              .group = endpoints[i].service->group,
                                              .version = endpoints[i].service->version,
                                              .connections = endpoints[i].connections,
                                              .connections_total = endpoints[i].opened,
                                              .connections_rejected_total = endpoints[i].rejected};
  response->pipes = pipes;
  response->pipes_count = count;
  return true;
}

static void count_calls(struct csi_server *server, struct csi_admin_get_status_response *response) {
  struct csi_call_counts counts;
  csi_server_count_calls(server, &counts);
  response->calls_running = counts.running;
  response->calls_started_total = counts.started;
  for (size_t i = 0; i < CSI_REJECTION_COUNT; i++)
    response->calls_rejected_total += counts.rejected[i];
  response->calls_failed_total = counts.failed + response->calls_rejected_total;
}

/* ---- The process. ---- */

static void describe_process(struct csi_admin *group, struct csi_admin_get_status_response *response) {
  struct csi_process_facts facts;
  response->uptime_ms = (csi_now_ns() - group->made_ns) / NS_PER_MS;
  response->process_id = (uint32_t)getpid();
  if (!csi_process_facts(&facts)) return;
  response->started_unix_ms = facts.start_unix_ms;
  response->resident_bytes = facts.resident_bytes;
  response->private_bytes = facts.private_bytes;
  response->threads = facts.threads;
  response->handles = facts.handles;
  response->cpu_ms = (int64_t)(facts.cpu_ns / NS_PER_MS);
}

bool csi_admin_serve_get_status(struct csi_ctx *ctx, struct csi_admin *group,
                                const struct csi_admin_get_status_request *request,
                                struct csi_admin_get_status_response *response) {
  (void)request;
  response->version = group->options.version;
  response->metrics_address = group->metrics_address;
  response->flags = group->options.flags;
  response->flags_count = group->options.flag_count;
  describe_process(group, response);
  if (group->server != NULL) {
    count_calls(group->server, response);
    if (!list_pipes(ctx, group->server, response)) return false;
  }
  return list_groups(ctx, group->readiness, response);
}
