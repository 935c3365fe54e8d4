/* SPDX-License-Identifier: Apache-2.0
 *
 * ResizeVolume.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "volume/volume_fixture.h"

enum {
  CLUSTER_BYTES = 4096,
  ARENA_BYTES = 1 << 20,
};

/* Length of the data partition. */
static uint64_t partition_bytes(struct volume_fixture *f) {
  struct csi_arena *arena = csi_arena_new(ARENA_BYTES);
  assert_non_null(arena);
  struct csi_layout layout;
  csi_fake_storage_get_layout(f->storage, DATA_DISK, arena, &layout);
  uint64_t bytes = 0;
  for (size_t i = 0; i < layout.partition_count; i++)
    if (layout.partitions[i].number == DATA) bytes = layout.partitions[i].length_bytes;
  csi_arena_free(arena);
  return bytes;
}

static uint64_t total_bytes(struct volume_fixture *f) {
  int64_t total, used;
  assert_ok(f, call_stats(f, f->id, &total, &used));
  return (uint64_t)total;
}

/* The partition has this length and the file system fills it. */
static void assert_size(struct volume_fixture *f, uint64_t length_bytes) {
  uint64_t have = partition_bytes(f), total = total_bytes(f);
  if (have != length_bytes) fail_msg("partition: %" PRIu64 ", not %" PRIu64, have, length_bytes);
  if (total > length_bytes || length_bytes - total > 2 * CLUSTER_BYTES)
    fail_msg("file system: %" PRIu64 " of %" PRIu64, total, length_bytes);
}

static void format(struct volume_fixture *f) {
  assert_ok(f, call_format(f, f->id));
  assert_size(f, 512 * MIB);
}

static size_t count(struct volume_fixture *f, enum csi_fake_step step) {
  return csi_fake_storage_count_steps(f->storage, step, CSI_FAKE_ANY_DISK);
}

#define ALL_THERE_IS (2 * GIB - 16 * MIB - MIB) /* the last MiB has the second table */

static void test_to_the_maximum(void **state) {
  struct volume_fixture *f = *state;
  format(f);
  assert_ok(f, call_resize(f, f->id, 0));
  assert_size(f, ALL_THERE_IS);
  size_t grown = count(f, CSI_FAKE_DISK_GROW_PARTITION);
  assert_ok(f, call_resize(f, f->id, 0)); /* again */
  assert_size(f, ALL_THERE_IS);
  assert_int_equal(count(f, CSI_FAKE_DISK_GROW_PARTITION), grown);
}

static void test_to_a_size(void **state) {
  struct volume_fixture *f = *state;
  format(f);
  assert_ok(f, call_resize(f, f->id, (int64_t)(513 * MIB))); /* the original ignored less than 100 MiB */
  assert_size(f, 513 * MIB);
  assert_ok(f, call_resize(f, f->id, (int64_t)(513 * MIB + 64 * 1024 + 1)));
  assert_size(f, 513 * MIB + 64 * 1024 + 4096);
  assert_ok(f, call_resize(f, f->id, (int64_t)GIB));
  assert_size(f, GIB);
}

static void test_smaller_changes_nothing(void **state) {
  struct volume_fixture *f = *state;
  format(f);
  assert_ok(f, call_resize(f, f->id, (int64_t)(512 * MIB)));
  assert_ok(f, call_resize(f, f->id, (int64_t)(100 * MIB)));
  assert_ok(f, call_resize(f, f->id, 1));
  assert_size(f, 512 * MIB);
  assert_int_equal(count(f, CSI_FAKE_DISK_GROW_PARTITION), 0);
  assert_int_equal(count(f, CSI_FAKE_VOLUME_EXTEND), 0);
}

static void test_too_large(void **state) {
  struct volume_fixture *f = *state;
  format(f);
  assert_failed(f, call_resize(f, f->id, (int64_t)(3 * GIB)), CSI_OUT_OF_RANGE,
                "error getting sizeMin, sizeMax from volume (");
  assert_says(f, "the volume can have 2129657856 bytes at most, now it has 536870912");
  assert_failed(f, call_resize(f, f->id, INT64_MAX), CSI_OUT_OF_RANGE, "error getting sizeMin, sizeMax from");
  assert_size(f, 512 * MIB);
  assert_ok(f, call_resize(f, f->id, (int64_t)(ALL_THERE_IS + MIB - 1))); /* alignment */
  assert_size(f, ALL_THERE_IS);
}

static void test_bad_arguments(void **state) {
  struct volume_fixture *f = *state;
  assert_failed(f, call_resize(f, "", 0), CSI_INVALID_ARGUMENT, "volume id empty");
  assert_failed(f, call_resize(f, "3", 0), CSI_NOT_FOUND, "failed to query volume 3: not found");
  assert_failed(f, call_resize(f, NO_VOLUME, 0), CSI_NOT_FOUND,
                "failed to query volume " NO_VOLUME ": not found: ");
  assert_failed(f, call_resize(f, NO_VOLUME, -5), CSI_INVALID_ARGUMENT,
                "invalid negative size -5 for volume (" NO_VOLUME ")");
}

static void test_grown_disk_is_seen(void **state) {
  struct volume_fixture *f = *state;
  format(f);
  assert_ok(f, call_resize(f, f->id, 0));
  csi_fake_storage_grow_disk(f->storage, DATA_DISK, 5 * GIB);
  assert_ok(f, call_resize(f, f->id, 0));
  assert_size(f, 5 * GIB - 16 * MIB - MIB);
}

static void test_up_to_the_next_partition(void **state) {
  struct volume_fixture *f = *state;
  format(f);
  csi_fake_storage_add_partition(f->storage, DATA_DISK, &csi_partition_type_basic_data, 0, 700 * MIB,
                                 10 * MIB);
  assert_ok(f, call_resize(f, f->id, 0));
  assert_size(f, 684 * MIB);
}

static void test_unformatted_volume(void **state) {
  struct volume_fixture *f = *state;
  assert_ok(f, call_resize(f, f->id, 0));
  assert_true(partition_bytes(f) == ALL_THERE_IS);
  assert_formatted(f, f->id, false);
}

static void test_file_system_that_cannot_grow(void **state) {
  struct volume_fixture *f = *state;
  format(f);
  /* As FAT: the file system answers, but not to this. */
  csi_fake_storage_add_fault(
      f->storage,
      &(struct csi_fake_fault){.step = CSI_FAKE_VOLUME_GET_FILE_SYSTEM_SIZE, .disk = DATA_DISK, .error = 1});
  assert_failed(f, call_resize(f, f->id, 0), CSI_FAILED_PRECONDITION, "error resizing volume (");
  assert_says(f, "cannot grow");
  assert_int_equal(count(f, CSI_FAKE_DISK_GROW_PARTITION), 0);
  assert_ok(f, call_resize(f, f->id, 5)); /* it would not have to */
}

static void test_locked_volume(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_sign(f->storage, DATA_DISK, DATA, CSI_FAKE_BITLOCKER);
  assert_false(call_resize(f, f->id, 0));
  assert_int_equal(f->status.number, CSI_FAKE_BITLOCKER_LOCKED);
  assert_int_equal(count(f, CSI_FAKE_DISK_GROW_PARTITION), 0);
}

static void test_half_done_is_finished(void **state) {
  struct volume_fixture *f = *state;
  format(f);
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_EXTEND, 1, 1117);
  assert_failed(f, call_resize(f, f->id, (int64_t)GIB), CSI_DATA_LOSS, "error resizing volume (");
  assert_says(f, ". size:1073741824, finalSize 1073741824, error: ");
  assert_says(f, "(the partition has its new size; the next call goes on from there)");
  assert_true(partition_bytes(f) == GIB);
  assert_true(total_bytes(f) < 512 * MIB);
  assert_ok(f, call_resize(f, f->id, (int64_t)(100 * MIB))); /* still nothing to do */
  assert_true(total_bytes(f) < 512 * MIB);
  assert_ok(f, call_resize(f, f->id, (int64_t)GIB));
  assert_size(f, GIB);
}

static void test_volume_that_comes_and_goes(void **state) {
  struct volume_fixture *f = *state;
  format(f);
  static const uint32_t errors[] = {1, 2, 6, 21, 32, 55, 87, 433, 1167};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_EXTEND, 1, errors[i]);
    uint64_t size = (600 + 10 * i) * MIB;
    assert_ok(f, call_resize(f, f->id, (int64_t)size));
    assert_size(f, size);
  }
}

static void test_volume_that_stays_away(void **state) {
  struct volume_fixture *f = *state;
  format(f);
  csi_fake_storage_add_fault(
      f->storage, &(struct csi_fake_fault){.step = CSI_FAKE_VOLUME_EXTEND, .disk = DATA_DISK, .error = 21});
  f->deadline_ns = csi_now_ns() + 1000 * 1000000;
  assert_failed(f, call_resize(f, f->id, 0), CSI_DEADLINE_EXCEEDED, "error resizing volume (");
  assert_says(f, " after: ");
  f->deadline_ns = CSI_NO_DEADLINE;
  csi_fake_storage_clear_faults(f->storage);
  assert_ok(f, call_resize(f, f->id, 0));
  assert_size(f, ALL_THERE_IS);
}

static void test_windows_is_spared(void **state) {
  struct volume_fixture *f = *state;
  char id[CSI_VOLUME_ID_BYTES];
  volume_id_of(f, SYSTEM_DISK, 1, id);
  assert_failed(f, call_resize(f, id, 0), CSI_FAILED_PRECONDITION, "error getting sizeMin, sizeMax from");
  assert_says(f, "disk 0 holds Windows");
  assert_int_equal(count(f, CSI_FAKE_DISK_GROW_PARTITION), 0);
}

static void test_volume_in_pieces(void **state) {
  struct volume_fixture *f = *state;
  struct csi_extent more = {.disk_number = SYSTEM_DISK, .offset_bytes = MIB, .length_bytes = MIB};
  csi_fake_storage_span(f->storage, &f->data, &more);
  assert_failed(f, call_resize(f, f->id, 0), CSI_FAILED_PRECONDITION, "error resizing volume (");
  assert_says(f, "the volume consists of 2 pieces");
}

static void test_mbr(void **state) {
  struct volume_fixture *f = *state;
  char id[CSI_VOLUME_ID_BYTES];
  csi_fake_storage_add_disk(f->storage, &(struct csi_fake_disk){.number = 5, .size_bytes = GIB});
  csi_fake_storage_set_style(f->storage, 5, CSI_PARTITION_STYLE_MBR);
  csi_fake_storage_add_partition(f->storage, 5, NULL, 7, MIB, 100 * MIB);
  volume_id_of(f, 5, 1, id);
  assert_ok(f, call_format(f, id));
  assert_ok(f, call_resize(f, id, 0));
  int64_t total, used;
  assert_ok(f, call_stats(f, id, &total, &used));
  assert_true(total > (int64_t)(1022 * MIB) && total <= (int64_t)(1023 * MIB));
}

/* Other hosts than the fake's own. */
static void use_hosts(struct volume_fixture *f, const struct csi_volume_host *volumes,
                      const struct csi_disk_host *disks) {
  const struct csi_volume_options options = {0};
  const struct csi_volume_hosts hosts = {
      .volumes = volumes, .disks = disks, .files = csi_fake_filesystem_host(f->files)};
  csi_volume_free(f->group);
  f->group = csi_volume_new(&options, &hosts, f->locks, &f->status);
  assert_non_null(f->group);
}

static void use_disks(struct volume_fixture *f, const struct csi_disk_host *disks) {
  use_hosts(f, csi_fake_volume_host(f->storage), disks);
}

static const struct csi_disk_host *true_host;
static struct csi_layout false_layout;

/* A table that says something else; none to begin with. */
static bool get_false_layout(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                             struct csi_layout *layout_out) {
  if (false_layout.partition_count == 0) return true_host->get_layout(self, ctx, disk, layout_out);
  *layout_out = false_layout;
  return true;
}

static const struct csi_volume_host *true_volumes;
static unsigned extents_asked;

/* The volume is on another disk from the second look on. */
static bool get_moving_extents(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume,
                               struct csi_extent **extents_out, size_t *count_out) {
  if (!true_volumes->get_extents(self, ctx, volume, extents_out, count_out)) return false;
  if (extents_asked++ > 0) (*extents_out)[0].disk_number = SYSTEM_DISK;
  return true;
}

/* Where the volume is one of many in a container, or has its size elsewhere. */
static void test_dynamic_disks_are_left_alone(void **state) {
  struct volume_fixture *f = *state;
  static const struct csi_guid ldm_data = {
      0xaf9b60a0, 0x1431, 0x4f62, {0xbc, 0x68, 0x33, 0x11, 0x71, 0x4a, 0x69, 0xad}};
  struct csi_arena *arena = csi_arena_new(ARENA_BYTES);
  struct csi_layout layout;
  assert_non_null(arena);
  true_host = csi_fake_disk_host(f->storage);
  struct csi_disk_host disks = *true_host;
  disks.get_layout = get_false_layout;
  use_disks(f, &disks);
  format(f);
  csi_fake_storage_get_layout(f->storage, DATA_DISK, arena, &layout);
  false_layout = layout;
  for (int way = 0; way < 3; way++) {
    struct csi_partition partition = layout.partitions[1];
    false_layout.partitions = &partition;
    false_layout.partition_count = 1;
    false_layout.style = way == 1 ? CSI_PARTITION_STYLE_MBR : CSI_PARTITION_STYLE_GPT;
    partition.mbr_type = 0x42;
    if (way == 0) partition.type = ldm_data;
    if (way == 2) partition.length_bytes += MIB;
    assert_failed(f, call_resize(f, f->id, 0), CSI_FAILED_PRECONDITION,
                  "error getting sizeMin, sizeMax from");
    assert_says(f, "dynamic disks are not resized");
  }
  assert_int_equal(count(f, CSI_FAKE_DISK_GROW_PARTITION), 0);
  csi_arena_free(arena);
}

static void test_volume_that_moves_meanwhile(void **state) {
  struct volume_fixture *f = *state;
  struct csi_volume_host volumes = *csi_fake_volume_host(f->storage);
  true_volumes = csi_fake_volume_host(f->storage);
  volumes.get_extents = get_moving_extents;
  extents_asked = 0;
  use_hosts(f, &volumes, csi_fake_disk_host(f->storage));
  assert_failed(f, call_resize(f, f->id, 0), CSI_UNAVAILABLE, "error getting sizeMin, sizeMax from");
  assert_says(f, "the volume has moved to disk 0");
  assert_int_equal(count(f, CSI_FAKE_DISK_GROW_PARTITION), 0);
}

/* A host that goes on telling the table of before the disk grew, until something moves it. */
static uint64_t old_end_bytes;

static bool get_old_layout(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                           struct csi_layout *layout_out) {
  if (!true_host->get_layout(self, ctx, disk, layout_out)) return false;
  if (old_end_bytes > 0) layout_out->usable_length_bytes = old_end_bytes - layout_out->usable_offset_bytes;
  return true;
}

static bool grow_with_new_layout(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                                 uint32_t partition_number, uint64_t grow_bytes) {
  old_end_bytes = 0;
  return true_host->grow_partition(self, ctx, disk, partition_number, grow_bytes);
}

static bool refuse_to_grow(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                           uint32_t partition_number, uint64_t grow_bytes) {
  if (old_end_bytes == 0) return true_host->grow_partition(self, ctx, disk, partition_number, grow_bytes);
  return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, 87, "IOCTL_DISK_GROW_PARTITION", "disk");
}

static bool set_new_layout(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                           const struct csi_layout *layout) {
  old_end_bytes = 0;
  return true_host->set_layout(self, ctx, disk, layout);
}

static void grow_disk_with_old_table(struct volume_fixture *f, struct csi_disk_host *disks) {
  format(f);
  disks->get_layout = get_old_layout;
  old_end_bytes = 2 * GIB - 33 * 512;
  use_disks(f, disks);
  csi_fake_storage_grow_disk(f->storage, DATA_DISK, 5 * GIB);
}

static struct csi_disk_host disks_of(struct volume_fixture *f) {
  true_host = csi_fake_disk_host(f->storage);
  return *true_host;
}

static void test_old_table_of_a_grown_disk(void **state) {
  struct volume_fixture *f = *state;
  struct csi_disk_host disks = disks_of(f);
  disks.grow_partition = grow_with_new_layout;
  grow_disk_with_old_table(f, &disks);
  assert_ok(f, call_resize(f, f->id, 0));
  assert_size(f, 5 * GIB - 16 * MIB - MIB);
  assert_int_equal(count(f, CSI_FAKE_DISK_SET_LAYOUT), 0);
}

/* The partition does not grow, or grows beyond the table, before the table is written again. */
static void test_old_table_is_written_again(void **state) {
  for (int refuses = 0; refuses < 2; refuses++) {
    if (refuses > 0) {
      volume_fixture_tear_down(state);
      volume_fixture_set_up(state);
    }
    struct volume_fixture *f = *state;
    struct csi_disk_host disks = disks_of(f);
    disks.set_layout = set_new_layout;
    if (refuses > 0) disks.grow_partition = refuse_to_grow;
    grow_disk_with_old_table(f, &disks);
    assert_ok(f, call_resize(f, f->id, 0));
    assert_size(f, 5 * GIB - 16 * MIB - MIB);
    assert_int_equal(count(f, CSI_FAKE_DISK_SET_LAYOUT), 1);
  }
}

/* A file system must not fill what lies behind the table's copy. */
static void test_table_that_stays_old(void **state) {
  struct volume_fixture *f = *state;
  struct csi_disk_host disks = disks_of(f);
  grow_disk_with_old_table(f, &disks);
  for (int call = 0; call < 2; call++) { /* the second one finds the partition grown */
    assert_failed(f, call_resize(f, f->id, 0), CSI_INTERNAL, "error resizing volume (");
    assert_says(f, "ends where the table does not let it");
  }
  assert_int_equal(count(f, CSI_FAKE_VOLUME_EXTEND), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, volume_fixture_set_up, volume_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_to_the_maximum),
      TEST(test_to_a_size),
      TEST(test_smaller_changes_nothing),
      TEST(test_too_large),
      TEST(test_bad_arguments),
      TEST(test_grown_disk_is_seen),
      TEST(test_old_table_of_a_grown_disk),
      TEST(test_old_table_is_written_again),
      TEST(test_table_that_stays_old),
      TEST(test_dynamic_disks_are_left_alone),
      TEST(test_volume_that_moves_meanwhile),
      TEST(test_up_to_the_next_partition),
      TEST(test_unformatted_volume),
      TEST(test_file_system_that_cannot_grow),
      TEST(test_locked_volume),
      TEST(test_half_done_is_finished),
      TEST(test_volume_that_comes_and_goes),
      TEST(test_volume_that_stays_away),
      TEST(test_windows_is_spared),
      TEST(test_volume_in_pieces),
      TEST(test_mbr),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
