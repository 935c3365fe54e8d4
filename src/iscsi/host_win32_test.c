/* SPDX-License-Identifier: Apache-2.0
 *
 * The host on a Windows without iscsidsc.dll, as Wine is: that every step says what is missing, and keeps no
 * secret. The testbed's tests run it on targets.
 */
#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iscsi/host_win32.h"
#include "iscsi/library_win32.h"

enum { ARENA_BYTES = 1 << 20 };

#define SECRET "not-to-be-told"

static const struct csi_iscsi_portal portal = {.address = "192.0.2.1", .port = 3260};
static const struct csi_iscsi_session session = {.id = {1, 2}, .target = "iqn.2004-10.com.example:one"};

static bool has_library(void) {
  HMODULE module = LoadLibraryExW(L"iscsidsc.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (module != NULL) FreeLibrary(module);
  return module != NULL;
}

static int set_up(void **state) {
  static struct csi_ctx ctx;
  ctx = (struct csi_ctx){.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE};
  *state = &ctx;
  return ctx.arena == NULL;
}

static int tear_down(void **state) {
  struct csi_ctx *ctx = *state;
  csi_arena_free(ctx->arena);
  return 0;
}

static void assert_unimplemented(struct csi_ctx *ctx, bool result) {
  assert_false(result);
  assert_int_equal(ctx->status.code, CSI_UNIMPLEMENTED);
  assert_non_null(strstr(ctx->status.text, "the iSCSI initiator: iscsidsc.dll"));
  assert_null(strstr(ctx->status.text, SECRET));
  csi_status_clear(&ctx->status);
}

static void test_library_is_missing(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_iscsi_host *host = csi_iscsi_host_win32();
  if (has_library()) skip();
  const struct csi_iscsi_portal *portals;
  const struct csi_iscsi_session *sessions;
  const struct csi_iscsi_persistent_login *logins;
  const struct csi_iscsi_persistent_login one_login = {.target = "iqn.2004-10.com.example:one"};
  const uint32_t *numbers;
  const char **names;
  size_t count;
  const struct csi_iscsi_login login = {.target = session.target,
                                        .portal = &portal,
                                        .authentication = CSI_ISCSI_AUTH_ONE_WAY_CHAP,
                                        .username = "me",
                                        .secret = SECRET};
  assert_unimplemented(ctx, host->list_portals(host->self, ctx, &portals, &count));
  assert_unimplemented(ctx, host->add_portal(host->self, ctx, &portal));
  assert_unimplemented(ctx, host->refresh_portal(host->self, ctx, &portal));
  assert_unimplemented(ctx, host->remove_portal(host->self, ctx, &portal));
  assert_unimplemented(ctx, host->list_targets(host->self, ctx, &portal, &names, &count));
  assert_unimplemented(ctx, host->list_sessions(host->self, ctx, &sessions, &count));
  assert_unimplemented(ctx, host->login(host->self, ctx, &login));
  assert_unimplemented(ctx, host->logout(host->self, ctx, &session));
  assert_unimplemented(ctx, host->list_persistent_logins(host->self, ctx, &logins, &count));
  assert_unimplemented(ctx, host->remove_persistent_login(host->self, ctx, &one_login));
  assert_unimplemented(ctx, host->list_disks(host->self, ctx, &session, &numbers, &count));
  assert_unimplemented(ctx, host->set_chap_secret(host->self, ctx, SECRET));
}

static void test_spaces_of_numbers(void **state) {
  struct csi_ctx *ctx = *state;
  static const struct {
    uint32_t number;
    enum csi_error_space space;
  } rows[] = {
      {CSI_ISDSC_AUTHENTICATION_FAILURE, CSI_SPACE_ISDSC},
      {CSI_ISDSC_OPERATION_NOT_ALL_SUCCESS, CSI_SPACE_ISDSC},
      {RPC_S_SERVER_UNAVAILABLE, CSI_SPACE_WIN32},
      {ERROR_ACCESS_DENIED, CSI_SPACE_WIN32},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_false(csi_iscsi_library_fail(ctx, rows[i].number, "LoginIScsiTargetW", "target iqn.x"));
    assert_int_equal(ctx->status.space, rows[i].space);
    assert_int_equal(ctx->status.number, rows[i].number);
    csi_status_clear(&ctx->status);
  }
}

static void test_texts_that_do_not_fit(void **state) {
  struct csi_ctx *ctx = *state;
  wchar_t text_w[4] = L"xyz";
  assert_true(csi_iscsi_library_widen(ctx, "a", text_w, 4));
  assert_memory_equal(text_w, L"a\0\0", sizeof text_w);
  assert_true(csi_iscsi_library_widen(ctx, "abc", text_w, 4));
  assert_false(csi_iscsi_library_widen(ctx, "abcd", text_w, 4));
  assert_int_equal(ctx->status.code, CSI_INVALID_ARGUMENT);
  csi_status_clear(&ctx->status);
  assert_false(csi_iscsi_library_widen(ctx, "\xff", text_w, 4));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_library_is_missing),
      TEST(test_spaces_of_numbers),
      TEST(test_texts_that_do_not_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
