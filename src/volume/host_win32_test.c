/* SPDX-License-Identifier: Apache-2.0
 *
 * The host on the drive that every machine has; what changes volumes needs disks of its own and is proven
 * with those of integrationtests/testbed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <windows.h>

#include "volume/host_win32.h"
#include "volume/volume_id.h"

enum {
  ARENA_BYTES = 1 << 20,
};

static const struct csi_volume_host *host;
static struct csi_ctx ctx;

static int set_up(void **state) {
  (void)state;
  host = csi_volume_host_win32();
  ctx = (struct csi_ctx){.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE};
  return ctx.arena == NULL;
}

static int tear_down(void **state) {
  (void)state;
  csi_arena_free(ctx.arena);
  return 0;
}

static struct csi_guid drive_c(void) {
  struct csi_guid guid = {0};
  if (!host->get_drive_volume(host->self, &ctx, "C:\\", &guid)) fail_msg("%s", ctx.status.text);
  return guid;
}

static void test_the_volume_of_a_drive(void **unused) {
  (void)unused;
  struct csi_guid guid = drive_c();
  wchar_t expected_w[CSI_VOLUME_ID_BYTES];
  char id[CSI_VOLUME_ID_BYTES], expected[CSI_VOLUME_ID_BYTES] = "";
  assert_true(GetVolumeNameForVolumeMountPointW(L"C:\\", expected_w, CSI_VOLUME_ID_BYTES));
  WideCharToMultiByte(CP_UTF8, 0, expected_w, -1, expected, sizeof expected, NULL, NULL);
  csi_volume_id_format(&guid, id);
  assert_int_equal(_stricmp(id, expected), 0);

  assert_false(host->get_drive_volume(host->self, &ctx, "Q:\\", &guid));
  assert_string_equal(ctx.status.call, "GetVolumeNameForVolumeMountPointW");
}

static void test_space_and_file_system_of_a_volume(void **unused) {
  (void)unused;
  struct csi_guid guid = drive_c();
  struct csi_volume_space space;
  char name[CSI_FILE_SYSTEM_NAME_BYTES];
  ULARGE_INTEGER total;
  assert_true(host->get_space(host->self, &ctx, &guid, &space));
  assert_true(GetDiskFreeSpaceExW(L"C:\\", NULL, &total, NULL));
  assert_int_equal(space.total_bytes, total.QuadPart);
  assert_true(space.free_bytes > 0 && space.free_bytes < space.total_bytes);
  assert_true(host->get_file_system(host->self, &ctx, &guid, name));
  assert_string_equal(name, "NTFS");
}

static void test_the_disk_of_a_volume(void **unused) {
  (void)unused;
  struct csi_guid guid = drive_c();
  struct csi_open_volume *volume;
  uint32_t disk = UINT32_MAX, partition = UINT32_MAX;
  if (!host->open(host->self, &ctx, &guid, CSI_VOLUME_QUERY, &volume)) fail_msg("%s", ctx.status.text);
  assert_true(host->get_partition(host->self, &ctx, volume, &disk, &partition));
  assert_int_equal(disk, 0);
  host->close(host->self, volume);
}

static void test_an_unknown_volume_is_not_found(void **unused) {
  (void)unused;
  static const struct csi_guid guid = {0x01234567, 0x89ab, 0xcdef, {1, 2, 3, 4, 5, 6, 7, 8}};
  struct csi_open_volume *volume;
  struct csi_volume_space space;
  char name[CSI_FILE_SYSTEM_NAME_BYTES];
  assert_false(host->open(host->self, &ctx, &guid, CSI_VOLUME_READ, &volume));
  assert_int_equal(ctx.status.code, CSI_NOT_FOUND);
  assert_int_equal(ctx.status.number, ERROR_FILE_NOT_FOUND);
  assert_string_equal(ctx.status.text,
                      "\\\\?\\Volume{01234567-89ab-cdef-0102-030405060708}\\: The system cannot "
                      "find the file specified. (Win32 error 2 in CreateFileW)");
  csi_status_clear(&ctx.status);
  assert_false(host->get_space(host->self, &ctx, &guid, &space));
  assert_int_equal(ctx.status.code, CSI_NOT_FOUND);
  csi_status_clear(&ctx.status);
  assert_false(host->get_file_system(host->self, &ctx, &guid, name));
  assert_int_equal(ctx.status.code, CSI_NOT_FOUND);
}

static void test_the_system_drive_does_not_depend_on_the_directory(void **unused) {
  (void)unused;
  assert_true(SetCurrentDirectoryW(L"Z:\\"));
  assert_int_equal(host->get_system_drive(host->self), 'C');
}

int main(void) {
#define HOST_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_the_volume_of_a_drive),
      HOST_TEST(test_space_and_file_system_of_a_volume),
      HOST_TEST(test_the_disk_of_a_volume),
      HOST_TEST(test_an_unknown_volume_is_not_found),
      HOST_TEST(test_the_system_drive_does_not_depend_on_the_directory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
