/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/credential_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_text(const char *username, const char *password, const char *expected) {
  struct csi_arena *arena = csi_arena_new(4096);
  assert_non_null(arena);
  const char *text = csi_smb_credential_text(arena, username, password);
  assert_non_null(text);
  assert_string_equal(text, expected);
  csi_arena_free(arena);
}

static void test_credentials(void **state) {
  (void)state;
  assert_text("user", "secret", "user:secret");
  assert_text("DOMAIN\\user", "secret", "DOMAIN\\\\user:secret");
  assert_text("a:b", "secret", "a\\:b:secret");
  assert_text("a\\:b\\", "secret", "a\\\\\\:b\\\\:secret");
  assert_text("user", "\\p:w\\", "user:\\p:w\\");
  assert_text("user", "", "user:");
  assert_text("", "", ":");
}

static void test_out_of_memory(void **state) {
  (void)state;
  struct csi_arena *arena = csi_arena_new(4096);
  assert_non_null(arena);
  (void)csi_arena_fail_after(1);
  assert_null(csi_smb_credential_text(arena, "user", "secret"));
  (void)csi_arena_fail_after(0);
  csi_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_credentials),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
