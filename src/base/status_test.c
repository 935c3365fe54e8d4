/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/ctx.h"
#include "base/status.h"
#include "base/system_error.h"
#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_first_failure_wins(void **unused) {
  (void)unused;
  struct csi_status status = {.code = CSI_OK};
  assert_true(csi_status_ok(&status));
  assert_false(csi_fail(&status, CSI_NOT_FOUND, "no disk %d", 3));
  assert_false(csi_fail(&status, CSI_INTERNAL, "later"));
  assert_false(csi_fail_system(&status, CSI_SPACE_WIN32, 5, "x", "later"));
  assert_false(csi_fail_out_of_memory(&status));
  assert_false(csi_status_ok(&status));
  assert_int_equal(status.code, CSI_NOT_FOUND);
  assert_string_equal(status.text, "no disk 3");
  csi_status_clear(&status);
  assert_true(csi_status_ok(&status));
  assert_string_equal(status.text, "");
}

static void test_success_cannot_be_a_failure(void **unused) {
  (void)unused;
  struct csi_status status = {.code = CSI_OK};
  csi_fail(&status, CSI_OK, "oops");
  assert_int_equal(status.code, CSI_UNKNOWN);
}

static void test_system_failure_carries_text_and_number(void **unused) {
  (void)unused;
  struct csi_status status = {.code = CSI_OK};
  assert_false(csi_fail_system(&status, CSI_SPACE_WIN32, 3, "CreateFileW", "mkdir %s", "C:\\x"));
  assert_string_equal(status.text, "mkdir C:\\x: The system cannot find the path specified. "
                                   "(Win32 error 3 in CreateFileW)");
  assert_int_equal(status.code, CSI_NOT_FOUND);
  assert_int_equal(status.space, CSI_SPACE_WIN32);
  assert_int_equal(status.number, 3);
  assert_string_equal(status.call, "CreateFileW");

  csi_status_clear(&status);
  csi_fail_system(&status, CSI_SPACE_NTSTATUS, 0xC0000034, NULL, "open");
  assert_string_equal(status.text,
                      "open: The system cannot find the file specified. (NTSTATUS error 0xc0000034)");
}

static void test_context_and_advice(void **unused) {
  (void)unused;
  struct csi_status status = {.code = CSI_OK};
  csi_fail(&status, CSI_INTERNAL, "inner");
  assert_false(csi_explain(&status, "volume (%s): ", "v"));
  assert_false(csi_explain(&status, "outer: "));
  assert_false(csi_advise(&status, " Try %d.", 2));
  assert_string_equal(status.text, "outer: volume (v): inner Try 2.");
}

static void test_foreign_text_cannot_forge_lines(void **unused) {
  (void)unused;
  struct csi_status status = {.code = CSI_OK};
  csi_fail_system(&status, CSI_SPACE_WIN32, 5, NULL, "open %s", "a\nb\xFF\x1B[0m");
  assert_string_equal(status.text, "open a\\nb\\xff\\x1b[0m: Access is denied. (Win32 error 5)");
  csi_explain(&status, "%s: ", "x\r\ny");
  csi_advise(&status, "%s", "\t");
  assert_string_equal(status.text, "x\\r\\ny: open a\\nb\\xff\\x1b[0m: Access is denied. (Win32 error 5)\\t");
}

static void test_long_texts_keep_the_system_text(void **unused) {
  (void)unused;
  char path[3 * 1500 + 1];
  for (size_t i = 0; i < 1500; i++)
    memcpy(path + 3 * i, "\xE2\x82\xAC", 4);
  struct csi_status status = {.code = CSI_OK};
  csi_fail_system(&status, CSI_SPACE_WIN32, 2, "CreateFileW", "open %s", path);
  const char *tail = ": The system cannot find the file specified. (Win32 error 2 in CreateFileW)";
  size_t length = strlen(status.text);
  assert_true(length > CSI_STATUS_TEXT_BYTES - 8 && length < CSI_STATUS_TEXT_BYTES);
  assert_string_equal(status.text + length - strlen(tail), tail);
  assert_true(csi_utf8_is_valid(status.text, length));
  assert_null(strstr(status.text, "\\x")); /* no half character was escaped */

  csi_explain(&status, "prefix %s", path);
  assert_memory_equal(status.text, "prefix \xE2\x82\xAC", 10);
  assert_true(csi_utf8_is_valid(status.text, strlen(status.text)));
  assert_null(strstr(status.text, "\\x"));
  csi_advise(&status, "%s", path);
  assert_true(csi_utf8_is_valid(status.text, strlen(status.text)));
}

static const char *text_of(enum csi_error_space space, uint32_t number) {
  static char buffer[512];
  return csi_system_error_text(space, number, buffer, sizeof buffer);
}

static void test_system_texts(void **unused) {
  (void)unused;
  assert_string_equal(text_of(CSI_SPACE_WIN32, 5), "Access is denied.");
  assert_string_equal(text_of(CSI_SPACE_WIN32, 4390), "The file or directory is not a reparse point.");
  assert_string_equal(text_of(CSI_SPACE_NTSTATUS, 0xC000003A), "The system cannot find the path specified.");
  assert_string_equal(text_of(CSI_SPACE_NTSTATUS, 0xC0000101), "The directory is not empty.");
  assert_string_equal(text_of(CSI_SPACE_NTSTATUS, 0xC0000275),
                      "The file or directory is not a reparse point.");
  assert_string_equal(text_of(CSI_SPACE_HRESULT, 0x80070005), "Access is denied.");
  assert_string_equal(text_of(CSI_SPACE_HRESULT, 0xD0000034), "The system cannot find the file specified.");
  assert_string_equal(text_of(CSI_SPACE_HRESULT, 0x80004005), "Unspecified error.");
  assert_string_equal(text_of(CSI_SPACE_CONFIGRET, 0x33), "Access is denied.");
  assert_string_equal(text_of(CSI_SPACE_ISDSC, 0xEFFF003F),
                      "The target has already been logged in via an iSCSI session.");
  assert_string_equal(text_of(CSI_SPACE_ISDSC, 0xAFFF002E),
                      "The operation was not successful for all initiators or discovery methods.");
  assert_string_equal(text_of(CSI_SPACE_ISDSC, 0xEFFF0068),
                      "The name could not be resolved to an IP Address.");
  assert_string_equal(text_of(CSI_SPACE_ISDSC, 87), "The parameter is incorrect.");
  assert_string_equal(text_of(CSI_SPACE_WIN32, 64711), "Windows error 64711.");
  assert_string_equal(text_of(CSI_SPACE_ISDSC, 0xEFFF7777), "Windows error 0xefff7777.");
  char small[8];
  assert_string_equal(csi_system_error_text(CSI_SPACE_WIN32, 5, small, sizeof small), "Access ");
}

static void test_every_known_number_has_a_sentence(void **unused) {
  (void)unused;
  size_t known = 0;
  for (uint32_t number = 0; number < 5000; number++) {
    const char *text = text_of(CSI_SPACE_WIN32, number);
    if (strncmp(text, "Windows error", 13) == 0) continue;
    known++;
    assert_true(csi_utf8_is_valid(text, strlen(text)));
#if !defined(_WIN32)
    assert_int_equal(text[strlen(text) - 1], '.');
#endif
  }
  assert_true(known > 150);
}

static void test_codes(void **unused) {
  (void)unused;
  assert_int_equal(csi_code_of_system_error(CSI_SPACE_WIN32, 2), CSI_NOT_FOUND);
  assert_int_equal(csi_code_of_system_error(CSI_SPACE_WIN32, 183), CSI_ALREADY_EXISTS);
  assert_int_equal(csi_code_of_system_error(CSI_SPACE_WIN32, 112), CSI_RESOURCE_EXHAUSTED);
  assert_int_equal(csi_code_of_system_error(CSI_SPACE_NTSTATUS, 0xC0000022), CSI_PERMISSION_DENIED);
  assert_int_equal(csi_code_of_system_error(CSI_SPACE_ISDSC, 0xEFFF0009), CSI_PERMISSION_DENIED);
  assert_int_equal(csi_code_of_system_error(CSI_SPACE_ISDSC, 0xEFFF001F), CSI_UNAVAILABLE);
  assert_int_equal(csi_code_of_system_error(CSI_SPACE_ISDSC, 0xEFFF004B), CSI_INVALID_ARGUMENT);
  assert_int_equal(csi_code_of_system_error(CSI_SPACE_WIN32, 64711), CSI_UNKNOWN);
  assert_int_equal(csi_code_of_system_error(CSI_SPACE_NONE, 2), CSI_UNKNOWN);
  assert_int_equal(csi_win32_of_system_error(CSI_SPACE_NTSTATUS, 0xC0000043), 32);
  assert_int_equal(csi_win32_of_system_error(CSI_SPACE_NTSTATUS, 0xC0FFFFFF), CSI_NO_WIN32_ERROR);
#if !defined(_WIN32)
  assert_int_equal(csi_code_of_system_error(CSI_SPACE_ERRNO, 2), CSI_NOT_FOUND);
  assert_string_equal(text_of(CSI_SPACE_ERRNO, 2), "No such file or directory");
#endif
}

static void test_names(void **unused) {
  (void)unused;
  assert_string_equal(csi_code_name(CSI_OK), "OK");
  assert_string_equal(csi_code_name(CSI_UNAUTHENTICATED), "UNAUTHENTICATED");
  assert_string_equal(csi_code_name((enum csi_code)17), "UNKNOWN");
  assert_string_equal(csi_code_name((enum csi_code) - 1), "UNKNOWN");
  assert_string_equal(csi_error_space_name(CSI_SPACE_NTSTATUS), "NTSTATUS");
  assert_string_equal(csi_error_space_name((enum csi_error_space)99), "none");
  for (int code = 0; code <= 16; code++) {
    for (int other = 0; other < code; other++)
      assert_string_not_equal(csi_code_name((enum csi_code)code), csi_code_name((enum csi_code)other));
  }
}

static void test_context_without_deadline_lives(void **unused) {
  (void)unused;
  struct csi_ctx ctx = {.deadline_ns = CSI_NO_DEADLINE};
  assert_true(csi_ctx_alive(&ctx));
  assert_int_equal(csi_ctx_remaining_ms(&ctx, 77), 77);
}

static void test_context_ends(void **unused) {
  (void)unused;
  struct csi_ctx late = {.deadline_ns = csi_now_ns() - 1};
  assert_false(csi_ctx_alive(&late));
  assert_int_equal(late.status.code, CSI_DEADLINE_EXCEEDED);
  assert_int_equal(csi_ctx_remaining_ms(&late, 77), 0);

  atomic_bool cancelled = true;
  struct csi_ctx gone = {.deadline_ns = CSI_NO_DEADLINE, .cancelled = &cancelled};
  assert_false(csi_ctx_alive(&gone));
  assert_int_equal(gone.status.code, CSI_CANCELLED);

  struct csi_ctx soon = {.deadline_ns = csi_now_ns() + INT64_C(10000000000)};
  assert_true(csi_ctx_alive(&soon));
  uint32_t left_ms = csi_ctx_remaining_ms(&soon, 60000);
  assert_true(left_ms > 5000 && left_ms <= 10000);
  assert_int_equal(csi_ctx_remaining_ms(&soon, 50), 50);
}

static void test_clock_never_goes_back(void **unused) {
  (void)unused;
  int64_t before_ns = csi_now_ns();
  for (int i = 0; i < 10000; i++) {
    int64_t now_ns = csi_now_ns();
    assert_true(now_ns >= before_ns);
    before_ns = now_ns;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_first_failure_wins),
      cmocka_unit_test(test_success_cannot_be_a_failure),
      cmocka_unit_test(test_system_failure_carries_text_and_number),
      cmocka_unit_test(test_context_and_advice),
      cmocka_unit_test(test_foreign_text_cannot_forge_lines),
      cmocka_unit_test(test_long_texts_keep_the_system_text),
      cmocka_unit_test(test_system_texts),
      cmocka_unit_test(test_every_known_number_has_a_sentence),
      cmocka_unit_test(test_codes),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_context_without_deadline_lives),
      cmocka_unit_test(test_context_ends),
      cmocka_unit_test(test_clock_never_goes_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
