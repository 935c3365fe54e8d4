/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/record.h"

#include <inttypes.h>

#include "base/log.h"
#include "rpc/call.h"

static const struct csi_service *service_of(const struct csi_call_record *record) {
  return record->binding ? record->binding->service : record->endpoint->bindings[0].service;
}

static const char *method_name(const struct csi_call_record *record) {
  return record->method ? record->method->name : "?";
}

static struct csi_method_counters *counters_of(const struct csi_call_record *record) {
  if (!record->method) return NULL;
  return &record->binding->counters[record->method - record->binding->service->methods];
}

static bool is_stream(const struct csi_call_record *record) {
  return record->method && record->method->streaming != CSI_UNARY;
}

/* -- The list -------------------------------------------------------------------------------------- */

void csi_record_link(struct csi_call_record *record) {
  struct csi_call_environment *environment = record->endpoint->environment;
  record->object = "";
  pthread_mutex_lock(&environment->lock);
  record->id = ++environment->last_id;
  record->previous = environment->last;
  record->next = NULL;
  *(record->previous ? &record->previous->next : &environment->first) = record;
  environment->last = record;
  *(is_stream(record) ? &environment->streams : &environment->running) += 1;
  pthread_mutex_unlock(&environment->lock);
}

void csi_record_unlink(struct csi_call_record *record) {
  struct csi_call_environment *environment = record->endpoint->environment;
  pthread_mutex_lock(&environment->lock);
  *(record->previous ? &record->previous->next : &environment->first) = record->next;
  *(record->next ? &record->next->previous : &environment->last) = record->previous;
  *(is_stream(record) ? &environment->streams : &environment->running) -= 1;
  if (--environment->alive == 0) pthread_cond_broadcast(&environment->changed);
  pthread_mutex_unlock(&environment->lock);
}

void csi_record_set_object(struct csi_call_record *record, const char *object) {
  struct csi_call_environment *environment = record->endpoint->environment;
  pthread_mutex_lock(&environment->lock);
  record->object = object;
  pthread_mutex_unlock(&environment->lock);
}

void csi_record_set_state(struct csi_call_record *record, enum csi_call_state state) {
  atomic_store_explicit(&record->state, state, memory_order_release);
}

void csi_records_log_hanging(struct csi_call_environment *environment) {
  pthread_mutex_lock(&environment->lock);
  for (struct csi_call_record *record = environment->first; record; record = record->next) {
    if (atomic_load_explicit(&record->state, memory_order_acquire) != CSI_CALL_RUNNING) continue;
    int64_t running_ns = csi_now_ns() - atomic_load(&record->running_since_ns);
    CSI_LOG(WARNING, "/%s/%s hangs for %" PRId64 " s peer=%" PRIu32, service_of(record)->name,
            method_name(record), running_ns / INT64_C(1000000000), record->peer.process_id);
  }
  pthread_mutex_unlock(&environment->lock);
}

/* -- Who is told ----------------------------------------------------------------------------------- */

static struct csi_call_info info_of(const struct csi_call_record *record) {
  return (struct csi_call_info){
      .id = record->id,
      .service = service_of(record),
      .method = record->method,
      .peer = &record->peer,
      .object = record->object,
      .arrived_ns = record->arrived_ns,
      .queued_ns = record->queued_ns,
      .rejection = record->rejection,
  };
}

void csi_record_running(struct csi_call_record *record) {
  const struct csi_call_environment *environment = record->endpoint->environment;
  atomic_store_explicit(&record->running_since_ns, csi_now_ns(), memory_order_relaxed);
  csi_record_set_state(record, CSI_CALL_RUNNING);
  if (record->told_started) return;
  record->told_started = true;
  atomic_fetch_add_explicit(&counters_of(record)->started, 1, memory_order_relaxed);
  const struct csi_call_info info = info_of(record);
  for (size_t i = 0; i < environment->observer_count; i++) {
    const struct csi_call_observer *observer = &environment->observers[i];
    if (observer->started) observer->started(observer->context, &info);
  }
}

static void add_to_totals(struct csi_call_record *record, bool succeeded, int64_t duration_ns) {
  struct csi_method_counters *counters = counters_of(record);
  if (record->rejection != CSI_NOT_REJECTED) {
    atomic_fetch_add_explicit(&record->endpoint->environment->rejected[record->rejection], 1,
                              memory_order_relaxed);
    if (counters) atomic_fetch_add_explicit(&counters->rejected, 1, memory_order_relaxed);
    return;
  }
  atomic_fetch_add_explicit(succeeded ? &counters->succeeded : &counters->failed, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&counters->duration_ns, duration_ns, memory_order_relaxed);
  int_least64_t longest_ns = atomic_load_explicit(&counters->longest_ns, memory_order_relaxed);
  while (duration_ns > longest_ns &&
         !atomic_compare_exchange_weak_explicit(&counters->longest_ns, &longest_ns, duration_ns,
                                                memory_order_relaxed, memory_order_relaxed)) {
  }
}

static void log_outcome(const struct csi_call_record *record, const struct csi_status *status,
                        enum csi_code wire_code, int64_t duration_ns) {
  const char *service = service_of(record)->name;
  const char *method = method_name(record);
  const struct csi_peer *peer = &record->peer;
  int64_t duration_us = duration_ns / 1000;
  if (status->code == CSI_CANCELLED) {
    CSI_V(2, "/%s/%s peer=%" PRIu32 " code=CANCELLED duration_us=%" PRId64, service, method, peer->process_id,
          duration_us);
  } else if (csi_status_ok(status) && service_of(record)->precise_codes) { /* probes, every few seconds */
    CSI_V(2, "/%s/%s peer=%" PRIu32 " code=OK duration_us=%" PRId64, service, method, peer->process_id,
          duration_us);
  } else if (csi_status_ok(status)) {
    CSI_LOG(INFO, "/%s/%s peer=%" PRIu32 " image=\"%s\" code=OK duration_us=%" PRId64, service, method,
            peer->process_id, peer->image_path, duration_us);
  } else {
    CSI_LOG(WARNING,
            "/%s/%s peer=%" PRIu32 " image=\"%s\" code=%s precise=%s space=%s number=%" PRIu32
            " call=%s duration_us=%" PRId64 " error=\"%s\"",
            service, method, peer->process_id, peer->image_path, csi_code_name(wire_code),
            csi_code_name(status->code), csi_error_space_name(status->space), status->number,
            status->call ? status->call : "-", duration_us, status->text);
  }
}

static void forget_texts(struct csi_call_record *record) {
  struct csi_call_environment *environment = record->endpoint->environment;
  pthread_mutex_lock(&environment->lock);
  record->object = "";
  uint32_t process_id = record->peer.process_id;
  record->peer = CSI_PEER_UNKNOWN;
  record->peer.process_id = process_id;
  csi_record_set_state(record, CSI_CALL_REPLYING);
  pthread_mutex_unlock(&environment->lock);
}

void csi_record_ended(struct csi_call_record *record, const struct csi_status *status,
                      enum csi_code wire_code) {
  const struct csi_call_environment *environment = record->endpoint->environment;
  struct csi_call_info info = info_of(record);
  info.ended_ns = csi_now_ns();
  info.status = status;
  info.wire_code = wire_code;
  for (size_t i = 0; i < environment->observer_count; i++) {
    const struct csi_call_observer *observer = &environment->observers[i];
    if (observer->ended) observer->ended(observer->context, &info);
  }
  int64_t duration_ns = info.ended_ns - record->arrived_ns;
  add_to_totals(record, csi_status_ok(status), duration_ns);
  log_outcome(record, status, wire_code, duration_ns);
  forget_texts(record);
}

const char *csi_rejection_name(enum csi_rejection rejection) {
  static const char *const names[CSI_REJECTION_COUNT] = {
      [CSI_NOT_REJECTED] = "",
      [CSI_REJECTED_UNKNOWN_METHOD] = "unknown_method",
      [CSI_REJECTED_NO_MESSAGE] = "no_message",
      [CSI_REJECTED_BAD_MESSAGE] = "bad_message",
      [CSI_REJECTED_QUEUE_FULL] = "queue_full",
      [CSI_REJECTED_BYTES_FULL] = "bytes_full",
      [CSI_REJECTED_OUT_OF_MEMORY] = "out_of_memory",
      [CSI_REJECTED_TOO_LATE] = "too_late",
  };
  return names[rejection];
}
