/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "smb/credential_memory.h"

enum {
  CAPACITY = 4,
  ROOT_BYTES = 32,
};

static const struct csi_smb_fingerprint one = {{1}}, two = {{1, 2}};

static int set_up(void **state) {
  *state = csi_credential_memory_new(CAPACITY);
  return *state == NULL;
}

static int tear_down(void **state) {
  csi_credential_memory_free(*state);
  csi_credential_memory_free(NULL);
  return 0;
}

static void test_it_compares(void **state) {
  struct csi_credential_memory *memory = *state;
  assert_int_equal(csi_credential_memory_compare(memory, "a", &one), CSI_CREDENTIALS_UNKNOWN);
  csi_credential_memory_set(memory, "a", &one);
  assert_int_equal(csi_credential_memory_compare(memory, "a", &one), CSI_CREDENTIALS_SAME);
  assert_int_equal(csi_credential_memory_compare(memory, "a", &two), CSI_CREDENTIALS_OTHER);
  assert_int_equal(csi_credential_memory_compare(memory, "b", &one), CSI_CREDENTIALS_UNKNOWN);
  csi_credential_memory_set(memory, "a", &two);
  assert_int_equal(csi_credential_memory_compare(memory, "a", &two), CSI_CREDENTIALS_SAME);
  assert_int_equal(csi_credential_memory_count(memory), 1);
  csi_credential_memory_forget(memory, "a");
  csi_credential_memory_forget(memory, "a");
  assert_int_equal(csi_credential_memory_compare(memory, "a", &two), CSI_CREDENTIALS_UNKNOWN);
}

static void test_it_is_bounded(void **state) {
  struct csi_credential_memory *memory = *state;
  char root[ROOT_BYTES];
  for (int i = 0; i < 3 * CAPACITY; i++) {
    snprintf(root, sizeof root, "share %d", i);
    csi_credential_memory_set(memory, root, &one);
    csi_credential_memory_set(memory, root, &two);
    if (i == 0) continue;
    /* What is used stays. */
    assert_int_equal(csi_credential_memory_compare(memory, "share 0", &two), CSI_CREDENTIALS_SAME);
    assert_true(csi_credential_memory_count(memory) <= CAPACITY);
  }
  assert_int_equal(csi_credential_memory_count(memory), CAPACITY);
  assert_int_equal(csi_credential_memory_compare(memory, "share 1", &two), CSI_CREDENTIALS_UNKNOWN);
  assert_int_equal(csi_credential_memory_compare(memory, root, &two), CSI_CREDENTIALS_SAME);
}

static void test_excuses_end_with_what_they_were_for(void **state) {
  struct csi_credential_memory *memory = *state;
  csi_credential_memory_excuse(memory, "a");
  assert_false(csi_credential_memory_is_excused(memory, "a")); /* it is not known */
  csi_credential_memory_set(memory, "a", &one);
  csi_credential_memory_excuse(memory, "a");
  assert_true(csi_credential_memory_is_excused(memory, "a"));
  assert_false(csi_credential_memory_is_excused(memory, "b"));
  csi_credential_memory_set(memory, "a", &one);
  assert_false(csi_credential_memory_is_excused(memory, "a"));
}

static void test_neighbours(void **state) {
  struct csi_credential_memory *memory = *state;
  char roots[2][ROOT_BYTES];
  csi_credential_memory_set(memory, "\\\\h\\a", &one);
  csi_credential_memory_set(memory, "\\\\h\\b", &one);
  csi_credential_memory_set(memory, "\\\\h2\\a", &one);
  assert_true(csi_credential_memory_knows(memory, "\\\\h\\a"));
  assert_false(csi_credential_memory_knows(memory, "\\\\h\\c"));
  assert_int_equal(csi_credential_memory_list_neighbours(memory, "\\\\h\\a", &one, roots[0], ROOT_BYTES, 2),
                   0);
  assert_int_equal(csi_credential_memory_list_neighbours(memory, "\\\\h\\a", &two, roots[0], ROOT_BYTES, 2),
                   1);
  assert_string_equal(roots[0], "\\\\h\\b");
  assert_int_equal(csi_credential_memory_list_neighbours(memory, "\\\\h\\c", &two, roots[0], ROOT_BYTES, 1),
                   1);
  assert_int_equal(csi_credential_memory_list_neighbours(memory, "\\\\h\\c", &two, roots[0], 3, 2), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_it_compares, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_it_is_bounded, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_neighbours, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_excuses_end_with_what_they_were_for, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
