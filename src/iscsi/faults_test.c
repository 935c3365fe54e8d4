/* SPDX-License-Identifier: Apache-2.0
 *
 * Every step of every RPC is made to fail in turn, then to hang; every allocation fails in turn; then the
 * same call is made again. A failed call says so, unlocks all it had (the fixture looks), and leaves what the
 * same call repairs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "iscsi/fixture.h"

enum {
  ODD_ERROR = 1117, /* a number that no rule forgives */
  HANG_MS = 40,     /* deadline of a call whose step hangs */
  STEPS_MAX = 40,   /* more steps than any call takes */
  ALLOCATIONS_MAX = 200,
};

/* An RPC, the scene it needs, and how to tell that it did what it should. */
struct operation {
  const char *name;
  void (*prepare)(struct iscsi_fixture *f);
  bool (*call)(struct iscsi_fixture *f);
  void (*check)(struct iscsi_fixture *f);
  unsigned forgiven; /* how many of its steps may fail, and the call still does what it should */
};

static void nothing(struct iscsi_fixture *f) {
  (void)f;
}

static void register_portal(struct iscsi_fixture *f) {
  csi_fake_iscsi_register(f->iscsi, ADDRESS, PORT);
}

static void discover_targets(struct iscsi_fixture *f) {
  assert_ok(f, call_add(f, ADDRESS, PORT));
}

static void connect_target(struct iscsi_fixture *f) {
  discover_targets(f);
  assert_ok(f, call_connect(f, IQN));
}

static void connect_twice(struct iscsi_fixture *f) {
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN " persistent=1");
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
}

static bool add(struct iscsi_fixture *f) {
  return call_add(f, ADDRESS, 0);
}

static void check_registered(struct iscsi_fixture *f) {
  assert_int_equal(csi_fake_iscsi_count(f->iscsi, "send-targets", NULL), 1);
}

static bool discover(struct iscsi_fixture *f) {
  if (!call_discover(f, ADDRESS, 0)) return false;
  assert_items(f, IQN, OTHER_IQN, CHAP_IQN, NULL);
  return true;
}

static bool remove_portal(struct iscsi_fixture *f) {
  return call_remove(f, ADDRESS, 0);
}

static void check_removed(struct iscsi_fixture *f) {
  assert_int_equal(csi_fake_iscsi_count(f->iscsi, "send-targets", NULL), 0);
}

static bool list(struct iscsi_fixture *f) {
  if (!call_list(f)) return false;
  assert_items(f, ADDRESS " 3260", NULL);
  return true;
}

static bool connect(struct iscsi_fixture *f) {
  return call_connect(f, IQN);
}

static void check_connected(struct iscsi_fixture *f) {
  assert_sessions(f, IQN, 1);
  assert_disk_present(f, true);
}

static bool disconnect(struct iscsi_fixture *f) {
  return call_disconnect(f, ADDRESS, IQN);
}

static void check_disconnected(struct iscsi_fixture *f) {
  assert_sessions(f, IQN, 0);
  assert_int_equal(csi_fake_iscsi_count(f->iscsi, "persistent-login", IQN), 0);
  assert_disk_present(f, false);
}

static bool disks(struct iscsi_fixture *f) {
  if (!call_disks(f, ADDRESS, IQN)) return false;
  assert_items(f, "5", NULL);
  return true;
}

static bool no_disks(struct iscsi_fixture *f) {
  if (!call_disks(f, ADDRESS, IQN)) return false;
  assert_items(f, NULL);
  return true;
}

static bool set_secret(struct iscsi_fixture *f) {
  return call_set_secret(f, MUTUAL_SECRET);
}

static const struct operation operations[] = {
    {"AddTargetPortal", nothing, add, check_registered, 0},
    {"AddTargetPortal, registered", discover_targets, add, check_registered, 1},
    {"DiscoverTargetPortal", register_portal, discover, nothing, 0},
    {"RemoveTargetPortal", register_portal, remove_portal, check_removed, 0},
    {"ListTargetPortals", register_portal, list, nothing, 0},
    {"ConnectTarget", discover_targets, connect, check_connected, 0},
    {"ConnectTarget, undiscovered", register_portal, connect, check_connected, 0},
    {"ConnectTarget, connected", connect_target, connect, check_connected, 0},
    {"DisconnectTarget", connect_target, disconnect, check_disconnected, 0},
    {"DisconnectTarget, several", connect_twice, disconnect, check_disconnected, 0},
    {"DisconnectTarget, not connected", nothing, disconnect, check_disconnected, 0},
    {"GetTargetDisks", connect_target, disks, nothing, 0},
    {"GetTargetDisks, not connected", discover_targets, no_disks, nothing, 0},
    {"SetMutualChapSecret", nothing, set_secret, nothing, 0},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static struct iscsi_fixture *begin(const struct operation *operation, void **state) {
  assert_int_equal(iscsi_fixture_set_up(state), 0);
  struct iscsi_fixture *f = *state;
  operation->prepare(f);
  csi_fake_network_reset_counts(f->network);
  return f;
}

/* The same call without the fault. */
static void repeat(const struct operation *operation, struct iscsi_fixture *f) {
  csi_fake_network_clear_faults(f->network);
  f->deadline_ns = CSI_NO_DEADLINE;
  if (!operation->call(f)) fail_msg("%s again: %s", operation->name, f->status.text);
  operation->check(f);
}

static void test_every_step_fails(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++) {
    unsigned nth = 1, forgiven = 0;
    for (;; nth++) {
      assert_true(nth < STEPS_MAX);
      struct iscsi_fixture *f = begin(operation, state);
      fail_call(f, NULL, nth, 1, ODD_ERROR);
      bool result = operation->call(f);
      bool struck = csi_fake_network_struck(f->network) > 0;
      if (result) operation->check(f);
      if (!result) assert_int_equal(f->status.number, ODD_ERROR);
      forgiven += struck && result;
      repeat(operation, f);
      iscsi_fixture_tear_down(state);
      if (!struck) break;
    }
    print_message("%s: %u steps\n", operation->name, nth - 1);
    if (forgiven != operation->forgiven) fail_msg("%s: %u forgiven", operation->name, forgiven);
  }
}

static void test_every_step_hangs(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++) {
    int64_t hang_ms = HANG_MS;
    for (unsigned nth = 1;;) {
      assert_true(nth < STEPS_MAX);
      struct iscsi_fixture *f = begin(operation, state);
      csi_fake_network_add_fault(f->network,
                                 &(struct csi_fake_network_fault){.nth = nth, .count = 1, .hang = true});
      f->deadline_ns = csi_now_ns() + hang_ms * 1000000;
      bool result = operation->call(f); /* returns at all: a test program has a time limit */
      bool struck = csi_fake_network_struck(f->network) > 0;
      if (!result) assert_int_equal(f->status.code, CSI_DEADLINE_EXCEEDED);
      if (struck && result) fail_msg("%s: step %u hangs, and the call succeeds", operation->name, nth);
      repeat(operation, f);
      iscsi_fixture_tear_down(state);
      if (result) break;
      /* A busy machine may not have come to the step in time. */
      if (struck)
        nth++;
      else
        hang_ms *= 2;
    }
  }
}

static void test_every_step_is_cancelled(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++) {
    struct iscsi_fixture *f = begin(operation, state);
    atomic_store(&f->cancelled, true);
    assert_false(operation->call(f));
    assert_int_equal(f->status.code, CSI_CANCELLED);
    atomic_store(&f->cancelled, false);
    assert_int_equal(csi_fake_network_count(f->network, NULL), 0);
    repeat(operation, f);
    iscsi_fixture_tear_down(state);
  }
}

static void test_memory_is_short(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++)
    for (unsigned nth = 1;; nth++) {
      assert_true(nth < ALLOCATIONS_MAX);
      struct iscsi_fixture *f = begin(operation, state);
      f->fail_allocation = nth;
      bool result = operation->call(f);
      bool struck = f->allocation_failed;
      f->fail_allocation = 0;
      if (!struck) assert_ok(f, result);
      if (!result) assert_int_equal(f->status.code, CSI_RESOURCE_EXHAUSTED);
      repeat(operation, f);
      iscsi_fixture_tear_down(state);
      if (!struck) break;
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_step_fails),
      cmocka_unit_test(test_every_step_hangs),
      cmocka_unit_test(test_every_step_is_cancelled),
      cmocka_unit_test(test_memory_is_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
