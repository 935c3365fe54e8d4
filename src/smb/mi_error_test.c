/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/mi_error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void assert_error(struct csi_mi_error error, enum csi_error_space space, uint32_t number) {
  assert_int_equal(error.number, number);
  assert_int_equal(error.space, space);
}

static struct csi_mi_error of(uint32_t result, const char *message_id, const char *type, uint32_t code) {
  struct csi_mi_failure failure = {.result = result, .error_code = code};
  (void)snprintf(failure.message_id, sizeof failure.message_id, "%s", message_id);
  (void)snprintf(failure.error_type, sizeof failure.error_type, "%s", type);
  return csi_mi_error_of_failure(&failure);
}

static void test_message_ids(void **state) {
  (void)state;
  assert_error(of(1, "Windows System Error 53", "", 0), CSI_SPACE_WIN32, 53);
  assert_error(of(1, "Windows System Error 1219", "WIN32", 5), CSI_SPACE_WIN32, 1219);
  assert_error(of(1, "HRESULT 0x80070056", "", 0), CSI_SPACE_WIN32, 86);
  assert_error(of(1, "HRESULT 0x80041001", "", 0), CSI_SPACE_HRESULT, 0x80041001);
  assert_error(of(1, "HRESULT 0xd0000034", "", 0), CSI_SPACE_WIN32, 2);
}

static void test_message_ids_that_say_nothing(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "Windows System Error ",
      "Windows System Error 0",
      "Windows System Error -5",
      "Windows System Error +5",
      "Windows System Error  5",
      "Windows System Error 5x",
      "Windows System Error 4294967296",
      "Windows System Error 99999999999999999999999",
      "Windows System Error",
      "windows system error 5",
      "HRESULT 0x",
      "HRESULT 0x0",
      "HRESULT 0x-1",
      "HRESULT 0xg",
      "HRESULT 80070005",
      "HRESULT 0x180070005",
      "5",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct csi_mi_error error = of(1, texts[i], "", 0);
    if (error.space != CSI_SPACE_HRESULT || error.number != 0x80041001) fail_msg("%s", texts[i]);
  }
}

static void test_error_codes(void **state) {
  (void)state;
  assert_error(of(1, "", "WIN32", 67), CSI_SPACE_WIN32, 67);
  assert_error(of(1, "", "Win32", 1326), CSI_SPACE_WIN32, 1326);
  assert_error(of(1, "", "HRESULT", 0x80070043), CSI_SPACE_WIN32, 67);
  assert_error(of(1, "", "hresult", 0x8004100C), CSI_SPACE_HRESULT, 0x8004100C);
  assert_error(of(1, "", "MI", 5), CSI_SPACE_HRESULT, 0x80041010);
  assert_error(of(2, "", "WIN32", 0), CSI_SPACE_HRESULT, 0x80041003);
  assert_error(of(2, "", "ERRNO", 13), CSI_SPACE_HRESULT, 0x80041003);
  assert_error(of(2, "", "WIN", 13), CSI_SPACE_HRESULT, 0x80041003);
  assert_error(of(2, "", "WIN320", 13), CSI_SPACE_HRESULT, 0x80041003);
}

static void test_results(void **state) {
  (void)state;
  assert_error(of(1, "", "", 0), CSI_SPACE_HRESULT, 0x80041001);
  assert_error(of(3, "", "", 0), CSI_SPACE_HRESULT, 0x8004100E);
  assert_error(of(6, "", "", 0), CSI_SPACE_HRESULT, 0x80041002);
  assert_error(of(28, "", "", 0), CSI_SPACE_HRESULT, 0x80041033);
  assert_error(of(0, "", "", 0), CSI_SPACE_HRESULT, 0x80041001);
  assert_error(of(18, "", "", 0), CSI_SPACE_HRESULT, 0x80041001);
  assert_error(of(29, "", "", 0), CSI_SPACE_HRESULT, 0x80041001);
  assert_error(of(UINT32_MAX, "", "", 0), CSI_SPACE_HRESULT, 0x80041001);
}

static void test_return_values(void **state) {
  (void)state;
  assert_error(csi_mi_error_of_return_value(1326), CSI_SPACE_WIN32, 1326);
  assert_error(csi_mi_error_of_return_value(0x80070035), CSI_SPACE_WIN32, 53);
  assert_error(csi_mi_error_of_return_value(0x80041002), CSI_SPACE_HRESULT, 0x80041002);
}

static void test_numbers_of_the_host(void **state) {
  (void)state;
  assert_error(csi_mi_error_of_create(of(11, "", "", 0)), CSI_SPACE_WIN32, 85);
  assert_error(csi_mi_error_of_create(of(1, "Windows System Error 183", "", 0)), CSI_SPACE_WIN32, 85);
  assert_error(csi_mi_error_of_create(of(1, "HRESULT 0x80070050", "", 0)), CSI_SPACE_WIN32, 85);
  assert_error(csi_mi_error_of_create(of(1, "Windows System Error 1219", "", 0)), CSI_SPACE_WIN32, 1219);
  assert_error(csi_mi_error_of_create(of(6, "", "", 0)), CSI_SPACE_HRESULT, 0x80041002);
  assert_error(csi_mi_error_of_remove(of(6, "", "", 0)), CSI_SPACE_WIN32, 2250);
  assert_error(csi_mi_error_of_remove(csi_mi_error_of_return_value(1168)), CSI_SPACE_WIN32, 2250);
  assert_error(csi_mi_error_of_remove(csi_mi_error_of_return_value(2)), CSI_SPACE_WIN32, 2250);
  assert_error(csi_mi_error_of_remove(of(11, "", "", 0)), CSI_SPACE_HRESULT, 0x80041019);
}

static void test_missing_classes(void **state) {
  (void)state;
  assert_true(csi_mi_error_is_missing(of(3, "", "", 0)));
  assert_true(csi_mi_error_is_missing(of(5, "", "", 0)));
  assert_true(csi_mi_error_is_missing(of(6, "", "", 0)));
  assert_false(csi_mi_error_is_missing(of(2, "", "", 0)));
  assert_false(csi_mi_error_is_missing(of(1, "HRESULT 0x80070005", "", 0)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_message_ids),     cmocka_unit_test(test_message_ids_that_say_nothing),
      cmocka_unit_test(test_error_codes),     cmocka_unit_test(test_results),
      cmocka_unit_test(test_return_values),   cmocka_unit_test(test_numbers_of_the_host),
      cmocka_unit_test(test_missing_classes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
