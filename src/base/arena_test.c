/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/wipe.h"

enum {
  CAP_BYTES = 1 << 20,
};

static bool is_zero(const unsigned char *memory, size_t size_bytes) {
  for (size_t i = 0; i < size_bytes; i++) {
    if (memory[i] != 0) return false;
  }
  return true;
}

static void test_blocks_are_zeroed_aligned_and_apart(void **unused) {
  (void)unused;
  struct csi_arena *arena = csi_arena_new(CAP_BYTES);
  unsigned char *blocks[200];
  for (size_t i = 0; i < 200; i++) {
    size_t size_bytes = i * 7;
    blocks[i] = csi_arena_alloc(arena, size_bytes);
    assert_non_null(blocks[i]);
    assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
    assert_true(is_zero(blocks[i], size_bytes));
    memset(blocks[i], (int)(i & 0xFF), size_bytes);
  }
  for (size_t i = 0; i < 200; i++) {
    for (size_t j = 0; j < i * 7; j++)
      assert_int_equal(blocks[i][j], i & 0xFF);
  }
  csi_arena_free(arena);
}

static void test_empty_blocks_have_addresses_of_their_own(void **unused) {
  (void)unused;
  struct csi_arena *arena = csi_arena_new(CAP_BYTES);
  void *first = csi_arena_alloc(arena, 0);
  void *second = csi_arena_alloc(arena, 0);
  assert_non_null(first);
  assert_non_null(second);
  assert_ptr_not_equal(first, second);
  csi_arena_free(arena);
}

static void test_cap_is_kept(void **unused) {
  (void)unused;
  struct csi_arena *arena = csi_arena_new(1024);
  assert_non_null(csi_arena_alloc(arena, 1000));
  assert_true(csi_arena_used_bytes(arena) >= 1000 && csi_arena_used_bytes(arena) <= 1024);
  assert_null(csi_arena_alloc(arena, 100));
  assert_non_null(csi_arena_alloc(arena, 16));
  assert_null(csi_arena_alloc(arena, 1));
  assert_true(csi_arena_used_bytes(arena) <= 1024);
  csi_arena_free(arena);
}

static void test_impossible_sizes_are_refused(void **unused) {
  (void)unused;
  struct csi_arena *arena = csi_arena_new(SIZE_MAX);
  /* volatile: the compiler knows that such sizes cannot succeed, and says so. */
  volatile size_t all = SIZE_MAX;
  assert_null(csi_arena_alloc(arena, all));
  assert_null(csi_arena_alloc(arena, all - 15));
  assert_null(csi_arena_alloc_array(arena, all / 2 + 2, 2));
  assert_null(csi_arena_strndup(arena, "x", all));
  assert_int_equal(csi_arena_used_bytes(arena), 0);
  csi_arena_free(arena);
}

static void test_big_blocks_leave_the_current_chunk_in_use(void **unused) {
  (void)unused;
  struct csi_arena *arena = csi_arena_new(CAP_BYTES);
  unsigned char *before = csi_arena_alloc(arena, 16);
  assert_non_null(csi_arena_alloc(arena, 300000));
  unsigned char *after = csi_arena_alloc(arena, 16);
  assert_ptr_equal(before + 16, after);
  csi_arena_free(arena);
}

static void test_text_is_copied_and_formatted(void **unused) {
  (void)unused;
  struct csi_arena *arena = csi_arena_new(CAP_BYTES);
  assert_string_equal(csi_arena_strndup(arena, "abcdef", 3), "abc");
  assert_string_equal(csi_arena_strndup(arena, NULL, 0), "");
  assert_string_equal(csi_arena_strdup(arena, ""), "");
  assert_string_equal(csi_arena_printf(arena, "%s-%d", "disk", 7), "disk-7");
  char *wide = csi_arena_printf(arena, "%5000d", 1);
  assert_int_equal(strlen(wide), 5000);
  csi_arena_free(arena);
}

static void test_nth_allocation_can_be_made_to_fail(void **unused) {
  (void)unused;
  struct csi_arena *arena = csi_arena_new(CAP_BYTES);
  csi_arena_fail_after(3);
  assert_non_null(csi_arena_alloc(arena, 1));
  assert_non_null(csi_arena_strdup(arena, "x"));
  assert_null(csi_arena_printf(arena, "x"));
  assert_non_null(csi_arena_alloc(arena, 1));
  csi_arena_fail_after(1);
  assert_null(csi_arena_new(10));
  csi_arena_fail_after(5);
  assert_int_equal(csi_arena_fail_after(0), 5);
  assert_non_null(csi_arena_alloc(arena, 1));
  csi_arena_free(arena);
}

static void test_wipe_overwrites(void **unused) {
  (void)unused;
  unsigned char secret[32];
  memset(secret, 'x', sizeof secret);
  csi_wipe(secret + 1, sizeof secret - 2);
  assert_true(is_zero(secret + 1, sizeof secret - 2));
  assert_int_equal(secret[0], 'x');
  assert_int_equal(secret[31], 'x');
  csi_wipe(NULL, 0);
}

/* The linker sends arena.c's free() here (--wrap), to look at a block when it is given back. */
void __real_free(void *memory);
void __wrap_free(void *memory);

static const unsigned char *watched;
static size_t watched_bytes;
static int wiped = -1; /* unknown, 0 or 1 */

void __wrap_free(void *memory) {
  enum { HEADER_LIMIT_BYTES = 256 }; /* the watched block is the first of its chunk */
  uintptr_t distance = (uintptr_t)watched - (uintptr_t)memory;
  if (watched != NULL && distance < HEADER_LIMIT_BYTES) wiped = is_zero(watched, watched_bytes);
  __real_free(memory);
}

static int is_wiped_when_freed(bool secret, size_t size_bytes) {
  struct csi_arena *arena = csi_arena_new(CAP_BYTES);
  unsigned char *block = csi_arena_alloc(arena, size_bytes);
  memset(block, 'x', size_bytes);
  if (secret) csi_arena_mark_secret(arena);
  watched = block;
  watched_bytes = size_bytes;
  wiped = -1;
  csi_arena_free(arena);
  watched = NULL;
  return wiped;
}

static void test_secret_arena_is_wiped(void **unused) {
  (void)unused;
  assert_int_equal(is_wiped_when_freed(false, 100), 0);
  assert_int_equal(is_wiped_when_freed(false, 100000), 0);
  assert_int_equal(is_wiped_when_freed(true, 1), 1);
  assert_int_equal(is_wiped_when_freed(true, 2048), 1);
  assert_int_equal(is_wiped_when_freed(true, 4000), 1);
  assert_int_equal(is_wiped_when_freed(true, 100000), 1);
  csi_arena_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_are_zeroed_aligned_and_apart),
      cmocka_unit_test(test_empty_blocks_have_addresses_of_their_own),
      cmocka_unit_test(test_cap_is_kept),
      cmocka_unit_test(test_impossible_sizes_are_refused),
      cmocka_unit_test(test_big_blocks_leave_the_current_chunk_in_use),
      cmocka_unit_test(test_text_is_copied_and_formatted),
      cmocka_unit_test(test_nth_allocation_can_be_made_to_fail),
      cmocka_unit_test(test_wipe_overwrites),
      cmocka_unit_test(test_secret_arena_is_wiped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
