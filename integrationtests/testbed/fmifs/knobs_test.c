/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "knobs.h"

static bool parse(const char *text, struct fmifs_knobs *knobs_out) {
  char copy[FMIFS_KNOBS_BYTES];
  snprintf(copy, sizeof copy, "%s", text);
  return fmifs_knobs_parse(copy, knobs_out);
}

static void none(void **state) {
  (void)state;
  struct fmifs_knobs knobs;
  assert_true(parse("", &knobs));
  assert_false(knobs.fails || knobs.hangs || knobs.crashes || knobs.is_silent);
  assert_int_equal(knobs.step_ms, 0);
}

static void all(void **state) {
  (void)state;
  struct fmifs_knobs knobs;
  assert_true(parse("slow=20 fail=0x08 step=0\r\n", &knobs));
  assert_int_equal(knobs.step_ms, 20);
  assert_true(knobs.fails);
  assert_int_equal(knobs.fail_code, 8);
  assert_int_equal(knobs.step, 0);
  assert_true(parse("hang", &knobs));
  assert_true(knobs.hangs && !knobs.fails);
  assert_int_equal(knobs.step, FMIFS_DEFAULT_STEP);
  assert_true(parse("crash step=10", &knobs));
  assert_true(knobs.crashes);
  assert_true(parse("silent", &knobs));
  assert_true(knobs.is_silent);
}

static void wrong(void **state) {
  (void)state;
  struct fmifs_knobs knobs;
  static const char *const texts[] = {"hangs", "slow=", "slow=x", "step=11", "fail=0x1FFFFFFFF", "hang why"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    assert_false(parse(texts[i], &knobs));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(none),
      cmocka_unit_test(all),
      cmocka_unit_test(wrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
