/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/path_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
  UNITS_MAX = 64,
};

/* Reads units characters of an ASCII list, and gives back the texts with a '|' behind each. */
static const char *read_list(struct csi_ctx *ctx, const char *list, size_t units) {
  static char joined[2 * UNITS_MAX];
  uint16_t list_w[UNITS_MAX];
  const char **paths;
  size_t count;
  for (size_t i = 0; i < units; i++)
    list_w[i] = (uint8_t)list[i];
  assert_true(csi_path_list_parse(ctx, list_w, units, &paths, &count));
  joined[0] = '\0';
  for (size_t i = 0; i < count; i++) {
    strcat(joined, paths[i]);
    strcat(joined, "|");
  }
  return joined;
}

static void test_lists(void **state) {
  (void)state;
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 16)};
  assert_string_equal(read_list(&ctx, "C:\\\0C:\\a b\\\0\0X", 13), "C:\\|C:\\a b\\|");
  assert_string_equal(read_list(&ctx, "C:\\\0", 5), "C:\\|");
  assert_string_equal(read_list(&ctx, "C:\\\0D", 4), "C:\\|");
  assert_string_equal(read_list(&ctx, "C:\\", 3), "C:\\|");
  assert_string_equal(read_list(&ctx, "C:\\\0D:", 6), "C:\\|D:|");
  assert_string_equal(read_list(&ctx, "", 1), "");
  assert_string_equal(read_list(&ctx, "", 0), "");
  csi_arena_free(ctx.arena);
}

static void test_memory(void **state) {
  (void)state;
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 16)};
  static const uint16_t list_w[] = {'a', 0, 'b', 0, 0};
  const char **paths;
  size_t count;
  for (unsigned nth = 1; nth <= 3; nth++) {
    csi_arena_fail_after(nth);
    assert_false(csi_path_list_parse(&ctx, list_w, 5, &paths, &count));
    csi_arena_fail_after(0);
    assert_int_equal(ctx.status.code, CSI_RESOURCE_EXHAUSTED);
    csi_status_clear(&ctx.status);
  }
  csi_arena_free(ctx.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
