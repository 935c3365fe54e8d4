/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"

#define TEXT "01234567-89ab-cdef-0123-456789abcdef"

static const struct csi_guid guid = {
    0x01234567, 0x89ab, 0xcdef, {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef}};

static void test_memory_layout_is_that_of_windows(void **unused) {
  (void)unused;
  static const uint8_t in_memory[] = {0x67, 0x45, 0x23, 0x01, 0xab, 0x89, 0xef, 0xcd,
                                      0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
  assert_int_equal(sizeof guid, sizeof in_memory);
  assert_memory_equal(&guid, in_memory, sizeof in_memory);
}

static void test_format_is_lower_case_without_braces(void **unused) {
  (void)unused;
  char text[CSI_GUID_TEXT_BYTES];
  csi_guid_format(&guid, text);
  assert_string_equal(text, TEXT);
  csi_guid_format(&(struct csi_guid){0}, text);
  assert_string_equal(text, "00000000-0000-0000-0000-000000000000");
}

static void test_parse_takes_either_case(void **unused) {
  (void)unused;
  struct csi_guid parsed;
  assert_true(csi_guid_parse(TEXT, strlen(TEXT), &parsed));
  assert_true(csi_guid_equal(&parsed, &guid));
  memset(&parsed, 0, sizeof parsed);
  assert_true(csi_guid_parse("01234567-89AB-CDEF-0123-456789AbCdEf", 36, &parsed));
  assert_true(csi_guid_equal(&parsed, &guid));
}

static void test_parse_refuses_all_else(void **unused) {
  (void)unused;
  static const char *const refused[] = {
      "",
      "{01234567-89ab-cdef-0123-456789abcdef}",
      "01234567-89ab-cdef-0123-456789abcde",
      "01234567-89ab-cdef-0123-456789abcdef0",
      "0123456789ab-cdef-0123-456789abcdef00",
      "01234567-89ab-cdef-0123-456789abcdeg",
      "01234567-89ab-cdef-0123+456789abcdef",
      "0123456--89ab-cdef-0123-456789abcdef",
      "+1234567-89ab-cdef-0123-456789abcdef",
      "0x234567-89ab-cdef-0123-456789abcdef",
      " 1234567-89ab-cdef-0123-456789abcdef",
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    struct csi_guid untouched = guid;
    assert_false(csi_guid_parse(refused[i], strlen(refused[i]), &untouched));
    assert_true(csi_guid_equal(&untouched, &guid));
  }
  struct csi_guid untouched = guid;
  assert_false(csi_guid_parse("01234567-89ab-cdef-0123-456789abcde\0", 36, &untouched));
}

static void test_equality_looks_at_every_byte(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof guid; i++) {
    struct csi_guid other = guid;
    ((uint8_t *)&other)[i] ^= 1;
    assert_false(csi_guid_equal(&other, &guid));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory_layout_is_that_of_windows),
      cmocka_unit_test(test_format_is_lower_case_without_braces),
      cmocka_unit_test(test_parse_takes_either_case),
      cmocka_unit_test(test_parse_refuses_all_else),
      cmocka_unit_test(test_equality_looks_at_every_byte),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
