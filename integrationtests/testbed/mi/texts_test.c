/* SPDX-License-Identifier: Apache-2.0 */
#include "texts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ASCII as UTF-16. */
static const uint16_t *wide(const char *text) {
  static uint16_t units_w[2 * MI_VALUE_UNITS];
  size_t i = 0;
  for (; text[i] != '\0'; i++)
    units_w[i] = (uint16_t)text[i];
  units_w[i] = 0;
  return units_w;
}

static void assert_units(const uint16_t *units_w, const char *expected) {
  for (size_t i = 0; i <= strlen(expected); i++)
    assert_int_equal(units_w[i], expected[i]);
}

static void test_a_query(void **state) {
  (void)state;
  struct mi_query query;
  assert_true(mi_query_parse(
      wide("SELECT * FROM MSFT_SmbGlobalMapping WHERE RemotePath = '\\\\\\\\h\\\\it\\'s'"), &query));
  assert_string_equal(query.class_name, "MSFT_SmbGlobalMapping");
  assert_string_equal(query.property, "RemotePath");
  assert_units(query.value_w, "\\\\h\\it's");
  assert_true(mi_query_parse(wide("select*from A where B=''  "), &query));
  assert_units(query.value_w, "");
}

static void test_what_is_no_query(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "SELECT * FROM A",
      "SELECT * FROM A WHERE",
      "SELECT Status FROM A WHERE B = 'c'",
      "SELECT * FROM A WHERE B = c",
      "SELECT * FROM A WHERE B = 'c",
      "SELECT * FROM A WHERE B = 'c\\'",
      "SELECT * FROM A WHERE B = 'it's'",
      "SELECT * FROM A WHERE B = 'it''s'",
      "SELECT * FROM A WHERE B = 'c' OR B = 'd'",
      "SELECT * FROM A WHERE B <> 'c'",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct mi_query query;
    if (mi_query_parse(wide(texts[i]), &query)) fail_msg("%s", texts[i]);
  }
}

static void test_credentials(void **state) {
  (void)state;
  struct mi_credential credential;
  assert_true(mi_credential_parse(wide("CONTOSO\\\\a\\:b:\\p:w"), &credential));
  assert_units(credential.user_w, "CONTOSO\\a:b");
  assert_units(credential.password_w, "\\p:w");
  assert_true(mi_credential_parse(wide("user:"), &credential));
  assert_units(credential.password_w, "");
  assert_false(mi_credential_parse(wide(""), &credential));
  assert_false(mi_credential_parse(wide("user"), &credential));
  assert_false(mi_credential_parse(wide("user\\:password"), &credential));
  assert_false(mi_credential_parse(wide("user\\"), &credential));
}

static void test_lengths(void **state) {
  (void)state;
  char text[MI_VALUE_UNITS + 2];
  struct mi_credential credential;
  memset(text, 'u', sizeof text);
  text[MI_VALUE_UNITS - 1] = ':';
  text[MI_VALUE_UNITS] = '\0';
  assert_true(mi_credential_parse(wide(text), &credential));
  text[MI_VALUE_UNITS - 1] = 'u';
  text[MI_VALUE_UNITS] = ':';
  text[MI_VALUE_UNITS + 1] = '\0';
  assert_false(mi_credential_parse(wide(text), &credential));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_query),
      cmocka_unit_test(test_what_is_no_query),
      cmocka_unit_test(test_credentials),
      cmocka_unit_test(test_lengths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
