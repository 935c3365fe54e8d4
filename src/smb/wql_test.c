/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/wql.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_query(const char *value, const char *expected) {
  struct csi_arena *arena = csi_arena_new(4096);
  assert_non_null(arena);
  const char *query = csi_wql_select(arena, "MSFT_SmbGlobalMapping", "RemotePath", value);
  assert_non_null(query);
  assert_string_equal(query, expected);
  csi_arena_free(arena);
}

static void test_values(void **state) {
  (void)state;
#define BEGIN "SELECT * FROM MSFT_SmbGlobalMapping WHERE RemotePath = "
  assert_query("\\\\host\\share", BEGIN "'\\\\\\\\host\\\\share'");
  assert_query("", BEGIN "''");
  assert_query("it's", BEGIN "'it\\'s'");
  assert_query("\"a\"", BEGIN "'\\\"a\\\"'");
  assert_query("\\' OR RemotePath <> '", BEGIN "'\\\\\\' OR RemotePath <> \\''");
  assert_query("gr\xc3\xbcn$ %s%n", BEGIN "'gr\xc3\xbcn$ %s%n'");
#undef BEGIN
}

static void test_out_of_memory(void **state) {
  (void)state;
  for (unsigned nth = 1; nth <= 2; nth++) {
    struct csi_arena *arena = csi_arena_new(4096);
    assert_non_null(arena);
    (void)csi_arena_fail_after(nth);
    assert_null(csi_wql_select(arena, "C", "P", "v"));
    (void)csi_arena_fail_after(0);
    csi_arena_free(arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
