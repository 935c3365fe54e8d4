/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "page83.h"

static struct vdisk_page83 parse(const char *spec) {
  char copy[512];
  struct vdisk_page83 page;
  assert_true(strlen(spec) < sizeof copy);
  memcpy(copy, spec, strlen(spec) + 1);
  assert_true(vdisk_page83_parse(&page, copy));
  return page;
}

static void refuse(const char *spec) {
  char copy[512];
  struct vdisk_page83 page;
  assert_true(strlen(spec) < sizeof copy);
  memcpy(copy, spec, strlen(spec) + 1);
  assert_false(vdisk_page83_parse(&page, copy));
}

static void test_identifiers(void **unused) {
  (void)unused;
  struct vdisk_page83 page = parse("ascii:Google%20%20disk-0@0/1,hex:6000c29A@1/3,utf8:%C3%A9");
  assert_int_equal(page.count, 3);
  assert_int_equal(page.ids[0].code_set, 2);
  assert_int_equal(page.ids[0].type, 1);
  assert_int_equal(page.ids[0].association, 0);
  assert_int_equal(page.ids[0].length_bytes, 14);
  assert_memory_equal(page.ids[0].bytes, "Google  disk-0", 14);
  assert_int_equal(page.ids[1].code_set, 1);
  assert_int_equal(page.ids[1].type, 3);
  assert_int_equal(page.ids[1].association, 1);
  assert_int_equal(page.ids[1].length_bytes, 4);
  assert_memory_equal(page.ids[1].bytes, "\x60\x00\xC2\x9A", 4);
  assert_int_equal(page.ids[2].code_set, 3);
  assert_memory_equal(page.ids[2].bytes, "\xC3\xA9", 2);
}

static void test_what_is_not_understood(void **unused) {
  (void)unused;
  refuse("");
  refuse("ascii");
  refuse("ebcdic:x");
  refuse("hex:123");
  refuse("hex:1g");
  refuse("ascii:%2");
  refuse("ascii:x@4");
  refuse("ascii:x@0/16");
  refuse("ascii:x,");
  refuse("hex:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
         "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40");
  refuse("hex:1,hex:2");
  refuse("hex:01,hex:02,hex:03,hex:04,hex:05,hex:06,hex:07,hex:08,hex:09");
}

/* As win32 programs read STORAGE_DEVICE_ID_DESCRIPTOR. */
static void test_descriptor(void **unused) {
  (void)unused;
  struct vdisk_page83 page = parse("ascii:abc@2/8,hex:0102030405@0/3");
  uint8_t descriptor[VDISK_PAGE83_DESCRIPTOR_LIMIT_BYTES];
  static const uint8_t expected[] = {
      56, 0, 0, 0, 56, 0, 0, 0, 2, 0, 0,  0,                                           /* descriptor */
      2,  0, 0, 0, 8,  0, 0, 0, 3, 0, 20, 0, 2, 0, 0, 0, 'a', 'b', 'c', 0,             /* first */
      1,  0, 0, 0, 3,  0, 0, 0, 5, 0, 0,  0, 0, 0, 0, 0, 1,   2,   3,   4, 5, 0, 0, 0, /* last */
  };
  assert_int_equal(vdisk_page83_descriptor(&page, descriptor), sizeof expected);
  assert_memory_equal(descriptor, expected, sizeof expected);
}

static void test_the_longest_descriptor_fits(void **unused) {
  (void)unused;
  struct vdisk_page83 page = {.count = VDISK_PAGE83_IDS_MAX};
  for (uint32_t i = 0; i < page.count; i++)
    page.ids[i].length_bytes = VDISK_PAGE83_ID_LIMIT_BYTES;
  uint8_t descriptor[VDISK_PAGE83_DESCRIPTOR_LIMIT_BYTES];
  assert_int_equal(vdisk_page83_descriptor(&page, descriptor), sizeof descriptor);
}

static uint32_t get32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static void test_broken_ones(void **unused) {
  (void)unused;
  uint8_t descriptor[VDISK_PAGE83_DESCRIPTOR_LIMIT_BYTES];
  struct vdisk_page83 page = parse("oversized");
  size_t bytes = vdisk_page83_descriptor(&page, descriptor);
  assert_true(get32(descriptor + 4) > bytes);

  page = parse("malformed-next");
  bytes = vdisk_page83_descriptor(&page, descriptor);
  assert_int_equal(get32(descriptor + 4), bytes);
  assert_int_equal(get32(descriptor + 8), 2);
  assert_true((get32(descriptor + 12 + 8) >> 16) > bytes);

  assert_int_equal(parse("unsupported").mode, VDISK_PAGE83_UNSUPPORTED);
  page = parse("none");
  assert_int_equal(vdisk_page83_descriptor(&page, descriptor), 12);
  assert_int_equal(get32(descriptor + 8), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_identifiers), cmocka_unit_test(test_what_is_not_understood),
      cmocka_unit_test(test_descriptor),  cmocka_unit_test(test_the_longest_descriptor_fits),
      cmocka_unit_test(test_broken_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
