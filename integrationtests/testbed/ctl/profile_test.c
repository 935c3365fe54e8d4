/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile.h"

static const struct csi_profile_variable variables[] = {
    {"images", "Z:\\tmp\\a b#c,d=e%f"},
    {"n", "7"},
    {NULL, NULL},
};

/* The text stands on the heap with its exact size, so that the sanitizer sees a read beyond it. */
static enum csi_profile_result read_line(const char *text, char line_out[CSI_PROFILE_LINE_BYTES]) {
  size_t length_bytes = strlen(text);
  char *exact = malloc(length_bytes + (length_bytes == 0));
  assert_non_null(exact);
  memcpy(exact, text, length_bytes);
  enum csi_profile_result result = csi_profile_read_line(exact, length_bytes, variables, line_out);
  free(exact);
  return result;
}

static void check_line(const char *text, const char *expected) {
  char line[CSI_PROFILE_LINE_BYTES];
  assert_int_equal(read_line(text, line), CSI_PROFILE_COMMAND);
  assert_string_equal(line, expected);
}

static void check_result(const char *text, enum csi_profile_result expected) {
  char line[CSI_PROFILE_LINE_BYTES];
  assert_int_equal(read_line(text, line), expected);
}

static void commands(void **state) {
  (void)state;
  check_line("disk list", "disk list");
  check_line("  disk list \t# all of them\r\n", "disk list");
  check_line("disk add number=${n}", "disk add number=7");
  check_line("a$b ${n}${n} $", "a$b 77 $");
}

static void values_are_escaped(void **state) {
  (void)state;
  check_line("file=${images}\\1.img", "file=Z:\\tmp\\a%20b%23c%2Cd%3De%25f\\1.img");
}

static void nothing(void **state) {
  (void)state;
  check_result("", CSI_PROFILE_NOTHING);
  check_result("  \r\n", CSI_PROFILE_NOTHING);
  check_result("# disk list", CSI_PROFILE_NOTHING);
  check_result("   # disk list", CSI_PROFILE_NOTHING);
}

static void refused(void **state) {
  (void)state;
  char line[CSI_PROFILE_LINE_BYTES];
  assert_int_equal(read_line("file=${image}", line), CSI_PROFILE_UNKNOWN_VARIABLE);
  assert_string_equal(line, "image");
  check_result("file=${images", CSI_PROFILE_UNKNOWN_VARIABLE);
  check_result("${", CSI_PROFILE_UNKNOWN_VARIABLE);
  check_result("vendor=\xc3\xa4", CSI_PROFILE_NOT_ASCII);
  check_result("a\tb", CSI_PROFILE_NOT_ASCII);
}

static void lengths(void **state) {
  (void)state;
  char text[CSI_PROFILE_LINE_BYTES + 1];
  char line[CSI_PROFILE_LINE_BYTES];
  memset(text, 'x', sizeof text);
  assert_int_equal(csi_profile_read_line(text, CSI_PROFILE_LINE_BYTES - 1, variables, line),
                   CSI_PROFILE_COMMAND);
  assert_int_equal(strlen(line), CSI_PROFILE_LINE_BYTES - 1);
  assert_int_equal(csi_profile_read_line(text, CSI_PROFILE_LINE_BYTES, variables, line),
                   CSI_PROFILE_TOO_LONG);
  memcpy(text, "${", 2);
  assert_int_equal(csi_profile_read_line(text, sizeof text, variables, line), CSI_PROFILE_UNKNOWN_VARIABLE);
  assert_int_equal(strlen(line), CSI_PROFILE_LINE_BYTES - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commands), cmocka_unit_test(values_are_escaped),
      cmocka_unit_test(nothing),  cmocka_unit_test(refused),
      cmocka_unit_test(lengths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
