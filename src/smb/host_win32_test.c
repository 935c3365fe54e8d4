/* SPDX-License-Identifier: Apache-2.0
 *
 * The host on a machine without a way to global mappings, as Wine is: fingerprints, and what is said to be
 * missing. The testbed's tests map shares with it.
 */
#include "smb/host_win32.h"

#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "smb/common_win32.h"
#include "smb/wnet_win32.h"

enum { ARENA_BYTES = 1 << 20 };

static const char root[] = "\\\\csi-no-such-host\\share";
static const struct csi_smb_credentials credentials = {.username = "D\\u", .password = "secret-password"};

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

static struct csi_smb_fingerprint digest(struct csi_ctx *ctx, const char *of_root, const char *username,
                                         const char *password) {
  const struct csi_smb_host *host = csi_smb_host_win32(CSI_SMB_ROUTE_WNET);
  const struct csi_smb_credentials of = {.username = username, .password = password};
  struct csi_smb_fingerprint fingerprint;
  if (!host->fingerprint(host->self, ctx, of_root, &of, &fingerprint)) fail_msg("%s", ctx->status.text);
  return fingerprint;
}

static bool equal(struct csi_smb_fingerprint a, struct csi_smb_fingerprint b) {
  return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

static void test_fingerprints(void **state) {
  struct csi_ctx *ctx = *state;
  struct csi_smb_fingerprint first = digest(ctx, root, "user", "password");
  assert_true(equal(first, digest(ctx, root, "user", "password")));
  assert_false(equal(first, digest(ctx, "\\\\other\\share", "user", "password")));
  assert_false(equal(first, digest(ctx, root, "User", "password")));
  assert_false(equal(first, digest(ctx, root, "user", "passwore")));
  assert_false(equal(first, digest(ctx, root, "userp", "assword")));
  assert_false(equal(digest(ctx, root, "", ""), digest(ctx, root, "", "x")));
  static const uint8_t zeros[CSI_SMB_FINGERPRINT_BYTES];
  assert_memory_not_equal(first.bytes, zeros, sizeof zeros);
}

static void assert_names_what_is_missing(const struct csi_ctx *ctx) {
  assert_int_equal(ctx->status.code, CSI_UNIMPLEMENTED);
  if (strstr(ctx->status.text, "WNetAddConnection4W") == NULL) fail_msg("%s", ctx->status.text);
  assert_null(strstr(ctx->status.text, credentials.password));
}

/* In the testbed's prefix there is a stand-in. */
static void skip_with_mpr(struct csi_ctx *ctx) {
  if (csi_smb_wnet_probe(ctx)) skip();
  csi_status_clear(&ctx->status);
}

static void test_missing_functions_are_named(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_smb_host *host = csi_smb_host_win32(CSI_SMB_ROUTE_WNET);
  enum csi_smb_state share_state;
  bool may_look;
  skip_with_mpr(ctx);
  assert_false(host->add(host->self, ctx, root, &credentials, true));
  assert_names_what_is_missing(ctx);
  csi_status_clear(&ctx->status);
  assert_false(host->get_state(host->self, ctx, root, &share_state));
  assert_names_what_is_missing(ctx);
  csi_status_clear(&ctx->status);
  assert_false(host->remove(host->self, ctx, root));
  assert_names_what_is_missing(ctx);
  csi_status_clear(&ctx->status);
  assert_false(host->try_credentials(host->self, ctx, root, &credentials, false, &may_look));
  assert_names_what_is_missing(ctx);
}

static void test_without_any_way_both_are_named(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_smb_host *host = csi_smb_host_win32(CSI_SMB_ROUTE_AUTO);
  skip_with_mpr(ctx);
  for (int i = 0; i < 2; i++) {
    assert_false(host->add(host->self, ctx, root, &credentials, false));
    assert_names_what_is_missing(ctx);
    if (strstr(ctx->status.text, "mi.dll") == NULL) fail_msg("%s", ctx->status.text);
    csi_status_clear(&ctx->status);
  }
}

static void test_nothing_is_loaded_before_it_is_needed(void **state) {
  (void)state;
  assert_non_null(csi_smb_host_win32(CSI_SMB_ROUTE_AUTO));
  assert_null(GetModuleHandleW(L"mpr.dll"));
  assert_null(GetModuleHandleW(L"mi.dll"));
  assert_null(GetModuleHandleW(L"credui.dll"));
}

static void test_a_share_that_is_not_there(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_smb_host *host = csi_smb_host_win32(CSI_SMB_ROUTE_WNET);
  assert_false(host->check(host->self, ctx, root));
  assert_int_equal(ctx->status.space, CSI_SPACE_WIN32);
  assert_string_equal(ctx->status.call, "CreateFileW");
  assert_non_null(strstr(ctx->status.text, root));
}

static void test_without_a_user_there_is_nothing_to_try(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_smb_host *host = csi_smb_host_win32(CSI_SMB_ROUTE_WNET);
  const struct csi_smb_credentials nobody = {.username = "", .password = ""};
  bool may_look;
  assert_false(host->try_credentials(host->self, ctx, root, &nobody, false, &may_look));
  assert_int_equal(ctx->status.code, CSI_UNIMPLEMENTED);
}

static void test_texts_that_are_too_long(void **state) {
  struct csi_ctx *ctx = *state;
  wchar_t text_w[4];
  assert_true(csi_smb_widen(ctx, "abc", "text", text_w, 4));
  assert_memory_equal(text_w, L"abc", sizeof text_w);
  assert_false(csi_smb_widen(ctx, "abcd", "text", text_w, 4));
  assert_int_equal(ctx->status.code, CSI_INVALID_ARGUMENT);
  assert_null(strstr(ctx->status.text, "abcd"));
}

static void test_how_an_unknown_flag_is_refused(void **state) {
  (void)state;
  struct csi_status status = {
      .space = CSI_SPACE_WIN32, .number = ERROR_INVALID_PARAMETER, .call = "WNetAddConnection4W"};
  assert_true(csi_smb_wnet_is_unknown_flag(&status));
  status.number = ERROR_INVALID_FLAGS;
  assert_true(csi_smb_wnet_is_unknown_flag(&status));
  status.number = ERROR_NOT_SUPPORTED;
  assert_false(csi_smb_wnet_is_unknown_flag(&status));
  status.number = ERROR_LOGON_FAILURE;
  assert_false(csi_smb_wnet_is_unknown_flag(&status));
  status.number = ERROR_INVALID_PARAMETER;
  status.call = "CredPackAuthenticationBufferW";
  assert_false(csi_smb_wnet_is_unknown_flag(&status));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_nothing_is_loaded_before_it_is_needed),
      TEST(test_fingerprints),
      TEST(test_missing_functions_are_named),
      TEST(test_without_any_way_both_are_named),
      TEST(test_a_share_that_is_not_there),
      TEST(test_without_a_user_there_is_nothing_to_try),
      TEST(test_texts_that_are_too_long),
      TEST(test_how_an_unknown_flag_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
