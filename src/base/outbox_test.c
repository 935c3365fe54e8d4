/* SPDX-License-Identifier: Apache-2.0 */
#include "base/outbox.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Receives, and waits where the test wants it to. */
struct receiver {
  pthread_mutex_t gate; /* held: delivery hangs */
  char text[4096];
  atomic_uint delivered, drained;
  atomic_ullong lost;
};

static void deliver(void *context, const void *message, size_t length_bytes) {
  struct receiver *receiver = context;
  (void)pthread_mutex_lock(&receiver->gate);
  if (strlen(receiver->text) + length_bytes < sizeof receiver->text)
    strncat(receiver->text, message, length_bytes);
  atomic_fetch_add(&receiver->delivered, 1);
  (void)pthread_mutex_unlock(&receiver->gate);
}

static void note_lost(void *context, uint64_t count) {
  struct receiver *receiver = context;
  atomic_fetch_add(&receiver->lost, count);
}

static void note_drained(void *context) {
  struct receiver *receiver = context;
  atomic_fetch_add(&receiver->drained, 1);
}

static struct csi_outbox_load left;

static struct csi_outbox *open_outbox(struct receiver *receiver, size_t max_bytes) {
  struct csi_status status = {0};
  memset(receiver, 0, sizeof *receiver);
  assert_int_equal(pthread_mutex_init(&receiver->gate, NULL), 0);
  struct csi_outbox *outbox = csi_outbox_open(
      &(struct csi_outbox_receiver){
          .context = receiver, .deliver = deliver, .lost = note_lost, .drained = note_drained},
      max_bytes, &status);
  assert_non_null(outbox);
  return outbox;
}

static void wait_for(const atomic_uint *number, unsigned at_least) {
  while (atomic_load(number) < at_least)
    (void)usleep(1000);
}

static void test_in_order_and_drained(void **unused) {
  (void)unused;
  static struct receiver receiver;
  struct csi_outbox *outbox = open_outbox(&receiver, 1000);
  assert_true(csi_outbox_put(outbox, "one ", 4));
  assert_true(csi_outbox_put(outbox, "two ", 4));
  assert_true(csi_outbox_flush(outbox, 60000, &left));
  assert_int_equal(receiver.delivered, 2);
  assert_true(receiver.drained >= 1);
  assert_true(csi_outbox_put(outbox, "three", 5)); /* not waited for: closing delivers it */
  assert_true(csi_outbox_close(outbox, 60000, &left));
  assert_string_equal(receiver.text, "one two three");
  assert_int_equal(receiver.lost, 0);
  assert_true(csi_outbox_close(NULL, 0, &left));
}

static void test_full_one_loses_counts_and_recovers(void **unused) {
  (void)unused;
  static struct receiver receiver;
  struct csi_outbox *outbox = open_outbox(&receiver, 10);
  (void)pthread_mutex_lock(&receiver.gate);
  assert_true(csi_outbox_put(outbox, "12345", 5));
  assert_true(csi_outbox_put(outbox, "67890", 5));
  assert_false(csi_outbox_put(outbox, "x", 1));
  assert_false(csi_outbox_put(outbox, "y", 1));
  assert_int_equal(csi_outbox_lost(outbox), 2);
  (void)pthread_mutex_unlock(&receiver.gate);
  wait_for(&receiver.delivered, 2);
  while (!csi_outbox_put(outbox, "z", 1)) /* as soon as there is room */
    (void)usleep(1000);
  const uint64_t lost = csi_outbox_lost(outbox);
  assert_true(csi_outbox_close(outbox, 60000, &left));
  assert_string_equal(receiver.text, "1234567890z");
  assert_int_equal(receiver.lost, lost);
}

static void test_larger_than_all_is_lost(void **unused) {
  (void)unused;
  static struct receiver receiver;
  struct csi_outbox *outbox = open_outbox(&receiver, 4);
  assert_false(csi_outbox_put(outbox, "12345", 5));
  assert_true(csi_outbox_close(outbox, 60000, &left));
  assert_int_equal(receiver.lost, 1);
}

/* The process can end although a disk hangs. */
static void test_hanging_receiver_is_given_up(void **unused) {
  (void)unused;
  static struct receiver receiver;
  struct csi_outbox *outbox = open_outbox(&receiver, 100);
  (void)pthread_mutex_lock(&receiver.gate);
  assert_true(csi_outbox_put(outbox, "late", 4));
  assert_true(csi_outbox_put(outbox, "later", 5));
  assert_false(csi_outbox_flush(outbox, 20, &left));
  assert_int_equal(left.messages, 2);
  assert_int_equal(left.bytes, 9);
  assert_false(csi_outbox_close(outbox, 20, &left));
  assert_int_equal(left.messages, 2);
  assert_int_equal(left.bytes, 9);
  (void)pthread_mutex_unlock(&receiver.gate);
  wait_for(&receiver.delivered, 2);
  assert_string_equal(receiver.text, "latelater");
}

/* Whoever lets go last frees: a closer must find no lock that is gone, nor take it from the thread. */
static void test_close_at_once(void **unused) {
  (void)unused;
  for (int i = 0; i < 300; i++) {
    static struct receiver receiver;
    struct csi_outbox *outbox = open_outbox(&receiver, 100);
    assert_true(csi_outbox_put(outbox, "one", 3));
    const bool given_up = i % 2 == 1;
    if (given_up) {
      (void)csi_outbox_close(outbox, 0, &left);
      wait_for(&receiver.delivered, 1);
      wait_for(&receiver.drained, 1);
    } else {
      assert_true(csi_outbox_close(outbox, 60000, &left));
    }
    assert_string_equal(receiver.text, "one");
  }
}

enum {
  THREADS = 4,
  PUTS = 1000,
};

static void *put_many(void *outbox) {
  for (int i = 0; i < PUTS; i++)
    (void)csi_outbox_put(outbox, "m", 1);
  return NULL;
}

static void test_many_threads(void **unused) {
  (void)unused;
  static struct receiver receiver;
  struct csi_outbox *outbox = open_outbox(&receiver, 64);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, put_many, outbox), 0);
  for (int i = 0; i < THREADS; i++)
    (void)pthread_join(threads[i], NULL);
  const uint64_t lost = csi_outbox_lost(outbox);
  assert_true(csi_outbox_close(outbox, 60000, &left));
  assert_int_equal(receiver.lost, lost);
  assert_int_equal(receiver.delivered + receiver.lost, THREADS * PUTS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_in_order_and_drained),
      cmocka_unit_test(test_full_one_loses_counts_and_recovers),
      cmocka_unit_test(test_larger_than_all_is_lost),
      cmocka_unit_test(test_hanging_receiver_is_given_up),
      cmocka_unit_test(test_close_at_once),
      cmocka_unit_test(test_many_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
