/* SPDX-License-Identifier: Apache-2.0
 *
 * The host on a machine without disks of its own, as Wine is: that it links, loads what it needs when it
 * needs it, and reports what is missing. The testbed's tests run it on disks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "disk/host_win32.h"

enum {
  ARENA_BYTES = 1 << 20,
  NO_DISK = 4711,
};

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

static void assert_ok(const struct csi_ctx *ctx, bool result) {
  if (!result) fail_msg("%s", ctx->status.text);
}

static void test_guids_differ(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_disk_host *host = csi_disk_host_win32();
  struct csi_guid first, second;
  assert_ok(ctx, host->new_guid(host->self, ctx, &first));
  assert_ok(ctx, host->new_guid(host->self, ctx, &second));
  assert_false(csi_guid_equal(&first, &second));
  assert_int_equal(first.data3 >> 12, 4);
  assert_int_equal(first.data4[0] >> 6, 2);
}

static void test_every_listed_disk_has_a_path(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_disk_host *host = csi_disk_host_win32();
  const char **paths;
  size_t count;
  assert_ok(ctx, host->list(host->self, ctx, &paths, &count));
  for (size_t i = 0; i < count; i++)
    assert_memory_equal(paths[i], "\\\\?\\", 4);
}

static void test_missing_disk(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_disk_host *host = csi_disk_host_win32();
  struct csi_open_disk *disk;
  assert_false(host->open_number(host->self, ctx, NO_DISK, CSI_DISK_QUERY, &disk));
  assert_int_equal(ctx->status.code, CSI_NOT_FOUND);
  assert_non_null(strstr(ctx->status.text, "disk 4711"));
}

static void test_missing_volume(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_disk_host *host = csi_disk_host_win32();
  char volume_id[CSI_VOLUME_ID_BYTES];
  assert_false(host->find_volume(host->self, ctx, NO_DISK, 1, volume_id));
  assert_int_equal(ctx->status.code, CSI_NOT_FOUND);
  csi_status_clear(&ctx->status);
  assert_false(host->online_volume(host->self, ctx, NO_DISK, 1));
  assert_int_equal(ctx->status.code, CSI_NOT_FOUND);
}

static void test_nothing_of_windows_is_on_a_missing_disk(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_disk_host *host = csi_disk_host_win32();
  unsigned roles = 1;
  assert_ok(ctx, host->get_roles(host->self, ctx, NO_DISK, &roles));
  assert_int_equal(roles, 0);
}

static void test_rescan(void **state) {
  struct csi_ctx *ctx = *state;
  const struct csi_disk_host *host = csi_disk_host_win32();
  assert_ok(ctx, host->rescan(host->self, ctx));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_guids_differ),
      TEST(test_every_listed_disk_has_a_path),
      TEST(test_missing_disk),
      TEST(test_missing_volume),
      TEST(test_nothing_of_windows_is_on_a_missing_disk),
      TEST(test_rescan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
