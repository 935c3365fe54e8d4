/* SPDX-License-Identifier: Apache-2.0
 *
 * The disks in memory keep the rules that handlers are tested against.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage_fake.h"

enum {
  DISK = 3,
  MS_IN_NS = 1000000,
};
static const uint64_t gib = UINT64_C(1) << 30, mib = UINT64_C(1) << 20;

struct scene {
  struct csi_fake_filesystem *files;
  struct csi_fake_storage *storage;
  const struct csi_disk_host *disks;
  const struct csi_volume_host *volumes;
  struct csi_ctx ctx;
  struct csi_open_disk *disk; /* open for writing */
};

static int set_up(void **state) {
  struct scene *s = calloc(1, sizeof *s);
  s->files = csi_fake_filesystem_new();
  s->storage = csi_fake_storage_new(s->files);
  s->disks = csi_fake_disk_host(s->storage);
  s->volumes = csi_fake_volume_host(s->storage);
  s->ctx = (struct csi_ctx){.arena = csi_arena_new(16 << 20), .deadline_ns = CSI_NO_DEADLINE};
  csi_fake_storage_add_disk(s->storage, &(struct csi_fake_disk){.number = DISK, .size_bytes = gib});
  assert_true(s->disks->open_number(s->disks->self, &s->ctx, DISK, CSI_DISK_READ_WRITE, &s->disk));
  *state = s;
  return 0;
}

static int tear_down(void **state) {
  struct scene *s = *state;
  s->disks->close(s->disks->self, s->disk);
  assert_int_equal(csi_fake_storage_open_handles(s->storage), 0);
  csi_fake_storage_free(s->storage);
  csi_fake_filesystem_free(s->files);
  csi_arena_free(s->ctx.arena);
  free(s);
  return 0;
}

static void assert_error(struct scene *s, bool result, uint32_t error) {
  assert_false(result);
  assert_int_equal(s->ctx.status.number, error);
  csi_status_clear(&s->ctx.status);
}

static bool set(struct scene *s, uint64_t offset_bytes, uint64_t length_bytes) {
  struct csi_layout layout;
  assert_true(s->disks->get_layout(s->disks->self, &s->ctx, s->disk, &layout));
  struct csi_partition partitions[8];
  memcpy(partitions, layout.partitions, layout.partition_count * sizeof *partitions);
  struct csi_partition *added = &partitions[layout.partition_count++];
  *added = (struct csi_partition){
      .offset_bytes = offset_bytes, .length_bytes = length_bytes, .type = csi_partition_type_basic_data};
  assert_true(s->disks->new_guid(s->disks->self, &s->ctx, &added->id));
  layout.partitions = partitions;
  layout.style = CSI_PARTITION_STYLE_GPT;
  return s->disks->set_layout(s->disks->self, &s->ctx, s->disk, &layout);
}

static void test_a_raw_disk_takes_no_layout(void **state) {
  struct scene *s = *state;
  assert_error(s, set(s, mib, 100 * mib), CSI_FAKE_INVALID_PARAMETER);
  assert_true(s->disks->create_gpt(s->disks->self, &s->ctx, s->disk));
  assert_true(set(s, mib, 100 * mib));
}

static void test_layouts_are_checked(void **state) {
  struct scene *s = *state;
  assert_true(s->disks->create_gpt(s->disks->self, &s->ctx, s->disk));
  assert_true(set(s, 200 * mib, 100 * mib));
  assert_error(s, set(s, 299 * mib, 10 * mib), CSI_FAKE_INVALID_PARAMETER); /* overlaps */
  assert_error(s, set(s, 100, 10 * mib), CSI_FAKE_INVALID_PARAMETER);       /* before the usable space */
  assert_error(s, set(s, mib + 1, mib), CSI_FAKE_INVALID_PARAMETER);        /* not on a sector */
  assert_error(s, set(s, gib - mib, mib), CSI_FAKE_INVALID_PARAMETER);      /* over the backup table */
  assert_true(set(s, mib, 100 * mib));
  struct csi_layout layout;
  assert_true(s->disks->get_layout(s->disks->self, &s->ctx, s->disk, &layout));
  assert_int_equal(layout.partition_count, 2);
  assert_int_equal(layout.partitions[0].offset_bytes, mib);
  assert_int_equal(layout.partitions[0].number, 2); /* who was there keeps the number */
  assert_int_equal(layout.partitions[1].number, 1);
}

static void test_attributes_guard_the_layout(void **state) {
  struct scene *s = *state;
  csi_fake_storage_set_attributes(s->storage, DISK, true, false);
  assert_error(s, s->disks->create_gpt(s->disks->self, &s->ctx, s->disk), CSI_FAKE_OFFLINE);
  csi_fake_storage_set_attributes(s->storage, DISK, false, true);
  assert_error(s, s->disks->create_gpt(s->disks->self, &s->ctx, s->disk), CSI_FAKE_WRITE_PROTECTED);
  const uint64_t mask = CSI_DISK_ATTRIBUTE_OFFLINE | CSI_DISK_ATTRIBUTE_READ_ONLY;
  assert_true(s->disks->set_attributes(s->disks->self, &s->ctx, s->disk, 0, mask));
  assert_true(s->disks->create_gpt(s->disks->self, &s->ctx, s->disk));
}

static struct csi_guid partition(struct scene *s) {
  struct csi_guid guid;
  csi_fake_storage_set_style(s->storage, DISK, CSI_PARTITION_STYLE_GPT);
  uint32_t number =
      csi_fake_storage_add_partition(s->storage, DISK, &csi_partition_type_basic_data, 0, mib, 100 * mib);
  assert_true(csi_fake_storage_get_volume(s->storage, DISK, number, &guid));
  return guid;
}

static void test_a_volume_takes_its_time(void **state) {
  struct scene *s = *state;
  char id[CSI_VOLUME_ID_BYTES];
  csi_fake_storage_set_volume_delay(s->storage, DISK, 100);
  struct csi_guid guid = partition(s);
  assert_error(s, s->disks->find_volume(s->disks->self, &s->ctx, DISK, 1, id), CSI_FAKE_NO_SUCH_DISK);
  assert_true(s->disks->wait_for_volumes(s->disks->self, &s->ctx, s->disk));
  assert_true(s->disks->find_volume(s->disks->self, &s->ctx, DISK, 1, id));
  struct csi_layout layout;
  csi_fake_storage_get_layout(s->storage, DISK, s->ctx.arena, &layout);
  assert_false(csi_guid_equal(&guid, &layout.partitions[0].id));
  csi_fake_storage_set_attributes(s->storage, DISK, true, false);
  assert_false(csi_fake_storage_has_volume(s->storage, &guid));
  s->ctx.deadline_ns = csi_now_ns() + 10 * MS_IN_NS;
  csi_fake_storage_set_attributes(s->storage, DISK, false, false);
  assert_false(s->disks->wait_for_volumes(s->disks->self, &s->ctx, s->disk));
  assert_int_equal(s->ctx.status.code, CSI_DEADLINE_EXCEEDED);
}

static void test_without_automount_a_volume_has_no_name(void **state) {
  struct scene *s = *state;
  csi_fake_storage_set_automount(s->storage, false);
  struct csi_guid guid = partition(s);
  assert_true(s->disks->wait_for_volumes(s->disks->self, &s->ctx, s->disk));
  assert_false(csi_fake_storage_has_volume(s->storage, &guid));
  assert_true(s->disks->online_volume(s->disks->self, &s->ctx, DISK, 1));
  assert_true(csi_fake_storage_has_volume(s->storage, &guid));
}

static void test_file_systems_are_what_the_sectors_say(void **state) {
  struct scene *s = *state;
  char name[CSI_FILE_SYSTEM_NAME_BYTES];
  struct csi_guid guid = partition(s);
  const struct csi_volume_host *volumes = s->volumes;
  static const struct {
    enum csi_fake_signature signature;
    uint32_t error;
  } cases[] = {{CSI_FAKE_RAW, CSI_FAKE_UNRECOGNIZED},
               {CSI_FAKE_NTFS, 0},
               {CSI_FAKE_REFS, 0},
               {CSI_FAKE_BITLOCKER, CSI_FAKE_BITLOCKER_LOCKED},
               {CSI_FAKE_FAT32, CSI_FAKE_UNRECOGNIZED},
               {CSI_FAKE_NOISE, CSI_FAKE_UNRECOGNIZED}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    csi_fake_storage_sign(s->storage, DISK, 1, cases[i].signature);
    bool known = volumes->get_file_system(volumes->self, &s->ctx, &guid, name);
    if (cases[i].error == 0) {
      assert_true(known);
    } else {
      assert_error(s, known, cases[i].error);
    }
    assert_int_equal(csi_fake_storage_get_signature(s->storage, &guid), cases[i].signature);
  }
}

static void test_growing_goes_step_by_step(void **state) {
  struct scene *s = *state;
  const struct csi_disk_host *disks = s->disks;
  const struct csi_volume_host *volumes = s->volumes;
  struct csi_guid guid = partition(s);
  csi_fake_storage_sign(s->storage, DISK, 1, CSI_FAKE_NTFS);
  assert_error(s, disks->grow_partition(disks->self, &s->ctx, s->disk, 1, gib), CSI_FAKE_INVALID_PARAMETER);
  csi_fake_storage_grow_disk(s->storage, DISK, 2 * gib);
  struct csi_disk_geometry geometry;
  assert_true(disks->get_geometry(disks->self, &s->ctx, s->disk, &geometry));
  assert_int_equal(geometry.size_bytes, gib);
  assert_true(disks->update_properties(disks->self, &s->ctx, s->disk));
  assert_true(disks->get_geometry(disks->self, &s->ctx, s->disk, &geometry));
  assert_int_equal(geometry.size_bytes, 2 * gib);
  assert_true(disks->grow_partition(disks->self, &s->ctx, s->disk, 1, gib));

  struct csi_open_volume *volume;
  struct csi_file_system_size size;
  assert_true(volumes->open(volumes->self, &s->ctx, &guid, CSI_VOLUME_READ_WRITE, &volume));
  assert_true(volumes->get_file_system_size(volumes->self, &s->ctx, volume, &size));
  assert_int_equal(size.sector_count, 100 * mib / 512 - 1);
  uint64_t sectors = (100 * mib + gib) / 512;
  assert_error(s, volumes->extend(volumes->self, &s->ctx, volume, sectors + 1), CSI_FAKE_INVALID_PARAMETER);
  assert_true(volumes->extend(volumes->self, &s->ctx, volume, sectors));
  assert_true(volumes->get_file_system_size(volumes->self, &s->ctx, volume, &size));
  assert_int_equal(size.sector_count, sectors - 1);
  volumes->close(volumes->self, volume);
}

static void test_an_unplugged_disk_is_dead_to_old_handles(void **state) {
  struct scene *s = *state;
  struct csi_guid guid = partition(s);
  uint32_t number;
  csi_fake_storage_unplug(s->storage, DISK);
  assert_error(s, s->disks->get_number(s->disks->self, &s->ctx, s->disk, &number), CSI_FAKE_UNPLUGGED);
  csi_fake_storage_plug(s->storage, DISK, 7);
  assert_error(s, s->disks->get_number(s->disks->self, &s->ctx, s->disk, &number), CSI_FAKE_UNPLUGGED);
  assert_true(csi_fake_storage_has_volume(s->storage, &guid));
  struct csi_open_disk *disk;
  assert_error(s, s->disks->open_number(s->disks->self, &s->ctx, DISK, CSI_DISK_QUERY, &disk),
               CSI_FAKE_NO_SUCH_DISK);
}

static void test_formatting_empties_the_directories(void **state) {
  struct scene *s = *state;
  struct csi_guid guid = partition(s);
  const struct csi_format how = {.file_system = "NTFS"};
  assert_true(s->volumes->format(s->volumes->self, &s->ctx, &guid, &how));
  char text[CSI_GUID_TEXT_BYTES], path[128];
  csi_guid_format(&guid, text);
  snprintf(path, sizeof path, "\\\\?\\Volume{%s}\\a\\b", text);
  assert_true(csi_fake_storage_has_volume(s->storage, &guid));
  csi_fake_add_directory(s->files, path);
  assert_true(s->volumes->format(s->volumes->self, &s->ctx, &guid, &how));
  assert_false(csi_fake_exists(s->files, path));
  csi_fake_storage_fail(s->storage, CSI_FAKE_VOLUME_FORMAT, 1, 31);
  assert_error(s, s->volumes->format(s->volumes->self, &s->ctx, &guid, &how), 31);
  assert_int_equal(csi_fake_storage_get_signature(s->storage, &guid), CSI_FAKE_RAW);
}

static void test_faults_strike_when_they_are_due(void **state) {
  struct scene *s = *state;
  uint32_t number;
  csi_fake_storage_add_fault(
      s->storage, &(struct csi_fake_fault){
                      .step = CSI_FAKE_DISK_GET_NUMBER, .disk = DISK, .nth = 2, .count = 2, .error = 21});
  assert_true(s->disks->get_number(s->disks->self, &s->ctx, s->disk, &number));
  assert_error(s, s->disks->get_number(s->disks->self, &s->ctx, s->disk, &number), 21);
  assert_error(s, s->disks->get_number(s->disks->self, &s->ctx, s->disk, &number), 21);
  assert_true(s->disks->get_number(s->disks->self, &s->ctx, s->disk, &number));
  assert_int_equal(csi_fake_storage_struck(s->storage), 2);
  assert_int_equal(csi_fake_storage_count_steps(s->storage, CSI_FAKE_DISK_GET_NUMBER, DISK), 4);

  csi_fake_storage_add_fault(
      s->storage,
      &(struct csi_fake_fault){.step = CSI_FAKE_ANY_STEP, .disk = CSI_FAKE_ANY_DISK, .hang = true});
  s->ctx.deadline_ns = csi_now_ns() + 20 * MS_IN_NS;
  assert_false(s->disks->get_number(s->disks->self, &s->ctx, s->disk, &number));
  assert_int_equal(s->ctx.status.code, CSI_DEADLINE_EXCEEDED);
}

static void test_a_medium_keeps_its_contents(void **state) {
  struct scene *s = *state;
  csi_fake_storage_add_disk(s->storage,
                            &(struct csi_fake_disk){.number = 5, .size_bytes = gib, .medium = "five"});
  csi_fake_storage_write(s->storage, 5, 4096, "hello", 5);
  csi_fake_storage_unplug(s->storage, 5);
  csi_fake_storage_add_disk(s->storage,
                            &(struct csi_fake_disk){.number = 6, .size_bytes = 2 * gib, .medium = "five"});
  char bytes[6] = {0};
  csi_fake_storage_read(s->storage, 6, 4096, bytes, 5);
  assert_string_equal(bytes, "hello");
  csi_fake_storage_read(s->storage, 6, gib, bytes, 5);
  assert_string_equal(bytes, "");
}

static void *list_again_and_again(void *data) {
  struct scene *s = data;
  for (int i = 0; i < 200; i++) {
    struct csi_ctx ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE};
    const char **paths;
    size_t count;
    struct csi_open_disk *disk;
    if (!s->disks->list(s->disks->self, &ctx, &paths, &count) || count != 1) abort();
    if (s->disks->open_path(s->disks->self, &ctx, paths[0], CSI_DISK_QUERY, &disk))
      s->disks->close(s->disks->self, disk);
    csi_arena_free(ctx.arena);
  }
  return NULL;
}

static void test_many_threads(void **state) {
  struct scene *s = *state;
  pthread_t threads[4];
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, list_again_and_again, s), 0);
  for (int i = 0; i < 100; i++)
    csi_fake_storage_set_attributes(s->storage, DISK, i % 2 == 0, false);
  for (size_t i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_a_raw_disk_takes_no_layout),
      TEST(test_layouts_are_checked),
      TEST(test_attributes_guard_the_layout),
      TEST(test_a_volume_takes_its_time),
      TEST(test_without_automount_a_volume_has_no_name),
      TEST(test_file_systems_are_what_the_sectors_say),
      TEST(test_growing_goes_step_by_step),
      TEST(test_an_unplugged_disk_is_dead_to_old_handles),
      TEST(test_formatting_empties_the_directories),
      TEST(test_faults_strike_when_they_are_due),
      TEST(test_a_medium_keeps_its_contents),
      TEST(test_many_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
