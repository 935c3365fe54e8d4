/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/calls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/snapshot.h"

/* As they stand in metrics everywhere: Go's names of the codes. */
static const char *const code_names[] = {
    [CSI_OK] = "OK",
    [CSI_CANCELLED] = "Canceled",
    [CSI_UNKNOWN] = "Unknown",
    [CSI_INVALID_ARGUMENT] = "InvalidArgument",
    [CSI_DEADLINE_EXCEEDED] = "DeadlineExceeded",
    [CSI_NOT_FOUND] = "NotFound",
    [CSI_ALREADY_EXISTS] = "AlreadyExists",
    [CSI_PERMISSION_DENIED] = "PermissionDenied",
    [CSI_RESOURCE_EXHAUSTED] = "ResourceExhausted",
    [CSI_FAILED_PRECONDITION] = "FailedPrecondition",
    [CSI_ABORTED] = "Aborted",
    [CSI_OUT_OF_RANGE] = "OutOfRange",
    [CSI_UNIMPLEMENTED] = "Unimplemented",
    [CSI_INTERNAL] = "Internal",
    [CSI_UNAVAILABLE] = "Unavailable",
    [CSI_DATA_LOSS] = "DataLoss",
    [CSI_UNAUTHENTICATED] = "Unauthenticated",
};

enum {
  CODES = sizeof code_names / sizeof code_names[0],
};

struct csi_method_metrics {
  const struct csi_service *service;
  const struct csi_method *method;
  atomic_uint_least64_t started;
  atomic_uint_least64_t ended;
  atomic_uint_least64_t received;
  atomic_uint_least64_t sent;
  atomic_uint_least64_t handled[CODES];
  struct csi_histogram handling;
  struct csi_histogram duration;
};

/* -- Counting -------------------------------------------------------------------------------------- */

static size_t first_slot(const struct csi_method *method) {
  return (size_t)(((uint64_t)(uintptr_t)method >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 54) %
         CSI_CALL_METRICS_SLOTS;
}

static struct csi_method_metrics *new_method(const struct csi_call_info *call) {
  struct csi_method_metrics *made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  made->service = call->service;
  made->method = call->method;
  return made;
}

/* The counters of a call's method. NULL when memory is short, or more methods are called than there can be.
 */
static struct csi_method_metrics *find(struct csi_call_metrics *metrics, const struct csi_call_info *call) {
  struct csi_method_metrics *made = NULL;
  for (size_t i = 0; i < CSI_CALL_METRICS_SLOTS; i++) {
    size_t slot = (first_slot(call->method) + i) % CSI_CALL_METRICS_SLOTS;
    struct csi_method_metrics *there = atomic_load_explicit(&metrics->slots[slot], memory_order_acquire);
    if (there == NULL) {
      if (made == NULL && (made = new_method(call)) == NULL) return NULL;
      if (atomic_compare_exchange_strong_explicit(&metrics->slots[slot], &there, made, memory_order_acq_rel,
                                                  memory_order_acquire))
        return made;
    }
    if (there->method != call->method) continue;
    free(made); /* somebody else was faster */
    return there;
  }
  free(made);
  return NULL;
}

static void count_one(atomic_uint_least64_t *counter) {
  atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void count_wait(struct csi_call_metrics *metrics, const struct csi_call_info *call) {
  if (call->method->lane == CSI_LANE_INLINE || call->method->streaming != CSI_UNARY) return;
  csi_histogram_add(&metrics->queue[call->method->lane], &csi_fine_buckets, call->queued_ns);
}

static void started(void *context, const struct csi_call_info *call) {
  struct csi_call_metrics *metrics = context;
  if (call->method == NULL) return;
  count_wait(metrics, call);
  struct csi_method_metrics *method = find(metrics, call);
  if (method == NULL) return;
  count_one(&method->started);
  if (call->method->streaming == CSI_UNARY) count_one(&method->received);
}

static void reject(struct csi_call_metrics *metrics, const struct csi_call_info *call) {
  count_one(&metrics->rejected[call->rejection]);
  if (call->rejection == CSI_REJECTED_TOO_LATE && call->queued_ns > 0) count_wait(metrics, call);
}

static void ended(void *context, const struct csi_call_info *call) {
  struct csi_call_metrics *metrics = context;
  if (call->rejection != CSI_NOT_REJECTED) {
    reject(metrics, call);
    return;
  }
  struct csi_method_metrics *method = call->method == NULL ? NULL : find(metrics, call);
  if (method == NULL) return;
  size_t code = (size_t)call->wire_code < CODES ? (size_t)call->wire_code : (size_t)CSI_UNKNOWN;
  int64_t duration_ns = call->ended_ns - call->arrived_ns;
  count_one(&method->ended);
  count_one(&method->handled[code]);
  if (call->method->streaming == CSI_UNARY) count_one(&method->sent);
  csi_histogram_add(&method->handling, &csi_handling_buckets, duration_ns - call->queued_ns);
  csi_histogram_add(&method->duration, &csi_fine_buckets, duration_ns);
}

struct csi_call_observer csi_call_metrics_observer(struct csi_call_metrics *metrics) {
  return (struct csi_call_observer){.context = metrics, .started = started, .ended = ended};
}

/* -- Writing --------------------------------------------------------------------------------------- */

/* The methods that have been called, by service and name. */
struct called {
  struct csi_method_metrics *methods[CSI_CALL_METRICS_SLOTS];
  size_t count;
};

static int compare(const void *left, const void *right) {
  const struct csi_method_metrics *a = *(struct csi_method_metrics *const *)left;
  const struct csi_method_metrics *b = *(struct csi_method_metrics *const *)right;
  int order = strcmp(a->service->name, b->service->name);
  return order != 0 ? order : strcmp(a->method->name, b->method->name);
}

static void list_called(struct csi_call_metrics *metrics, struct called *called) {
  called->count = 0;
  for (size_t i = 0; i < CSI_CALL_METRICS_SLOTS; i++) {
    struct csi_method_metrics *method = atomic_load_explicit(&metrics->slots[i], memory_order_acquire);
    if (method != NULL) called->methods[called->count++] = method;
  }
  qsort(called->methods, called->count, sizeof called->methods[0], compare);
}

static uint64_t value_of(atomic_uint_least64_t *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

static const char *type_name(const struct csi_method *method) {
  static const char *const names[] = {
      [CSI_UNARY] = "unary", [CSI_ANSWERS_EACH] = "bidi_stream", [CSI_WATCHES] = "server_stream"};
  return names[method->streaming];
}

static void write_handled(const struct called *called, struct csi_exposition *out) {
  for (size_t i = 0; i < called->count; i++) {
    struct csi_method_metrics *of = called->methods[i];
    for (size_t code = 0; code < CODES; code++) {
      const char *labels[] = {code_names[code], of->method->name, of->service->name, type_name(of->method)};
      uint64_t count = value_of(&of->handled[code]);
      if (count > 0) csi_exposition_count(out, CSI_METRIC_GRPC_HANDLED, labels, count);
    }
  }
}

static void write_handling(const struct called *called, struct csi_exposition *out) {
  for (size_t i = 0; i < called->count; i++) {
    struct csi_method_metrics *of = called->methods[i];
    const char *labels[] = {of->method->name, of->service->name, type_name(of->method)};
    csi_histogram_write(&of->handling, out, CSI_METRIC_GRPC_HANDLING, labels);
  }
}

/* offset: of the counter in struct csi_method_metrics. */
static void write_counters(const struct called *called, struct csi_exposition *out, enum csi_metric metric,
                           size_t offset) {
  for (size_t i = 0; i < called->count; i++) {
    struct csi_method_metrics *of = called->methods[i];
    const char *labels[] = {of->method->name, of->service->name, type_name(of->method)};
    uint64_t count = value_of((atomic_uint_least64_t *)((char *)of + offset));
    if (count > 0) csi_exposition_count(out, metric, labels, count);
  }
}

static void write_duration(const struct called *called, struct csi_exposition *out) {
  for (size_t i = 0; i < called->count; i++) {
    struct csi_method_metrics *of = called->methods[i];
    const char *labels[] = {of->method->name, of->service->name};
    csi_histogram_write(&of->duration, out, CSI_METRIC_CALL_DURATION, labels);
  }
}

/* One sample for each service: the methods of one follow one another. */
static void write_in_flight(const struct called *called, struct csi_exposition *out) {
  for (size_t i = 0; i < called->count;) {
    const char *service = called->methods[i]->service->name;
    uint64_t in_flight = 0;
    for (; i < called->count && strcmp(called->methods[i]->service->name, service) == 0; i++) {
      uint64_t over = value_of(&called->methods[i]->ended);
      uint64_t begun = value_of(&called->methods[i]->started);
      if (begun > over) in_flight += begun - over; /* the two are not read in one moment */
    }
    csi_exposition_count(out, CSI_METRIC_CALLS_IN_FLIGHT, &service, in_flight);
  }
}

static void write_queue(struct csi_call_metrics *metrics, struct csi_exposition *out) {
  for (int lane = CSI_LANE_SHORT; lane <= CSI_LANE_LONG; lane++) {
    const char *name = csi_lane_name((enum csi_lane)lane);
    csi_histogram_write(&metrics->queue[lane], out, CSI_METRIC_CALL_QUEUE, &name);
  }
}

static void write_rejected(struct csi_call_metrics *metrics, struct csi_exposition *out) {
  for (int reason = CSI_NOT_REJECTED + 1; reason < CSI_REJECTION_COUNT; reason++) {
    const char *name = csi_rejection_name((enum csi_rejection)reason);
    csi_exposition_count(out, CSI_METRIC_CALLS_REJECTED, &name, value_of(&metrics->rejected[reason]));
  }
}

void csi_call_metrics_write(struct csi_call_metrics *metrics, struct csi_exposition *out) {
  struct called called;
  list_called(metrics, &called);
  write_handled(&called, out);
  write_handling(&called, out);
  write_counters(&called, out, CSI_METRIC_GRPC_RECEIVED, offsetof(struct csi_method_metrics, received));
  write_counters(&called, out, CSI_METRIC_GRPC_SENT, offsetof(struct csi_method_metrics, sent));
  write_counters(&called, out, CSI_METRIC_GRPC_STARTED, offsetof(struct csi_method_metrics, started));
  write_duration(&called, out);
  write_queue(metrics, out);
  write_in_flight(&called, out);
  write_rejected(metrics, out);
}

void csi_call_metrics_free(struct csi_call_metrics *metrics) {
  for (size_t i = 0; i < CSI_CALL_METRICS_SLOTS; i++)
    free(atomic_exchange_explicit(&metrics->slots[i], NULL, memory_order_acquire));
}
