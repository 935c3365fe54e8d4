/* SPDX-License-Identifier: Apache-2.0
 *
 * Serial numbers in tables of firmware: real shapes, odd ones, and tables that lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/smbios.h"

enum {
  ROOM = 1024,
  HEADER = 8,
  FULL = 27, /* length of the system information since 2.4 */
};

struct table {
  uint8_t bytes[ROOM];
  size_t size;
};

static struct table new_table(void) {
  return (struct table){.bytes = {0, 2, 7}, .size = HEADER};
}

static void add_bytes(struct table *table, const void *bytes, size_t size) {
  memcpy(table->bytes + table->size, bytes, size);
  table->size += size;
  table->bytes[4] = (uint8_t)(table->size - HEADER);
  table->bytes[5] = (uint8_t)((table->size - HEADER) >> 8);
}

/* strings: each ends in '|'. serial: number of the string, where the structure is long enough. */
static void add_structure(struct table *table, uint8_t type, uint8_t length, uint8_t serial,
                          const char *strings) {
  uint8_t formatted[255] = {type, length, 1, 0, 1, 2, 3, serial};
  char text[512];
  size_t size = strlen(strings);
  memcpy(text, strings, size + 1);
  for (size_t i = 0; i < size; i++)
    if (text[i] == '|') text[i] = '\0';
  add_bytes(table, formatted, length);
  add_bytes(table, text, size + (size == 0 ? 0 : 1));
  if (size == 0) add_bytes(table, "\0", 2);
}

/* Parses an exact copy, so that a sanitizer sees what is read behind it. */
static bool parse(const struct table *table, size_t size, char serial_out[ROOM]) {
  uint8_t *copy = malloc(size > 0 ? size : 1);
  struct csi_arena *arena = csi_arena_new(1 << 20);
  assert_non_null(copy);
  assert_non_null(arena);
  memcpy(copy, table->bytes, size);
  struct csi_status status = {.code = CSI_OK};
  const struct csi_bytes bytes = {.data = copy, .size_bytes = size};
  const char *serial = NULL;
  bool found = csi_smbios_get_serial_number(arena, &bytes, &serial, &status);
  assert_int_equal(found, csi_status_ok(&status));
  free(copy);
  if (found)
    strcpy(serial_out, serial);
  else
    assert_int_equal(status.code, CSI_DATA_LOSS);
  csi_arena_free(arena);
  return found;
}

static void assert_serial(const struct table *table, const char *expected) {
  char serial[ROOM];
  assert_true(parse(table, table->size, serial));
  assert_string_equal(serial, expected);
}

static void assert_malformed(const struct table *table) {
  char serial[ROOM];
  assert_false(parse(table, table->size, serial));
}

static void test_serial(void **state) {
  (void)state;
  struct table table = new_table();
  add_structure(&table, 0, 24, 1, "Phoenix|6.00|12/12/2018|");
  add_structure(&table, 1, FULL, 4,
                "VMware, Inc.|VMware7,1|None|VMware-42 29 ab 5e 1c d4 30 1f-8e 72 9b 04 6d 55 c3 f0|");
  add_structure(&table, 127, 4, 0, "");
  assert_serial(&table, "VMware-42 29 ab 5e 1c d4 30 1f-8e 72 9b 04 6d 55 c3 f0");
}

static void test_each_string(void **state) {
  (void)state;
  static const char *const expected[] = {"", "one", "t w o", " three", "", ""};
  for (uint8_t number = 0; number < 6; number++) {
    struct table table = new_table();
    add_structure(&table, 1, 8, number, "one|t w o| three  |   |");
    assert_serial(&table, expected[number]);
  }
}

static void test_none(void **state) {
  (void)state;
  struct table table = new_table();
  assert_serial(&table, "");
  add_structure(&table, 2, 8, 1, "a board|");
  assert_serial(&table, "");
  add_structure(&table, 127, 4, 0, "");
  add_structure(&table, 1, 8, 1, "behind the end|");
  assert_serial(&table, "");
  table = new_table();
  add_structure(&table, 1, 8, 1, "");
  assert_serial(&table, "");
  table = new_table();
  add_structure(&table, 1, 7, 1, "too short|");
  assert_serial(&table, "");
}

static void test_first_of_several(void **state) {
  (void)state;
  struct table table = new_table();
  add_structure(&table, 1, 8, 1, "first|");
  add_structure(&table, 1, 8, 1, "second|");
  assert_serial(&table, "first");
}

/* What stands behind the length that the table tells does not belong to it. */
static void test_length(void **state) {
  (void)state;
  struct table table = new_table();
  add_structure(&table, 0, 24, 1, "x|");
  size_t size = table.size - HEADER;
  add_structure(&table, 1, 8, 1, "serial|");
  table.bytes[4] = (uint8_t)size;
  assert_serial(&table, "");
  table.bytes[7] = 0xFF; /* larger than what is there */
  assert_serial(&table, "serial");
}

static void test_encodings(void **state) {
  (void)state;
  static const struct {
    const char *raw, *expected;
  } rows[] = {
      {"S\xC3\xA9rie|", "S\xC3\xA9rie"},
      {"S\xE9rie|", "S\xC3\xA9rie"},
      {"\xFF\xFF|", "\xC3\xBF\xC3\xBF"},
      {"a\x01\x1F z|", "a\x01\x1F z"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct table table = new_table();
    add_structure(&table, 1, FULL, 1, rows[i].raw);
    assert_serial(&table, rows[i].expected);
  }
}

static void test_cut(void **state) {
  (void)state;
  struct table table = new_table();
  add_structure(&table, 0, 24, 1, "Phoenix|6.00|");
  size_t before = table.size;
  add_structure(&table, 1, 8, 1, "serial|");
  char serial[ROOM];
  for (size_t size = 0; size < table.size; size++) {
    bool found = parse(&table, size, serial);
    if (size != HEADER && size != before) assert_false(found);
  }
}

static void test_lies(void **state) {
  (void)state;
  for (uint8_t length = 0; length < 4; length++) {
    struct table table = new_table();
    add_structure(&table, 0, 24, 1, "x|");
    table.bytes[HEADER + 1] = length;
    assert_malformed(&table);
  }
  struct table table = new_table();
  add_structure(&table, 0, 24, 1, "x|");
  table.bytes[HEADER + 1] = 255;
  assert_malformed(&table);
  table = new_table(); /* strings without an end */
  add_structure(&table, 1, 8, 1, "serial|");
  table.bytes[table.size - 1] = 'x';
  assert_malformed(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_serial), cmocka_unit_test(test_each_string),
      cmocka_unit_test(test_none),   cmocka_unit_test(test_first_of_several),
      cmocka_unit_test(test_length), cmocka_unit_test(test_encodings),
      cmocka_unit_test(test_cut),    cmocka_unit_test(test_lies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
