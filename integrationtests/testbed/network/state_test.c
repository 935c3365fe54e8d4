/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "secret.h"

static int set_up(void **context) {
  *context = calloc(1, sizeof(struct network_state));
  return *context == NULL;
}

static int tear_down(void **context) {
  network_state_clear(*context);
  free(*context);
  return 0;
}

static void parse(struct network_state *state, const char *text) {
  char *copy = strdup(text);
  assert_non_null(copy);
  network_state_parse(state, copy);
  free(copy);
}

static void assert_text(struct network_state *state, const char *expected) {
  char *text = network_state_format(state);
  assert_non_null(text);
  assert_string_equal(text, expected);
  free(text);
}

static void test_text_is_read_and_written(void **context) {
  struct network_state *state = *context;
  const char *text = "share root=\\\\host\\share user=a%20b%25c empty=\nsession number=7\n";
  parse(state, text);
  assert_false(state->is_broken);
  assert_false(state->is_changed);
  struct network_record *share = network_find(state, "share", "root", "\\\\HOST\\Share");
  assert_non_null(share);
  assert_string_equal(network_get(share, "user"), "a b%c");
  assert_string_equal(network_get(share, "empty"), "");
  assert_null(network_get(share, "absent"));
  assert_text(state, text);
}

static void test_any_byte_survives(void **context) {
  struct network_state *state = *context;
  char all[256];
  for (int i = 0; i < 255; i++)
    all[i] = (char)(i + 1);
  all[255] = '\0';
  network_set(state, network_add(state, "x"), "value", all);
  char *text = network_state_format(state);
  assert_non_null(text);
  network_state_clear(state);
  network_state_parse(state, text);
  free(text);
  assert_false(state->is_broken);
  assert_string_equal(network_get(network_next(state, "x", NULL), "value"), all);
}

static void test_records_of_other_kinds_are_left_alone(void **context) {
  struct network_state *state = *context;
  parse(state, "a n=1\nb n=1\na n=2\nc\n");
  struct network_record *second = network_next(state, "a", network_next(state, "a", NULL));
  assert_int_equal(network_get_number(second, "n", 0), 2);
  assert_null(network_next(state, "a", second));
  network_remove_all(state, "a");
  assert_true(state->is_changed);
  assert_text(state, "b n=1\nc\n");
  network_remove(state, network_next(state, "c", NULL));
  network_add(state, "d");
  assert_text(state, "b n=1\nd\n");
}

static void test_values_are_set_changed_and_taken_away(void **context) {
  struct network_state *state = *context;
  struct network_record *record = network_settings(state, "initiator");
  assert_ptr_equal(network_settings(state, "initiator"), record);
  network_set(state, record, "a", "1");
  network_set_number(state, record, "b", UINT64_MAX);
  network_set(state, record, "a", "2");
  assert_text(state, "initiator a=2 b=18446744073709551615\n");
  network_set(state, record, "a", NULL);
  network_set(state, record, "a", NULL);
  assert_text(state, "initiator b=18446744073709551615\n");
  network_set(state, record, "c", "none");
  assert_int_equal(network_get_number(record, "c", 5), 5);
  assert_int_equal(network_get_number(record, "d", 6), 6);
}

static void test_rubbish_breaks_the_state_and_nothing_else(void **context) {
  struct network_state *state = *context;
  parse(state, "a n=1\nkey=value\nb flag\nc n=%zz\n\n# a comment\nd n=2");
  assert_true(state->is_broken);
  assert_non_null(network_find(state, "a", "n", "1"));
  assert_non_null(network_find(state, "d", "n", "2"));
  assert_null(network_state_format(state));
}

static void test_too_many_values_break_it(void **context) {
  struct network_state *state = *context;
  struct network_record *record = network_add(state, "x");
  for (int i = 0; i < NETWORK_FIELDS_MAX; i++) {
    char key[8];
    snprintf(key, sizeof key, "k%d", i);
    network_set(state, record, key, "v");
  }
  assert_false(state->is_broken);
  network_set(state, record, "one-more", "v");
  assert_true(state->is_broken);
}

static void test_digests(void **context) {
  (void)context;
  /* "pä€😀", in UTF-8 and in UTF-16. */
  static const char utf8[] = "p\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80";
  static const uint16_t utf16[] = {'p', 0xE4, 0x20AC, 0xD83D, 0xDE00};
  char a[NETWORK_DIGEST_BYTES], b[NETWORK_DIGEST_BYTES];
  network_secret_digest(utf8, sizeof utf8 - 1, a);
  network_secret_digest_utf16(utf16, 5, b);
  assert_string_equal(a, b);
  network_secret_digest(utf8, sizeof utf8 - 2, b);
  assert_string_not_equal(a, b);
  network_secret_digest("", 0, a);
  network_secret_digest_utf16(utf16, 0, b);
  assert_string_equal(a, b);
}

static void test_a_secret_does_not_stand_in_the_text(void **context) {
  struct network_state *state = *context;
  struct network_record *record = network_add(state, "x");
  char digest[NETWORK_DIGEST_BYTES];
  network_set_secret(state, record, "password", "hunter2");
  network_secret_digest("hunter2", 7, digest);
  assert_true(network_has(record, "password", digest));
  char *text = network_state_format(state);
  assert_non_null(text);
  assert_null(strstr(text, "hunter2"));
  free(text);
  network_set_secret(state, record, "password", NULL);
  assert_null(network_get(record, "password"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_text_is_read_and_written),
      TEST(test_any_byte_survives),
      TEST(test_records_of_other_kinds_are_left_alone),
      TEST(test_values_are_set_changed_and_taken_away),
      TEST(test_rubbish_breaks_the_state_and_nothing_else),
      TEST(test_too_many_values_break_it),
      TEST(test_digests),
      TEST(test_a_secret_does_not_stand_in_the_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
