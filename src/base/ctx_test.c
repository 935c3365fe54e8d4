/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ctx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NS_PER_MS INT64_C(1000000)

static void test_a_pause_lasts(void **state) {
  (void)state;
  struct csi_ctx ctx = {.deadline_ns = CSI_NO_DEADLINE};
  int64_t begin_ns = csi_now_ns();
  assert_true(csi_pause(&ctx, 120));
  assert_true(csi_now_ns() - begin_ns >= 120 * NS_PER_MS);
}

/* However close the deadline is: who pauses between attempts must not make them all in its last moment. */
static void test_a_pause_never_ends_well_before_its_time(void **state) {
  (void)state;
  for (int64_t left_ns = 0; left_ns < 3 * NS_PER_MS; left_ns += NS_PER_MS / 10) {
    struct csi_ctx ctx = {.deadline_ns = csi_now_ns() + left_ns};
    assert_false(csi_pause(&ctx, 60 * 1000));
    assert_int_equal(ctx.status.code, CSI_DEADLINE_EXCEEDED);
    assert_true(csi_now_ns() >= ctx.deadline_ns);
  }
}

static void test_a_pause_ends_when_nobody_waits(void **state) {
  (void)state;
  atomic_bool cancelled;
  atomic_init(&cancelled, true);
  struct csi_ctx ctx = {.deadline_ns = CSI_NO_DEADLINE, .cancelled = &cancelled};
  assert_false(csi_pause(&ctx, 60 * 1000));
  assert_int_equal(ctx.status.code, CSI_CANCELLED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_pause_lasts),
      cmocka_unit_test(test_a_pause_never_ends_well_before_its_time),
      cmocka_unit_test(test_a_pause_ends_when_nobody_waits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
