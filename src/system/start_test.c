/* SPDX-License-Identifier: Apache-2.0
 *
 * StartService: from every state, slow and stuck services, and why one does not start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "system/fixture.h"
#include "system/wait.h"

#define TRANSITION                                                                                           \
  "failed to wait for service a state change. error: service a state transition failed: error starting "     \
  "service name a. return value: "
#define CHECK "failed to wait for service a state change. error: service a state check failed: "

enum {
  SHORT_MS = 60, /* for waits that are to end in vain */
};

static size_t count(struct fixture *f, const char *call) {
  return csi_fake_network_count(f->network, call);
}

static void test_stopped(void **state) {
  struct fixture *f = *state;
  add_service(f, "a", CSI_SERVICE_STOPPED, "b");
  add_service(f, "b", CSI_SERVICE_STOPPED, NULL);
  assert_ok(f, call_start(f, "A"));
  assert_state(f, "a", CSI_SERVICE_RUNNING);
  assert_state(f, "b", CSI_SERVICE_RUNNING);
}

static void test_running(void **state) {
  struct fixture *f = *state;
  add_service(f, "a", CSI_SERVICE_RUNNING, NULL);
  assert_ok(f, call_start(f, "a"));
  assert_int_equal(count(f, "StartServiceW"), 0);
  assert_int_equal(count(f, "QueryServiceStatusEx"), 1);
}

static void test_slow(void **state) {
  struct fixture *f = *state;
  csi_fake_system_add(f->system, &(struct csi_fake_service){
                                     .name = "a", .start_type = CSI_FAKE_SERVICE_AUTO, .start_delay_ms = 80});
  assert_ok(f, call_start(f, "a"));
  assert_state(f, "a", CSI_SERVICE_RUNNING);
  assert_int_equal(count(f, "StartServiceW"), 1);
}

/* Check points are progress, however impatient we are. */
static void test_slow_with_progress(void **state) {
  struct fixture *f = *state;
  use_options(f, "", 30);
  csi_fake_system_add(
      f->system,
      &(struct csi_fake_service){.name = "a", .start_type = CSI_FAKE_SERVICE_AUTO, .start_delay_ms = 200});
  assert_ok(f, call_start(f, "a"));
}

static void test_starting_already(void **state) {
  struct fixture *f = *state;
  csi_fake_system_add(
      f->system, &(struct csi_fake_service){
                     .name = "a", .state = CSI_SERVICE_START_PENDING, .start_delay_ms = 50, .start_type = 3});
  assert_ok(f, call_start(f, "a"));
  assert_int_equal(count(f, "StartServiceW"), 0);
}

static void test_stopping(void **state) {
  struct fixture *f = *state;
  csi_fake_system_add(
      f->system, &(struct csi_fake_service){
                     .name = "a", .state = CSI_SERVICE_STOP_PENDING, .stop_delay_ms = 50, .start_type = 3});
  assert_ok(f, call_start(f, "a"));
  assert_state(f, "a", CSI_SERVICE_RUNNING);
  assert_int_equal(count(f, "StartServiceW"), 1);
}

static void test_continuing(void **state) {
  struct fixture *f = *state;
  add_service(f, "a", CSI_SERVICE_CONTINUE_PENDING, NULL);
  assert_ok(f, call_start(f, "a"));
}

static void test_paused(void **state) {
  struct fixture *f = *state;
  add_service(f, "a", CSI_SERVICE_PAUSED, NULL);
  assert_failed(f, call_start(f, "a"), CSI_FAILED_PRECONDITION, TRANSITION "10, error: it is paused");
  add_service(f, "b", CSI_SERVICE_PAUSE_PENDING, NULL);
  assert_failed(f, call_start(f, "b"), CSI_FAILED_PRECONDITION, "failed to wait for service b state change");
  assert_state(f, "a", CSI_SERVICE_PAUSED);
  assert_int_equal(count(f, "StartServiceW"), 0);
}

static void test_stuck(void **state) {
  struct fixture *f = *state;
  use_options(f, "", SHORT_MS);
  csi_fake_system_add(f->system, &(struct csi_fake_service){.name = "a", .start_type = 3, .silent = true});
  assert_failed(f, call_start(f, "a"), CSI_DEADLINE_EXCEEDED,
                "timed out waiting for service a to become running: it is Start Pending, without progress");
  csi_fake_system_set_state(f->system, "a", CSI_SERVICE_STOP_PENDING);
  assert_failed(f, call_start(f, "a"), CSI_DEADLINE_EXCEEDED,
                "timed out waiting for service a to become running: it is Stop Pending, without progress");
}

/* The wait hint buys time beyond our patience. */
static void test_wait_hint(void **state) {
  struct fixture *f = *state;
  use_options(f, "", 1);
  csi_fake_system_add(
      f->system,
      &(struct csi_fake_service){.name = "a", .start_type = 3, .start_delay_ms = 150, .wait_hint_ms = 60000});
  assert_ok(f, call_start(f, "a"));
}

static void test_deadline(void **state) {
  struct fixture *f = *state;
  f->limit_ms = SHORT_MS;
  csi_fake_system_add(f->system, &(struct csi_fake_service){.name = "a", .start_type = 3, .silent = true});
  assert_failed(f, call_start(f, "a"), CSI_DEADLINE_EXCEEDED,
                "timed out waiting for service a to become running: ");
}

static void cancel(struct csi_fake_network *network, const char *call, void *data) {
  struct fixture *f = data;
  (void)call;
  if (csi_fake_network_count(network, "StartServiceW") > 0) atomic_store(&f->cancelled, true);
}

static void test_cancelled(void **state) {
  struct fixture *f = *state;
  csi_fake_system_add(f->system, &(struct csi_fake_service){.name = "a", .start_type = 3, .silent = true});
  csi_fake_network_set_hook(f->network, cancel, f);
  assert_failed(f, call_start(f, "a"), CSI_CANCELLED, "");
}

static void test_dies(void **state) {
  struct fixture *f = *state;
  csi_fake_system_add(f->system, &(struct csi_fake_service){.name = "a", .start_type = 3, .fail_start = 5});
  assert_failed(f, call_start(f, "a"), CSI_PERMISSION_DENIED,
                CHECK "it stopped while it started: Access is denied. (Win32 error 5 in the service)");
  csi_fake_system_remove(f->system, "a");
  csi_fake_system_add(f->system, &(struct csi_fake_service){.name = "a",
                                                            .start_type = 3,
                                                            .start_delay_ms = 20,
                                                            .fail_start = 1066,
                                                            .specific_exit_code = 4242});
  assert_failed(f, call_start(f, "a"), CSI_INTERNAL,
                CHECK "it stopped while it started, with the error 4242");
}

static void stop_it(struct csi_fake_network *network, const char *call, void *data) {
  struct fixture *f = data;
  (void)call;
  if (csi_fake_network_count(network, "StartServiceW") > 0)
    csi_fake_system_set_state(f->system, "a", CSI_SERVICE_STOPPED);
}

static void test_dies_without_reason(void **state) {
  struct fixture *f = *state;
  csi_fake_system_add(f->system, &(struct csi_fake_service){.name = "a", .start_type = 3, .silent = true});
  csi_fake_network_set_hook(f->network, stop_it, f);
  assert_failed(f, call_start(f, "a"), CSI_FAILED_PRECONDITION,
                CHECK "it stopped while it started, and told no reason");
}

/* What each refusal is called, and what is advised. */
static void test_refused(void **state) {
  struct fixture *f = *state;
  static const struct {
    uint32_t error;
    enum csi_code code;
    const char *text, *advice;
  } rows[] = {
      {2, CSI_NOT_FOUND, TRANSITION "9, error: ", "program of the service is missing"},
      {5, CSI_PERMISSION_DENIED, TRANSITION "2, error: ", "LocalSystem"},
      {1053, CSI_DEADLINE_EXCEEDED, TRANSITION "7, error: ", "has not reported"},
      {1055, CSI_UNAVAILABLE, TRANSITION "11, error: ", "try again"},
      {1058, CSI_FAILED_PRECONDITION, TRANSITION "14, error: ", "start= demand"},
      {1059, CSI_FAILED_PRECONDITION, TRANSITION "18, error: ", "circle"},
      {1068, CSI_FAILED_PRECONDITION, TRANSITION "13, error: ", "a service that it depends on did not start"},
      {1069, CSI_FAILED_PRECONDITION, TRANSITION "15, error: ", "password"},
      {1072, CSI_FAILED_PRECONDITION, TRANSITION "16, error: ", "being removed"},
      {1075, CSI_FAILED_PRECONDITION, TRANSITION "12, error: ", "not installed"},
      {31, CSI_INTERNAL, TRANSITION "8, error: ", "Win32 error 31 in StartServiceW"},
  };
  add_service(f, "a", CSI_SERVICE_STOPPED, NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    fail_step(f, "StartServiceW", 1, rows[i].error);
    assert_failed(f, call_start(f, "a"), rows[i].code, rows[i].text);
    assert_says(f, rows[i].advice);
  }
  csi_fake_system_set_start_type(f->system, "a", CSI_FAKE_SERVICE_DISABLED);
  assert_failed(f, call_start(f, "a"), CSI_FAILED_PRECONDITION, TRANSITION "14, error: ");
}

/* Somebody else starts it between our look and our call. */
static void test_started_by_others(void **state) {
  struct fixture *f = *state;
  add_service(f, "a", CSI_SERVICE_STOPPED, NULL);
  fail_step(f, "StartServiceW", 1, CSI_SERVICE_ALREADY_RUNNING);
  assert_ok(f, call_start(f, "a"));
  assert_state(f, "a", CSI_SERVICE_RUNNING);
}

static void test_intervals(void **state) {
  (void)state;
  assert_int_equal(csi_service_wait_interval_ms(0, 30000), 1);
  assert_int_equal(csi_service_wait_interval_ms(4, 30000), 16);
  assert_int_equal(csi_service_wait_interval_ms(5, 0), 25);
  assert_int_equal(csi_service_wait_interval_ms(5, 249), 25);
  assert_int_equal(csi_service_wait_interval_ms(6, 0), 50);
  assert_int_equal(csi_service_wait_interval_ms(13, 0), 225);
  assert_int_equal(csi_service_wait_interval_ms(14, 0), 250);
  assert_int_equal(csi_service_wait_interval_ms(UINT32_MAX, 2000), 250);
  assert_int_equal(csi_service_wait_interval_ms(UINT32_MAX, 4000), 400);
  assert_int_equal(csi_service_wait_interval_ms(5, 2000), 200);
  assert_int_equal(csi_service_wait_interval_ms(5, UINT32_MAX), 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_stopped),
      TEST(test_running),
      TEST(test_slow),
      TEST(test_slow_with_progress),
      TEST(test_starting_already),
      TEST(test_stopping),
      TEST(test_continuing),
      TEST(test_paused),
      TEST(test_stuck),
      TEST(test_wait_hint),
      TEST(test_deadline),
      TEST(test_cancelled),
      TEST(test_dies),
      TEST(test_dies_without_reason),
      TEST(test_refused),
      TEST(test_started_by_others),
      TEST(test_intervals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
