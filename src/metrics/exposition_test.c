/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "metrics/exposition.h"

static void assert_text(struct csi_exposition *out, const char *text) {
  assert_false(out->failed);
  assert_int_equal(out->length_bytes, strlen(text));
  assert_memory_equal(out->text, text, out->length_bytes);
  csi_exposition_free(out);
}

static void seconds_are_exact(void **unused) {
  (void)unused;
  char text[CSI_SECONDS_BYTES];
  assert_string_equal(csi_seconds_text(text, 0), "0");
  assert_string_equal(csi_seconds_text(text, 1), "0.000000001");
  assert_string_equal(csi_seconds_text(text, 2500000), "0.0025");
  assert_string_equal(csi_seconds_text(text, UINT64_C(120000000000)), "120");
  assert_string_equal(csi_seconds_text(text, UINT64_C(1000500000000)), "1000.5");
  assert_string_equal(csi_seconds_text(text, UINT64_MAX), "18446744073.709551615");
}

static void a_metric_is_described_once(void **unused) {
  (void)unused;
  struct csi_exposition out = {.limit_bytes = 4096};
  const char *low = "short", *high = "long";
  csi_exposition_count(&out, CSI_METRIC_LANE_THREADS, &low, 3);
  csi_exposition_count(&out, CSI_METRIC_LANE_THREADS, &high, UINT64_MAX);
  csi_exposition_count(&out, CSI_METRIC_WINDOWS_CALLS_HANGING, NULL, 0);
  assert_text(&out,
              "# HELP csi_proxy_lane_threads Threads of a lane, idle ones included.\n"
              "# TYPE csi_proxy_lane_threads gauge\n"
              "csi_proxy_lane_threads{lane=\"short\"} 3\n"
              "csi_proxy_lane_threads{lane=\"long\"} 18446744073709551615\n"
              "# HELP csi_proxy_windows_calls_hanging Calls into Windows that were given up and have not "
              "returned.\n"
              "# TYPE csi_proxy_windows_calls_hanging gauge\n"
              "csi_proxy_windows_calls_hanging 0\n");
}

static void values_are_escaped(void **unused) {
  (void)unused;
  struct csi_exposition out = {.limit_bytes = 4096};
  const char *labels[] = {"1\n2", "C:\\a \"b\""};
  csi_exposition_count(&out, CSI_METRIC_BUILD_INFO, labels, 1);
  assert_text(&out, "# HELP csi_proxy_build_info Always 1; the labels say what the program was built from.\n"
                    "# TYPE csi_proxy_build_info gauge\n"
                    "csi_proxy_build_info{grpc_version=\"1\\n2\",version=\"C:\\\\a \\\"b\\\"\"} 1\n");
}

static void buckets_add_up(void **unused) {
  (void)unused;
  struct csi_exposition out = {.limit_bytes = 16384};
  const char *labels[] = {"CreateSymlink", "v1.Filesystem", "unary"};
  uint64_t counts[CSI_METRIC_BUCKETS + 1] = {[0] = 2, [3] = 1, [14] = 4};
  csi_exposition_histogram(&out, CSI_METRIC_GRPC_HANDLING, labels, counts, UINT64_C(600250000000));
  assert_text(
      &out,
#define BUCKET(le, count)                                                                                    \
  "grpc_server_handling_seconds_bucket{grpc_method=\"CreateSymlink\",grpc_service=\"v1.Filesystem\","        \
  "grpc_type=\"unary\",le=\"" le "\"} " count "\n"
#define OTHER(suffix)                                                                                        \
  "grpc_server_handling_seconds" suffix                                                                      \
  "{grpc_method=\"CreateSymlink\",grpc_service=\"v1.Filesystem\",grpc_type=\"unary\"} "
      "# HELP grpc_server_handling_seconds Histogram of response latency (seconds) of gRPC that had been "
      "application-level handled by the server.\n"
      "# TYPE grpc_server_handling_seconds histogram\n" BUCKET("0.001", "2") BUCKET("0.01", "2")
          BUCKET("0.1", "2") BUCKET("0.3", "3") BUCKET("0.6", "3") BUCKET("1", "3") BUCKET("3", "3")
              BUCKET("6", "3") BUCKET("9", "3") BUCKET("20", "3") BUCKET("30", "3") BUCKET("60", "3")
                  BUCKET("90", "3") BUCKET("120", "3") BUCKET("+Inf", "7")
                      OTHER("_sum") "600.25\n" OTHER("_count") "7\n");
}

static void the_limit_is_kept(void **unused) {
  (void)unused;
  struct csi_exposition out = {.limit_bytes = 20000};
  for (int i = 0; i < 10000 && !out.failed; i++)
    csi_exposition_count(&out, CSI_METRIC_WINDOWS_CALLS_HANGING, NULL, 1);
  assert_true(out.failed);
  assert_true(out.length_bytes <= 20000);
  assert_true(out.length_bytes > 19900);
  size_t length_bytes = out.length_bytes;
  csi_exposition_count(&out, CSI_METRIC_WINDOWS_CALLS_HANGING, NULL, 1);
  assert_int_equal(out.length_bytes, length_bytes);
  csi_exposition_free(&out);
}

/* What the table promises, and Prometheus wants. */
static void the_table_is_well_formed(void **unused) {
  (void)unused;
  for (int metric = 0; metric < CSI_METRIC_COUNT; metric++) {
    const struct csi_metric_info *info = &csi_metric_table[metric];
    assert_non_null(info->name);
    assert_int_equal(strspn(info->name, "abcdefghijklmnopqrstuvwxyz_"), strlen(info->name));
    bool total = strlen(info->name) > 6 && strcmp(info->name + strlen(info->name) - 6, "_total") == 0;
    assert_int_equal(total, info->type == CSI_METRIC_COUNTER);
    assert_int_equal(info->buckets != NULL, info->type == CSI_METRIC_HISTOGRAM);
    assert_non_null(info->help);
    for (int i = 1; i < CSI_METRIC_LABELS && info->labels[i] != NULL; i++)
      assert_true(strcmp(info->labels[i - 1], info->labels[i]) < 0);
    for (int i = 0; info->buckets != NULL && i < CSI_METRIC_LABELS && info->labels[i] != NULL; i++)
      assert_true(strcmp(info->labels[i], "le") < 0); /* which is written last */
    for (int other = 0; other < metric; other++)
      assert_string_not_equal(info->name, csi_metric_table[other].name);
  }
}

static void bounds_ascend(void **unused) {
  (void)unused;
  const struct csi_buckets *all[] = {&csi_handling_buckets, &csi_fine_buckets};
  for (size_t of = 0; of < 2; of++) {
    assert_in_range(all[of]->count, 1, CSI_METRIC_BUCKETS);
    for (size_t i = 1; i < all[of]->count; i++)
      assert_true(all[of]->bounds_ns[i - 1] < all[of]->bounds_ns[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seconds_are_exact),  cmocka_unit_test(a_metric_is_described_once),
      cmocka_unit_test(values_are_escaped), cmocka_unit_test(buckets_add_up),
      cmocka_unit_test(the_limit_is_kept),  cmocka_unit_test(the_table_is_well_formed),
      cmocka_unit_test(bounds_ascend),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
