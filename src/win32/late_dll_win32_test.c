/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/late_dll.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct functions {
  DWORD(WINAPI *process_id)(void);
  DWORD(WINAPI *nothing)(void);
};

static const char *const names[] = {"GetCurrentProcessId", "CsiNoSuchFunction"};

static void test_functions_are_found(void **context) {
  (void)context;
  struct csi_status status = {0};
  struct functions functions = {0};
  struct csi_late_dll dll = {
      .name = "kernel32.dll", .names = names, .count = 2, .required_count = 1, .functions = &functions};
  for (int i = 0; i < 2; i++) {
    assert_true(csi_late_dll_load(&dll, &status));
    assert_int_equal(functions.process_id(), GetCurrentProcessId());
    assert_null(functions.nothing);
  }
}

static void test_a_missing_function_is_named(void **context) {
  (void)context;
  struct csi_status status = {0};
  struct functions functions = {0};
  struct csi_late_dll dll = {
      .name = "kernel32.dll", .names = names, .count = 2, .required_count = 2, .functions = &functions};
  assert_false(csi_late_dll_load(&dll, &status));
  assert_int_equal(status.code, CSI_UNIMPLEMENTED);
  assert_non_null(strstr(status.text, "kernel32.dll"));
  assert_non_null(strstr(status.text, "CsiNoSuchFunction"));
}

static void test_a_missing_dll_is_named(void **context) {
  (void)context;
  struct csi_status status = {0};
  struct functions functions = {0};
  struct csi_late_dll dll = {
      .name = "csi-no-such.dll", .names = names, .count = 1, .required_count = 1, .functions = &functions};
  assert_false(csi_late_dll_load(&dll, &status));
  assert_int_equal(status.code, CSI_UNIMPLEMENTED);
  assert_int_equal(status.number, ERROR_MOD_NOT_FOUND);
  assert_non_null(strstr(status.text, "csi-no-such.dll"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_functions_are_found),
      cmocka_unit_test(test_a_missing_function_is_named),
      cmocka_unit_test(test_a_missing_dll_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
