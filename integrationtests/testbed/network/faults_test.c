/* SPDX-License-Identifier: Apache-2.0 */
#include "faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command_fixture.h"

static int set_up(void **context) {
  return make_scene(context, network_command);
}

static void assert_takes(struct scene *scene, const char *call, struct network_fault expected) {
  struct network_fault fault = network_faults_take(&scene->state, call);
  assert_int_equal(fault.delay_ms, expected.delay_ms);
  assert_int_equal(fault.hangs, expected.hangs);
  assert_int_equal(fault.error, expected.error);
}

static const struct network_fault none = {.error = 0};

static void test_calls_are_counted(void **context) {
  struct scene *scene = *context;
  assert_takes(scene, "B", none);
  assert_takes(scene, "A", none);
  assert_takes(scene, "B", none);
  command(scene, "counters");
  assert_string_equal(scene->reply, "call=B count=2\ncall=A count=1\n");
}

static void test_one_call_fails(void **context) {
  struct scene *scene = *context;
  command(scene, "fault add call=A error=0xEFFF0003");
  assert_takes(scene, "B", none);
  assert_takes(scene, "A", (struct network_fault){.error = 0xEFFF0003});
  assert_takes(scene, "A", none);
}

static void test_the_third_and_the_fourth_call_are_late(void **context) {
  struct scene *scene = *context;
  command(scene, "fault add call=A nth=3 count=2 delay=250");
  assert_takes(scene, "A", none);
  assert_takes(scene, "A", none);
  assert_takes(scene, "A", (struct network_fault){.delay_ms = 250});
  assert_takes(scene, "A", (struct network_fault){.delay_ms = 250});
  assert_takes(scene, "A", none);
}

static void test_all_calls_hang_until_faults_are_cleared(void **context) {
  struct scene *scene = *context;
  command(scene, "fault add call=A count=0 hang");
  uint64_t clearings = network_faults_clearings(&scene->state);
  for (int i = 0; i < 5; i++)
    assert_takes(scene, "A", (struct network_fault){.hangs = true});
  assert_int_equal(network_faults_clearings(&scene->state), clearings);
  command(scene, "fault clear");
  assert_int_not_equal(network_faults_clearings(&scene->state), clearings);
  assert_takes(scene, "A", none);
}

static void test_faults_are_taken_one_after_the_other(void **context) {
  struct scene *scene = *context;
  command(scene, "fault add call=A error=1");
  command(scene, "fault add call=A error=2");
  assert_takes(scene, "A", (struct network_fault){.error = 1});
  assert_takes(scene, "A", (struct network_fault){.error = 2});
}

static void test_a_fault_for_any_call(void **context) {
  struct scene *scene = *context;
  command(scene, "fault add call=any nth=2 delay=5 error=7 hang");
  assert_takes(scene, "A", none);
  assert_takes(scene, "B", (struct network_fault){.delay_ms = 5, .hangs = true, .error = 7});
  assert_takes(scene, "B", none);
}

static void test_a_reset_leaves_nothing_and_wakes_who_hangs(void **context) {
  struct scene *scene = *context;
  network_add(&scene->state, "share");
  command(scene, "fault add call=A error=1");
  assert_takes(scene, "B", none);
  uint64_t clearings = network_faults_clearings(&scene->state);
  command(scene, "reset");
  assert_int_not_equal(network_faults_clearings(&scene->state), clearings);
  assert_null(network_next(&scene->state, "share", NULL));
  assert_takes(scene, "A", none);
  command(scene, "counters");
  assert_string_equal(scene->reply, "call=A count=1\n");
}

static void test_bad_commands_do_nothing(void **context) {
  static const char *const bad[] = {
      "",
      "fault",
      "fault list",
      "fault add",
      "fault add error=1",
      "fault add call=A",
      "fault add call=A error",
      "fault add call=A error=x",
      "fault add call=A error=0",
      "fault add call=A error=0x100000000",
      "fault add call=A nth=0 error=1",
      "fault add call=A nth error=1",
      "fault add call=A count=x error=1",
      "fault add call=A error=1 more",
      "fault clear now",
      "counters all",
      "reset all",
      "nonsense",
  };
  struct scene *scene = *context;
  assert_refused(scene, bad, sizeof bad / sizeof bad[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, free_scene)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_calls_are_counted),
      TEST(test_one_call_fails),
      TEST(test_the_third_and_the_fourth_call_are_late),
      TEST(test_all_calls_hang_until_faults_are_cleared),
      TEST(test_faults_are_taken_one_after_the_other),
      TEST(test_a_fault_for_any_call),
      TEST(test_a_reset_leaves_nothing_and_wakes_who_hangs),
      TEST(test_bad_commands_do_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
