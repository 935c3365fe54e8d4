/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "disk/extents.h"

/* As Windows gives it for a volume of 1 GiB at 1 MiB of disk 3, that goes on at 2 TiB of disk 300. */
static const uint8_t two[CSI_EXTENTS_BYTES(2)] = {
    2,    0,    0, 0,    0xcc, 0xcc, 0xcc, 0xcc,                            /* count */
    3,    0,    0, 0,    0xcc, 0xcc, 0xcc, 0xcc, 0, 0, 0x10, 0, 0, 0, 0, 0, /* disk, offset */
    0,    0,    0, 0x40, 0,    0,    0,    0,                               /* length */
    0x2c, 1,    0, 0,    0xcc, 0xcc, 0xcc, 0xcc, 0, 0, 0,    0, 0, 2, 0, 0, /* disk, offset */
    0,    0x10, 0, 0,    0,    0,    0,    0,                               /* length */
};

static struct csi_arena *arena;
static struct csi_status status;
static struct csi_extent *extents;
static size_t count;

static int set_up(void **state) {
  (void)state;
  arena = csi_arena_new(64 * 1024);
  csi_status_clear(&status);
  extents = NULL;
  count = 0;
  return arena == NULL;
}

static int tear_down(void **state) {
  (void)state;
  csi_arena_free(arena);
  return 0;
}

static bool parse(const uint8_t *bytes, size_t size_bytes) {
  return csi_extents_parse(arena, bytes, size_bytes, &extents, &count, &status);
}

static void test_extents_are_read(void **unused) {
  (void)unused;
  assert_true(parse(two, sizeof two));
  assert_int_equal(count, 2);
  assert_int_equal(extents[0].disk_number, 3);
  assert_int_equal(extents[0].offset_bytes, 1 << 20);
  assert_int_equal(extents[0].length_bytes, 1 << 30);
  assert_int_equal(extents[1].disk_number, 300);
  assert_int_equal(extents[1].offset_bytes, UINT64_C(2) << 40);
  assert_int_equal(extents[1].length_bytes, 4096);
}

static void test_bytes_behind_are_ignored(void **unused) {
  (void)unused;
  uint8_t bytes[CSI_EXTENTS_BYTES(2)];
  memcpy(bytes, two, sizeof bytes);
  bytes[0] = 1;
  assert_true(parse(bytes, sizeof bytes));
  assert_int_equal(count, 1);
}

static void test_what_is_cut_off_is_refused(void **unused) {
  (void)unused;
  for (size_t size_bytes = 0; size_bytes < sizeof two; size_bytes++) {
    csi_status_clear(&status);
    assert_false(parse(two, size_bytes));
    assert_int_equal(status.code, CSI_DATA_LOSS);
  }
}

static void test_impossible_numbers_are_refused(void **unused) {
  (void)unused;
  static const struct {
    size_t at;
    uint8_t value;
  } damages[] = {
      {0, 0},             /* no extents */
      {3, 0xff},          /* four billion extents */
      {8 + 8 + 7, 0x80},  /* negative offset */
      {8 + 16 + 7, 0x80}, /* negative length */
      {8 + 16 + 3, 0},    /* no length */
  };
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    uint8_t bytes[sizeof two];
    memcpy(bytes, two, sizeof bytes);
    bytes[damages[i].at] = damages[i].value;
    csi_status_clear(&status);
    assert_false(parse(bytes, sizeof bytes));
    assert_int_equal(status.code, CSI_DATA_LOSS);
  }
  uint8_t bytes[sizeof two];
  memcpy(bytes, two, sizeof bytes);
  bytes[8 + 8 + 7] = bytes[8 + 16 + 7] = 0x7f; /* offset + length beyond what there are numbers for */
  csi_status_clear(&status);
  assert_false(parse(bytes, sizeof bytes));
}

static void test_memory_may_be_short(void **unused) {
  (void)unused;
  csi_arena_fail_after(1);
  assert_false(parse(two, sizeof two));
  csi_arena_fail_after(0);
  assert_int_equal(status.code, CSI_RESOURCE_EXHAUSTED);
}

int main(void) {
#define EXTENTS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      EXTENTS_TEST(test_extents_are_read),           EXTENTS_TEST(test_bytes_behind_are_ignored),
      EXTENTS_TEST(test_what_is_cut_off_is_refused), EXTENTS_TEST(test_impossible_numbers_are_refused),
      EXTENTS_TEST(test_memory_may_be_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
