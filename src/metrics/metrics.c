/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/metrics.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/call_timing.h"
#include "base/log_file.h"
#include "metrics/calls.h"
#include "metrics/http.h"
#include "metrics/process.h"
#include "metrics/windows_calls.h"
#include "rpc/server.h"
#include "rpc/snapshot.h"

enum {
  SNAPSHOT_BYTES = 1024 * 1024,
  MS_PER_S = 1000,
};

#define NS_PER_MS UINT64_C(1000000)

struct csi_metrics {
  struct csi_metrics_options options;
  struct csi_call_metrics calls;
  struct csi_windows_calls windows_calls;
  struct csi_http *http;
};

static void write_process(struct csi_exposition *out) {
  struct csi_process_facts facts;
  if (!csi_process_facts(&facts)) return;
  csi_exposition_seconds(out, CSI_METRIC_PROCESS_CPU, NULL, facts.cpu_ns);
  csi_exposition_count(out, CSI_METRIC_PROCESS_MAX_FDS, NULL, facts.handles_max);
  csi_exposition_count(out, CSI_METRIC_PROCESS_OPEN_FDS, NULL, facts.handles);
  csi_exposition_count(out, CSI_METRIC_PROCESS_RESIDENT, NULL, facts.resident_bytes);
  csi_exposition_seconds(out, CSI_METRIC_PROCESS_START, NULL, (uint64_t)facts.start_unix_ms * NS_PER_MS);
  csi_exposition_count(out, CSI_METRIC_PROCESS_VIRTUAL, NULL, facts.private_bytes);
  csi_exposition_count(out, CSI_METRIC_PROCESS_THREADS, NULL, facts.threads);
}

static void write_build(const struct csi_metrics *metrics, struct csi_exposition *out) {
  const char *labels[] = {metrics->options.grpc_version, metrics->options.version};
  csi_exposition_count(out, CSI_METRIC_BUILD_INFO, labels, 1);
}

/* One sample for each endpoint. of: which of its numbers. */
static void write_endpoints(const struct csi_endpoint_stats *endpoints, size_t count,
                            struct csi_exposition *out, enum csi_metric metric, size_t of) {
  for (size_t i = 0; i < count; i++) {
    const char *labels[] = {endpoints[i].service->group, endpoints[i].service->version};
    const uint64_t *value = (const uint64_t *)((const char *)&endpoints[i] + of);
    csi_exposition_count(out, metric, labels, *value);
  }
}

static void write_connections(struct csi_server *server, struct csi_exposition *out) {
  struct csi_arena *arena = csi_arena_new(SNAPSHOT_BYTES);
  const struct csi_endpoint_stats *endpoints;
  size_t count;
  if (arena == NULL || !csi_server_list_endpoints(server, arena, &endpoints, &count)) {
    out->failed = true;
    csi_arena_free(arena);
    return;
  }
  write_endpoints(endpoints, count, out, CSI_METRIC_CONNECTIONS,
                  offsetof(struct csi_endpoint_stats, connections));
  write_endpoints(endpoints, count, out, CSI_METRIC_CONNECTIONS_OPENED,
                  offsetof(struct csi_endpoint_stats, opened));
  write_endpoints(endpoints, count, out, CSI_METRIC_CONNECTIONS_REJECTED,
                  offsetof(struct csi_endpoint_stats, rejected));
  csi_arena_free(arena);
}

static void write_lanes(struct csi_server *server, struct csi_exposition *out) {
  struct csi_lane_stats lanes[CSI_LANES];
  csi_server_list_lanes(server, lanes);
  for (size_t i = 0; i < CSI_LANES; i++)
    csi_exposition_count(out, CSI_METRIC_LANE_QUEUED, &lanes[i].name, lanes[i].queued);
  for (size_t i = 0; i < CSI_LANES; i++)
    csi_exposition_count(out, CSI_METRIC_LANE_THREADS, &lanes[i].name, lanes[i].threads);
}

static void write_groups(const struct csi_metrics_options *options, struct csi_exposition *out) {
  bool is_ready = false;
  if (options->group_was_ready == NULL) return;
  for (size_t i = 0; i < CSI_METRICS_GROUPS && options->groups[i] != NULL; i++)
    if (options->group_was_ready(options->context, options->groups[i], &is_ready))
      csi_exposition_count(out, CSI_METRIC_GROUP_READY, &options->groups[i], is_ready ? 1 : 0);
}

static void write_losses(const struct csi_metrics_options *options, struct csi_exposition *out) {
  if (options->count_lost_events != NULL)
    csi_exposition_count(out, CSI_METRIC_EVENTS_LOST, NULL, options->count_lost_events());
  csi_exposition_count(out, CSI_METRIC_LOG_BYTES_LOST, NULL, csi_log_file_lost_bytes());
}

static void write_metrics(void *context, struct csi_exposition *out) {
  struct csi_metrics *metrics = context;
  write_process(out);
  write_build(metrics, out);
  csi_call_metrics_write(&metrics->calls, out);
  write_connections(metrics->options.server, out);
  write_lanes(metrics->options.server, out);
  write_groups(&metrics->options, out);
  write_losses(&metrics->options, out);
  csi_windows_calls_write(&metrics->windows_calls, out);
  if (metrics->options.count_hanging_calls != NULL)
    csi_exposition_count(out, CSI_METRIC_WINDOWS_CALLS_HANGING, NULL, metrics->options.count_hanging_calls());
}

static bool start(struct csi_metrics *metrics, struct csi_status *status) {
  struct csi_process_facts facts = {0};
  (void)csi_process_facts(&facts); /* else the header says 1970 */
  const struct csi_http_options http = {.address = metrics->options.address,
                                        .silence_s = CSI_HTTP_SILENCE_S,
                                        .request_s = CSI_HTTP_REQUEST_S,
                                        .stop_s = CSI_HTTP_STOP_S,
                                        .start_unix_s = facts.start_unix_ms / MS_PER_S,
                                        .write = write_metrics,
                                        .context = metrics};
  metrics->http = csi_http_start(&http, status);
  if (metrics->http == NULL) return false;
  const struct csi_call_observer observer = csi_call_metrics_observer(&metrics->calls);
  return csi_server_add_observer(metrics->options.server, &observer) ||
         csi_fail(status, CSI_INTERNAL, "the server takes no further observer");
}

/* So that whoever reads the metrics first finds something. */
static void begin_to_look(const struct csi_metrics_options *options) {
  bool unused;
  if (options->group_was_ready != NULL && options->groups[0] != NULL)
    (void)options->group_was_ready(options->context, options->groups[0], &unused);
}

struct csi_metrics *csi_metrics_start(const struct csi_metrics_options *options, struct csi_status *status) {
  struct csi_metrics *metrics = calloc(1, sizeof *metrics);
  if (metrics == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  metrics->options = *options;
  csi_call_timing_listen(csi_windows_calls_told, &metrics->windows_calls);
  if (start(metrics, status)) {
    begin_to_look(options);
    return metrics;
  }
  if (csi_metrics_stop(metrics)) csi_metrics_free(metrics);
  return NULL;
}

const char *csi_metrics_address(const struct csi_metrics *metrics) {
  return csi_http_address(metrics->http);
}

bool csi_metrics_stop(struct csi_metrics *metrics) {
  if (metrics == NULL) return true;
  if (!csi_http_stop(metrics->http)) return false;
  metrics->http = NULL;
  return true;
}

void csi_metrics_free(struct csi_metrics *metrics) {
  if (metrics == NULL) return;
  csi_call_timing_listen(NULL, NULL);
  csi_call_metrics_free(&metrics->calls);
  free(metrics);
}
