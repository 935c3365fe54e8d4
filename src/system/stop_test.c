/* SPDX-License-Identifier: Apache-2.0
 *
 * StopService: from every state, with dependents in every shape, what is refused, and what is protected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "system/fixture.h"

#define FAILED "failed to stop service a. error: "
#define STOPPING FAILED "error stopping service name a. current state: "

enum {
  SHORT_MS = 60, /* for waits that are to end in vain */
};

static size_t count(struct fixture *f, const char *call) {
  return csi_fake_network_count(f->network, call);
}

/* ---- One service. ---- */

static void test_running(void **state) {
  struct fixture *f = *state;
  add_service(f, "a", CSI_SERVICE_RUNNING, NULL);
  assert_ok(f, call_stop(f, "A", false));
  assert_state(f, "a", CSI_SERVICE_STOPPED);
  assert_ok(f, call_stop(f, "a", false));
  assert_ok(f, call_stop(f, "a", true));
  assert_int_equal(count(f, "ControlService"), 1);
}

static void test_paused(void **state) {
  struct fixture *f = *state;
  add_service(f, "a", CSI_SERVICE_PAUSED, NULL);
  assert_ok(f, call_stop(f, "a", false));
  assert_state(f, "a", CSI_SERVICE_STOPPED);
}

static void test_slow(void **state) {
  struct fixture *f = *state;
  csi_fake_system_add(
      f->system, &(struct csi_fake_service){.name = "a", .state = CSI_SERVICE_RUNNING, .stop_delay_ms = 80});
  assert_ok(f, call_stop(f, "a", false));
  assert_state(f, "a", CSI_SERVICE_STOPPED);
  assert_int_equal(count(f, "ControlService"), 1);
}

/* What is pending takes no control; it is waited for. */
static void test_pending(void **state) {
  struct fixture *f = *state;
  static const uint32_t states[] = {CSI_SERVICE_START_PENDING, CSI_SERVICE_PAUSE_PENDING,
                                    CSI_SERVICE_CONTINUE_PENDING, CSI_SERVICE_STOP_PENDING};
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
    csi_fake_system_add(f->system,
                        &(struct csi_fake_service){
                            .name = "a", .state = states[i], .start_delay_ms = 40, .stop_delay_ms = 40});
    assert_ok(f, call_stop(f, "a", false));
    assert_state(f, "a", CSI_SERVICE_STOPPED);
    csi_fake_system_remove(f->system, "a");
  }
}

static void test_stuck(void **state) {
  struct fixture *f = *state;
  use_options(f, "", SHORT_MS);
  csi_fake_system_add(f->system,
                      &(struct csi_fake_service){.name = "a", .state = CSI_SERVICE_RUNNING, .silent = true});
  assert_failed(f, call_stop(f, "a", false), CSI_DEADLINE_EXCEEDED,
                "timed out waiting for service a to stop: it is Stop Pending, without progress for ");
  csi_fake_system_set_state(f->system, "a", CSI_SERVICE_START_PENDING);
  assert_failed(f, call_stop(f, "a", true), CSI_DEADLINE_EXCEEDED,
                "timed out waiting for service a to stop: it is Start Pending, without progress for ");
}

static void test_deadline(void **state) {
  struct fixture *f = *state;
  f->limit_ms = SHORT_MS;
  csi_fake_system_add(f->system,
                      &(struct csi_fake_service){.name = "a", .state = CSI_SERVICE_RUNNING, .silent = true});
  assert_failed(f, call_stop(f, "a", false), CSI_DEADLINE_EXCEEDED, "");
}

static void test_refuses(void **state) {
  struct fixture *f = *state;
  csi_fake_system_add(
      f->system, &(struct csi_fake_service){.name = "a", .state = CSI_SERVICE_RUNNING, .refuse_stop = true});
  assert_failed(f, call_stop(f, "a", true), CSI_FAILED_PRECONDITION, STOPPING "Running, error: ");
  assert_says(f, "does not let itself be stopped");
}

static void run_again(struct csi_fake_network *network, const char *call, void *data) {
  struct fixture *f = data;
  if (strcmp(call, "QueryServiceStatusEx") == 0 && csi_fake_network_count(network, "ControlService") > 0 &&
      csi_fake_network_count(network, call) >= 5)
    csi_fake_system_set_state(f->system, "a", CSI_SERVICE_RUNNING);
}

static void test_comes_back(void **state) {
  struct fixture *f = *state;
  csi_fake_system_add(f->system,
                      &(struct csi_fake_service){.name = "a", .state = CSI_SERVICE_RUNNING, .silent = true});
  csi_fake_network_set_hook(f->network, run_again, f);
  assert_failed(f, call_stop(f, "a", false), CSI_ABORTED,
                STOPPING "Running, error: it began to stop, and does not any more");
}

/* It stops, or starts to, between our look and our call. */
static void test_meanwhile(void **state) {
  struct fixture *f = *state;
  add_service(f, "a", CSI_SERVICE_RUNNING, NULL);
  fail_step(f, "ControlService", 1, CSI_SERVICE_NOT_ACTIVE);
  assert_ok(f, call_stop(f, "a", false));
  csi_fake_system_set_state(f->system, "a", CSI_SERVICE_RUNNING);
  fail_step(f, "ControlService", 1, CSI_SERVICE_CANNOT_ACCEPT_CONTROL);
  assert_ok(f, call_stop(f, "a", false));
  csi_fake_system_set_state(f->system, "a", CSI_SERVICE_RUNNING);
  fail_step(f, "ControlService", 1, CSI_SERVICE_CANNOT_ACCEPT_CONTROL);
  fail_step(f, "ControlService", 1, CSI_SERVICE_CANNOT_ACCEPT_CONTROL);
  assert_failed(f, call_stop(f, "a", false), CSI_UNAVAILABLE, STOPPING "Running, error: ");
}

/* ---- Dependents. ---- */

/* a <- b <- c, and d besides. */
static void add_chain(struct fixture *f, uint32_t state_b, uint32_t state_c) {
  add_service(f, "a", CSI_SERVICE_RUNNING, NULL);
  add_service(f, "b", state_b, "a");
  add_service(f, "c", state_c, "b");
  add_service(f, "d", CSI_SERVICE_RUNNING, NULL);
}

static void test_dependents_without_force(void **state) {
  struct fixture *f = *state;
  add_chain(f, CSI_SERVICE_RUNNING, CSI_SERVICE_RUNNING);
  assert_failed(f, call_stop(f, "a", false), CSI_FAILED_PRECONDITION, STOPPING "Running, error: ");
  assert_says(f, "Win32 error 1051 in ControlService");
  assert_says(f, "(2: b, c; stop them first, or use force)");
  assert_stops(f, "");
  for (int i = 0; i < 100; i++) {
    char name[64];
    snprintf(name, sizeof name, "a-service-with-some-name-%d", i);
    add_service(f, name, CSI_SERVICE_RUNNING, "a");
  }
  assert_failed(f, call_stop(f, "a", false), CSI_FAILED_PRECONDITION, STOPPING "Running, error: ");
  assert_says(f, "(102: b, c, a-service-with-some-name-0, ");
  assert_says(f, ", ...; stop them first, or use force)");
}

static void test_stopped_dependents_are_not_in_the_way(void **state) {
  struct fixture *f = *state;
  add_chain(f, CSI_SERVICE_STOPPED, CSI_SERVICE_STOPPED);
  assert_ok(f, call_stop(f, "a", false));
  assert_stops(f, "a");
}

static void test_chain(void **state) {
  struct fixture *f = *state;
  add_chain(f, CSI_SERVICE_RUNNING, CSI_SERVICE_RUNNING);
  assert_ok(f, call_stop(f, "a", true));
  assert_stops(f, "c,b,a");
  assert_state(f, "d", CSI_SERVICE_RUNNING);
}

/* Lists that have the nearest dependents only lead to the same. */
static void test_chain_in_short_lists(void **state) {
  struct fixture *f = *state;
  csi_fake_system_set_short_lists(f->system, true);
  add_chain(f, CSI_SERVICE_RUNNING, CSI_SERVICE_RUNNING);
  assert_ok(f, call_stop(f, "a", true));
  assert_stops(f, "c,b,a");
}

static void test_paused_and_pending_dependents(void **state) {
  struct fixture *f = *state;
  add_chain(f, CSI_SERVICE_PAUSED, CSI_SERVICE_STOPPED);
  csi_fake_system_add(
      f->system, &(struct csi_fake_service){
                     .name = "e", .state = CSI_SERVICE_START_PENDING, .depends = "b", .start_delay_ms = 40});
  csi_fake_system_add(
      f->system, &(struct csi_fake_service){
                     .name = "f", .state = CSI_SERVICE_STOP_PENDING, .depends = "a,b", .stop_delay_ms = 40});
  assert_ok(f, call_stop(f, "a", true));
  assert_stops(f, "e,b,a");
  assert_state(f, "f", CSI_SERVICE_STOPPED);
}

/* Both b and c need a; d needs b and c: once each. */
static void test_diamond(void **state) {
  for (int short_lists = 0; short_lists <= 1; short_lists++) {
    struct fixture *f = *state;
    csi_fake_system_remove_all(f->system);
    csi_fake_system_set_short_lists(f->system, short_lists != 0);
    add_service(f, "d", CSI_SERVICE_RUNNING, "b,c");
    add_service(f, "c", CSI_SERVICE_RUNNING, "a");
    add_service(f, "b", CSI_SERVICE_RUNNING, "a");
    add_service(f, "a", CSI_SERVICE_RUNNING, NULL);
    assert_ok(f, call_stop(f, "a", true));
    assert_stops(f, "d,c,b,a");
  }
}

/* A circle is impossible in Windows; here it ends with an error instead of never. */
static void test_circle(void **state) {
  struct fixture *f = *state;
  add_service(f, "a", CSI_SERVICE_RUNNING, "c");
  add_service(f, "b", CSI_SERVICE_RUNNING, "a");
  add_service(f, "c", CSI_SERVICE_RUNNING, "b");
  assert_failed(f, call_stop(f, "a", true), CSI_FAILED_PRECONDITION, FAILED);
}

static void test_dependent_refuses(void **state) {
  struct fixture *f = *state;
  add_chain(f, CSI_SERVICE_RUNNING, CSI_SERVICE_STOPPED);
  csi_fake_system_add(f->system,
                      &(struct csi_fake_service){
                          .name = "e", .state = CSI_SERVICE_RUNNING, .depends = "b", .refuse_stop = true});
  assert_failed(f, call_stop(f, "a", true), CSI_FAILED_PRECONDITION,
                FAILED "error stopping service name e. current state: Running, error: ");
  assert_state(f, "a", CSI_SERVICE_RUNNING);
}

static void add_deaf(struct fixture *f, const char *name, uint32_t state, const char *depends) {
  csi_fake_system_add(f->system, &(struct csi_fake_service){
                                     .name = name, .state = state, .depends = depends, .refuse_stop = true});
}

/* c <- b <- a: whichever of them refuses, running or paused, the others go on running. */
static void test_nothing_is_stopped_when_one_refuses(void **state) {
  struct fixture *f = *state;
  static const char *const names[] = {"a", "b", "c"}, *const needs[] = {NULL, "a", "b"};
  for (size_t deaf = 0; deaf < 3; deaf++) {
    for (uint32_t how = CSI_SERVICE_RUNNING; how <= CSI_SERVICE_PAUSED; how += 3) {
      char text[128];
      for (size_t i = 0; i < 3; i++)
        (i == deaf ? add_deaf : add_service)(f, names[i], i == deaf ? how : CSI_SERVICE_RUNNING, needs[i]);
      snprintf(text, sizeof text,
               FAILED "error stopping service name %s. current state: %s, error: ", names[deaf],
               how == CSI_SERVICE_PAUSED ? "Paused" : "Running");
      assert_failed(f, call_stop(f, "a", true), CSI_FAILED_PRECONDITION, text);
      assert_says(f, "Win32 error 1052 in ControlService");
      assert_says(f, "does not let itself be stopped");
      assert_stops(f, "");
      csi_fake_system_remove_all(f->system);
    }
  }
}

/* What is on its way says nothing about what it will accept. */
static void test_pending_is_not_refused(void **state) {
  struct fixture *f = *state;
  add_chain(f, CSI_SERVICE_RUNNING, CSI_SERVICE_STOPPED);
  csi_fake_system_add(
      f->system, &(struct csi_fake_service){
                     .name = "e", .state = CSI_SERVICE_START_PENDING, .depends = "b", .start_delay_ms = 40});
  assert_ok(f, call_stop(f, "a", true));
  assert_stops(f, "e,b,a");
}

/* A stop that fails later, at a dependent or at the service itself: who has been stopped is told. */
static void test_already_stopped(void **state) {
  struct fixture *f = *state;
  enum { ACCESS_DENIED = 5 };
  add_chain(f, CSI_SERVICE_RUNNING, CSI_SERVICE_RUNNING);
  fail_step(f, "ControlService", 1, ACCESS_DENIED);
  assert_false(call_stop(f, "a", true));
  assert_null(strstr(f->status.text, "already stopped"));
  fail_step(f, "ControlService", 2, ACCESS_DENIED);
  assert_failed(f, call_stop(f, "a", true), CSI_PERMISSION_DENIED,
                FAILED "error stopping service name b. current state: Running, error: ");
  assert_says(f, " (already stopped: c)");
  assert_stops(f, "c");
  csi_fake_system_set_state(f->system, "c", CSI_SERVICE_RUNNING);
  fail_step(f, "ControlService", 3, ACCESS_DENIED);
  assert_failed(f, call_stop(f, "a", true), CSI_PERMISSION_DENIED, STOPPING "Running, error: ");
  assert_says(f, " (already stopped: c, b)");
}

static void test_dependent_is_stuck(void **state) {
  struct fixture *f = *state;
  use_options(f, "", SHORT_MS);
  add_chain(f, CSI_SERVICE_RUNNING, CSI_SERVICE_STOPPED);
  csi_fake_system_add(
      f->system,
      &(struct csi_fake_service){.name = "e", .state = CSI_SERVICE_RUNNING, .depends = "b", .silent = true});
  assert_failed(f, call_stop(f, "a", true), CSI_DEADLINE_EXCEEDED,
                FAILED "timed out waiting for service e to stop: it is Stop Pending");
}

static void start_c(struct csi_fake_network *network, const char *call, void *data) {
  struct fixture *f = data;
  static const char control[] = "ControlService";
  if (strcmp(call, control) == 0 && csi_fake_network_count(network, control) == 0)
    csi_fake_system_set_state(f->system, "c", CSI_SERVICE_RUNNING);
}

/* A dependent that starts meanwhile costs one more round. */
static void test_dependent_starts_meanwhile(void **state) {
  struct fixture *f = *state;
  add_chain(f, CSI_SERVICE_RUNNING, CSI_SERVICE_STOPPED);
  csi_fake_network_set_hook(f->network, start_c, f);
  assert_ok(f, call_stop(f, "a", true));
  assert_stops(f, "c,b,a");
}

static void keep_c_running(struct csi_fake_network *network, const char *call, void *data) {
  struct fixture *f = data;
  (void)network;
  if (strcmp(call, "ControlService") == 0) csi_fake_system_set_state(f->system, "c", CSI_SERVICE_RUNNING);
}

static void test_dependent_starts_for_ever(void **state) {
  struct fixture *f = *state;
  add_chain(f, CSI_SERVICE_RUNNING, CSI_SERVICE_STOPPED);
  csi_fake_network_set_hook(f->network, keep_c_running, f);
  assert_failed(f, call_stop(f, "a", true), CSI_FAILED_PRECONDITION, FAILED);
  assert_says(f, "1051");
  assert_says(f, "(already stopped: c");
}

static void remove_b(struct csi_fake_network *network, const char *call, void *data) {
  struct fixture *f = data;
  (void)network;
  if (strcmp(call, "ControlService") == 0) csi_fake_system_remove(f->system, "b");
}

static void test_dependent_is_removed_meanwhile(void **state) {
  struct fixture *f = *state;
  add_chain(f, CSI_SERVICE_RUNNING, CSI_SERVICE_RUNNING);
  csi_fake_network_set_hook(f->network, remove_b, f);
  assert_ok(f, call_stop(f, "a", true));
  assert_stops(f, "c,a");
}

static void test_too_many_dependents(void **state) {
  struct fixture *f = *state;
  add_service(f, "a", CSI_SERVICE_RUNNING, NULL);
  for (int i = 0; i < 128; i++) {
    char name[16];
    snprintf(name, sizeof name, "many%d", i);
    add_service(f, name, CSI_SERVICE_RUNNING, "a");
  }
  assert_failed(f, call_stop(f, "a", true), CSI_RESOURCE_EXHAUSTED, FAILED "more than 127 services");
  assert_stops(f, "");
  csi_fake_system_remove(f->system, "many99");
  assert_ok(f, call_stop(f, "a", true));
}

/* ---- What is protected. ---- */

static void test_protected(void **state) {
  struct fixture *f = *state;
  use_options(f, "x, Kubelet ,y", 0);
  add_service(f, "KUBELET", CSI_SERVICE_RUNNING, NULL);
  assert_failed(f, call_stop(f, "kubelet", true), CSI_FAILED_PRECONDITION,
                "failed to stop service kubelet. error: service kubelet is protected: ");
  assert_says(f, "-protected-services");
  assert_stops(f, "");
  csi_fake_system_set_state(f->system, "kubelet", CSI_SERVICE_STOPPED);
  assert_failed(f, call_stop(f, "kubelet", false), CSI_FAILED_PRECONDITION,
                "failed to stop service kubelet. error: service kubelet is protected: ");
  use_options(f, "", 0);
  csi_fake_system_set_state(f->system, "kubelet", CSI_SERVICE_RUNNING);
  assert_ok(f, call_stop(f, "kubelet", false));
}

/* Nothing is stopped when one far away is protected. */
static void test_protected_dependent(void **state) {
  struct fixture *f = *state;
  add_chain(f, CSI_SERVICE_RUNNING, CSI_SERVICE_RUNNING);
  add_service(f, "Kubelet", CSI_SERVICE_RUNNING, "c");
  assert_failed(f, call_stop(f, "a", true), CSI_FAILED_PRECONDITION,
                FAILED "service Kubelet depends on it, would have to be stopped first, and is protected");
  assert_stops(f, "");
  csi_fake_system_set_state(f->system, "kubelet", CSI_SERVICE_STOPPED);
  assert_ok(f, call_stop(f, "a", true));
  assert_stops(f, "c,b,a");
}

static void test_ourselves(void **state) {
  struct fixture *f = *state;
  use_options(f, "", 0);
  add_service(f, "a", CSI_SERVICE_RUNNING, NULL);
  csi_fake_system_add(f->system, &(struct csi_fake_service){.name = "proxy",
                                                            .state = CSI_SERVICE_RUNNING,
                                                            .depends = "a",
                                                            .process_id = CSI_FAKE_PROCESS_ID});
  assert_failed(f, call_stop(f, "proxy", true), CSI_FAILED_PRECONDITION,
                "failed to stop service proxy. error: service proxy is csi-proxy itself");
  assert_failed(f, call_stop(f, "a", true), CSI_FAILED_PRECONDITION,
                FAILED
                "service proxy depends on it, would have to be stopped first, and is csi-proxy itself");
  assert_stops(f, "");
}

/* Neither they, nor what they need. */
static void test_drivers(void **state) {
  struct fixture *f = *state;
  struct service_answer answer;
  add_service(f, "a", CSI_SERVICE_RUNNING, NULL);
  csi_fake_system_add(
      f->system,
      &(struct csi_fake_service){.name = "disk", .type = 1, .state = CSI_SERVICE_RUNNING, .depends = "a"});
  assert_failed(f, call_stop(f, "disk", true), CSI_NOT_FOUND,
                "failed to get service disk. error: failed to query service "
                "disk: not found: it is a driver");
  assert_failed(f, call_start(f, "disk"), CSI_NOT_FOUND,
                "failed to get service disk. error: failed to query service disk: not found: it is a driver");
  assert_failed(f, call_get(f, "disk", &answer), CSI_NOT_FOUND,
                "failed to get service disk. error: failed to query service disk: not found: it is a driver");
  assert_failed(f, call_stop(f, "a", true), CSI_FAILED_PRECONDITION,
                FAILED "service disk depends on it, would have to be stopped first, and is a driver");
  assert_stops(f, "");
}

/* A service may be asked for by a name of which the service manager makes a protected one. */
static bool say_kubelet(void *self, struct csi_ctx *ctx, const char *name, const char **key_name_out) {
  (void)self;
  (void)ctx;
  (void)name;
  *key_name_out = "kubelet";
  return true;
}

static void test_protected_by_key_name(void **state) {
  struct fixture *f = *state;
  struct csi_system_host host = *csi_fake_system_host(f->system);
  host.get_key_name = say_kubelet;
  csi_system_free(f->group);
  const struct csi_system_options options = {.protected_services = "kubelet"};
  f->group = csi_system_new(&options, &host, f->locks, &f->status);
  assert_non_null(f->group);
  add_service(f, "a", CSI_SERVICE_RUNNING, NULL);
  assert_failed(f, call_stop(f, "a", true), CSI_FAILED_PRECONDITION, FAILED "service a is protected");
  csi_system_free(f->group);
  f->group = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_running),
      TEST(test_paused),
      TEST(test_slow),
      TEST(test_pending),
      TEST(test_stuck),
      TEST(test_deadline),
      TEST(test_refuses),
      TEST(test_comes_back),
      TEST(test_meanwhile),
      TEST(test_dependents_without_force),
      TEST(test_stopped_dependents_are_not_in_the_way),
      TEST(test_chain),
      TEST(test_chain_in_short_lists),
      TEST(test_paused_and_pending_dependents),
      TEST(test_diamond),
      TEST(test_circle),
      TEST(test_dependent_refuses),
      TEST(test_nothing_is_stopped_when_one_refuses),
      TEST(test_pending_is_not_refused),
      TEST(test_already_stopped),
      TEST(test_dependent_is_stuck),
      TEST(test_dependent_starts_meanwhile),
      TEST(test_dependent_starts_for_ever),
      TEST(test_dependent_is_removed_meanwhile),
      TEST(test_too_many_dependents),
      TEST(test_protected),
      TEST(test_protected_dependent),
      TEST(test_ourselves),
      TEST(test_drivers),
      TEST(test_protected_by_key_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
