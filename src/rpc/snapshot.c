/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/snapshot.h"

#include <string.h>

#include "rpc/server_state.h"
#include "transport/transport.h"

enum {
  CALLS_AT_ONCE = 32, /* copied under the lock */
};

/* -- Calls ----------------------------------------------------------------------------------------- */

/* The texts live as long as the call: they are copied. The lock is held. */
static bool copy_call(struct csi_arena *arena, struct csi_call_record *record,
                      struct csi_running_call *call_out) {
  *call_out = (struct csi_running_call){
      .id = record->id,
      .service = record->binding ? record->binding->service : record->endpoint->bindings[0].service,
      .method = record->method,
      .process_id = record->peer.process_id,
      .image_path = csi_arena_strdup(arena, record->peer.image_path),
      .object = csi_arena_strdup(arena, record->object),
      .arrived_ns = record->arrived_ns,
      .state = (enum csi_call_state)atomic_load_explicit(&record->state, memory_order_acquire),
  };
  return call_out->image_path && call_out->object;
}

/* Copies the calls that came after the one of that id, as many as have room, and no more than a few: every
 * call takes the lock. */
static bool copy_some(struct csi_call_environment *environment, struct csi_arena *arena, uint64_t after_id,
                      struct csi_running_call *calls_out, size_t room, size_t *count_out) {
  bool copied = true;
  size_t count = 0;
  pthread_mutex_lock(&environment->lock);
  struct csi_call_record *record = environment->first;
  while (record && record->id <= after_id)
    record = record->next;
  for (; copied && record && count < room; record = record->next)
    copied = copy_call(arena, record, &calls_out[count++]);
  pthread_mutex_unlock(&environment->lock);
  *count_out = count;
  return copied;
}

/* At most CSI_LISTED_CALLS. */
static size_t count_calls(struct csi_call_environment *environment) {
  pthread_mutex_lock(&environment->lock);
  size_t count = environment->running + environment->streams;
  pthread_mutex_unlock(&environment->lock);
  return count < CSI_LISTED_CALLS ? count : CSI_LISTED_CALLS;
}

bool csi_server_list_calls(struct csi_server *server, struct csi_arena *arena,
                           const struct csi_running_call **calls_out, size_t *count_out) {
  struct csi_call_environment *environment = &server->environment;
  size_t room = count_calls(environment), count = 0, added = 1;
  struct csi_running_call *calls = csi_arena_alloc_array(arena, room + 1, sizeof *calls);
  bool copied = calls != NULL;
  for (uint64_t last_id = 0; copied && added > 0 && count < room; count += added) {
    size_t wanted = room - count < CALLS_AT_ONCE ? room - count : CALLS_AT_ONCE;
    copied = copy_some(environment, arena, last_id, calls + count, wanted, &added);
    if (added > 0) last_id = calls[count + added - 1].id;
  }
  *calls_out = calls;
  *count_out = count;
  return copied;
}

/* -- Totals ---------------------------------------------------------------------------------------- */

static uint64_t load(atomic_uint_least64_t *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

static size_t count_methods(const struct csi_endpoint *endpoint) {
  size_t count = 0;
  for (size_t i = 0; i < endpoint->binding_count; i++)
    count += endpoint->bindings[i].service->method_count;
  return count;
}

static size_t copy_methods(const struct csi_endpoint *endpoint, struct csi_method_totals *methods_out) {
  size_t count = 0;
  for (size_t i = 0; i < endpoint->binding_count; i++) {
    const struct csi_binding *binding = &endpoint->bindings[i];
    for (size_t j = 0; j < binding->service->method_count; j++) {
      struct csi_method_counters *counters = &binding->counters[j];
      methods_out[count++] = (struct csi_method_totals){
          .service = binding->service,
          .method = &binding->service->methods[j],
          .started = load(&counters->started),
          .succeeded = load(&counters->succeeded),
          .failed = load(&counters->failed),
          .rejected = load(&counters->rejected),
          .duration_ns = atomic_load_explicit(&counters->duration_ns, memory_order_relaxed),
          .longest_ns = atomic_load_explicit(&counters->longest_ns, memory_order_relaxed),
      };
    }
  }
  return count;
}

bool csi_server_list_methods(struct csi_server *server, struct csi_arena *arena,
                             const struct csi_method_totals **methods_out, size_t *count_out) {
  pthread_mutex_lock(&server->environment.lock);
  size_t room = 1, count = 0;
  for (const struct csi_endpoint *endpoint = server->endpoints; endpoint; endpoint = endpoint->next)
    room += count_methods(endpoint);
  struct csi_method_totals *methods = csi_arena_alloc_array(arena, room, sizeof *methods);
  for (const struct csi_endpoint *endpoint = server->endpoints; methods && endpoint;
       endpoint = endpoint->next)
    count += copy_methods(endpoint, methods + count);
  pthread_mutex_unlock(&server->environment.lock);
  *methods_out = methods;
  *count_out = count;
  return methods != NULL;
}

static void add_methods(const struct csi_endpoint *endpoint, struct csi_call_counts *counts) {
  for (size_t i = 0; i < endpoint->binding_count; i++) {
    const struct csi_binding *binding = &endpoint->bindings[i];
    for (size_t j = 0; j < binding->service->method_count; j++) {
      counts->started += load(&binding->counters[j].started);
      counts->succeeded += load(&binding->counters[j].succeeded);
      counts->failed += load(&binding->counters[j].failed);
    }
  }
}

void csi_server_count_calls(struct csi_server *server, struct csi_call_counts *counts_out) {
  struct csi_call_environment *environment = &server->environment;
  pthread_mutex_lock(&environment->lock);
  *counts_out = (struct csi_call_counts){
      .running = environment->running,
      .streams = environment->streams,
  };
  for (const struct csi_endpoint *endpoint = server->endpoints; endpoint; endpoint = endpoint->next)
    add_methods(endpoint, counts_out);
  for (int reason = 0; reason < CSI_REJECTION_COUNT; reason++)
    counts_out->rejected[reason] = load(&environment->rejected[reason]);
  pthread_mutex_unlock(&environment->lock);
}

/* -- Endpoints and lanes --------------------------------------------------------------------------- */

static struct csi_endpoint_stats stats_of(const struct csi_endpoint *endpoint) {
  struct csi_listener_counts counts;
  csi_listener_count(endpoint->listener, &counts);
  return (struct csi_endpoint_stats){
      .path = endpoint->path,
      .service = endpoint->bindings[0].service,
      .connections = counts.connections,
      .opened = counts.opened,
      .rejected = counts.rejected,
  };
}

bool csi_server_list_endpoints(struct csi_server *server, struct csi_arena *arena,
                               const struct csi_endpoint_stats **endpoints_out, size_t *count_out) {
  pthread_mutex_lock(&server->environment.lock);
  struct csi_endpoint_stats *endpoints =
      csi_arena_alloc_array(arena, server->endpoint_count + 1, sizeof *endpoints);
  size_t count = 0;
  for (const struct csi_endpoint *endpoint = server->endpoints; endpoints && endpoint;
       endpoint = endpoint->next)
    if (endpoint->listener) endpoints[count++] = stats_of(endpoint);
  pthread_mutex_unlock(&server->environment.lock);
  *endpoints_out = endpoints;
  *count_out = count;
  return endpoints != NULL;
}

const char *csi_lane_name(enum csi_lane lane) {
  static const char *const names[] = {
      [CSI_LANE_INLINE] = "inline", [CSI_LANE_SHORT] = "short", [CSI_LANE_LONG] = "long"};
  return names[lane];
}

void csi_server_list_lanes(struct csi_server *server, struct csi_lane_stats lanes_out[CSI_LANES]) {
  lanes_out[0] = (struct csi_lane_stats){.name = csi_lane_name(CSI_LANE_SHORT)};
  lanes_out[1] = (struct csi_lane_stats){.name = csi_lane_name(CSI_LANE_LONG)};
  csi_pool_count(server->environment.short_lane, &lanes_out[0].threads, &lanes_out[0].queued);
  csi_pool_count(server->environment.long_lane, &lanes_out[1].threads, &lanes_out[1].queued);
}

const char *csi_call_state_name(enum csi_call_state state) {
  static const char *const names[] = {
      [CSI_CALL_WAITING] = "waiting", [CSI_CALL_RUNNING] = "running", [CSI_CALL_REPLYING] = "replying"};
  return names[state];
}
