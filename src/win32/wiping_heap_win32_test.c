/* SPDX-License-Identifier: Apache-2.0
 *
 * This program is linked with the wiping heap itself: free() and realloc() here are those under test. A heap
 * of the system shows what they gave back, since it keeps the memory of a block that it has freed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
  BLOCK_BYTES = 4000,
};

#define SECRET "correct horse battery staple"

/* Where the secret stood; read after it was given back, as whoever dumps the process would. */
static volatile const char *secret_at(char *block) {
  strcpy(block + BLOCK_BYTES / 2, SECRET);
  return block + BLOCK_BYTES / 2;
}

static bool is_there(volatile const char *at) {
  for (size_t i = 0; i < sizeof SECRET - 1; i++)
    if (at[i] != SECRET[i]) return false;
  return true;
}

static void test_freed_memory_is_wiped(void **state) {
  (void)state;
  char *block = malloc(BLOCK_BYTES);
  assert_non_null(block);
  volatile const char *at = secret_at(block);
  assert_true(is_there(at));
  free(block);
  assert_false(is_there(at));
}

static void test_memory_that_moves_is_wiped(void **state) {
  (void)state;
  char *block = malloc(BLOCK_BYTES);
  assert_non_null(block);
  volatile const char *at = secret_at(block);
  char *moved = realloc(block, 2 * BLOCK_BYTES);
  assert_non_null(moved);
  assert_string_equal(moved + BLOCK_BYTES / 2, SECRET);
  assert_false(is_there(at));
  moved = realloc(moved, BLOCK_BYTES / 2 + 8);
  assert_memory_equal(moved + BLOCK_BYTES / 2, SECRET, 8);
  free(moved);
}

static void test_the_corners_of_the_calls(void **state) {
  (void)state;
  free(NULL);
  char *block = realloc(NULL, 16);
  assert_non_null(block);
  assert_null(realloc(block, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_freed_memory_is_wiped),
      cmocka_unit_test(test_memory_that_moves_is_wiped),
      cmocka_unit_test(test_the_corners_of_the_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
