/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <time.h>

#include "base/ctx.h"
#include "rpc/pool.h"

enum {
  USUAL = 2,
  MOST = 5,
  QUEUE = 100,
  MS = 1000000, /* ns */
  SOON_MS = 20000,
  A_STALL = 1, /* the machine itself may keep a thread for so long that it looks stuck */
};

static void sleep_ms(int ms) {
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * MS}, NULL);
}

/* Work that may be stuck until it is let go. */
struct task {
  struct csi_work work; /* first member */
  int busy_ms;
};

static struct csi_pool *pool;
static atomic_int running, most_running, done;
static atomic_bool stuck;

/* Looks at the task only in the beginning: its test may be over before it is let go. */
static void run(struct csi_work *work) {
  const int busy_ms = ((const struct task *)work)->busy_ms;
  int now = atomic_fetch_add(&running, 1) + 1;
  for (int most = atomic_load(&most_running); most < now;)
    if (atomic_compare_exchange_weak(&most_running, &most, now)) break;
  if (busy_ms > 0) sleep_ms(busy_ms);
  while (busy_ms == 0 && atomic_load(&stuck))
    sleep_ms(1);
  atomic_fetch_sub(&running, 1);
  atomic_fetch_add(&done, 1);
}

static int set_up(void **state) {
  (void)state;
  atomic_store(&running, 0);
  atomic_store(&most_running, 0);
  atomic_store(&done, 0);
  atomic_store(&stuck, true);
  pool = csi_pool_new(USUAL, MOST, QUEUE);
  return pool == NULL;
}

static int tear_down(void **state) {
  (void)state;
  atomic_store(&stuck, false);
  csi_pool_free(pool);
  return 0;
}

static void submit(struct task *task, int busy_ms) {
  *task = (struct task){.work.run = run, .busy_ms = busy_ms};
  assert_true(csi_pool_submit(pool, &task->work));
}

static void wait_for(atomic_int *counter, int value) {
  for (int i = 0; i < SOON_MS && atomic_load(counter) < value; i++)
    sleep_ms(1);
  assert_int_equal(atomic_load(counter), value);
}

static void test_stuck_threads_get_help(void **unused) {
  (void)unused;
  struct task tasks[MOST];
  for (int i = 0; i < USUAL; i++)
    submit(&tasks[i], 0);
  wait_for(&running, USUAL);
  int64_t begin_ns = csi_now_ns();
  submit(&tasks[USUAL], 1);
  wait_for(&done, 1);
  int64_t took_ms = (csi_now_ns() - begin_ns) / MS;
  assert_true(took_ms >= CSI_POOL_STUCK_MS - 10);
  assert_int_equal(csi_pool_count_threads(pool), USUAL + 1);
  /* Help stays for a while: the next one need not wait for it. */
  submit(&tasks[USUAL + 1], 1);
  wait_for(&done, 2);
  assert_int_equal(csi_pool_count_threads(pool), USUAL + 1);
}

static void test_help_has_a_limit(void **unused) {
  (void)unused;
  struct task tasks[2 * MOST];
  for (int i = 0; i < 2 * MOST; i++)
    submit(&tasks[i], 0);
  wait_for(&running, MOST);
  sleep_ms(3 * CSI_POOL_STUCK_MS);
  assert_int_equal(atomic_load(&running), MOST);
  atomic_store(&stuck, false);
  wait_for(&done, 2 * MOST);
  assert_int_equal(atomic_load(&most_running), MOST);
}

static void test_load_alone_needs_no_help(void **unused) {
  (void)unused;
  struct task tasks[QUEUE];
  for (int i = 0; i < QUEUE; i++)
    submit(&tasks[i], 10);
  wait_for(&done, QUEUE);
  assert_true(atomic_load(&most_running) <= USUAL + A_STALL);
}

/* One thread that gets on with it must not hide that the others are stuck. */
static void test_all_stuck_but_one(void **unused) {
  (void)unused;
  enum { MANY = 8, CALLS = 40, CALL_MS = 90 };
  csi_pool_free(pool);
  pool = csi_pool_new(MANY, 2 * MANY, QUEUE);
  struct task stuck_tasks[MANY - 1], tasks[CALLS];
  for (int i = 0; i < MANY - 1; i++)
    submit(&stuck_tasks[i], 0);
  wait_for(&running, MANY - 1);
  int64_t begin_ns = csi_now_ns();
  for (int i = 0; i < CALLS; i++)
    submit(&tasks[i], CALL_MS);
  wait_for(&done, CALLS);
  assert_true((csi_now_ns() - begin_ns) / MS < CALLS * CALL_MS / 2);
}

/* Lets the usual threads hang until the pool has all it may have, and all of them get on again. */
static void grow(struct task tasks[MOST]) {
  for (int i = 0; i < MOST; i++)
    submit(&tasks[i], i < USUAL ? 0 : 8 * CSI_POOL_STUCK_MS);
  wait_for(&running, MOST);
  wait_for(&done, MOST - USUAL);
  assert_true(csi_pool_count_threads(pool) > USUAL);
  atomic_store(&stuck, false);
  wait_for(&done, MOST);
}

static void test_help_leaves_under_light_load(void **unused) {
  (void)unused;
  struct task tasks[MOST], light, burst[QUEUE];
  grow(tasks);
  for (int i = 0; i < 2 * MOST; i++) {
    submit(&light, 1);
    wait_for(&done, MOST + i + 1);
    sleep_ms(2);
  }
  assert_true(csi_pool_count_threads(pool) <= USUAL);
  atomic_store(&most_running, 0);
  for (int i = 0; i < QUEUE; i++)
    submit(&burst[i], 2);
  wait_for(&done, 3 * MOST + QUEUE);
  assert_true(atomic_load(&most_running) <= USUAL + A_STALL);
}

static void test_a_full_queue_refuses(void **unused) {
  (void)unused;
  struct csi_pool *usual = pool;
  pool = csi_pool_new(1, 1, 1);
  struct task running_task, waiting, refused = {.work.run = run};
  submit(&running_task, 0);
  wait_for(&running, 1);
  submit(&waiting, 0);
  assert_false(csi_pool_submit(pool, &refused.work));
  atomic_store(&stuck, false);
  csi_pool_free(pool); /* waits for what it has accepted */
  assert_int_equal(atomic_load(&done), 2);
  pool = usual;
}

static void test_idle_threads_end(void **unused) {
  (void)unused;
  struct task tasks[MOST];
  for (int i = 0; i < MOST; i++)
    submit(&tasks[i], 0);
  wait_for(&running, MOST);
  atomic_store(&stuck, false);
  wait_for(&done, MOST);
  for (int i = 0; i < SOON_MS && csi_pool_count_threads(pool) > 0; i++)
    sleep_ms(1);
  assert_int_equal(csi_pool_count_threads(pool), 0);
}

static void test_freed_while_it_gets_help(void **unused) {
  (void)unused;
  struct task tasks[USUAL + 1];
  for (int i = 0; i <= USUAL; i++)
    submit(&tasks[i], 50);
  csi_pool_free(pool);
  pool = NULL;
  assert_int_equal(atomic_load(&done), USUAL + 1);
}

int main(void) {
#define POOL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      POOL_TEST(test_stuck_threads_get_help),
      POOL_TEST(test_help_has_a_limit),
      POOL_TEST(test_load_alone_needs_no_help),
      POOL_TEST(test_all_stuck_but_one),
      POOL_TEST(test_help_leaves_under_light_load),
      POOL_TEST(test_a_full_queue_refuses),
      POOL_TEST(test_idle_threads_end),
      POOL_TEST(test_freed_while_it_gets_help),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
