/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timed_wait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/ctx.h"

#define NS_PER_MS INT64_C(1000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static bool is_done;

static void it_ends_when_the_time_has_come(void **unused) {
  (void)unused;
  csi_timed_wait_init(&changed);
  pthread_mutex_lock(&lock);
  assert_false(csi_timed_wait(&changed, &lock, csi_now_ns() - 1));
  int64_t until_ns = csi_now_ns() + 20 * NS_PER_MS;
  while (csi_timed_wait(&changed, &lock, until_ns)) {
  }
  assert_true(csi_now_ns() >= until_ns);
  pthread_mutex_unlock(&lock);
  pthread_cond_destroy(&changed);
}

static void *finish(void *unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  is_done = true;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void a_signal_ends_it(void **unused) {
  (void)unused;
  csi_timed_wait_init(&changed);
  pthread_t thread;
  pthread_mutex_lock(&lock);
  assert_int_equal(pthread_create(&thread, NULL, finish, NULL), 0);
  while (!is_done)
    assert_true(csi_timed_wait(&changed, &lock, csi_now_ns() + 600 * 1000 * NS_PER_MS));
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  pthread_cond_destroy(&changed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_ends_when_the_time_has_come),
      cmocka_unit_test(a_signal_ends_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
