/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct csi_arena *arena;

static int set_up(void **unused) {
  (void)unused;
  arena = csi_arena_new(1 << 20);
  return arena == NULL ? -1 : 0;
}

static int tear_down(void **unused) {
  (void)unused;
  csi_arena_free(arena);
  return 0;
}

static void test_characters(void **unused) {
  (void)unused;
  static const uint32_t points[] = {0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
  char bytes[4];
  uint32_t point;
  for (size_t i = 0; i < COUNT(points); i++) {
    size_t size = csi_utf8_encode(points[i], bytes);
    assert_int_equal(csi_utf8_decode(bytes, size, &point), size);
    assert_int_equal(point, points[i]);
    if (size > 1) assert_int_equal(csi_utf8_decode(bytes, size - 1, &point), 0);
  }
  static const uint32_t treacherous[] = {0x1B, 0x7F, 0x9B, 0x200E, 0x2028, 0x202E, 0x2066, 0xFEFF};
  static const uint32_t harmless[] = {' ', '~', 0xA0, 0x200D, 0x4E00, 0x1F4BE};
  for (size_t i = 0; i < COUNT(treacherous); i++)
    assert_true(csi_character_is_treacherous(treacherous[i]));
  for (size_t i = 0; i < COUNT(harmless); i++)
    assert_false(csi_character_is_treacherous(harmless[i]));
}

static void test_valid_utf8(void **unused) {
  (void)unused;
  static const char *const good[] = {"",
                                     "abc",
                                     "\x7F",
                                     "\xC2\x80",
                                     "\xDF\xBF",
                                     "\xE0\xA0\x80",
                                     "\xED\x9F\xBF",
                                     "\xEE\x80\x80",
                                     "\xEF\xBF\xBF",
                                     "\xF0\x90\x80\x80",
                                     "\xF4\x8F\xBF\xBF"};
  static const char *const bad[] = {"\x80",
                                    "\xBF",
                                    "\xC0\xAF",
                                    "\xC1\xBF",
                                    "\xC2",
                                    "\xC2x",
                                    "\xE0\x9F\xBF",
                                    "\xE2\x82",
                                    "\xED\xA0\x80",
                                    "\xED\xBF\xBF",
                                    "\xFF",
                                    "\xF0\x8F\xBF\xBF",
                                    "a\xF0\x90\x80",
                                    "\xF4\x90\x80\x80",
                                    "\xF5\x80\x80\x80",
                                    "\xFE"};
  for (size_t i = 0; i < COUNT(good); i++)
    assert_true(csi_utf8_is_valid(good[i], strlen(good[i])));
  for (size_t i = 0; i < COUNT(bad); i++)
    assert_false(csi_utf8_is_valid(bad[i], strlen(bad[i])));
  assert_true(csi_utf8_is_valid("a\0b", 3));
}

static void test_cut_spares_characters(void **unused) {
  (void)unused;
  const char *text = "a\xE2\x82\xAC"
                     "b"; /* a, euro sign, b */
  static const size_t expected[] = {0, 1, 1, 1, 4, 5, 5};
  for (size_t limit = 0; limit < COUNT(expected); limit++)
    assert_int_equal(csi_utf8_cut(text, 5, limit), expected[limit]);
  assert_int_equal(csi_utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
}

static void test_utf16_there_and_back(void **unused) {
  (void)unused;
  const char *text = "C:\\\xC3\xA4\xE2\x82\xAC\xF0\x9F\x92\xBE";
  struct csi_status status = {.code = CSI_OK};
  size_t units = 0;
  uint16_t *text_w = csi_utf16_from_utf8(arena, text, strlen(text), &units, &status);
  static const uint16_t expected[] = {'C', ':', '\\', 0xE4, 0x20AC, 0xD83D, 0xDCBE, 0};
  assert_int_equal(units, COUNT(expected) - 1);
  assert_memory_equal(text_w, expected, sizeof expected);
  assert_int_equal(csi_utf16_length(text_w), units);
  assert_string_equal(csi_utf8_from_utf16(arena, text_w, units), text);
}

static void test_every_character_survives(void **unused) {
  (void)unused;
  for (uint32_t point = 1; point <= 0x10FFFF; point += point < 0x3000 ? 1 : 997) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    uint16_t text_w[2] = {(uint16_t)point, 0};
    size_t units = 1;
    if (point >= 0x10000) {
      text_w[0] = (uint16_t)(0xD800 + ((point - 0x10000) >> 10));
      text_w[1] = (uint16_t)(0xDC00 + (point & 0x3FF));
      units = 2;
    }
    struct csi_arena *small = csi_arena_new(256);
    struct csi_status status = {.code = CSI_OK};
    size_t units_back = 0;
    char *text = csi_utf8_from_utf16(small, text_w, units);
    assert_true(csi_utf8_is_valid(text, strlen(text)));
    uint16_t *back_w = csi_utf16_from_utf8(small, text, strlen(text), &units_back, &status);
    assert_int_equal(units_back, units);
    assert_memory_equal(back_w, text_w, units * 2);
    csi_arena_free(small);
  }
}

static void test_lone_surrogates_become_replacement_characters(void **unused) {
  (void)unused;
  static const uint16_t text_w[] = {0xD800, 'a', 0xDC00, 0xD83D};
  assert_string_equal(csi_utf8_from_utf16(arena, text_w, 4), "\xEF\xBF\xBD"
                                                             "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

static void test_conversion_refuses_bad_text(void **unused) {
  (void)unused;
  struct csi_status status = {.code = CSI_OK};
  assert_null(csi_utf16_from_utf8(arena, "ab\xFF", 3, NULL, &status));
  assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
  assert_string_equal(status.text, "text is not valid UTF-8 at byte 2");
  csi_status_clear(&status);
  assert_null(csi_utf16_from_utf8(arena, "a\0b", 3, NULL, &status));
  assert_string_equal(status.text, "text holds a NUL character at byte 1");
  csi_status_clear(&status);
  csi_arena_fail_after(1);
  assert_null(csi_utf16_from_utf8(arena, "ab", 2, NULL, &status));
  assert_int_equal(status.code, CSI_RESOURCE_EXHAUSTED);
}

static void test_comparison_ignores_case(void **unused) {
  (void)unused;
  assert_true(csi_utf8_equal_ignore_case("C:\\Var\\LIB", "c:\\vAR\\lib"));
  assert_true(csi_utf8_equal_ignore_case("\xC3\xA4\xCF\x89\xD0\xB6", "\xC3\x84\xCE\xA9\xD0\x96")); /* ä ω ж */
  assert_true(csi_utf8_equal_ignore_case("\xC3\xBF", "\xC5\xB8"));                                 /* ÿ Ÿ */
  assert_false(csi_utf8_equal_ignore_case("a", "b"));
  assert_false(csi_utf8_equal_ignore_case("a", "ab"));
  assert_false(csi_utf8_equal_ignore_case("[", "{"));
  assert_false(csi_utf8_equal_ignore_case("\xC3\xB7", "\xC3\x97")); /* division and multiplication sign */
  assert_false(csi_utf8_equal_ignore_case("i", "\xC4\xB1"));        /* dotless i is not i */
  assert_false(csi_utf8_equal_ignore_case("k", "\xE2\x84\xAA"));    /* nor is the Kelvin sign k */
  assert_false(csi_utf8_equal_ignore_case("\xC3\x9F", "SS"));
}

static void test_bad_bytes_equal_themselves_only(void **unused) {
  (void)unused;
  assert_true(csi_utf8_equal_ignore_case("a\xFF", "A\xFF"));
  assert_false(csi_utf8_equal_ignore_case("a\xFF", "a\xFE"));
  assert_false(csi_utf8_equal_ignore_case("\xFF", "\xEF\xBF\xBD"));
  assert_false(csi_utf8_equal_ignore_case("\xE4", "\xC3\xA4"));
}

static void test_order_follows_upper_case(void **unused) {
  (void)unused;
  assert_true(csi_utf8_compare_ignore_case("a", 1, "B", 1) < 0);
  assert_true(csi_utf8_compare_ignore_case("b", 1, "A", 1) > 0);
  assert_true(csi_utf8_compare_ignore_case("ab", 1, "A", 1) == 0);
  assert_true(csi_utf8_compare_ignore_case("", 0, "a", 1) < 0);
  static const uint16_t lower_w[] = {'a', 0xE4}, upper_w[] = {'A', 0xC4, 'x'};
  assert_true(csi_utf16_compare_ignore_case(lower_w, 2, upper_w, 2) == 0);
  assert_true(csi_utf16_compare_ignore_case(lower_w, 2, upper_w, 3) < 0);
}

static void assert_escaped(const char *text, const char *expected) {
  char buffer[128];
  assert_int_equal(csi_text_escape(buffer, sizeof buffer, text, strlen(text)), strlen(text));
  assert_string_equal(buffer, expected);
  char again[128];
  csi_text_escape(again, sizeof again, buffer, strlen(buffer));
  assert_string_equal(again, expected);
}

static void test_escape_leaves_one_harmless_line(void **unused) {
  (void)unused;
  assert_escaped("C:\\new\\\"x\" \xC3\xA4", "C:\\new\\\"x\" \xC3\xA4");
  assert_escaped("a\nI0101 forged\r\t\v", "a\\nI0101 forged\\r\\t\\v");
  assert_escaped("\x1B[31m\x7F\x01", "\\x1b[31m\\x7f\\x01");
  assert_escaped("\xC2\x85\xE2\x80\xA8\xE2\x80\xAE", "\\u0085\\u2028\\u202e");
  assert_escaped("\xFF"
                 "a\xE2\x82",
                 "\\xff"
                 "a\\xe2\\x82");
}

static void test_escape_cuts_between_characters(void **unused) {
  (void)unused;
  char buffer[5];
  assert_int_equal(csi_text_escape(buffer, sizeof buffer, "ab\xE2\x82\xAC", 5), 2);
  assert_string_equal(buffer, "ab");
  assert_int_equal(csi_text_escape(buffer, sizeof buffer, "abc\n", 4), 3);
  assert_string_equal(buffer, "abc");
  assert_int_equal(csi_text_escape(buffer, 1, "abc", 3), 0);
  assert_string_equal(buffer, "");
}

static void test_quote(void **unused) {
  (void)unused;
  char buffer[32];
  assert_string_equal(csi_text_quote(buffer, sizeof buffer, "a\"b\\c\n"), "\"a\\\"b\\\\c\\n\"");
  assert_string_equal(csi_text_quote(buffer, 6, "abcdef"), "\"abc\"");
  assert_string_equal(csi_text_quote(buffer, 3, "abc"), "\"\"");
}

static void test_prefix(void **state) {
  (void)state;
  assert_true(csi_utf8_has_prefix_ignore_case("Volume{1}", "vOLUME{"));
  assert_true(csi_utf8_has_prefix_ignore_case("v", "v"));
  assert_true(csi_utf8_has_prefix_ignore_case("", ""));
  assert_false(csi_utf8_has_prefix_ignore_case("Volume", "Volume{"));
  assert_false(csi_utf8_has_prefix_ignore_case("a", "b"));
}

static void test_decimal(void **state) {
  (void)state;
  static const char *const invalid[] = {"", " ", "-1", "+1", " 1", "1 ", "0x1", "1a", "1.0"};
  uint32_t number = 7;
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
    assert_int_equal(csi_decimal_parse(invalid[i], &number), CSI_DECIMAL_INVALID);
  assert_int_equal(csi_decimal_parse("4294967296", &number), CSI_DECIMAL_TOO_LARGE);
  assert_int_equal(csi_decimal_parse("99999999999999999999999", &number), CSI_DECIMAL_TOO_LARGE);
  assert_int_equal(number, 7);
  assert_int_equal(csi_decimal_parse("0", &number), CSI_DECIMAL_OK);
  assert_int_equal(number, 0);
  assert_int_equal(csi_decimal_parse("0004294967295", &number), CSI_DECIMAL_OK);
  assert_int_equal(number, UINT32_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_characters),
      cmocka_unit_test(test_valid_utf8),
      cmocka_unit_test(test_prefix),
      cmocka_unit_test(test_decimal),
      cmocka_unit_test(test_cut_spares_characters),
      cmocka_unit_test(test_utf16_there_and_back),
      cmocka_unit_test(test_every_character_survives),
      cmocka_unit_test(test_lone_surrogates_become_replacement_characters),
      cmocka_unit_test(test_conversion_refuses_bad_text),
      cmocka_unit_test(test_comparison_ignores_case),
      cmocka_unit_test(test_bad_bytes_equal_themselves_only),
      cmocka_unit_test(test_order_follows_upper_case),
      cmocka_unit_test(test_escape_leaves_one_harmless_line),
      cmocka_unit_test(test_escape_cuts_between_characters),
      cmocka_unit_test(test_quote),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
