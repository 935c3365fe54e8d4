/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text.h"
#include "words.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_parts_are_added(void **unused) {
  (void)unused;
  char buffer[128];
  struct vdisk_text text;
  vdisk_text_init(&text, buffer, sizeof buffer);
  vdisk_text_add(&text, "disk");
  vdisk_text_add_number_word(&text, "size", UINT64_MAX);
  vdisk_text_add_word(&text, "style", "gpt");
  vdisk_text_add(&text, " ");
  vdisk_text_add_hex(&text, 0x2D1080, 8);
  vdisk_text_add_hex(&text, 0, 1);
  assert_string_equal(buffer, "disk size=18446744073709551615 style=gpt 002d10800");
  assert_int_equal(text.length_bytes, strlen(buffer));
  assert_false(text.is_cut);
}

static void test_what_does_not_fit_is_left_out(void **unused) {
  (void)unused;
  char buffer[8];
  struct vdisk_text text;
  vdisk_text_init(&text, buffer, sizeof buffer);
  vdisk_text_add(&text, "1234567");
  assert_false(text.is_cut);
  vdisk_text_add(&text, "8");
  assert_true(text.is_cut);
  vdisk_text_add(&text, "");
  assert_string_equal(buffer, "1234567");
}

static void test_utf16_is_made_one_word(void **unused) {
  (void)unused;
  static const uint16_t path_w[] = {'C', ':', '\\', 'a', ' ', 'b', '%', 0xE9};
  char buffer[64];
  struct vdisk_text text;
  vdisk_text_init(&text, buffer, sizeof buffer);
  vdisk_text_add_utf16(&text, path_w, COUNT(path_w));
  assert_string_equal(buffer, "C:\\a%u0020b%u0025%u00e9");
}

static void test_guid(void **unused) {
  (void)unused;
  static const uint8_t basic_data[16] = {0xA2, 0xA0, 0xD0, 0xEB, 0xE5, 0xB9, 0x33, 0x44,
                                         0x87, 0xC0, 0x68, 0xB6, 0xB7, 0x26, 0x99, 0xC7};
  char buffer[64];
  uint8_t guid[16];
  struct vdisk_text text;
  vdisk_text_init(&text, buffer, sizeof buffer);
  vdisk_text_add_guid(&text, basic_data);
  assert_string_equal(buffer, "{ebd0a0a2-b9e5-4433-87c0-68b6b72699c7}");
  assert_true(vdisk_guid_parse("{EBD0A0A2-b9e5-4433-87c0-68b6b72699c7}", guid));
  assert_memory_equal(guid, basic_data, sizeof guid);

  static const char *const bad[] = {"",
                                    "{",
                                    "ebd0a0a2-b9e5-4433-87c0-68b6b72699c7",
                                    "{ebd0a0a2-b9e5-4433-87c0-68b6b72699c7",
                                    "{ebd0a0a2-b9e5-4433-87c0-68b6b72699c7}x",
                                    "{ebd0a0a2-b9e5-443387c0-68b6b72699c7-}",
                                    "{ebd0a0a2-b9e5-4433-87c0-68b6b72699cg}"};
  for (size_t i = 0; i < COUNT(bad); i++)
    assert_false(vdisk_guid_parse(bad[i], guid));
}

static void test_numbers(void **unused) {
  (void)unused;
  static const struct {
    const char *text;
    uint64_t number;
  } good[] = {{"0", 0},
              {"512", 512},
              {"64M", 64ull << 20},
              {"64T", 64ull << 40},
              {"0x2D1080", 0x2D1080},
              {"0xffffffffffffffff", UINT64_MAX},
              {"18446744073709551615", UINT64_MAX},
              {"16777215T", 16777215ull << 40}};
  static const char *const bad[] = {
      "", "x", "K", "0x", "-1", "1 ", "1KB", "1k", "18446744073709551616", "16777216T"};
  uint64_t number;
  for (size_t i = 0; i < COUNT(good); i++) {
    assert_true(vdisk_number_parse(good[i].text, &number));
    assert_int_equal(number, good[i].number);
  }
  for (size_t i = 0; i < COUNT(bad); i++)
    assert_false(vdisk_number_parse(bad[i], &number));
}

static void test_a_line_is_taken_apart(void **unused) {
  (void)unused;
  char line[] = "  disk\tadd number=3 offline file=C:\\a%20b.img readonly=0 serial= \r\n";
  struct vdisk_words words;
  assert_true(vdisk_words_split(&words, line));
  assert_int_equal(words.count, 7);
  assert_string_equal(vdisk_words_take(&words), "disk");
  assert_string_equal(vdisk_words_take(&words), "add");
  assert_string_equal(vdisk_words_take(&words), "");
  assert_string_equal(vdisk_words_value(&words, "number"), "3");
  assert_null(vdisk_words_value(&words, "size"));
  assert_true(vdisk_words_flag(&words, "offline"));
  assert_false(vdisk_words_flag(&words, "readonly"));
  assert_true(vdisk_words_has(&words, "readonly"));
  assert_false(vdisk_words_has(&words, "removable"));
  char *file = vdisk_words_value(&words, "file");
  assert_true(vdisk_percent_decode(file));
  assert_string_equal(file, "C:\\a b.img");
  assert_string_equal(vdisk_words_unused(&words), "serial");
  assert_string_equal(vdisk_words_value(&words, "serial"), "");
  assert_null(vdisk_words_unused(&words));
}

static void test_lines_without_words(void **unused) {
  (void)unused;
  char empty[] = "  ", comment[] = " # disk add";
  struct vdisk_words words;
  assert_true(vdisk_words_split(&words, empty));
  assert_int_equal(words.count, 0);
  assert_string_equal(vdisk_words_take(&words), "");
  assert_true(vdisk_words_split(&words, comment));
  assert_int_equal(words.count, 0);
}

static void test_too_many_words(void **unused) {
  (void)unused;
  char line[2 * VDISK_WORDS_MAX + 3];
  memset(line, ' ', sizeof line);
  for (size_t i = 0; i < VDISK_WORDS_MAX; i++)
    line[2 * i] = 'a';
  line[sizeof line - 1] = 0;
  struct vdisk_words words;
  assert_true(vdisk_words_split(&words, line));
  for (size_t i = 0; i <= VDISK_WORDS_MAX; i++)
    line[2 * i] = 'a', line[2 * i + 1] = i == VDISK_WORDS_MAX ? 0 : ' ';
  assert_false(vdisk_words_split(&words, line));
}

static void test_broken_percents(void **unused) {
  (void)unused;
  char cut[] = "a%2", not_hex[] = "%2x", nul[] = "%00";
  assert_false(vdisk_percent_decode(cut));
  assert_false(vdisk_percent_decode(not_hex));
  assert_false(vdisk_percent_decode(nul));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parts_are_added),
      cmocka_unit_test(test_what_does_not_fit_is_left_out),
      cmocka_unit_test(test_utf16_is_made_one_word),
      cmocka_unit_test(test_guid),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_a_line_is_taken_apart),
      cmocka_unit_test(test_lines_without_words),
      cmocka_unit_test(test_too_many_words),
      cmocka_unit_test(test_broken_percents),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
