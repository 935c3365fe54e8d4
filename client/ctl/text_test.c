/* SPDX-License-Identifier: Apache-2.0
 *
 * Units, widths, tables, JSON and YAML. integrationtests/proxyctl holds the last two against other parsers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/ctl/json_text.h"
#include "client/ctl/table.h"
#include "client/ctl/units.h"
#include "client/ctl/width.h"
#include "client/ctl/yaml.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Units. ---- */

static void test_bytes(void **unused) {
  (void)unused;
  static const struct {
    uint64_t bytes;
    const char *text;
  } cases[] = {
      {0, "0 B"},
      {1023, "1023 B"},
      {1024, "1.0 KiB"},
      {1536, "1.5 KiB"},
      {1048575, "1023.9 KiB"}, /* not 1024.0 */
      {UINT64_C(10) << 30, "10.0 GiB"},
      {UINT64_C(64) << 40, "64.0 TiB"},
      {UINT64_MAX, "15.9 EiB"},
  };
  char buffer[CSI_UNIT_BYTES];
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_string_equal(csi_units_bytes(buffer, cases[i].bytes), cases[i].text);
}

static void test_ages(void **unused) {
  (void)unused;
  static const struct {
    int64_t age_ms;
    const char *text;
  } cases[] = {
      {-5, "0ms"},
      {0, "0ms"},
      {999, "999ms"},
      {1000, "1s"},
      {59999, "59s"},
      {60000, "1m 0s"},
      {3599999, "59m 59s"},
      {3600000, "1h 0m"},
      {86399999, "23h 59m"},
      {86400000, "1d 0h"},
      {INT64_MAX, "106751991167d 7h"},
  };
  char buffer[CSI_UNIT_BYTES];
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_string_equal(csi_units_age(buffer, cases[i].age_ms), cases[i].text);
}

static void test_durations(void **unused) {
  (void)unused;
  static const struct {
    int64_t duration_us;
    const char *text;
  } cases[] = {
      {0, "0us"},        {999, "999us"},     {1000, "1.00ms"},    {1259, "1.25ms"},    {12599, "12.5ms"},
      {999999, "999ms"}, {1000000, "1.00s"}, {59999999, "59.9s"}, {60000000, "1m 0s"}, {-1, "0us"},
  };
  char buffer[CSI_UNIT_BYTES];
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_string_equal(csi_units_duration(buffer, cases[i].duration_us), cases[i].text);
}

static void test_times(void **unused) {
  (void)unused;
  char buffer[CSI_UNIT_BYTES];
  const char *text = csi_units_time(buffer, INT64_C(1700000000000)); /* 2023-11-14 or the 15th in the east */
  assert_int_equal(strlen(text), strlen("2023-11-14 22:13:20"));
  assert_memory_equal(text, "2023-11-1", 9);
  assert_string_equal(csi_units_time(buffer, INT64_MAX), "?");
}

/* ---- Widths. ---- */

static void test_widths(void **unused) {
  (void)unused;
  assert_int_equal(csi_character_columns('a'), 1);
  assert_int_equal(csi_character_columns(0xE9), 1);    /* e with acute accent */
  assert_int_equal(csi_character_columns(0x301), 0);   /* combining acute accent */
  assert_int_equal(csi_character_columns(0x6F22), 2);  /* CJK */
  assert_int_equal(csi_character_columns(0xFF21), 2);  /* full-width A */
  assert_int_equal(csi_character_columns(0xFF71), 1);  /* half-width katakana */
  assert_int_equal(csi_character_columns(0x1F4BE), 2); /* floppy disk */
  assert_int_equal(csi_character_columns(0x200D), 0);  /* zero width joiner */
  assert_int_equal(csi_character_columns(0x10FFFF), 1);
  assert_int_equal(csi_text_columns("d\xC3\xA9j\xC3\xA0", 6), 4);
  assert_int_equal(csi_text_columns("e\xCC\x81", 3), 1);
  assert_int_equal(csi_text_columns("\xFF\xFE", 2), 2);
}

static void test_fitting(void **unused) {
  (void)unused;
  size_t columns;
  assert_int_equal(csi_text_fit("abc", 3, 2, &columns), 2);
  assert_int_equal(columns, 2);
  /* A wide character is not cut in halves, and a combining one stays with its letter. */
  assert_int_equal(csi_text_fit("a\xE6\xBC\xA2", 4, 2, &columns), 1);
  assert_int_equal(columns, 1);
  assert_int_equal(csi_text_fit("e\xCC\x81x", 4, 1, &columns), 3);
  assert_int_equal(columns, 1);
}

/* ---- Tables. ---- */

static void fill(struct csi_table *table) {
  csi_table_column(table, "DISK", CSI_ALIGN_RIGHT);
  csi_table_column(table, "NAME", CSI_ALIGN_LEFT);
  csi_table_column(table, "STATE", CSI_ALIGN_LEFT);
  csi_table_number(table, CSI_STYLE_PLAIN, 3);
  csi_table_text(table, CSI_STYLE_PLAIN, "\xE6\xBC\xA2\xE5\xAD\x97 disk of ours");
  csi_table_text(table, CSI_STYLE_GOOD, "online");
  csi_table_number(table, CSI_STYLE_PLAIN, 12);
  csi_table_text(table, CSI_STYLE_PLAIN, "a\x1b[31mb\r\n");
  csi_table_text(table, CSI_STYLE_PLAIN, "");
}

static void assert_table(size_t limit_columns, bool coloured, const char *expected) {
  struct csi_table table = {0};
  struct csi_text_buffer buffer = {.coloured = coloured};
  fill(&table);
  csi_table_print(&table, &buffer, limit_columns);
  assert_false(buffer.out_of_memory);
  assert_string_equal(buffer.text, expected);
  csi_text_buffer_free(&buffer);
  csi_table_free(&table);
}

static void test_table(void **unused) {
  (void)unused;
  assert_table(0, false,
               "DISK  NAME               STATE\n"
               "   3  \xE6\xBC\xA2\xE5\xAD\x97 disk of ours  online\n"
               "  12  a\\x1b[31mb\\r\\n     -\n");
}

static void test_table_is_cut(void **unused) {
  (void)unused;
  assert_table(26, false,
               "DISK  NAME          STATE\n"
               "   3  \xE6\xBC\xA2\xE5\xAD\x97 disk o\xE2\x80\xA6  online\n"
               "  12  a\\x1b[31mb\\\xE2\x80\xA6  -\n");
}

static void test_narrow_table(void **unused) {
  (void)unused;
  struct csi_table table = {0};
  struct csi_text_buffer buffer = {0};
  csi_table_column(&table, "FIRST", CSI_ALIGN_LEFT);
  csi_table_column(&table, "EMPTY", CSI_ALIGN_LEFT);
  csi_table_column(&table, "SECOND", CSI_ALIGN_LEFT);
  csi_table_text(&table, CSI_STYLE_PLAIN, "one");
  csi_table_text(&table, CSI_STYLE_PLAIN, "");
  csi_table_text(&table, CSI_STYLE_PLAIN, "seconds");
  csi_table_print(&table, &buffer, 14);
  csi_table_print(&table, &buffer, 10);
  csi_table_print(&table, &buffer, 7);
  csi_table_print(&table, &buffer, 2);
  assert_string_equal(buffer.text, "FIRST  SECOND\none    seconds\n(no room for\nEMPTY)\n"
                                   "FIRST  SE\xE2\x80\xA6\none    se\xE2\x80\xA6\n(no room\nfor EMPTY)\n"
                                   "FIRST\none\n(no\nroom\nfor\nEMPTY,\nSECOND)\n"
                                   "F\xE2\x80\xA6\no\xE2\x80\xA6\n(no\nroom\nfor\nEMPTY,\nSECOND)\n");
  csi_text_buffer_free(&buffer);
  csi_table_free(&table);
}

static void test_table_with_colours(void **unused) {
  (void)unused;
  assert_table(0, true,
               "\x1b[1mDISK\x1b[0m  \x1b[1mNAME\x1b[0m               \x1b[1mSTATE\x1b[0m\n"
               "   3  \xE6\xBC\xA2\xE5\xAD\x97 disk of ours  \x1b[32monline\x1b[0m\n"
               "  12  a\\x1b[31mb\\r\\n     -\n");
}

static void test_wrapping(void **unused) {
  (void)unused;
  struct csi_text_buffer buffer = {0};
  csi_text_buffer_put(&buffer, "  ");
  csi_text_buffer_wrap(&buffer, "one two  three averyverylongword x", 2, 12);
  assert_string_equal(buffer.text, "  one two\n  three\n  averyverylongword\n  x\n");
  csi_text_buffer_clear(&buffer);
  csi_text_buffer_wrap(&buffer, "one\x1b[2J two", 0, 0);
  assert_string_equal(buffer.text, "one\\x1b[2J two\n");
  csi_text_buffer_free(&buffer);
}

/* ---- JSON and YAML. ---- */

static void assert_converted(bool yaml, const char *json, const char *expected) {
  struct csi_text_buffer buffer = {0};
  struct csi_status status = {0};
  bool ok = yaml ? csi_yaml_from_json(json, strlen(json), &buffer, &status)
                 : csi_json_indent(json, strlen(json), &buffer, &status);
  if (expected != NULL) {
    assert_true(ok);
    assert_string_equal(buffer.text, expected);
  } else {
    assert_false(ok);
    assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
  }
  csi_text_buffer_free(&buffer);
}

static void test_json(void **unused) {
  (void)unused;
  assert_converted(false, "{\"a\":[1,-2.5e3,{}],\"b\":\"x\\u001b\\ud83d\\ude00\\/\",\"c\":null}",
                   "{\n  \"a\": [\n    1,\n    -2.5e3,\n    {}\n  ],\n"
                   "  \"b\": \"x\\u001b\xF0\x9F\x98\x80/\",\n  \"c\": null\n}\n");
  /* What JSON allows as it is and a terminal obeys: C1 controls and changes of direction. */
  assert_converted(false, "\"\xC2\x9B\x7F\xE2\x80\xAE\"", "\"\\u009b\\u007f\\u202e\"\n");
}

static void test_wrong_json(void **unused) {
  (void)unused;
  static const char *const wrong[] = {
      "",    "{",       "[1,]",      "[1 2]",  "{\"a\"}",  "{\"a\":}", "nul",   "01",  "-",   "1.",  "1e",
      "\"a", "\"\\x\"", "\"\\u12\"", "\"\n\"", "\"\xFF\"", "1 2",      "{1:2}", "[1}", "tru", "\"\\"};
  for (size_t i = 0; i < COUNT(wrong); i++) {
    assert_converted(false, wrong[i], NULL);
    assert_converted(true, wrong[i], NULL);
  }
}

static void test_depth(void **unused) {
  (void)unused;
  enum { DEEP = 20000 };
  char *json = malloc(DEEP + 1);
  memset(json, '[', DEEP);
  json[DEEP] = '\0';
  assert_converted(false, json, NULL);
  assert_converted(true, json, NULL);
  free(json);
}

static void test_yaml(void **unused) {
  (void)unused;
  assert_converted(
      true,
      "{\"disks\":[{\"number\":3,\"serial\":\"0012\",\"path\":\"C:\\\\var\\\\lib\",\"on\":true},{}],"
      "\"none\":[],\"text\":\"two\\nlines\",\"esc\":\"\\u001b[2J\"}",
      "disks:\n"
      "  - number: 3\n"
      "    serial: '0012'\n"
      "    path: C:\\var\\lib\n"
      "    'on': true\n"
      "  - {}\n"
      "none: []\n"
      "text: |-\n"
      "  two\n"
      "  lines\n"
      "esc: \"\\x1b[2J\"\n");
}

static void test_yaml_quotes_what_looks_like_something_else(void **unused) {
  (void)unused;
  static const char *const words[] = {
      "",   "null", "True", "NO", "y",  "~",  "-",  "- a", "1",  "1e3", "0x10", "2001-01-01",
      ".5", "a: b", "a #b", "a:", "#a", "&a", "*a", "!a",  "%a", "@a",  "{a",   "[a"};
  for (size_t i = 0; i < COUNT(words); i++) {
    char json[32], yaml[32];
    snprintf(json, sizeof json, "\"%s\"", words[i]);
    snprintf(yaml, sizeof yaml, "'%s'\n", words[i]);
    assert_converted(true, json, yaml);
  }
  assert_converted(true, "\"it's\"", "it's\n");
  assert_converted(true, "\"'tis\"", "'''tis'\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytes),        cmocka_unit_test(test_ages),
      cmocka_unit_test(test_durations),    cmocka_unit_test(test_times),
      cmocka_unit_test(test_widths),       cmocka_unit_test(test_fitting),
      cmocka_unit_test(test_table),        cmocka_unit_test(test_table_is_cut),
      cmocka_unit_test(test_narrow_table), cmocka_unit_test(test_table_with_colours),
      cmocka_unit_test(test_wrapping),     cmocka_unit_test(test_json),
      cmocka_unit_test(test_wrong_json),   cmocka_unit_test(test_depth),
      cmocka_unit_test(test_yaml),         cmocka_unit_test(test_yaml_quotes_what_looks_like_something_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
