/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/server.h"

#include <grpc/grpc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/timed_wait.h"
#include "rpc/call.h"
#include "rpc/server_state.h"
#include "rpc/stream.h"
#include "transport/transport.h"

enum {
  POSTED_CALLS = 2, /* per endpoint; a call posts its successor as soon as it arrives */
  MAX_METADATA_BYTES = 64 * 1024,
  ENDPOINT_BYTES = 512,
  DRAIN_STEP_MS = 500,
  CANCEL_WAIT_MS = 5000,
};

void csi_server_options_default(struct csi_server_options *options) {
  *options = (struct csi_server_options){
      .max_connections = 2048,
      .max_streams = 256,
      .pending_instances = 8,
      .silence_timeout_ms = 20 * 1000,
      .short_threads = 8,
      .long_threads = 16,
      .max_threads = 64,
      .max_queued_calls = 1024,
  };
}

static bool set_up(struct csi_server *server, const struct csi_server_options *options,
                   struct csi_status *status) {
  server->options = *options;
  server->endpoint_format = strdup(options->endpoint_format);
  server->sddl = strdup(options->sddl ? options->sddl : "");
  atomic_init(&server->environment.stopping, false);
  pthread_mutex_init(&server->environment.lock, NULL);
  pthread_cond_init(&server->environment.changed, NULL);
  csi_timed_wait_init(&server->environment.watch_wake);
  server->environment.streams_per_process = CSI_STREAMS_PER_PROCESS;
  server->environment.short_lane =
      csi_pool_new(options->short_threads, options->max_threads, options->max_queued_calls);
  server->environment.long_lane =
      csi_pool_new(options->long_threads, options->max_threads, options->max_queued_calls);
  if (!server->endpoint_format || !server->sddl || !server->environment.short_lane ||
      !server->environment.long_lane) {
    return csi_fail_out_of_memory(status);
  }
  server->queue = csi_completion_queue_new(status);
  if (!server->queue) return false;
  server->environment.queue = csi_completion_queue_grpc(server->queue);
  return true;
}

struct csi_server *csi_server_new(const struct csi_server_options *options, struct csi_status *status) {
  struct csi_server *server = calloc(1, sizeof *server);
  if (!server) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  server->endpoints_end = &server->endpoints;
  csi_transport_start();
  if (!set_up(server, options, status)) {
    csi_server_free(server);
    return NULL;
  }
  return server;
}

bool csi_server_add_observer(struct csi_server *server, const struct csi_call_observer *observer) {
  struct csi_call_environment *environment = &server->environment;
  if (environment->observer_count == CSI_CALL_OBSERVERS) return false;
  environment->observers[environment->observer_count++] = *observer;
  return true;
}

void csi_server_refresh_watches(struct csi_server *server) {
  csi_streams_refresh(&server->environment);
}

/* -- Endpoints ------------------------------------------------------------------------------------- */

/* Where there are streams a connection may have fewer calls at once, so that no client takes all streams. */
static uint32_t max_calls(const struct csi_endpoint *endpoint, uint32_t usual) {
  for (size_t i = 0; i < endpoint->binding_count; i++)
    for (size_t j = 0; j < endpoint->bindings[i].service->method_count; j++)
      if (endpoint->bindings[i].service->methods[j].streaming != CSI_UNARY &&
          usual > CSI_STREAMS_PER_CONNECTION)
        return CSI_STREAMS_PER_CONNECTION;
  return usual;
}

static grpc_server *new_grpc_server(const struct csi_server *server, const struct csi_endpoint *endpoint) {
#define INTEGER_ARG(name, number) {.type = GRPC_ARG_INTEGER, .key = (char *)(name), .value.integer = (number)}
  grpc_arg arguments[] = {
      INTEGER_ARG(GRPC_ARG_MAX_CONCURRENT_STREAMS, (int)max_calls(endpoint, server->options.max_streams)),
      INTEGER_ARG(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, CSI_MAX_REQUEST_BYTES),
      INTEGER_ARG(GRPC_ARG_MAX_METADATA_SIZE, MAX_METADATA_BYTES),
      /* A local pipe needs no bandwidth estimate; the probe is a ping a call. */
      INTEGER_ARG(GRPC_ARG_HTTP2_BDP_PROBE, 0),
      INTEGER_ARG(GRPC_ARG_ENABLE_CHANNELZ, 0),
      /* Off: a pipe says when its other end is gone. */
      INTEGER_ARG(GRPC_ARG_KEEPALIVE_TIME_MS, INT_MAX),
      /* Identity only: the original has no decompressor installed. */
      INTEGER_ARG(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1),
  };
#undef INTEGER_ARG
  const grpc_channel_args channel_arguments = {.num_args = sizeof arguments / sizeof *arguments,
                                               .args = arguments};
  return grpc_server_create(&channel_arguments, NULL);
}

static void endpoint_shut_down(struct csi_completion *completion, bool ok) {
  (void)ok;
  struct csi_endpoint *endpoint =
      (struct csi_endpoint *)((char *)completion - offsetof(struct csi_endpoint, shut_down));
  struct csi_call_environment *environment = endpoint->environment;
  struct csi_server *server =
      (struct csi_server *)((char *)environment - offsetof(struct csi_server, environment));
  pthread_mutex_lock(&environment->lock);
  server->endpoints_shut_down++;
  pthread_cond_broadcast(&environment->changed);
  pthread_mutex_unlock(&environment->lock);
}

static void shut_down_endpoint(struct csi_endpoint *endpoint) {
  if (endpoint->listener) csi_listener_stop(endpoint->listener);
  grpc_server_shutdown_and_notify(endpoint->grpc, endpoint->environment->queue,
                                  csi_completion_tag(&endpoint->shut_down, endpoint_shut_down));
}

static bool open_listener(struct csi_server *server, struct csi_endpoint *endpoint,
                          struct csi_status *status) {
  const struct csi_listener_options options = {
      .endpoint = endpoint->path,
      .sddl = server->sddl,
      .max_connections = server->options.max_connections,
      .pending_instances = server->options.pending_instances,
      .silence_timeout_ms = server->options.silence_timeout_ms,
  };
  struct csi_listener *listener = csi_listener_open(endpoint->grpc, &options, status);
  if (!listener) return false;
  pthread_mutex_lock(&server->environment.lock);
  endpoint->listener = listener;
  pthread_mutex_unlock(&server->environment.lock);
  CSI_V(1, "listening on %s", endpoint->path);
  return true;
}

static bool write_path(const struct csi_server *server, const struct csi_service *service, char **path_out,
                       struct csi_status *status) {
  char path[ENDPOINT_BYTES];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  int length = snprintf(path, sizeof path, server->endpoint_format, service->group, service->version);
#pragma GCC diagnostic pop
  if (length < 0 || (size_t)length >= sizeof path)
    return csi_fail(status, CSI_INVALID_ARGUMENT, "endpoint name %.100s... is too long", path);
  *path_out = strdup(path);
  return *path_out || csi_fail_out_of_memory(status);
}

static bool bind_service(struct csi_endpoint *endpoint, const struct csi_extra_service *service) {
  struct csi_binding *binding = &endpoint->bindings[endpoint->binding_count];
  *binding = (struct csi_binding){
      .list = service->list,
      .service = service->service,
      .group = service->group,
      .counters = calloc(service->service->method_count, sizeof *binding->counters),
  };
  if (!binding->counters) return false;
  endpoint->binding_count++;
  return true;
}

static void free_endpoint(struct csi_endpoint *endpoint) {
  if (!endpoint) return;
  for (size_t i = 0; i < endpoint->binding_count; i++)
    free(endpoint->bindings[i].counters);
  free(endpoint->bindings);
  free(endpoint->path);
  free(endpoint);
}

static struct csi_endpoint *new_endpoint(struct csi_server *server, const struct csi_extra_service *service,
                                         const struct csi_extra_service *extras, size_t extra_count,
                                         struct csi_status *status) {
  struct csi_endpoint *endpoint = calloc(1, sizeof *endpoint);
  if (endpoint) endpoint->bindings = calloc(1 + extra_count, sizeof *endpoint->bindings);
  bool bound = endpoint && endpoint->bindings && bind_service(endpoint, service);
  for (size_t i = 0; bound && i < extra_count; i++)
    bound = bind_service(endpoint, &extras[i]);
  if (!bound) csi_fail_out_of_memory(status);
  if (!bound || !write_path(server, service->service, &endpoint->path, status)) {
    free_endpoint(endpoint);
    return NULL;
  }
  endpoint->environment = &server->environment;
  endpoint->grpc = new_grpc_server(server, endpoint);
  grpc_server_register_completion_queue(endpoint->grpc, server->environment.queue, NULL);
  pthread_mutex_lock(&server->environment.lock);
  *server->endpoints_end = endpoint;
  server->endpoints_end = &endpoint->next;
  server->endpoint_count++;
  pthread_mutex_unlock(&server->environment.lock);
  return endpoint;
}

static bool add_service(struct csi_server *server, const struct csi_extra_service *service,
                        const struct csi_extra_service *extras, size_t extra_count,
                        struct csi_status *status) {
  struct csi_endpoint *endpoint = new_endpoint(server, service, extras, extra_count, status);
  if (!endpoint) return false;
  grpc_server_start(endpoint->grpc);
  for (int posted = 0; posted < POSTED_CALLS; posted++)
    csi_call_post(endpoint);
  return open_listener(server, endpoint, status);
}

bool csi_server_add_group_with(struct csi_server *server, const struct csi_service_list *list, void *group,
                               const struct csi_extra_service *extras, size_t extra_count,
                               struct csi_status *status) {
  size_t failed = 0;
  for (size_t i = 0; i < list->service_count; i++) {
    struct csi_status own = {0};
    const struct csi_extra_service service = {list, list->services[i], group};
    if (add_service(server, &service, extras, extra_count, &own)) continue;
    /* Every endpoint is tried; the caller is told of the first failure, the log of the others. */
    if (failed++ == 0)
      *status = own;
    else
      CSI_LOG(ERROR, "%s", own.text);
  }
  return failed == 0;
}

bool csi_server_add_group(struct csi_server *server, const struct csi_service_list *list, void *group,
                          struct csi_status *status) {
  return csi_server_add_group_with(server, list, group, NULL, 0, status);
}

/* -- Draining -------------------------------------------------------------------------------------- */

/* True when no call and no endpoint uses the server's memory any more. The lock is held. */
static bool is_shut_down(const struct csi_server *server) {
  return server->endpoints_shut_down == server->endpoint_count && server->environment.alive == 0 &&
         !server->environment.watch_runs;
}

/* Waits until everything has ended, or until timeout_ms; a progress report a step. */
static bool wait_shut_down(struct csi_server *server, uint32_t timeout_ms,
                           void (*progress)(void *context, size_t running), void *context) {
  int64_t give_up_ns = csi_now_ns() + (int64_t)timeout_ms * 1000000;
  bool done = false;
  for (;;) {
    pthread_mutex_lock(&server->environment.lock);
    done = is_shut_down(server);
    int64_t left_ms = (give_up_ns - csi_now_ns()) / 1000000;
    if (!done && left_ms > 0) {
      struct timespec step_end;
      clock_gettime(CLOCK_REALTIME, &step_end);
      int64_t step_ms = left_ms < DRAIN_STEP_MS ? left_ms : DRAIN_STEP_MS;
      int64_t nanoseconds = step_end.tv_nsec + step_ms * 1000000;
      step_end.tv_sec += (time_t)(nanoseconds / 1000000000);
      step_end.tv_nsec = (long)(nanoseconds % 1000000000);
      pthread_cond_timedwait(&server->environment.changed, &server->environment.lock, &step_end);
      done = is_shut_down(server);
    }
    size_t running = server->environment.running;
    pthread_mutex_unlock(&server->environment.lock);
    if (done || left_ms <= 0) return done;
    if (progress) progress(context, running);
  }
}

size_t csi_server_drain(struct csi_server *server, uint32_t grace_ms,
                        void (*progress)(void *context, size_t running), void *context) {
  for (struct csi_endpoint *endpoint = server->endpoints; endpoint; endpoint = endpoint->next) {
    shut_down_endpoint(endpoint);
  }
  csi_streams_end(&server->environment);
  if (wait_shut_down(server, grace_ms, progress, context)) return 0;
  size_t cancelled = csi_calls_running(&server->environment);
  atomic_store(&server->environment.stopping, true);
  for (struct csi_endpoint *endpoint = server->endpoints; endpoint; endpoint = endpoint->next) {
    grpc_server_cancel_all_calls(endpoint->grpc);
  }
  wait_shut_down(server, CANCEL_WAIT_MS, progress, context);
  return cancelled;
}

bool csi_server_free(struct csi_server *server) {
  if (!server) return true;
  if (!wait_shut_down(server, 0, NULL, NULL)) {
    csi_records_log_hanging(&server->environment);
    return false;
  }
  while (server->endpoints) {
    struct csi_endpoint *endpoint = server->endpoints;
    server->endpoints = endpoint->next;
    grpc_server_destroy(endpoint->grpc);
    if (endpoint->listener) csi_listener_free(endpoint->listener);
    free_endpoint(endpoint);
  }
  csi_pool_free(server->environment.short_lane);
  csi_pool_free(server->environment.long_lane);
  csi_completion_queue_free(server->queue);
  pthread_cond_destroy(&server->environment.watch_wake);
  pthread_cond_destroy(&server->environment.changed);
  pthread_mutex_destroy(&server->environment.lock);
  free(server->endpoint_format);
  free(server->sddl);
  free(server);
  csi_transport_shut_down();
  return true;
}
