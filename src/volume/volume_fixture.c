/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/volume_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "volume/handlers.h"
#include "volume/volume_id.h"

enum {
  ARENA_BYTES = 4 << 20,
  WAITING_MAX = 16,
};

static void add_disks(struct csi_fake_storage *storage) {
  csi_fake_storage_add_disk(
      storage,
      &(struct csi_fake_disk){.number = SYSTEM_DISK, .size_bytes = GIB, .roles = CSI_DISK_HOLDS_WINDOWS});
  csi_fake_storage_set_style(storage, SYSTEM_DISK, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(storage, SYSTEM_DISK, &csi_partition_type_basic_data, 0, MIB, 512 * MIB);
  csi_fake_storage_sign(storage, SYSTEM_DISK, 1, CSI_FAKE_NTFS);
  csi_fake_storage_add_disk(storage, &(struct csi_fake_disk){.number = DATA_DISK, .size_bytes = 2 * GIB});
  csi_fake_storage_set_style(storage, DATA_DISK, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(storage, DATA_DISK, &csi_partition_type_microsoft_reserved, 0, MIB,
                                 15 * MIB);
  csi_fake_storage_add_partition(storage, DATA_DISK, &csi_partition_type_basic_data, 0, 16 * MIB, 512 * MIB);
}

int volume_fixture_set_up(void **state) {
  struct volume_fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  fixture->deadline_ns = CSI_NO_DEADLINE;
  fixture->files = csi_fake_filesystem_new();
  csi_fake_add_directory(fixture->files, K "\\pv");
  fixture->storage = csi_fake_storage_new(fixture->files);
  add_disks(fixture->storage);
  fixture->locks = csi_keyed_locks_new(WAITING_MAX);
  assert_non_null(fixture->locks);
  static const char *const roots[] = {K};
  const struct csi_volume_options options = {.working_dirs = roots, .working_dir_count = 1};
  const struct csi_volume_hosts hosts = {.volumes = csi_fake_volume_host(fixture->storage),
                                         .disks = csi_fake_disk_host(fixture->storage),
                                         .files = csi_fake_filesystem_host(fixture->files)};
  fixture->group = csi_volume_new(&options, &hosts, fixture->locks, &fixture->status);
  assert_non_null(fixture->group);
  assert_true(csi_fake_storage_get_volume(fixture->storage, DATA_DISK, DATA, &fixture->data));
  csi_volume_id_format(&fixture->data, fixture->id);
  *state = fixture;
  return 0;
}

int volume_fixture_tear_down(void **state) {
  struct volume_fixture *fixture = *state;
  csi_volume_free(fixture->group);
  csi_keyed_locks_free(fixture->locks);
  csi_fake_storage_free(fixture->storage);
  csi_fake_filesystem_free(fixture->files);
  free(fixture);
  return 0;
}

void volume_id_of(struct volume_fixture *fixture, uint32_t disk, uint32_t partition,
                  char id_out[CSI_VOLUME_ID_BYTES]) {
  struct csi_guid guid;
  assert_true(csi_fake_storage_get_volume(fixture->storage, disk, partition, &guid));
  csi_volume_id_format(&guid, id_out);
}

static struct csi_ctx begin(struct volume_fixture *fixture) {
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES),
                        .deadline_ns = fixture->deadline_ns,
                        .cancelled = &fixture->cancelled,
                        .stopping = &fixture->stopping};
  assert_non_null(ctx.arena);
  fixture->id_count = 0;
  csi_arena_fail_after(fixture->fail_allocation);
  return ctx;
}

/* Takes every lock that a call could have left behind. */
static void assert_unlocked(struct volume_fixture *fixture) {
  char guid[CSI_GUID_TEXT_BYTES], volume[CSI_LOCK_KEY_BYTES];
  csi_guid_format(&fixture->data, guid);
  snprintf(volume, sizeof volume, "volume {%s}", guid);
  const char *const keys[] = {"disk 0", "disk 3", volume};
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = csi_now_ns() + 1000000000};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (!csi_keyed_lock(fixture->locks, &ctx, keys[i], "test")) fail_msg("%s", ctx.status.text);
    csi_keyed_unlock(fixture->locks, keys[i]);
  }
  csi_arena_free(ctx.arena);
}

static bool end(struct volume_fixture *fixture, struct csi_ctx *ctx, bool result) {
  fixture->allocation_failed = fixture->fail_allocation > 0 && csi_arena_fail_after(0) == 0;
  fixture->status = ctx->status;
  csi_arena_free(ctx->arena);
  assert_int_equal(csi_fake_open_handles(fixture->files), 0);
  assert_int_equal(csi_fake_storage_open_handles(fixture->storage), 0);
  assert_unlocked(fixture);
  if (result != csi_status_ok(&fixture->status)) fail_msg("result %d: %s", result, fixture->status.text);
  return result;
}

static void take_id(struct volume_fixture *fixture, const char *id) {
  assert_true(fixture->id_count < FIXTURE_IDS_MAX && strlen(id) < CSI_VOLUME_ID_BYTES);
  snprintf(fixture->ids[fixture->id_count++], CSI_VOLUME_ID_BYTES, "%s", id);
}

bool call_list(struct volume_fixture *fixture, uint32_t disk, uint32_t partition) {
  struct csi_volume_list_volumes_on_disk_request request = {.disk_number = disk,
                                                            .partition_number = partition};
  struct csi_volume_list_volumes_on_disk_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_volume_serve_list_volumes_on_disk(&ctx, fixture->group, &request, &response);
  for (size_t i = 0; i < response.volume_ids_count; i++)
    take_id(fixture, response.volume_ids[i]);
  return end(fixture, &ctx, result);
}

bool call_mount(struct volume_fixture *fixture, const char *id, const char *path) {
  struct csi_volume_mount_volume_request request = {.volume_id = id, .target_path = path};
  struct csi_volume_mount_volume_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_volume_serve_mount_volume(&ctx, fixture->group, &request, &response));
}

bool call_unmount(struct volume_fixture *fixture, const char *id, const char *path) {
  struct csi_volume_unmount_volume_request request = {.volume_id = id, .target_path = path};
  struct csi_volume_unmount_volume_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_volume_serve_unmount_volume(&ctx, fixture->group, &request, &response));
}

bool call_is_formatted(struct volume_fixture *fixture, const char *id, bool *formatted_out) {
  struct csi_volume_is_volume_formatted_request request = {.volume_id = id};
  struct csi_volume_is_volume_formatted_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_volume_serve_is_volume_formatted(&ctx, fixture->group, &request, &response);
  *formatted_out = response.formatted;
  return end(fixture, &ctx, result);
}

bool call_format(struct volume_fixture *fixture, const char *id) {
  struct csi_volume_format_volume_request request = {.volume_id = id};
  struct csi_volume_format_volume_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_volume_serve_format_volume(&ctx, fixture->group, &request, &response));
}

bool call_resize(struct volume_fixture *fixture, const char *id, int64_t size_bytes) {
  struct csi_volume_resize_volume_request request = {.volume_id = id, .size_bytes = size_bytes};
  struct csi_volume_resize_volume_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_volume_serve_resize_volume(&ctx, fixture->group, &request, &response));
}

bool call_stats(struct volume_fixture *fixture, const char *id, int64_t *total_out, int64_t *used_out) {
  struct csi_volume_get_volume_stats_request request = {.volume_id = id};
  struct csi_volume_get_volume_stats_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_volume_serve_get_volume_stats(&ctx, fixture->group, &request, &response);
  *total_out = response.total_bytes;
  *used_out = response.used_bytes;
  return end(fixture, &ctx, result);
}

bool call_disk_number(struct volume_fixture *fixture, const char *id, uint32_t *number_out) {
  struct csi_volume_get_disk_number_from_volume_id_request request = {.volume_id = id};
  struct csi_volume_get_disk_number_from_volume_id_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_volume_serve_get_disk_number_from_volume_id(&ctx, fixture->group, &request, &response);
  *number_out = response.disk_number;
  return end(fixture, &ctx, result);
}

bool call_lookup(struct volume_fixture *fixture, const char *path) {
  struct csi_volume_get_volume_id_from_target_path_request request = {.target_path = path};
  struct csi_volume_get_volume_id_from_target_path_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_volume_serve_get_volume_id_from_target_path(&ctx, fixture->group, &request, &response);
  if (result) take_id(fixture, response.volume_id);
  return end(fixture, &ctx, result);
}

bool call_closest(struct volume_fixture *fixture, const char *path) {
  struct csi_volume_get_closest_volume_id_from_target_path_request request = {.target_path = path};
  struct csi_volume_get_closest_volume_id_from_target_path_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result =
      csi_volume_serve_get_closest_volume_id_from_target_path(&ctx, fixture->group, &request, &response);
  if (result) take_id(fixture, response.volume_id);
  return end(fixture, &ctx, result);
}

bool call_write_cache(struct volume_fixture *fixture, const char *id) {
  struct csi_volume_write_volume_cache_request request = {.volume_id = id};
  struct csi_volume_write_volume_cache_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_volume_serve_write_volume_cache(&ctx, fixture->group, &request, &response));
}

void assert_ok(struct volume_fixture *fixture, bool result) {
  if (!result) fail_msg("%s", fixture->status.text);
}

void assert_failed(struct volume_fixture *fixture, bool result, enum csi_code code, const char *text) {
  assert_false(result);
  if (strncmp(fixture->status.text, text, strlen(text)) != 0)
    fail_msg("text is \"%s\", not \"%s...\"", fixture->status.text, text);
  if (fixture->status.code != code)
    fail_msg("%s: code is %s", fixture->status.text, csi_code_name(fixture->status.code));
}

void assert_says(struct volume_fixture *fixture, const char *text) {
  if (strstr(fixture->status.text, text) == NULL)
    fail_msg("text is \"%s\", without \"%s\"", fixture->status.text, text);
}

void assert_mounted(struct volume_fixture *fixture, const char *path, bool mounted) {
  bool found = call_lookup(fixture, path) && strcmp(fixture->ids[0], fixture->id) == 0;
  if (found != mounted) fail_msg("%s is mounted: %d (%s)", path, found, fixture->status.text);
}

void assert_formatted(struct volume_fixture *fixture, const char *id, bool formatted) {
  bool answer = !formatted;
  assert_ok(fixture, call_is_formatted(fixture, id, &answer));
  if (answer != formatted) fail_msg("IsVolumeFormatted(%s) is %d", id, answer);
}
