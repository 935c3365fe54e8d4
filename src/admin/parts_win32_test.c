/* SPDX-License-Identifier: Apache-2.0
 *
 * Each kind of part, present and missing, on whatever Windows this is.
 */
#include "admin/parts_win32.h"

#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
  CHECK_MS = 20000,
};
#define NS_PER_MS INT64_C(1000000)

/* Checks one part; what a failure says goes to status_out. */
static bool check(enum csi_part_kind kind, const char *name, const char *function,
                  struct csi_status *status_out) {
  const struct csi_parts_host *host = csi_parts_host_win32();
  const struct csi_part_spec part = {.kind = kind, .name = name, .functions = {function}};
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = csi_now_ns() + CHECK_MS * NS_PER_MS};
  assert_non_null(ctx.arena);
  bool is_there = host->check(host->self, &ctx, &part);
  assert_int_equal(is_there, csi_status_ok(&ctx.status));
  *status_out = ctx.status;
  csi_arena_free(ctx.arena);
  return is_there;
}

static void assert_there(enum csi_part_kind kind, const char *name, const char *function) {
  struct csi_status status;
  if (!check(kind, name, function, &status)) fail_msg("%s", status.text);
}

static void assert_missing(enum csi_part_kind kind, const char *name, const char *function,
                           const char *text) {
  struct csi_status status;
  assert_false(check(kind, name, function, &status));
  if (strstr(status.text, text) == NULL) fail_msg("%s", status.text);
}

static void test_directories(void **state) {
  (void)state;
  assert_there(CSI_PART_DIRECTORY, "C:\\windows", NULL);
  assert_missing(CSI_PART_DIRECTORY, "C:\\no such directory", NULL, "Win32 error 2 in CreateFileW");
  assert_missing(CSI_PART_DIRECTORY, "C:\\windows\\system32\\kernel32.dll", NULL, "is no directory");
}

static void test_libraries(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    assert_there(CSI_PART_LIBRARY, "version.dll", "GetFileVersionInfoW");
    assert_missing(CSI_PART_LIBRARY, "no-such-library.dll", "f", "LoadLibraryExW");
  }
  assert_missing(CSI_PART_LIBRARY, "userenv.dll", "NoSuchFunction",
                 "userenv.dll of this Windows has no NoSuchFunction");
}

static void test_services(void **state) {
  (void)state;
  struct csi_status status;
  assert_false(check(CSI_PART_SERVICE, "csi-no-such-service", NULL, &status));
  assert_int_equal(status.code, CSI_NOT_FOUND);
  /* Wine starts it with the first program, and a moment later. */
  for (int tries = 0; tries < 100 && !check(CSI_PART_SERVICE, "RpcSs", NULL, &status); tries++)
    Sleep(100);
  assert_there(CSI_PART_SERVICE, "RpcSs", NULL);
}

static void test_devices(void **state) {
  (void)state;
  assert_there(CSI_PART_DEVICE, "\\\\.\\MountPointManager", NULL);
  assert_missing(CSI_PART_DEVICE, "\\\\.\\CsiNoSuchDevice", NULL, "CreateFileW");
}

/* Of this process. */
static void enable(const wchar_t *name_w, bool enabled) {
  TOKEN_PRIVILEGES privileges = {.PrivilegeCount = 1};
  HANDLE token;
  privileges.Privileges[0].Attributes = enabled ? SE_PRIVILEGE_ENABLED : 0;
  assert_true(LookupPrivilegeValueW(NULL, name_w, &privileges.Privileges[0].Luid));
  assert_true(OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES, &token));
  assert_true(AdjustTokenPrivileges(token, FALSE, &privileges, 0, NULL, NULL));
  assert_int_equal(GetLastError(), ERROR_SUCCESS);
  CloseHandle(token);
}

/* One that every account has, on and off; and one that no system knows. */
static void test_privileges(void **state) {
  (void)state;
  struct csi_status status;
  assert_there(CSI_PART_PRIVILEGE, "SeChangeNotifyPrivilege", NULL);
  enable(L"SeChangeNotifyPrivilege", false);
  assert_missing(CSI_PART_PRIVILEGE, "SeChangeNotifyPrivilege", NULL,
                 "the service does not have SeChangeNotifyPrivilege");
  enable(L"SeChangeNotifyPrivilege", true);
  assert_there(CSI_PART_PRIVILEGE, "SeChangeNotifyPrivilege", NULL);
  assert_false(check(CSI_PART_PRIVILEGE, "SeNoSuchPrivilege", NULL, &status));
  assert_int_equal(status.number, CSI_PART_NO_SUCH_PRIVILEGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_directories), cmocka_unit_test(test_libraries),  cmocka_unit_test(test_services),
      cmocka_unit_test(test_devices),     cmocka_unit_test(test_privileges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
