/* SPDX-License-Identifier: Apache-2.0 */
#include "base/call_timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct told {
  int count;
  const char *call;
  int64_t duration_ns;
  bool succeeded;
};

static void keep(void *context, const char *call, int64_t duration_ns, bool succeeded) {
  struct told *told = context;
  *told = (struct told){told->count + 1, call, duration_ns, succeeded};
}

static void nobody_is_told_when_nobody_listens(void **unused) {
  (void)unused;
  assert_int_equal(csi_call_timing_begin(), 0);
  csi_call_timing_end("NtClose", 0, true);
  csi_call_timing_tell("NtClose", 1, true);
}

static void the_listener_is_told(void **unused) {
  (void)unused;
  struct told told = {0};
  csi_call_timing_listen(keep, &told);
  int64_t begin_ns = csi_call_timing_begin();
  assert_true(begin_ns > 0);
  csi_call_timing_end("NtClose", begin_ns, false);
  assert_int_equal(told.count, 1);
  assert_string_equal(told.call, "NtClose");
  assert_true(told.duration_ns >= 0);
  assert_false(told.succeeded);
  csi_call_timing_tell("NtOpen", 7, true);
  assert_int_equal(told.duration_ns, 7);
  assert_true(told.succeeded);
  csi_call_timing_listen(NULL, NULL);
  csi_call_timing_end("NtClose", begin_ns, false);
  assert_int_equal(told.count, 2);
}

/* What began before somebody listened has no time to tell. */
static void a_call_under_way_is_not_told(void **unused) {
  (void)unused;
  struct told told = {0};
  int64_t begin_ns = csi_call_timing_begin();
  csi_call_timing_listen(keep, &told);
  csi_call_timing_end("NtClose", begin_ns, true);
  csi_call_timing_listen(NULL, NULL);
  assert_int_equal(told.count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobody_is_told_when_nobody_listens),
      cmocka_unit_test(the_listener_is_told),
      cmocka_unit_test(a_call_under_way_is_not_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
