/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls on one disk or volume follow one another, calls on others do not wait.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <time.h>

#include "volume/handlers.h"
#include "volume/volume_fixture.h"

#define PV K "\\pv"

enum {
  OTHER_DISK = 5,
  ARENA_BYTES = 1 << 20,
  MS = 1000 * 1000,
  SHORT_MS = 100,
  LONG_MS = 20 * 1000,
};

/* FormatVolume in a thread of its own. */
struct formatting {
  struct volume_fixture *f;
  pthread_t thread;
  struct csi_status status;
};

static void *format(void *data) {
  struct formatting *formatting = data;
  struct csi_volume_format_volume_request request = {.volume_id = formatting->f->id};
  struct csi_volume_format_volume_response response = {0};
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE};
  if (ctx.arena == NULL) return NULL;
  (void)csi_volume_serve_format_volume(&ctx, formatting->f->group, &request, &response);
  formatting->status = ctx.status;
  csi_arena_free(ctx.arena);
  return NULL;
}

/* Returns when the call hangs in the middle of the format. */
static void begin_hanging_format(struct formatting *formatting) {
  struct csi_fake_storage *storage = formatting->f->storage;
  csi_fake_storage_add_fault(storage, &(struct csi_fake_fault){.step = CSI_FAKE_VOLUME_FORMAT,
                                                               .disk = DATA_DISK,
                                                               .count = 1,
                                                               .hang = true,
                                                               .ignore_cancel = true});
  assert_int_equal(pthread_create(&formatting->thread, NULL, format, formatting), 0);
  while (csi_fake_storage_struck(storage) == 0)
    nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
}

/* Ends in failure when the deadline is over. */
static struct csi_status resize(struct volume_fixture *f, const char *id, int64_t timeout_ms) {
  struct csi_volume_resize_volume_request request = {.volume_id = id};
  struct csi_volume_resize_volume_response response = {0};
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = csi_now_ns() + timeout_ms * MS};
  assert_non_null(ctx.arena);
  (void)csi_volume_serve_resize_volume(&ctx, f->group, &request, &response);
  csi_arena_free(ctx.arena);
  return ctx.status;
}

static struct csi_status is_formatted(struct volume_fixture *f, int64_t timeout_ms, bool *formatted_out) {
  struct csi_volume_is_volume_formatted_request request = {.volume_id = f->id};
  struct csi_volume_is_volume_formatted_response response = {0};
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = csi_now_ns() + timeout_ms * MS};
  assert_non_null(ctx.arena);
  (void)csi_volume_serve_is_volume_formatted(&ctx, f->group, &request, &response);
  csi_arena_free(ctx.arena);
  *formatted_out = response.formatted;
  return ctx.status;
}

static void test_calls_on_one_disk_follow_one_another(void **state) {
  struct formatting formatting = {.f = *state};
  struct volume_fixture *f = *state;
  char other_id[CSI_VOLUME_ID_BYTES], neighbour_id[CSI_VOLUME_ID_BYTES];
  csi_fake_storage_add_disk(f->storage, &(struct csi_fake_disk){.number = OTHER_DISK, .size_bytes = GIB});
  csi_fake_storage_set_style(f->storage, OTHER_DISK, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, OTHER_DISK, &csi_partition_type_basic_data, 0, MIB, 16 * MIB);
  volume_id_of(f, OTHER_DISK, 1, other_id);
  csi_fake_storage_add_partition(f->storage, DATA_DISK, &csi_partition_type_basic_data, 0, GIB, 16 * MIB);
  volume_id_of(f, DATA_DISK, 3, neighbour_id);

  begin_hanging_format(&formatting);
  f->status = resize(f, f->id, SHORT_MS);
  assert_int_equal(f->status.code, CSI_DEADLINE_EXCEEDED);
  assert_says(f, "FormatVolume");
  f->status = resize(f, neighbour_id, SHORT_MS); /* the same disk */
  assert_int_equal(f->status.code, CSI_DEADLINE_EXCEEDED);
  f->status = resize(f, other_id, LONG_MS);
  if (!csi_status_ok(&f->status)) fail_msg("%s", f->status.text);
  csi_fake_storage_clear_faults(f->storage);
  pthread_join(formatting.thread, NULL);
  if (!csi_status_ok(&formatting.status)) fail_msg("%s", formatting.status.text);
  assert_ok(f, call_resize(f, f->id, 0));
}

/* In the middle of a format there is no file system, and soon there will be one. */
static void test_nobody_hears_of_a_volume_that_is_being_formatted(void **state) {
  struct formatting formatting = {.f = *state};
  struct volume_fixture *f = *state;
  bool formatted;
  begin_hanging_format(&formatting);
  f->status = is_formatted(f, SHORT_MS, &formatted);
  assert_int_equal(f->status.code, CSI_DEADLINE_EXCEEDED);
  assert_says(f, "failed to query volume file system type (");
  assert_says(f, "FormatVolume");
  csi_fake_storage_clear_faults(f->storage);
  f->status = is_formatted(f, LONG_MS, &formatted);
  if (!csi_status_ok(&f->status)) fail_msg("%s", f->status.text);
  assert_true(formatted);
  pthread_join(formatting.thread, NULL);
}

/* Whoever comes between the look at the folder and the mount point that is written there. */
struct rival {
  struct volume_fixture *f;
  char id[CSI_VOLUME_ID_BYTES];
  unsigned tries;
  struct csi_status status;
};

static void mount_rival(struct csi_fake_filesystem *files, enum csi_fake_call call, const char *name,
                        void *data) {
  (void)files;
  (void)name;
  struct rival *rival = data;
  if (call != CSI_FAKE_WRITE_REPARSE || rival->tries++ > 0) return;
  struct csi_volume_mount_volume_request request = {.volume_id = rival->id, .target_path = PV};
  struct csi_volume_mount_volume_response response = {0};
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES),
                        .deadline_ns = csi_now_ns() + (int64_t)SHORT_MS * MS};
  assert_non_null(ctx.arena);
  (void)csi_volume_serve_mount_volume(&ctx, rival->f->group, &request, &response);
  rival->status = ctx.status;
  csi_arena_free(ctx.arena);
}

static void test_two_volumes_for_one_folder(void **state) {
  struct volume_fixture *f = *state;
  struct rival rival = {.f = f};
  volume_id_of(f, SYSTEM_DISK, 1, rival.id);
  csi_fake_set_hook(f->files, mount_rival, &rival);
  assert_ok(f, call_mount(f, f->id, PV));
  csi_fake_set_hook(f->files, NULL, NULL);
  assert_int_equal(rival.tries, 1);
  assert_int_equal(rival.status.code, CSI_DEADLINE_EXCEEDED);
  assert_mounted(f, PV, true);
  assert_failed(f, call_mount(f, rival.id, PV), CSI_FAILED_PRECONDITION, "error mount volume (");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, volume_fixture_set_up, volume_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_calls_on_one_disk_follow_one_another),
      TEST(test_nobody_hears_of_a_volume_that_is_being_formatted),
      TEST(test_two_volumes_for_one_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
