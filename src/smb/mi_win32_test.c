/* SPDX-License-Identifier: Apache-2.0
 *
 * Where there is no mi.dll, as in Wine. With one, see integrationtests/testbed/mi_test.py.
 */
#include "smb/mi_win32.h"

#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char root[] = "\\\\host\\share";
static const struct csi_smb_credentials credentials = {.username = "user", .password = "password"};

static int set_up(void **state) {
  static struct csi_ctx ctx;
  ctx = (struct csi_ctx){.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE};
  if (ctx.arena == NULL) return -1;
  csi_arena_mark_secret(ctx.arena);
  *state = &ctx;
  return 0;
}

static int tear_down(void **state) {
  struct csi_ctx *ctx = *state;
  csi_arena_free(ctx->arena);
  return 0;
}

static void skip_with_mi_dll(void) {
  if (LoadLibraryExW(L"mi.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32) != NULL) skip();
}

static void assert_unimplemented(struct csi_ctx *ctx) {
  assert_int_equal(ctx->status.code, CSI_UNIMPLEMENTED);
  assert_non_null(strstr(ctx->status.text, "mi.dll"));
  assert_null(strstr(ctx->status.text, credentials.password));
  csi_status_clear(&ctx->status);
}

static void test_the_probe(void **state) {
  struct csi_ctx *ctx = *state;
  skip_with_mi_dll();
  assert_false(csi_smb_mi_probe(ctx));
  assert_unimplemented(ctx);
}

static void test_every_step(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_smb_host *host = csi_smb_mi_host();
  enum csi_smb_state mapping;
  skip_with_mi_dll();
  assert_false(host->get_state(host->self, ctx, root, &mapping));
  assert_unimplemented(ctx);
  assert_false(host->add(host->self, ctx, root, &credentials, true));
  assert_unimplemented(ctx);
  assert_false(host->remove(host->self, ctx, root));
  assert_unimplemented(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_the_probe, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_every_step, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
