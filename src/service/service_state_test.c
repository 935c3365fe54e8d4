/* SPDX-License-Identifier: Apache-2.0 */
#include "service/service_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
  MAX_REPORTS = 16,
};

struct recorder {
  struct csi_service_report reports[MAX_REPORTS];
  size_t count;
};

static void record(void *context, const struct csi_service_report *report) {
  struct recorder *recorder = context;
  assert_true(recorder->count < MAX_REPORTS);
  recorder->reports[recorder->count++] = *report;
}

static bool enter(struct csi_service_state *state, enum csi_service_phase phase) {
  switch (phase) {
  case CSI_SERVICE_RUNNING:
    return csi_service_state_running(state);
  case CSI_SERVICE_STOPPED:
    return csi_service_state_stopped(state, 0);
  default:
    return csi_service_state_pending(state, phase, 1000);
  }
}

/* Brings a new state to a phase by the ordinary way. */
static void bring_to(struct csi_service_state *state, enum csi_service_phase phase) {
  for (enum csi_service_phase next = CSI_SERVICE_START_PENDING; next <= phase; next++)
    assert_true(enter(state, next));
}

static void a_whole_life_is_reported_in_order(void **unused) {
  (void)unused;
  struct recorder recorder = {0};
  struct csi_service_state state;
  csi_service_state_init(&state, record, &recorder);

  assert_true(csi_service_state_pending(&state, CSI_SERVICE_START_PENDING, 10000));
  assert_true(csi_service_state_pending(&state, CSI_SERVICE_START_PENDING, 9000));
  assert_true(csi_service_state_running(&state));
  assert_true(csi_service_state_pending(&state, CSI_SERVICE_STOP_PENDING, 35000));
  assert_true(csi_service_state_pending(&state, CSI_SERVICE_STOP_PENDING, 34000));
  assert_true(csi_service_state_pending(&state, CSI_SERVICE_STOP_PENDING, 33000));
  assert_true(csi_service_state_stopped(&state, 0));

  static const struct csi_service_report expected[] = {
      {.phase = CSI_SERVICE_START_PENDING, .check_point = 1, .wait_hint_ms = 10000},
      {.phase = CSI_SERVICE_START_PENDING, .check_point = 2, .wait_hint_ms = 9000},
      {.phase = CSI_SERVICE_RUNNING, .accepts_stop = true},
      {.phase = CSI_SERVICE_STOP_PENDING, .check_point = 1, .wait_hint_ms = 35000},
      {.phase = CSI_SERVICE_STOP_PENDING, .check_point = 2, .wait_hint_ms = 34000},
      {.phase = CSI_SERVICE_STOP_PENDING, .check_point = 3, .wait_hint_ms = 33000},
      {.phase = CSI_SERVICE_STOPPED},
  };
  assert_int_equal(recorder.count, sizeof expected / sizeof expected[0]);
  for (size_t i = 0; i < recorder.count; i++) {
    const struct csi_service_report *got = &recorder.reports[i];
    assert_int_equal(got->phase, expected[i].phase);
    assert_int_equal(got->accepts_stop, expected[i].accepts_stop);
    assert_int_equal(got->check_point, expected[i].check_point);
    assert_int_equal(got->wait_hint_ms, expected[i].wait_hint_ms);
    assert_int_equal(got->specific_code, expected[i].specific_code);
  }
  csi_service_state_fini(&state);
}

/* Every pair of phases: what may follow what, and that a refused step leaves no trace. */
static void only_legal_steps_are_taken(void **unused) {
  (void)unused;
  static const bool legal[CSI_SERVICE_PHASE_COUNT][CSI_SERVICE_PHASE_COUNT] = {
      [CSI_SERVICE_NEW] = {[CSI_SERVICE_START_PENDING] = true},
      [CSI_SERVICE_START_PENDING] =
          {[CSI_SERVICE_START_PENDING] = true, [CSI_SERVICE_RUNNING] = true, [CSI_SERVICE_STOPPED] = true},
      [CSI_SERVICE_RUNNING] = {[CSI_SERVICE_STOP_PENDING] = true, [CSI_SERVICE_STOPPED] = true},
      [CSI_SERVICE_STOP_PENDING] = {[CSI_SERVICE_STOP_PENDING] = true, [CSI_SERVICE_STOPPED] = true},
  };
  for (enum csi_service_phase from = CSI_SERVICE_NEW; from < CSI_SERVICE_PHASE_COUNT; from++) {
    for (enum csi_service_phase to = CSI_SERVICE_NEW; to < CSI_SERVICE_PHASE_COUNT; to++) {
      struct recorder recorder = {0};
      struct csi_service_state state;
      csi_service_state_init(&state, record, &recorder);
      bring_to(&state, from);
      size_t before = recorder.count;

      assert_int_equal(enter(&state, to), legal[from][to]);

      assert_int_equal(recorder.count, before + (legal[from][to] ? 1 : 0));
      assert_int_equal(state.last.phase, legal[from][to] ? to : from);
      csi_service_state_fini(&state);
    }
  }
}

static void pending_takes_only_pending_phases(void **unused) {
  (void)unused;
  struct recorder recorder = {0};
  struct csi_service_state state;
  csi_service_state_init(&state, record, &recorder);
  bring_to(&state, CSI_SERVICE_START_PENDING);
  assert_false(csi_service_state_pending(&state, CSI_SERVICE_RUNNING, 1000));
  assert_false(csi_service_state_pending(&state, CSI_SERVICE_STOPPED, 1000));
  assert_int_equal(recorder.count, 1);
  csi_service_state_fini(&state);
}

static void a_failed_start_carries_its_code(void **unused) {
  (void)unused;
  struct recorder recorder = {0};
  struct csi_service_state state;
  csi_service_state_init(&state, record, &recorder);
  bring_to(&state, CSI_SERVICE_START_PENDING);
  assert_true(csi_service_state_stopped(&state, 3));
  assert_int_equal(recorder.reports[1].phase, CSI_SERVICE_STOPPED);
  assert_int_equal(recorder.reports[1].specific_code, 3);
  assert_false(recorder.reports[1].accepts_stop);
  csi_service_state_fini(&state);
}

/* The control handler and the draining thread report at the same time: check points stay in order. */
static void *report_check_points(void *argument) {
  struct csi_service_state *state = argument;
  for (int i = 0; i < 5; i++)
    csi_service_state_pending(state, CSI_SERVICE_STOP_PENDING, 1000);
  return NULL;
}

static void two_threads_report_in_order(void **unused) {
  (void)unused;
  struct recorder recorder = {0};
  struct csi_service_state state;
  csi_service_state_init(&state, record, &recorder);
  bring_to(&state, CSI_SERVICE_RUNNING);

  pthread_t other;
  assert_int_equal(pthread_create(&other, NULL, report_check_points, &state), 0);
  report_check_points(&state);
  assert_int_equal(pthread_join(other, NULL), 0);

  assert_int_equal(recorder.count, 2 + 10);
  for (uint32_t i = 0; i < 10; i++)
    assert_int_equal(recorder.reports[2 + i].check_point, i + 1);
  csi_service_state_fini(&state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_whole_life_is_reported_in_order), cmocka_unit_test(only_legal_steps_are_taken),
      cmocka_unit_test(pending_takes_only_pending_phases), cmocka_unit_test(a_failed_start_carries_its_code),
      cmocka_unit_test(two_threads_report_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
