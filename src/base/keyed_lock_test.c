/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <time.h>

#include "base/keyed_lock.h"

enum {
  MS = 1000000, /* ns */
  ARENA_BYTES = 64 * 1024,
  MAX_WAITING = 3,
};

static struct csi_keyed_locks *locks;

static int set_up(void **state) {
  (void)state;
  locks = csi_keyed_locks_new(MAX_WAITING);
  assert_non_null(locks);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  csi_keyed_locks_free(locks);
  return 0;
}

static void sleep_ms(int duration_ms) {
  nanosleep(&(struct timespec){duration_ms / 1000, duration_ms % 1000 * MS}, NULL);
}

/* A call in a thread of its own: takes a key, tells so, holds it until it is let go. */
struct caller {
  struct csi_ctx ctx;
  atomic_bool cancelled;
  const char *key;
  atomic_int outcome; /* 0 = none yet, 1 = has it, -1 = failed */
  atomic_bool let_go;
  int turn; /* how many had it before */
  pthread_t thread;
};

static atomic_int turns;

static void *call(void *context) {
  struct caller *caller = context;
  bool taken = csi_keyed_lock(locks, &caller->ctx, caller->key, "Test");
  if (taken) caller->turn = atomic_fetch_add(&turns, 1);
  atomic_store(&caller->outcome, taken ? 1 : -1);
  if (!taken) return NULL;
  while (!atomic_load(&caller->let_go))
    sleep_ms(1);
  csi_keyed_unlock(locks, caller->key);
  return NULL;
}

static void init_ctx(struct csi_ctx *ctx, int64_t deadline_ns) {
  *ctx = (struct csi_ctx){.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = deadline_ns};
  assert_non_null(ctx->arena);
}

static void start(struct caller *caller, const char *key, int64_t deadline_ns) {
  memset(caller, 0, sizeof *caller);
  init_ctx(&caller->ctx, deadline_ns);
  caller->ctx.cancelled = &caller->cancelled;
  caller->key = key;
  assert_int_equal(pthread_create(&caller->thread, NULL, call, caller), 0);
}

/* A caller that is not at once successful is taken to stand in the queue after this. */
static void start_and_queue(struct caller *caller, const char *key, int64_t deadline_ns) {
  start(caller, key, deadline_ns);
  sleep_ms(30);
}

static int outcome_of(struct caller *caller) {
  for (int i = 0; i < 5000 && atomic_load(&caller->outcome) == 0; i++)
    sleep_ms(1);
  return atomic_load(&caller->outcome);
}

static void finish(struct caller *caller) {
  atomic_store(&caller->let_go, true);
  pthread_join(caller->thread, NULL);
  csi_arena_free(caller->ctx.arena);
}

static void test_same_key_waits_other_key_does_not(void **unused) {
  (void)unused;
  struct caller first, second, other;
  start(&first, "disk 3", CSI_NO_DEADLINE);
  assert_int_equal(outcome_of(&first), 1);
  start_and_queue(&second, "disk 3", CSI_NO_DEADLINE);
  start(&other, "disk 4", CSI_NO_DEADLINE);
  assert_int_equal(outcome_of(&other), 1);
  assert_int_equal(atomic_load(&second.outcome), 0);
  finish(&first);
  assert_int_equal(outcome_of(&second), 1);
  finish(&second);
  finish(&other);
}

static void test_first_come_first_served(void **unused) {
  (void)unused;
  struct caller holder, waiting[MAX_WAITING];
  start(&holder, "disk 3", CSI_NO_DEADLINE);
  assert_int_equal(outcome_of(&holder), 1);
  atomic_store(&turns, 0);
  for (int i = 0; i < MAX_WAITING; i++)
    start_and_queue(&waiting[i], "disk 3", CSI_NO_DEADLINE);
  for (int i = 0; i < MAX_WAITING; i++)
    atomic_store(&waiting[i].let_go, true);
  finish(&holder);
  for (int i = 0; i < MAX_WAITING; i++) {
    assert_int_equal(outcome_of(&waiting[i]), 1);
    assert_int_equal(waiting[i].turn, i);
    finish(&waiting[i]);
  }
}

static void test_one_more_than_may_wait_is_refused(void **unused) {
  (void)unused;
  struct caller holder, waiting[MAX_WAITING], refused;
  start(&holder, "disk 3", CSI_NO_DEADLINE);
  assert_int_equal(outcome_of(&holder), 1);
  for (int i = 0; i < MAX_WAITING; i++)
    start_and_queue(&waiting[i], "disk 3", CSI_NO_DEADLINE);
  start(&refused, "disk 3", CSI_NO_DEADLINE);
  assert_int_equal(outcome_of(&refused), -1);
  assert_int_equal(refused.ctx.status.code, CSI_UNAVAILABLE);
  assert_string_equal(refused.ctx.status.text,
                      "disk 3 is busy with Test for 0 s, and 3 calls wait for it already; try again later");
  finish(&refused);
  finish(&holder);
  for (int i = 0; i < MAX_WAITING; i++) {
    assert_int_equal(outcome_of(&waiting[i]), 1);
    finish(&waiting[i]);
  }
}

static void test_deadline_ends_the_waiting(void **unused) {
  (void)unused;
  struct caller holder, late, patient;
  start(&holder, "volume {1}", CSI_NO_DEADLINE);
  assert_int_equal(outcome_of(&holder), 1);
  int64_t before_ns = csi_now_ns();
  start_and_queue(&late, "volume {1}", before_ns + 1200 * INT64_C(1000000));
  start_and_queue(&patient, "volume {1}", CSI_NO_DEADLINE);
  assert_int_equal(outcome_of(&late), -1);
  assert_in_range(csi_now_ns() - before_ns, 1200 * INT64_C(1000000), 3000 * INT64_C(1000000));
  assert_int_equal(late.ctx.status.code, CSI_DEADLINE_EXCEEDED);
  assert_string_equal(late.ctx.status.text,
                      "volume {1} is busy with Test for 1 s: the request's deadline has passed");
  finish(&late);
  finish(&holder);
  /* Who stood behind the one that left is still in the queue. */
  assert_int_equal(outcome_of(&patient), 1);
  finish(&patient);
}

static void test_cancellation_ends_the_waiting(void **unused) {
  (void)unused;
  struct caller holder, cancelled;
  start(&holder, "disk 3", CSI_NO_DEADLINE);
  assert_int_equal(outcome_of(&holder), 1);
  start_and_queue(&cancelled, "disk 3", CSI_NO_DEADLINE);
  int64_t before_ns = csi_now_ns();
  atomic_store(&cancelled.cancelled, true);
  assert_int_equal(outcome_of(&cancelled), -1);
  assert_true(csi_now_ns() - before_ns < 1000 * INT64_C(1000000));
  assert_int_equal(cancelled.ctx.status.code, CSI_CANCELLED);
  finish(&cancelled);
  finish(&holder);
  struct caller next;
  start(&next, "disk 3", CSI_NO_DEADLINE);
  assert_int_equal(outcome_of(&next), 1);
  finish(&next);
}

static void test_a_call_that_is_over_takes_nothing(void **unused) {
  (void)unused;
  struct csi_ctx ctx;
  init_ctx(&ctx, csi_now_ns() - 1);
  assert_false(csi_keyed_lock(locks, &ctx, "disk 3", "Test"));
  assert_int_equal(ctx.status.code, CSI_DEADLINE_EXCEEDED);
  csi_status_clear(&ctx.status);
  ctx.deadline_ns = csi_now_ns() + 1000 * INT64_C(1000000);
  assert_true(csi_keyed_lock(locks, &ctx, "disk 3", "Test"));
  csi_keyed_unlock(locks, "disk 3");
  csi_arena_free(ctx.arena);
}

static void test_odd_keys(void **unused) {
  (void)unused;
  struct csi_ctx ctx;
  init_ctx(&ctx, CSI_NO_DEADLINE);
  char key[CSI_LOCK_KEY_BYTES + 1];
  memset(key, 'k', sizeof key - 1);
  key[sizeof key - 1] = '\0';
  assert_false(csi_keyed_lock(locks, &ctx, key, "Test"));
  assert_int_equal(ctx.status.code, CSI_INTERNAL);
  csi_status_clear(&ctx.status);
  key[CSI_LOCK_KEY_BYTES - 1] = '\0';
  assert_true(csi_keyed_lock(locks, &ctx, key, "Test"));
  csi_keyed_unlock(locks, "a key that nobody holds");
  csi_keyed_unlock(locks, key);
  csi_arena_free(ctx.arena);
}

enum {
  RUNNERS = 8,
  ROUNDS = 500,
  KEYS = 3,
};
/* Not atomic: only the locks keep the counts right, and ThreadSanitizer sees when they do not. */
static long counts[KEYS];

static void *run(void *context) {
  unsigned seed = (unsigned)(uintptr_t)context;
  for (int round = 0; round < ROUNDS; round++) {
    unsigned number = (seed + (unsigned)round) % KEYS;
    char key[16];
    snprintf(key, sizeof key, "disk %u", number);
    struct csi_ctx ctx;
    init_ctx(&ctx, CSI_NO_DEADLINE);
    bool taken = csi_keyed_lock(locks, &ctx, key, "Test");
    if (taken) {
      counts[number]++;
      csi_keyed_unlock(locks, key);
    }
    csi_arena_free(ctx.arena);
    if (taken) continue;
    round--; /* too many wait: again, and not at once, so that those get on */
    sleep_ms(1);
  }
  return NULL;
}

static void test_many_threads(void **unused) {
  (void)unused;
  pthread_t threads[RUNNERS];
  for (uintptr_t i = 0; i < RUNNERS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, run, (void *)i), 0);
  for (int i = 0; i < RUNNERS; i++)
    pthread_join(threads[i], NULL);
  long sum = 0;
  for (int i = 0; i < KEYS; i++)
    sum += counts[i];
  assert_int_equal(sum, RUNNERS * ROUNDS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_same_key_waits_other_key_does_not, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_first_come_first_served, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_one_more_than_may_wait_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_deadline_ends_the_waiting, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_cancellation_ends_the_waiting, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_call_that_is_over_takes_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_odd_keys, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_many_threads, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
