/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filesystem/path_name.h"
#include "filesystem/path_policy.h"

static const char *const kubelet_only[] = {"C:\\var\\lib\\kubelet"};

/* A policy and one request. */
struct fixture {
  struct csi_path_policy *policy;
  struct csi_ctx ctx;
  struct csi_confined_path path;
};

static void open_fixture(struct fixture *fixture, const char *const *roots, size_t count, size_t limit) {
  *fixture = (struct fixture){.ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE}};
  assert_non_null(fixture->ctx.arena);
  fixture->policy = csi_path_policy_new(roots, count, limit, &fixture->ctx.status);
  assert_non_null(fixture->policy);
}

static void close_fixture(struct fixture *fixture) {
  csi_path_policy_free(fixture->policy);
  csi_arena_free(fixture->ctx.arena);
}

static void assert_allowed(struct fixture *fixture, const char *path, const char *text, const char *below) {
  csi_status_clear(&fixture->ctx.status);
  if (!csi_path_confine(fixture->policy, &fixture->ctx, path, &fixture->path))
    fail_msg("%s: %s", path, fixture->ctx.status.text);
  assert_string_equal(fixture->path.given, path);
  assert_string_equal(fixture->path.text, text);
  assert_string_equal(fixture->path.below, below);
}

static void assert_refused(struct fixture *fixture, const char *path, enum csi_code code, const char *text) {
  csi_status_clear(&fixture->ctx.status);
  assert_false(csi_path_confine(fixture->policy, &fixture->ctx, path, &fixture->path));
  assert_string_equal(fixture->ctx.status.text, text);
  assert_int_equal(fixture->ctx.status.code, code);
}

#define INVALID(path) "path contains invalid characters: " path
#define OUTSIDE(path) "path: " path " is not within the working directories: [C:\\var\\lib\\kubelet]"

static void test_cases_of_the_original(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f, kubelet_only, 1, CSI_PATH_BYTES_DEFAULT);
  assert_allowed(&f, "C:\\var\\lib\\kubelet\\pods\\pv1", "C:\\var\\lib\\kubelet\\pods\\pv1", "pods\\pv1");
  assert_allowed(&f, "C:\\var\\lib\\kubelet\\plugins\\pv1", "C:\\var\\lib\\kubelet\\plugins\\pv1",
                 "plugins\\pv1");
  static const char *const invalid[] = {
      "C:\\var\\lib\\kubelet\\pods\\pv1:foo",
      "C:\\var\\lib\\kubelet\\pods\\pv1/foo",
      "C:\\var\\lib\\kubelet\\pods\\pv1*foo",
      "C:\\var\\lib\\kubelet\\pods\\pv1?foo",
      "C:\\var\\lib\\kubelet\\pods\\pv1\"foo",
      "C:\\var\\lib\\kubelet\\plugins\\csi-plugin|pv1\\foo",
      "C:\\var\\lib\\kubelet\\pods\\pv1\\..\\..\\..\\system32",
      "C:/var/lib/kubelet",
      "C:foo",
  };
  for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
    char text[256];
    snprintf(text, sizeof text, INVALID("%s"), invalid[i]);
    assert_refused(&f, invalid[i], CSI_INVALID_ARGUMENT, text);
  }
  assert_refused(&f, "C:\\foo\\bar", CSI_PERMISSION_DENIED, OUTSIDE("C:\\foo\\bar"));
  assert_refused(&f, "\\\\csi-plugin\\..\\..\\..\\system32", CSI_INVALID_ARGUMENT,
                 "invalid character \\ at beginning of path: \\\\csi-plugin\\..\\..\\..\\system32");
  assert_refused(&f, "pv1\\foo", CSI_INVALID_ARGUMENT, "not an absolute Windows path: pv1\\foo");
  assert_refused(&f, "", CSI_INVALID_ARGUMENT, "not an absolute Windows path: ");
  close_fixture(&f);
}

static void test_first_rule_that_is_broken_names_the_error(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f, kubelet_only, 1, 20);
  assert_refused(&f, "\\?*\\abcdefghijklmnopqrst", CSI_INVALID_ARGUMENT,
                 "path length 24 exceeds maximum characters: 20");
  assert_refused(&f, "\\a*", CSI_INVALID_ARGUMENT, "invalid character \\ at beginning of path: \\a*");
  assert_refused(&f, "relative*", CSI_INVALID_ARGUMENT, INVALID("relative*"));
  assert_refused(&f, "relative<", CSI_INVALID_ARGUMENT, "not an absolute Windows path: relative<");
  assert_refused(&f, "D:\\foo\\a..b", CSI_INVALID_ARGUMENT, INVALID("D:\\foo\\a..b"));
  assert_refused(&f, "D:\\foo\\NUL", CSI_PERMISSION_DENIED, OUTSIDE("D:\\foo\\NUL"));
  close_fixture(&f);
}

static void test_limit_counts_bytes_of_utf8(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f, kubelet_only, 1, 24);
  assert_allowed(&f, "C:\\var\\lib\\kubelet\\\u00e4\u00e4x", "C:\\var\\lib\\kubelet\\\u00e4\u00e4x",
                 "\u00e4\u00e4x");
  assert_refused(&f, "C:\\var\\lib\\kubelet\\\u00e4\u00e4\u00e4", CSI_INVALID_ARGUMENT,
                 "path length 25 exceeds maximum characters: 24");
  close_fixture(&f);

  char path[32768] = "C:\\var\\lib\\kubelet\\";
  memset(path + strlen(path), 'a', sizeof path - 1 - strlen(path));
  open_fixture(&f, kubelet_only, 1, 40000);
  assert_true(csi_path_confine(f.policy, &f.ctx, path, &f.path));
  close_fixture(&f);
}

static void test_components_are_compared_not_bytes(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f, kubelet_only, 1, CSI_PATH_BYTES_DEFAULT);
  assert_refused(&f, "C:\\var\\lib\\kubelet-evil\\x", CSI_PERMISSION_DENIED,
                 OUTSIDE("C:\\var\\lib\\kubelet-evil\\x"));
  assert_refused(&f, "C:\\var\\lib", CSI_PERMISSION_DENIED, OUTSIDE("C:\\var\\lib"));
  assert_refused(&f, "D:\\var\\lib\\kubelet\\x", CSI_PERMISSION_DENIED, OUTSIDE("D:\\var\\lib\\kubelet\\x"));
  assert_allowed(&f, "c:\\VAR\\Lib\\KUBELET\\Pods", "c:\\VAR\\Lib\\KUBELET\\Pods", "Pods");
  close_fixture(&f);
}

static void test_separators_are_normalised(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f, kubelet_only, 1, CSI_PATH_BYTES_DEFAULT);
  assert_allowed(&f, "C:\\\\var\\lib\\\\kubelet\\a\\\\b\\\\", "C:\\var\\lib\\kubelet\\a\\b", "a\\b");
  assert_allowed(&f, "C:\\var\\lib\\kubelet\\", "C:\\var\\lib\\kubelet", "");
  close_fixture(&f);
}

static void test_names_that_windows_would_change(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f, kubelet_only, 1, CSI_PATH_BYTES_DEFAULT);
#define K "C:\\var\\lib\\kubelet\\"
  assert_refused(&f, K "a\\.\\b", CSI_INVALID_ARGUMENT, INVALID(K "a\\.\\b (a name that ends in a dot)"));
  assert_refused(&f, K "a.", CSI_INVALID_ARGUMENT, INVALID(K "a. (a name that ends in a dot)"));
  assert_refused(&f, K "a \\b", CSI_INVALID_ARGUMENT, INVALID(K "a \\b (a name that ends in a blank)"));
  assert_refused(&f, K "a<b", CSI_INVALID_ARGUMENT, INVALID(K "a<b (a character that no name may hold)"));
  assert_refused(&f, K "a>b", CSI_INVALID_ARGUMENT, INVALID(K "a>b (a character that no name may hold)"));
  assert_refused(&f, K "a\x01", CSI_INVALID_ARGUMENT, INVALID(K "a\\x01 (a control character)"));
  assert_refused(&f, K "nul\\x", CSI_INVALID_ARGUMENT, INVALID(K "nul\\x (the name of a device)"));
  assert_allowed(&f, K ".hidden", K ".hidden", ".hidden");
  assert_allowed(&f, K " x", K " x", " x");
#undef K
  close_fixture(&f);
}

static void test_names_of_devices(void **state) {
  (void)state;
  static const char *const devices[] = {"CON",  "prn",    "AUX.txt", "NUL .a",    "com1",       "COM9.tar.gz",
                                        "LPT3", "CONIN$", "conout$", "COM\u00b9", "lpt\u00b2.x"};
  for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
    assert_string_equal(csi_path_name_flaw(devices[i], strlen(devices[i])), "the name of a device");
  static const char *const names[] = {"CONS", "NULL", "COM",  "COM10",
                                      "COM0", "xCON", "COMA", "kubernetes.io~csi"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    assert_null(csi_path_name_flaw(names[i], strlen(names[i])));
}

static void test_working_directories_are_spared(void **state) {
  (void)state;
  static const char *const nested[] = {"C:\\var\\lib\\kubelet", "C:\\var", "D:\\"};
  struct fixture f;
  open_fixture(&f, nested, 3, CSI_PATH_BYTES_DEFAULT);
  struct {
    const char *path, *root;
    bool holds_root;
  } rows[] = {
      {"C:\\var", "C:\\var", true},
      {"C:\\var\\lib", "C:\\var", true},
      {"C:\\Var\\Lib\\Kubelet\\", "C:\\var", true},
      {"C:\\var\\lib\\kubelet\\pods", "C:\\var", false},
      {"C:\\var\\lib\\kubelet2", "C:\\var", false},
      {"d:\\", "D:\\", true},
      {"D:\\x", "D:\\", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_true(csi_path_confine(f.policy, &f.ctx, rows[i].path, &f.path));
    assert_string_equal(f.path.root, rows[i].root);
    assert_int_equal(f.path.holds_root, rows[i].holds_root);
  }
  close_fixture(&f);
}

static void test_configuration_is_normalised(void **state) {
  (void)state;
  static const char *const spelt[] = {"c:/k//x/", "C:\\K\\X", "D:\\a\\", "d:\\a"};
  struct fixture f;
  open_fixture(&f, spelt, 4, CSI_PATH_BYTES_DEFAULT);
  assert_allowed(&f, "C:\\k\\x\\y", "C:\\k\\x\\y", "y");
  assert_refused(&f, "E:\\", CSI_PERMISSION_DENIED,
                 "path: E:\\ is not within the working directories: [c:\\k\\x D:\\a]");
  close_fixture(&f);
}

static void test_unusable_configuration(void **state) {
  (void)state;
  struct {
    const char *directory, *text;
  } rows[] = {
      {"", "working directory is empty"},
      {"var\\lib", "working directory var\\lib is not usable: it must be an absolute local path such as "
                   "C:\\var\\lib\\kubelet"},
      {"\\var", "working directory \\var is not usable: it must be an absolute local path such as "
                "C:\\var\\lib\\kubelet"},
      {"\\\\host\\share",
       "working directory \\\\host\\share is not usable: it must be an absolute local path "
       "such as C:\\var\\lib\\kubelet"},
      {"C:\\a\\..\\b", "working directory C:\\a\\..\\b is not usable: a name that ends in a dot"},
      {"C:\\a:b", "working directory C:\\a:b is not usable: a character that no name may hold"},
      {"C:\\nul", "working directory C:\\nul is not usable: the name of a device"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct csi_status status = {0};
    const char *const roots[] = {"C:\\good", rows[i].directory};
    assert_null(csi_path_policy_new(roots, 2, 260, &status));
    assert_string_equal(status.text, rows[i].text);
    assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
  }
  struct csi_status status = {0};
  assert_null(csi_path_policy_new(NULL, 0, 260, &status));
  assert_string_equal(status.text, "no working directory is configured");
}

static void assert_accepted_as(struct fixture *fixture, const char *path, const char *text) {
  csi_status_clear(&fixture->ctx.status);
  if (!csi_path_confine_unnormalised(fixture->policy, &fixture->ctx, path, &fixture->path))
    fail_msg("%s: %s", path, fixture->ctx.status.text);
  assert_string_equal(fixture->path.text, text);
}

static void assert_not_accepted(struct fixture *fixture, const char *path, enum csi_code code,
                                const char *text) {
  csi_status_clear(&fixture->ctx.status);
  assert_false(csi_path_confine_unnormalised(fixture->policy, &fixture->ctx, path, &fixture->path));
  assert_string_equal(fixture->ctx.status.text, text);
  assert_int_equal(fixture->ctx.status.code, code);
}

static void test_unnormalised_paths(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f, kubelet_only, 1, CSI_PATH_BYTES_DEFAULT);
  assert_accepted_as(&f, "/var/lib/kubelet/a", "C:\\var\\lib\\kubelet\\a");
  assert_accepted_as(&f, "\\var\\lib\\kubelet\\a", "C:\\var\\lib\\kubelet\\a");
  assert_accepted_as(&f, "c:/var\\lib/./kubelet//a/", "c:\\var\\lib\\kubelet\\a");
  assert_accepted_as(&f, "C:\\var\\lib\\kubelet\\a..b", "C:\\var\\lib\\kubelet\\a..b");
  char path[4096] = "/var/lib/kubelet/";
  memset(path + strlen(path), 'a', 4000);
  assert_true(csi_path_confine_unnormalised(f.policy, &f.ctx, path, &f.path));

  static const char *const elsewhere[] = {"\\\\host\\share\\x",
                                          "//host/share/x",
                                          "\\/host\\x",
                                          "\\\\.\\pipe\\x",
                                          "\\\\?\\C:\\var\\lib\\kubelet",
                                          "\\??\\C:\\var\\lib\\kubelet"};
  for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
    char text[128];
    snprintf(text, sizeof text, "unsupported UNC path prefix: %s", elsewhere[i]);
    assert_not_accepted(&f, elsewhere[i], CSI_INVALID_ARGUMENT, text);
  }
  assert_not_accepted(&f, "", CSI_INVALID_ARGUMENT, "not an absolute Windows path: ");
  assert_not_accepted(&f, "C:x", CSI_INVALID_ARGUMENT, "not an absolute Windows path: C:x");
  assert_not_accepted(&f, "x/y", CSI_INVALID_ARGUMENT, "not an absolute Windows path: x/y");
  assert_not_accepted(&f, "C:\\var\\lib\\kubelet\\a:b", CSI_INVALID_ARGUMENT,
                      INVALID("C:\\var\\lib\\kubelet\\a:b"));
  assert_not_accepted(&f, "/var/lib/kubelet/a/../b", CSI_INVALID_ARGUMENT,
                      INVALID("/var/lib/kubelet/a/../b (a name that ends in a dot)"));
  assert_not_accepted(&f, "/var/lib/kubelet-evil", CSI_PERMISSION_DENIED, OUTSIDE("/var/lib/kubelet-evil"));
  close_fixture(&f);
}

static void test_every_allocation_may_fail(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f, kubelet_only, 1, CSI_PATH_BYTES_DEFAULT);
  csi_arena_fail_after(1);
  assert_false(csi_path_confine(f.policy, &f.ctx, "C:\\var\\lib\\kubelet\\a", &f.path));
  assert_int_equal(f.ctx.status.code, CSI_RESOURCE_EXHAUSTED);
  csi_status_clear(&f.ctx.status);
  csi_arena_fail_after(1);
  assert_false(csi_path_confine_unnormalised(f.policy, &f.ctx, "/var/lib/kubelet/a", &f.path));
  assert_int_equal(f.ctx.status.code, CSI_RESOURCE_EXHAUSTED);
  csi_arena_fail_after(0);
  close_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases_of_the_original),
      cmocka_unit_test(test_first_rule_that_is_broken_names_the_error),
      cmocka_unit_test(test_limit_counts_bytes_of_utf8),
      cmocka_unit_test(test_components_are_compared_not_bytes),
      cmocka_unit_test(test_separators_are_normalised),
      cmocka_unit_test(test_names_that_windows_would_change),
      cmocka_unit_test(test_names_of_devices),
      cmocka_unit_test(test_working_directories_are_spared),
      cmocka_unit_test(test_configuration_is_normalised),
      cmocka_unit_test(test_unusable_configuration),
      cmocka_unit_test(test_unnormalised_paths),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
