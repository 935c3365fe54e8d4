/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "metrics/calls.h"
#include "metrics/test_text.h"

enum {
  THREADS = 4,
  ROUNDS = 5000,
};

#define MS INT64_C(1000000)

static const struct csi_method methods[] = {
    {.name = "CreateSymlink", .lane = CSI_LANE_SHORT},
    {.name = "PathExists", .lane = CSI_LANE_INLINE},
    {.name = "Watch", .lane = CSI_LANE_LONG, .streaming = CSI_WATCHES},
};
static const struct csi_service service = {
    .group = "filesystem", .version = "v1", .name = "v1.Filesystem", .methods = methods, .method_count = 3};

static struct csi_call_info call_of(const struct csi_method *method) {
  return (struct csi_call_info){.service = &service, .method = method, .arrived_ns = 1000 * MS};
}

static void begin(struct csi_call_metrics *metrics, const struct csi_call_info *call) {
  const struct csi_call_observer observer = csi_call_metrics_observer(metrics);
  observer.started(observer.context, call);
}

static void end(struct csi_call_metrics *metrics, struct csi_call_info *call, int64_t duration_ns,
                enum csi_code wire_code) {
  const struct csi_call_observer observer = csi_call_metrics_observer(metrics);
  call->ended_ns = call->arrived_ns + duration_ns;
  call->wire_code = wire_code;
  observer.ended(observer.context, call);
}

static char *text_of(struct csi_call_metrics *metrics) {
  struct csi_exposition out = {.limit_bytes = 4 * 1024 * 1024};
  csi_call_metrics_write(metrics, &out);
  return take_text(&out);
}

static void nothing_is_there_before_the_first_call(void **unused) {
  (void)unused;
  struct csi_call_metrics *metrics = calloc(1, sizeof *metrics);
  char *text = text_of(metrics);
  assert_null(strstr(text, "grpc_server"));
  assert_null(strstr(text, "csi_proxy_call_"));
  assert_has(text, "csi_proxy_calls_rejected_total{reason=\"queue_full\"} 0\n");
  free(text);
  free(metrics);
}

static void a_call_is_counted_as_the_original_does(void **unused) {
  (void)unused;
  struct csi_call_metrics *metrics = calloc(1, sizeof *metrics);
  struct csi_call_info call = call_of(&methods[0]);
  call.queued_ns = 2 * MS;
  begin(metrics, &call);
  char *text = text_of(metrics);
#define LABELS "{grpc_method=\"CreateSymlink\",grpc_service=\"v1.Filesystem\",grpc_type=\"unary\"}"
  assert_has(text, "grpc_server_started_total" LABELS " 1\n");
  assert_has(text, "grpc_server_msg_received_total" LABELS " 1\n");
  assert_has(text, "csi_proxy_calls_in_flight{grpc_service=\"v1.Filesystem\"} 1\n");
  assert_null(strstr(text, "grpc_server_handled_total"));
  assert_null(strstr(text, "grpc_server_msg_sent_total"));
  free(text);

  end(metrics, &call, 12 * MS, CSI_UNKNOWN);
  text = text_of(metrics);
  assert_has(text, "grpc_server_handled_total{grpc_code=\"Unknown\",grpc_method=\"CreateSymlink\","
                   "grpc_service=\"v1.Filesystem\",grpc_type=\"unary\"} 1\n");
  assert_has(text, "grpc_server_msg_sent_total" LABELS " 1\n"); /* of a failure too */
  /* 10 ms in the handler, 12 ms in all. */
  assert_has(text, "grpc_server_handling_seconds_bucket{grpc_method=\"CreateSymlink\","
                   "grpc_service=\"v1.Filesystem\",grpc_type=\"unary\",le=\"0.01\"} 1\n");
  assert_has(text, "grpc_server_handling_seconds_sum" LABELS " 0.01\n");
  assert_has(text, "csi_proxy_call_duration_seconds_bucket{grpc_method=\"CreateSymlink\","
                   "grpc_service=\"v1.Filesystem\",le=\"0.01\"} 0\n");
  assert_has(text, "csi_proxy_call_duration_seconds_sum{grpc_method=\"CreateSymlink\","
                   "grpc_service=\"v1.Filesystem\"} 0.012\n");
  assert_has(text, "csi_proxy_call_queue_seconds_bucket{lane=\"short\",le=\"0.001\"} 0\n");
  assert_has(text, "csi_proxy_call_queue_seconds_sum{lane=\"short\"} 0.002\n");
  assert_has(text, "csi_proxy_calls_in_flight{grpc_service=\"v1.Filesystem\"} 0\n");
  free(text);
  csi_call_metrics_free(metrics);
  free(metrics);
}

static void every_code_has_its_name(void **unused) {
  (void)unused;
  static const char *const names[] = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  struct csi_call_metrics *metrics = calloc(1, sizeof *metrics);
  struct csi_call_info call = call_of(&methods[1]);
  for (unsigned code = 0; code < sizeof names / sizeof names[0]; code++) {
    begin(metrics, &call);
    end(metrics, &call, MS, (enum csi_code)code);
  }
  char *text = text_of(metrics);
  for (unsigned code = 0; code < sizeof names / sizeof names[0]; code++) {
    char line[128];
    snprintf(line, sizeof line, "grpc_server_handled_total{grpc_code=\"%s\",grpc_method=\"PathExists\",",
             names[code]);
    assert_has(text, line);
  }
  assert_null(strstr(text, "csi_proxy_call_queue_seconds")); /* inline: nobody waits */
  free(text);
  csi_call_metrics_free(metrics);
  free(metrics);
}

static void streams_have_their_type(void **unused) {
  (void)unused;
  struct csi_call_metrics *metrics = calloc(1, sizeof *metrics);
  struct csi_call_info call = call_of(&methods[2]);
  begin(metrics, &call);
  char *text = text_of(metrics);
  assert_has(text, "grpc_server_started_total{grpc_method=\"Watch\",grpc_service=\"v1.Filesystem\","
                   "grpc_type=\"server_stream\"} 1\n");
  assert_null(strstr(text, "grpc_server_msg_received_total"));
  free(text);
  csi_call_metrics_free(metrics);
  free(metrics);
}

static void a_rejected_call_is_only_rejected(void **unused) {
  (void)unused;
  struct csi_call_metrics *metrics = calloc(1, sizeof *metrics);
  struct csi_call_info unknown = call_of(NULL);
  unknown.rejection = CSI_REJECTED_UNKNOWN_METHOD;
  end(metrics, &unknown, MS, CSI_UNIMPLEMENTED);
  struct csi_call_info late = call_of(&methods[0]);
  late.rejection = CSI_REJECTED_TOO_LATE;
  late.queued_ns = 30 * MS;
  end(metrics, &late, 30 * MS, CSI_DEADLINE_EXCEEDED);
  end(metrics, &late, 30 * MS, CSI_DEADLINE_EXCEEDED);
  char *text = text_of(metrics);
  assert_has(text, "csi_proxy_calls_rejected_total{reason=\"unknown_method\"} 1\n");
  assert_has(text, "csi_proxy_calls_rejected_total{reason=\"too_late\"} 2\n");
  assert_has(text, "csi_proxy_calls_rejected_total{reason=\"bad_message\"} 0\n");
  assert_has(text, "csi_proxy_call_queue_seconds_count{lane=\"short\"} 2\n"); /* it did wait */
  assert_null(strstr(text, "grpc_server"));
  free(text);
  csi_call_metrics_free(metrics);
  free(metrics);
}

static void only_calls_that_waited_are_in_the_queue_metric(void **unused) {
  (void)unused;
  struct csi_call_metrics *metrics = calloc(1, sizeof *metrics);
  struct csi_call_info watch = call_of(&methods[2]); /* each of its looks waits, the stream does not */
  begin(metrics, &watch);
  end(metrics, &watch, MS, CSI_OK);
  watch.rejection = CSI_REJECTED_TOO_LATE;
  end(metrics, &watch, MS, CSI_UNAVAILABLE);
  struct csi_call_info cancelled = call_of(&methods[0]); /* before its message came */
  cancelled.rejection = CSI_REJECTED_TOO_LATE;
  end(metrics, &cancelled, MS, CSI_CANCELLED);
  char *text = text_of(metrics);
  assert_has(text, "csi_proxy_calls_rejected_total{reason=\"too_late\"} 2\n");
  assert_null(strstr(text, "csi_proxy_call_queue_seconds_count{lane=\"short\"} 1"));
  assert_null(strstr(text, "csi_proxy_call_queue_seconds_count{lane=\"long\"} 1"));
  free(text);
  csi_call_metrics_free(metrics);
  free(metrics);
}

/* More methods than there are slots: the first ones are counted, nothing breaks. */
static void too_many_methods_do_no_harm(void **unused) {
  (void)unused;
  enum { MANY = CSI_CALL_METRICS_SLOTS + 5 };
  struct csi_method *many = calloc(MANY, sizeof *many);
  struct csi_call_metrics *metrics = calloc(1, sizeof *metrics);
  for (size_t i = 0; i < MANY; i++) {
    many[i] = (struct csi_method){.name = "M", .lane = CSI_LANE_INLINE};
    struct csi_call_info call = call_of(&many[i]);
    begin(metrics, &call);
    end(metrics, &call, MS, CSI_OK);
  }
  char *text = text_of(metrics);
  size_t series = 0;
  for (const char *at = text; (at = strstr(at, "\ngrpc_server_started_total{")) != NULL; at++)
    series++;
  assert_int_equal(series, CSI_CALL_METRICS_SLOTS);
  free(text);
  csi_call_metrics_free(metrics);
  free(metrics);
  free(many);
}

static void *call_many(void *context) {
  for (int i = 0; i < ROUNDS; i++) {
    struct csi_call_info call = call_of(&methods[i % 3]);
    begin(context, &call);
    end(context, &call, MS, CSI_OK);
  }
  return NULL;
}

static void threads_lose_nothing(void **unused) {
  (void)unused;
  struct csi_call_metrics *metrics = calloc(1, sizeof *metrics);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, call_many, metrics), 0);
  for (int i = 0; i < 20; i++)
    free(text_of(metrics)); /* somebody reads meanwhile */
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  char *text = text_of(metrics);
  uint64_t started = 0;
  for (const char *at = text; (at = strstr(at, "\ngrpc_server_started_total{")) != NULL;) {
    at = strstr(at, "} ") + 2;
    started += strtoull(at, NULL, 10);
  }
  assert_int_equal(started, THREADS * ROUNDS);
  assert_has(text, "csi_proxy_calls_in_flight{grpc_service=\"v1.Filesystem\"} 0\n");
  free(text);
  csi_call_metrics_free(metrics);
  free(metrics);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_there_before_the_first_call),
      cmocka_unit_test(a_call_is_counted_as_the_original_does),
      cmocka_unit_test(every_code_has_its_name),
      cmocka_unit_test(streams_have_their_type),
      cmocka_unit_test(a_rejected_call_is_only_rejected),
      cmocka_unit_test(only_calls_that_waited_are_in_the_queue_metric),
      cmocka_unit_test(too_many_methods_do_no_harm),
      cmocka_unit_test(threads_lose_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
