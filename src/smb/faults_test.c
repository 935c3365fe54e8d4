/* SPDX-License-Identifier: Apache-2.0
 *
 * Every step of every RPC is made to fail in turn, then to hang, then to go on after the client has gone;
 * then the same call is made again. A failed call says so, unlocks and closes what it had (the fixture
 * looks), ends no mapping that it need not, and leaves what the same call repairs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "smb/smb_fixture.h"

enum {
  REMOTE_FAILURE = 59, /* a network error that no rule takes for more */
  HANG_MS = 30,        /* deadline of a call whose step hangs */
  STEPS_MAX = 60,      /* more steps than any call takes */
  ALLOCATIONS_MAX = 200,
  NS_PER_MS = 1000000,
};

/* An RPC, the scene it needs, and how to tell that it did what it should. */
struct operation {
  const char *name;
  void (*prepare)(struct smb_fixture *f);
  bool (*call)(struct smb_fixture *f);
  void (*check)(struct smb_fixture *f);
  bool is_mapped_before; /* and has to be so after a failure, unless the text says otherwise */
};

static void nothing(struct smb_fixture *f) {
  (void)f;
}

static bool map(struct smb_fixture *f) {
  return call_new(f, REMOTE, LINK, USER, PASSWORD);
}

static bool map_with_new_password(struct smb_fixture *f) {
  return call_new(f, REMOTE, LINK, USER, NEW_PASSWORD);
}

static bool end_mapping(struct smb_fixture *f) {
  return call_remove(f, REMOTE);
}

static void prepare_untold(struct smb_fixture *f) {
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.hides_absence = true});
}

static void prepare_mapped(struct smb_fixture *f) {
  assert_ok(f, call_new(f, REMOTE, "", USER, PASSWORD));
}

static void prepare_unknown(struct smb_fixture *f) {
  prepare_mapped(f);
  restart_service(f);
}

static void prepare_unknown_without_comparison(struct smb_fixture *f) {
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.cannot_compare = true});
  prepare_unknown(f);
}

static void prepare_rotated(struct smb_fixture *f) {
  prepare_mapped(f);
  rotate_password(f, NEW_PASSWORD);
}

static void prepare_rotated_without_trying(struct smb_fixture *f) {
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.cannot_try = true});
  prepare_rotated(f);
  csi_fake_shares_cut_sessions(f->shares); /* or the old mapping would be kept */
}

static void prepare_broken(struct smb_fixture *f) {
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.cannot_compare = true});
  prepare_mapped(f);
  csi_fake_shares_do(f->shares, "set root=" ROOT " state=disconnected");
}

static void check_mapped(struct smb_fixture *f) {
  assert_mapped(f, USER, PASSWORD);
  assert_link(f, LINK, REMOTE "\\");
}

static void check_mapped_anew(struct smb_fixture *f) {
  assert_mapped(f, USER, NEW_PASSWORD);
  assert_link(f, LINK, REMOTE "\\");
}

static void check_ended(struct smb_fixture *f) {
  assert_int_equal(csi_fake_shares_count(f->shares), 0);
}

static const struct operation operations[] = {
    {"new", nothing, map, check_mapped, false},
    {"new, untold", prepare_untold, map, check_mapped, false},
    {"again", prepare_mapped, map, check_mapped, true},
    {"unknown", prepare_unknown, map, check_mapped, true},
    {"unknown, not comparable", prepare_unknown_without_comparison, map, check_mapped, true},
    {"rotated", prepare_rotated, map_with_new_password, check_mapped_anew, true},
    {"rotated, not tried", prepare_rotated_without_trying, map_with_new_password, check_mapped_anew, true},
    {"broken", prepare_broken, map, check_mapped, true},
    {"remove", prepare_mapped, end_mapping, check_ended, false},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static struct smb_fixture *begin(const struct operation *operation, uint32_t patience_ms, void **state) {
  assert_int_equal(smb_fixture_set_up(state), 0);
  struct smb_fixture *f = *state;
  f->patience_ms = patience_ms;
  restart_service(f);
  operation->prepare(f);
  csi_fake_network_reset_counts(f->network);
  return f;
}

static void check_failure(const struct operation *operation, struct smb_fixture *f) {
  bool is_mapped = csi_fake_shares_is_mapped(f->shares, ROOT);
  bool says_lost = strstr(f->status.text, "is not mapped now") != NULL;
  if (operation->is_mapped_before && is_mapped == says_lost)
    fail_msg("%s: mapped %d: %s", operation->name, is_mapped, f->status.text);
}

/* The same call without the fault. */
static void repeat(const struct operation *operation, struct smb_fixture *f) {
  csi_fake_network_clear_faults(f->network);
  csi_fake_fail(f->files, 0, 0, 0);
  atomic_store(&f->cancelled, false);
  f->deadline_ns = CSI_NO_DEADLINE;
  if (!operation->call(f)) fail_msg("%s again: %s", operation->name, f->status.text);
  operation->check(f);
}

static void test_every_step_fails(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++) {
    unsigned nth = 1;
    for (;; nth++) {
      assert_true(nth < STEPS_MAX);
      struct smb_fixture *f = begin(operation, 0, state);
      csi_fake_network_add_fault(
          f->network, &(struct csi_fake_network_fault){.nth = nth, .count = 1, .error = REMOTE_FAILURE});
      bool result = operation->call(f);
      bool struck = csi_fake_network_struck(f->network) > 0;
      if (!result) assert_int_equal(f->status.number, REMOTE_FAILURE);
      if (!result) check_failure(operation, f);
      if (result) operation->check(f);
      if (!struck) assert_ok(f, result);
      repeat(operation, f);
      smb_fixture_tear_down(state);
      if (!struck) break;
    }
    print_message("%s: %u steps\n", operation->name, nth - 1);
    assert_true(nth > 3);
  }
}

static void test_every_step_hangs(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++)
    for (unsigned nth = 1;; nth++) {
      assert_true(nth < STEPS_MAX);
      struct smb_fixture *f = begin(operation, HANG_MS, state);
      csi_fake_network_add_fault(f->network,
                                 &(struct csi_fake_network_fault){.nth = nth, .count = 1, .hang = true});
      f->deadline_ns = csi_now_ns() + (int64_t)HANG_MS * NS_PER_MS;
      bool result = operation->call(f);
      bool struck = csi_fake_network_struck(f->network) > 0;
      if (struck && !result) assert_int_equal(f->status.code, CSI_DEADLINE_EXCEEDED);
      if (!result) check_failure(operation, f);
      csi_fake_network_clear_faults(f->network);
      f->deadline_ns = CSI_NO_DEADLINE;
      if (result) operation->check(f);
      repeat(operation, f);
      smb_fixture_tear_down(state);
      if (!struck) break;
    }
}

/* Sets the fixture's `cancelled` before the nth step. */
struct departure {
  struct smb_fixture *f;
  unsigned countdown;
};

static void depart(struct csi_fake_network *network, const char *call, void *data) {
  (void)network;
  (void)call;
  struct departure *departure = data;
  if (departure->countdown > 0 && --departure->countdown == 0) atomic_store(&departure->f->cancelled, true);
}

static void test_the_client_goes_before_every_step(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++)
    for (unsigned nth = 1;; nth++) {
      assert_true(nth < STEPS_MAX);
      struct smb_fixture *f = begin(operation, 0, state);
      struct departure departure = {.f = f, .countdown = nth};
      csi_fake_network_set_hook(f->network, depart, &departure);
      bool result = operation->call(f);
      csi_fake_network_set_hook(f->network, NULL, NULL);
      if (!result) {
        assert_int_equal(f->status.code, CSI_CANCELLED);
        check_failure(operation, f);
        if (operation->is_mapped_before) assert_true(csi_fake_shares_is_mapped(f->shares, ROOT));
      }
      bool struck = departure.countdown == 0;
      repeat(operation, f);
      smb_fixture_tear_down(state);
      if (!struck) break;
    }
}

static void test_every_file_step_fails(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++)
    for (unsigned nth = 1;; nth++) {
      assert_true(nth < STEPS_MAX);
      struct smb_fixture *f = begin(operation, 0, state);
      csi_fake_fail(f->files, CSI_FAKE_ANY_CALL, nth, REMOTE_FAILURE);
      bool result = operation->call(f);
      bool struck = csi_fake_has_failed(f->files);
      assert_int_equal(result, !struck);
      if (!result) {
        assert_int_equal(f->status.number, REMOTE_FAILURE);
        assert_int_equal(csi_fake_shares_is_mapped(f->shares, ROOT), operation->is_mapped_before);
        assert_link(f, LINK, NULL);
      }
      repeat(operation, f);
      smb_fixture_tear_down(state);
      if (!struck) break;
    }
}

static void test_memory_is_short(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++)
    for (unsigned nth = 1;; nth++) {
      assert_true(nth < ALLOCATIONS_MAX);
      struct smb_fixture *f = begin(operation, 0, state);
      f->fail_allocation = nth;
      bool result = operation->call(f);
      bool struck = f->allocation_failed;
      f->fail_allocation = 0;
      if (!struck) assert_ok(f, result);
      if (!result) assert_int_equal(f->status.code, CSI_RESOURCE_EXHAUSTED);
      if (!result) check_failure(operation, f);
      repeat(operation, f);
      smb_fixture_tear_down(state);
      if (!struck) break;
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_step_fails),
      cmocka_unit_test(test_every_step_hangs),
      cmocka_unit_test(test_the_client_goes_before_every_step),
      cmocka_unit_test(test_every_file_step_fails),
      cmocka_unit_test(test_memory_is_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
