/* SPDX-License-Identifier: Apache-2.0
 *
 * In a prefix without a testbed: the folder of the state is made for the test when it is not there.
 */
#include "network.h"

#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "driver/words.h"
#include "faults.h"

enum {
  WAIT_MS = 60 * 1000,
  THREADS = 4,
  ROUNDS = 25,
};

static void command(const char *text) {
  char line[256], reply_buffer[256];
  struct vdisk_words words;
  struct vdisk_text reply;
  const char *problem = NULL;
  snprintf(line, sizeof line, "%s", text);
  assert_true(vdisk_words_split(&words, line));
  vdisk_text_init(&reply, reply_buffer, sizeof reply_buffer);
  struct network_state *state = network_open();
  assert_non_null(state);
  assert_true(network_command(state, &words, &reply, &problem));
  assert_true(network_close(state));
}

static int set_up(void **context) {
  (void)context;
  CreateDirectoryW(L"C:\\csi-testbed", NULL);
  command("reset");
  return 0;
}

static void test_a_change_is_kept(void **context) {
  (void)context;
  struct network_state *state = network_open();
  assert_non_null(state);
  network_set(state, network_add(state, "share"), "root", "a b");
  assert_true(network_close(state));
  state = network_open();
  assert_non_null(state);
  assert_non_null(network_find(state, "share", "root", "a b"));
  assert_true(network_close(state));
}

static void test_a_broken_state_is_not_written(void **context) {
  (void)context;
  struct network_state *state = network_open();
  assert_non_null(state);
  network_add(state, "share");
  state->is_broken = true;
  assert_false(network_close(state));
  state = network_open();
  assert_non_null(state);
  assert_null(network_next(state, "share", NULL));
  assert_true(network_close(state));
}

static DWORD WINAPI count_up(void *context) {
  (void)context;
  for (int i = 0; i < ROUNDS; i++)
    if (network_begin_call("Counted") != 0) return 1;
  return 0;
}

static void test_nothing_is_lost_between_threads(void **context) {
  (void)context;
  HANDLE threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    threads[i] = CreateThread(NULL, 0, count_up, NULL, 0, NULL);
    assert_non_null(threads[i]);
  }
  assert_int_equal(WaitForMultipleObjects(THREADS, threads, TRUE, WAIT_MS), WAIT_OBJECT_0);
  for (int i = 0; i < THREADS; i++) {
    DWORD result;
    assert_true(GetExitCodeThread(threads[i], &result));
    assert_int_equal(result, 0);
    CloseHandle(threads[i]);
  }
  struct network_state *state = network_open();
  assert_non_null(state);
  struct network_record *counter = network_find(state, "counter", "call", "Counted");
  assert_non_null(counter);
  assert_int_equal(network_get_number(counter, "count", 0), THREADS * ROUNDS);
  assert_true(network_close(state));
}

/* As one that dies with the network open. */
static DWORD WINAPI open_and_leave(void *context) {
  (void)context;
  return network_open() == NULL;
}

static void test_who_dies_leaves_the_network_usable(void **context) {
  (void)context;
  HANDLE thread = CreateThread(NULL, 0, open_and_leave, NULL, 0, NULL);
  assert_non_null(thread);
  assert_int_equal(WaitForSingleObject(thread, WAIT_MS), WAIT_OBJECT_0);
  CloseHandle(thread);
  assert_int_equal(network_begin_call("A"), 0);
}

static void test_errors_and_delays(void **context) {
  (void)context;
  command("fault add call=A error=1219");
  assert_int_equal(network_begin_call("A"), 1219);
  command("fault add call=A delay=30");
  ULONGLONG begin_ms = GetTickCount64();
  assert_int_equal(network_begin_call("A"), 0);
  assert_true(GetTickCount64() - begin_ms >= 15); /* the clock is coarse */
}

static atomic_int asked;

static bool is_over_at_the_third_question(void *context) {
  (void)context;
  return atomic_fetch_add(&asked, 1) >= 2;
}

static DWORD WINAPI hang(void *context) {
  (void)context;
  return network_begin_call("A");
}

static void test_a_hang_ends(void **context) {
  (void)context;
  command("fault add call=A count=0 hang");
  atomic_store(&asked, 0);
  assert_int_equal(network_begin_call_until("A", is_over_at_the_third_question, NULL), 0);
  assert_true(atomic_load(&asked) >= 3);

  HANDLE thread = CreateThread(NULL, 0, hang, NULL, 0, NULL);
  assert_non_null(thread);
  assert_int_equal(WaitForSingleObject(thread, 100), WAIT_TIMEOUT);
  command("fault clear");
  assert_int_equal(WaitForSingleObject(thread, WAIT_MS), WAIT_OBJECT_0);
  CloseHandle(thread);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_a_change_is_kept),
      TEST(test_a_broken_state_is_not_written),
      TEST(test_nothing_is_lost_between_threads),
      TEST(test_who_dies_leaves_the_network_usable),
      TEST(test_errors_and_delays),
      TEST(test_a_hang_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
