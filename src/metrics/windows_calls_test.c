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

#include "metrics/test_text.h"
#include "metrics/windows_calls.h"

enum {
  THREADS = 4,
  ROUNDS = 20000,
};

static char *text_of(struct csi_windows_calls *calls) {
  struct csi_exposition out = {.limit_bytes = 1024 * 1024};
  csi_windows_calls_write(calls, &out);
  return take_text(&out);
}

static void one_name_is_one_series_wherever_it_stands(void **unused) {
  (void)unused;
  struct csi_windows_calls *calls = calloc(1, sizeof *calls);
  char copy[] = "CreateFileW";
  csi_windows_calls_told(calls, "CreateFileW", 50 * 1000, true);
  csi_windows_calls_told(calls, copy, 3 * 1000 * 1000, false);
  csi_windows_calls_told(calls, "IOCTL_DISK_GET_LENGTH_INFO", 100 * 1000,
                         true); /* a bound belongs to its bucket */
  char *text = text_of(calls);
  assert_has(text, "csi_proxy_windows_call_duration_seconds_bucket{call=\"CreateFileW\",le=\"0.0001\"} 1\n");
  assert_has(text, "csi_proxy_windows_call_duration_seconds_bucket{call=\"CreateFileW\",le=\"0.0025\"} 1\n");
  assert_has(text, "csi_proxy_windows_call_duration_seconds_bucket{call=\"CreateFileW\",le=\"0.005\"} 2\n");
  assert_has(text, "csi_proxy_windows_call_duration_seconds_bucket{call=\"CreateFileW\",le=\"+Inf\"} 2\n");
  assert_has(text, "csi_proxy_windows_call_duration_seconds_sum{call=\"CreateFileW\"} 0.00305\n");
  assert_has(text, "csi_proxy_windows_call_duration_seconds_count{call=\"CreateFileW\"} 2\n");
  assert_has(text, "csi_proxy_windows_call_duration_seconds_bucket{call=\"IOCTL_DISK_GET_LENGTH_INFO\","
                   "le=\"0.0001\"} 1\n");
  assert_has(text, "csi_proxy_windows_call_failures_total{call=\"CreateFileW\"} 1\n");
  assert_has(text, "csi_proxy_windows_call_failures_total{call=\"IOCTL_DISK_GET_LENGTH_INFO\"} 0\n");
  free(text);
  free(calls);
}

static char names[CSI_WINDOWS_CALL_NAMES + 10][16];

static void make_names(void) {
  for (size_t i = 0; i < CSI_WINDOWS_CALL_NAMES + 10; i++)
    snprintf(names[i], sizeof names[i], "Call%zu", i);
}

static void one_name_too_many_is_counted(void **unused) {
  (void)unused;
  struct csi_windows_calls *calls = calloc(1, sizeof *calls);
  for (size_t i = 0; i < CSI_WINDOWS_CALL_NAMES + 10; i++)
    csi_windows_calls_told(calls, names[i], 1, true);
  csi_windows_calls_told(calls, names[0], 1, true); /* those that are there go on */
  char *text = text_of(calls);
  assert_has(text, "csi_proxy_windows_calls_unlisted_total 10\n");
  assert_has(text, "csi_proxy_windows_call_duration_seconds_count{call=\"Call0\"} 2\n");
  assert_has(text, "csi_proxy_windows_call_duration_seconds_count{call=\"Call127\"} 1\n");
  assert_null(strstr(text, "Call128"));
  free(text);
  free(calls);
}

static void *tell_many(void *context) {
  for (size_t i = 0; i < ROUNDS; i++)
    csi_windows_calls_told(context, names[i % 60], (int64_t)(i % 7) * 100000, i % 3 != 0);
  return NULL;
}

static void threads_lose_nothing(void **unused) {
  (void)unused;
  struct csi_windows_calls *calls = calloc(1, sizeof *calls);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, tell_many, calls), 0);
  free(text_of(calls)); /* somebody reads meanwhile */
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  uint64_t told = 0, failed = 0;
  for (size_t slot = 0; slot < CSI_WINDOWS_CALL_NAMES; slot++) {
    for (size_t bucket = 0; bucket <= csi_fine_buckets.count; bucket++)
      told += calls->slots[slot].duration.counts[bucket];
    failed += calls->slots[slot].failures;
  }
  assert_int_equal(told, THREADS * ROUNDS);
  assert_int_equal(failed, THREADS * ((ROUNDS + 2) / 3));
  assert_int_equal(calls->unlisted, 0);
  free(calls);
}

int main(void) {
  make_names();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_name_is_one_series_wherever_it_stands),
      cmocka_unit_test(one_name_too_many_is_counted),
      cmocka_unit_test(threads_lose_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
