/* SPDX-License-Identifier: Apache-2.0
 *
 * Every step of every call failing, and every allocation: an error, no lock left, and the same call works
 * afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "system/fixture.h"

enum {
  STEPS_MAX = 100,
  ALLOCATIONS_MAX = 200,
  IO_ERROR = 1117,
};

static bool get_service(struct fixture *f) {
  struct service_answer answer;
  return call_get(f, "a", &answer);
}

static bool get_serial(struct fixture *f) {
  char serial[FIXTURE_TEXT_BYTES];
  return call_get_serial(f, serial);
}

static bool start(struct fixture *f) {
  return call_start(f, "c");
}

static bool stop(struct fixture *f) {
  return call_stop(f, "a", false);
}

static bool stop_by_force(struct fixture *f) {
  return call_stop(f, "a", true);
}

static const struct operation {
  bool (*run)(struct fixture *fixture);
  uint32_t a, b, c; /* states before */
} operations[] = {
    {get_service, CSI_SERVICE_RUNNING, CSI_SERVICE_RUNNING, CSI_SERVICE_RUNNING},
    {get_serial, CSI_SERVICE_RUNNING, CSI_SERVICE_RUNNING, CSI_SERVICE_RUNNING},
    {start, CSI_SERVICE_STOPPED, CSI_SERVICE_STOPPED, CSI_SERVICE_STOPPED},
    {stop, CSI_SERVICE_RUNNING, CSI_SERVICE_STOPPED, CSI_SERVICE_STOPPED},
    {stop_by_force, CSI_SERVICE_RUNNING, CSI_SERVICE_RUNNING, CSI_SERVICE_PAUSED},
};

static void set_scene(struct fixture *f, const struct operation *operation) {
  csi_fake_system_remove_all(f->system);
  add_service(f, "a", operation->a, NULL);
  add_service(f, "b", operation->b, "a");
  add_service(f, "c", operation->c, "b");
}

static void fail_every_step(struct fixture *f, const struct operation *operation) {
  for (unsigned nth = 1; nth < STEPS_MAX; nth++) {
    set_scene(f, operation);
    fail_step(f, NULL, nth, IO_ERROR);
    bool done = operation->run(f);
    bool struck = csi_fake_network_struck(f->network) > 0;
    csi_fake_network_clear_faults(f->network);
    if (done && struck) fail_msg("step %u failed, and nobody noticed", nth);
    if (!done) assert_says(f, "Win32 error 1117 in ");
    assert_ok(f, operation->run(f));
    if (!struck) return;
  }
  fail_msg("too many steps");
}

static void test_steps(void **state) {
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
    fail_every_step(*state, &operations[i]);
}

static void fail_every_allocation(struct fixture *f, const struct operation *operation) {
  for (unsigned nth = 1; nth < ALLOCATIONS_MAX; nth++) {
    set_scene(f, operation);
    f->fail_allocation = nth;
    bool done = operation->run(f), failed = f->allocation_failed;
    f->fail_allocation = 0;
    if (!done) assert_int_equal(f->status.code, CSI_RESOURCE_EXHAUSTED);
    if (done && failed) fail_msg("allocation %u failed, and nobody noticed", nth);
    assert_ok(f, operation->run(f));
    if (!failed) return;
  }
  fail_msg("too many allocations");
}

static void test_allocations(void **state) {
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
    fail_every_allocation(*state, &operations[i]);
}

/* Everything hangs: the deadline ends it. */
static void test_hanging_steps(void **state) {
  struct fixture *f = *state;
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
    set_scene(f, &operations[i]);
    csi_fake_network_add_fault(f->network, &(struct csi_fake_network_fault){.hang = true, .count = 1});
    f->limit_ms = 30;
    assert_false(operations[i].run(f));
    assert_int_equal(f->status.code, CSI_DEADLINE_EXCEEDED);
    csi_fake_network_clear_faults(f->network);
    f->limit_ms = 0;
    assert_ok(f, operations[i].run(f));
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_steps),
      TEST(test_allocations),
      TEST(test_hanging_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
