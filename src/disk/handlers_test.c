/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract of the disk group, row by row, but for PartitionDisk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "disk/fixture.h"

#define NOT_FOUND_TEXT ". error: not found: "

static void add_disk(struct fixture *f, uint32_t number, uint8_t lun, const char *page83,
                     const char *serial) {
  csi_fake_storage_add_disk(
      f->storage, &(struct csi_fake_disk){.number = number,
                                          .size_bytes = GIB,
                                          .has_address = true,
                                          .address = {.port = 1, .path = 2, .target = 3, .lun = lun}});
  csi_fake_storage_set_identity(f->storage, number, page83, serial);
}

/* The entry of the disk; fails the test when there is none. */
static const struct csi_disk_disk_location *
location_of(const struct csi_disk_list_disk_locations_response *list, uint32_t number) {
  for (size_t i = 0; i < list->disk_locations_count; i++)
    if (list->disk_locations[i].key == number) return &list->disk_locations[i].value;
  fail_msg("disk %u is not listed", number);
  return NULL;
}

static const struct csi_disk_disk_ids *ids_of(const struct csi_disk_list_disk_ids_response *list,
                                              uint32_t number) {
  for (size_t i = 0; i < list->disk_ids_count; i++)
    if (list->disk_ids[i].key == number) return &list->disk_ids[i].value;
  fail_msg("disk %u is not listed", number);
  return NULL;
}

static void test_locations(void **state) {
  struct fixture *f = *state;
  struct csi_disk_list_disk_locations_response list;
  assert_ok(f, call_list_locations(f, &list));
  assert_int_equal(list.disk_locations_count, 0);
  add_disk(f, 0, 0, "none", NULL);
  add_disk(f, 7, 255, "none", NULL);
  add_raw_disk(f, 3); /* no address */
  assert_ok(f, call_list_locations(f, &list));
  assert_int_equal(list.disk_locations_count, 2);
  const struct csi_disk_disk_location *location = location_of(&list, 7);
  assert_string_equal(location->adapter, "1");
  assert_string_equal(location->bus, "2");
  assert_string_equal(location->target, "3");
  assert_string_equal(location->lunid, "255");
  assert_string_equal(location_of(&list, 0)->lunid, "0");
}

static void test_ids(void **state) {
  struct fixture *f = *state;
  add_disk(f, 1, 0, "ascii:Google%20%20persistent-disk-0@0/1", NULL);
  add_disk(f, 2, 1, "hex:6000c29b1c2d7e3f90a1b2c3d4e5f607@0/3", "6000c29b");
  add_disk(f, 3, 2, "none", "vol0123456789abcdef0_00000001.");
  struct csi_disk_list_disk_ids_response list;
  add_raw_disk(f, 9); /* knows neither question */
  assert_ok(f, call_list_ids(f, &list));
  assert_int_equal(list.disk_ids_count, 4);
  assert_string_equal(ids_of(&list, 1)->page83, "Google  persistent-disk-0");
  assert_string_equal(ids_of(&list, 1)->serial_number, "");
  assert_string_equal(ids_of(&list, 2)->page83, "6000c29b1c2d7e3f90a1b2c3d4e5f607");
  assert_string_equal(ids_of(&list, 2)->serial_number, "6000c29b");
  assert_string_equal(ids_of(&list, 3)->page83, "");
  assert_string_equal(ids_of(&list, 3)->serial_number, "vol0123456789abcdef0_00000001.");
  assert_string_equal(ids_of(&list, 9)->page83, "");
  assert_string_equal(ids_of(&list, 9)->serial_number, "");
}

/* Whatever goes wrong with one disk, the others are listed. */
static void test_odd_disk(void **state) {
  struct fixture *f = *state;
  static const enum csi_fake_step steps[] = {CSI_FAKE_DISK_OPEN, CSI_FAKE_DISK_GET_NUMBER,
                                             CSI_FAKE_DISK_GET_ADDRESS, CSI_FAKE_DISK_GET_IDENTIFIERS,
                                             CSI_FAKE_DISK_GET_DESCRIPTOR};
  static const uint32_t errors[] = {1, 2, 5, 21, 55, 121, 433, 1117, 1167};
  add_disk(f, 1, 1, "ascii:one@0/1", "1");
  add_disk(f, 2, 2, "ascii:two@0/1", "2");
  add_disk(f, 3, 3, "ascii:three@0/1", "3");
  struct csi_disk_list_disk_locations_response locations;
  struct csi_disk_list_disk_ids_response ids;
  uint32_t number;
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++) {
      struct csi_fake_fault fault = {.step = steps[i], .disk = 2, .count = 0, .error = errors[k]};
      csi_fake_storage_add_fault(f->storage, &fault);
      assert_ok(f, call_list_locations(f, &locations));
      assert_string_equal(location_of(&locations, 1)->lunid, "1");
      assert_string_equal(location_of(&locations, 3)->lunid, "3");
      assert_ok(f, call_list_ids(f, &ids));
      assert_string_equal(ids_of(&ids, 1)->page83, "one");
      assert_string_equal(ids_of(&ids, 3)->serial_number, "3");
      assert_ok(f, call_find(f, "three", &number));
      assert_int_equal(number, 3);
      csi_fake_storage_clear_faults(f->storage);
    }
  }
}

static void test_disk_that_goes_while_it_is_listed(void **state) {
  struct fixture *f = *state;
  add_disk(f, 1, 1, "ascii:one@0/1", "1");
  add_disk(f, 2, 2, "ascii:two@0/1", "2");
  struct csi_fake_fault fault = {.step = CSI_FAKE_DISK_GET_ADDRESS, .disk = 1, .unplug = true};
  csi_fake_storage_add_fault(f->storage, &fault);
  struct csi_disk_list_disk_locations_response list;
  assert_ok(f, call_list_locations(f, &list));
  assert_int_equal(list.disk_locations_count, 1);
  assert_string_equal(location_of(&list, 2)->lunid, "2");
}

/* One disk may cost a list its own limit of time, not the client's whole deadline. */
static void test_hanging_disk(void **state) {
  struct fixture *f = *state;
  add_disk(f, 1, 1, "ascii:one@0/1", "1");
  add_disk(f, 2, 2, "ascii:two@0/1", "2");
  struct csi_fake_fault fault = {.step = CSI_FAKE_DISK_GET_IDENTIFIERS, .disk = 1, .count = 0, .hang = true};
  csi_fake_storage_add_fault(f->storage, &fault);
  struct csi_disk_list_disk_ids_response list;
  f->limit_ms = 20000;
  int64_t begin_ns = csi_now_ns();
  assert_ok(f, call_list_ids(f, &list));
  assert_in_range(csi_now_ns() - begin_ns, 0, INT64_C(10000000000));
  assert_string_equal(ids_of(&list, 2)->page83, "two");
  uint32_t number;
  assert_failed(f, call_find(f, "three", &number), CSI_NOT_FOUND,
                "could not find disk with Page83 ID three: not found (1 disks did not answer)");
  f->limit_ms = 20; /* but the deadline counts */
  assert_failed(f, call_list_ids(f, &list), CSI_DEADLINE_EXCEEDED, "");
  f->limit_ms = 0;
  atomic_store(&f->cancelled, true);
  assert_failed(f, call_list_ids(f, &list), CSI_CANCELLED, "failed to list disks: the client cancelled");
}

static void test_lists_that_cannot_be_made(void **state) {
  struct fixture *f = *state;
  struct csi_disk_list_disk_locations_response locations;
  struct csi_disk_list_disk_ids_response ids;
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_LIST, 1, 5);
  assert_failed(f, call_list_locations(f, &locations), CSI_PERMISSION_DENIED, "failed to list disks: ");
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_LIST, 1, 5);
  assert_failed(f, call_list_ids(f, &ids), CSI_PERMISSION_DENIED, "failed to list disks: ");
}

static void test_cost_of_lists(void **state) {
  struct fixture *f = *state;
  enum { DISKS = 64 };
  for (uint8_t i = 0; i < DISKS; i++)
    add_disk(f, i, i, "ascii:same@0/1", "serial");
  struct csi_disk_list_disk_locations_response locations;
  struct csi_disk_list_disk_ids_response ids;
  csi_fake_storage_reset_counts(f->storage);
  assert_ok(f, call_list_locations(f, &locations));
  assert_int_equal(locations.disk_locations_count, DISKS);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_ANY_STEP, 5), 3); /* the open, and 2 */
  csi_fake_storage_reset_counts(f->storage);
  assert_ok(f, call_list_ids(f, &ids));
  assert_int_equal(ids.disk_ids_count, DISKS);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_ANY_STEP, 5), 4); /* the open, and 3 */
}

static void test_find(void **state) {
  struct fixture *f = *state;
  uint32_t number;
  add_disk(f, 4, 0, "none", NULL);
  add_disk(f, 5, 1, "ascii:Google%20%20disk@0/1", NULL);
  add_disk(f, 6, 2, "hex:60AB@0/3", NULL);
  assert_ok(f, call_find(f, "Google  disk", &number));
  assert_int_equal(number, 5);
  assert_ok(f, call_find(f, "60ab", &number));
  assert_int_equal(number, 6);
  assert_failed(f, call_find(f, "60AB", &number), CSI_NOT_FOUND,
                "could not find disk with Page83 ID 60AB: not found");
  assert_failed(f, call_find(f, "Google", &number), CSI_NOT_FOUND,
                "could not find disk with Page83 ID Google: not found");
  assert_failed(f, call_find(f, "", &number), CSI_INVALID_ARGUMENT, "could not find disk with Page83 ID ");
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_OPEN, 2, 5);
  assert_failed(f, call_find(f, "Google  disk", &number), CSI_NOT_FOUND,
                "could not find disk with Page83 ID Google  disk: not found (1 disks did not answer)");
}

static void test_size(void **state) {
  struct fixture *f = *state;
  int64_t size;
  add_raw_disk(f, 2);
  csi_fake_storage_reset_counts(f->storage);
  assert_ok(f, call_get_size(f, 2, &size));
  assert_int_equal(size, GIB);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_ANY_STEP, 2), 2); /* the open, and 1 */
  csi_fake_storage_set_attributes(f->storage, 2, true, true);
  assert_ok(f, call_get_size(f, 2, &size));
  assert_failed(f, call_get_size(f, 7, &size), CSI_NOT_FOUND, "failed to query disk 7" NOT_FOUND_TEXT);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_GEOMETRY, 1, 1117);
  assert_failed(f, call_get_size(f, 2, &size), CSI_DATA_LOSS, "failed to query size of disk 2. ");
}

static void assert_online(struct fixture *f, uint32_t number, bool online) {
  bool answer = !online;
  assert_ok(f, call_is_online(f, number, &answer));
  assert_int_equal(answer, online);
}

static void test_state(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  assert_online(f, 2, true);
  assert_ok(f, call_set_online(f, 2, true));
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_SET_ATTRIBUTES, 2), 0);
  assert_ok(f, call_set_online(f, 2, false));
  assert_online(f, 2, false);
  assert_ok(f, call_set_online(f, 2, false));
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_SET_ATTRIBUTES, 2), 1);
  csi_fake_storage_set_attributes(f->storage, 2, true, true);
  assert_ok(f, call_set_online(f, 2, true));
  assert_online(f, 2, true);
  csi_fake_storage_set_attributes(f->storage, 2, false, true); /* online, but read-only */
  assert_ok(f, call_set_online(f, 2, true));
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_SET_ATTRIBUTES, 2), 3);
}

static void test_state_waits_for_volumes(void **state) {
  struct fixture *f = *state;
  csi_fake_storage_add_disk(f->storage,
                            &(struct csi_fake_disk){.number = 2, .size_bytes = GIB, .volume_delay_ms = 60});
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 2, &csi_partition_type_basic_data, 0, MIB, 0);
  csi_fake_storage_set_attributes(f->storage, 2, true, false);
  struct csi_guid volume;
  assert_true(csi_fake_storage_get_volume(f->storage, 2, 1, &volume));
  assert_false(csi_fake_storage_has_volume(f->storage, &volume));
  assert_ok(f, call_set_online(f, 2, true));
  assert_true(csi_fake_storage_has_volume(f->storage, &volume));
  assert_ok(f, call_set_online(f, 2, false));
  assert_false(csi_fake_storage_has_volume(f->storage, &volume));
}

/* Windows may accept a change and not make it: disks of a cluster, write-protected media. */
static void keep_offline(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk,
                         void *data) {
  (void)data;
  if (step == CSI_FAKE_DISK_UPDATE_PROPERTIES)
    csi_fake_storage_set_attributes(storage, (uint32_t)disk, true, false);
}

static void keep_read_only(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk,
                           void *data) {
  (void)data;
  if (step == CSI_FAKE_DISK_UPDATE_PROPERTIES)
    csi_fake_storage_set_attributes(storage, (uint32_t)disk, false, true);
}

static void keep_online(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk, void *data) {
  (void)data;
  if (step == CSI_FAKE_DISK_UPDATE_PROPERTIES)
    csi_fake_storage_set_attributes(storage, (uint32_t)disk, false, false);
}

static void test_state_is_read_back(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  csi_fake_storage_set_attributes(f->storage, 2, true, true);
  csi_fake_storage_set_hook(f->storage, keep_offline, NULL);
  assert_failed(f, call_set_online(f, 2, true), CSI_FAILED_PRECONDITION,
                "error setting disk 2 attach state. error: disk 2 is still offline");
  csi_fake_storage_set_hook(f->storage, keep_read_only, NULL);
  assert_ok(f, call_set_online(f, 2, true)); /* read-only, but online */
  csi_fake_storage_set_hook(f->storage, keep_online, NULL);
  assert_failed(f, call_set_online(f, 2, false), CSI_FAILED_PRECONDITION,
                "error setting disk 2 attach state. error: disk 2 is still online");
}

static void test_state_errors(void **state) {
  struct fixture *f = *state;
  bool online;
  assert_failed(f, call_is_online(f, 7, &online), CSI_NOT_FOUND, "failed to query disk 7" NOT_FOUND_TEXT);
  assert_failed(f, call_set_online(f, 7, true), CSI_NOT_FOUND, "failed to query disk 7" NOT_FOUND_TEXT);
  assert_failed(f, call_set_online(f, 7, false), CSI_NOT_FOUND, "failed to query disk 7" NOT_FOUND_TEXT);
  add_raw_disk(f, 2);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_ATTRIBUTES, 1, 1117);
  assert_failed(f, call_is_online(f, 2, &online), CSI_DATA_LOSS, "error parsing disk 2 state. error: ");
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_SET_ATTRIBUTES, 1, 5);
  assert_failed(f, call_set_online(f, 2, false), CSI_PERMISSION_DENIED,
                "error setting disk 2 attach state. error: ");
  assert_online(f, 2, true);
}

static void test_guarded_disks_stay_online(void **state) {
  struct fixture *f = *state;
  static const struct {
    unsigned role;
    const char *text;
  } rows[] = {
      {CSI_DISK_HOLDS_WINDOWS, "disk 2 holds Windows and must not be changed"},
      {CSI_DISK_HOLDS_BOOT_FILES, "disk 2 holds the files that Windows starts from and must not be changed"},
      {CSI_DISK_HOLDS_PAGE_FILE, "disk 2 holds a page file and must not be changed"},
      {CSI_DISK_HOLDS_CRASH_DUMP, "disk 2 holds the crash dump and must not be changed"},
      {CSI_DISK_HOLDS_WINDOWS | CSI_DISK_HOLDS_PAGE_FILE,
       "disk 2 holds Windows, a page file and must not be changed"},
  };
  add_raw_disk(f, 2);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char expected[256];
    snprintf(expected, sizeof expected,
             "error setting disk 2 attach state. error: %s (the flag -allow-system-disks lifts this)",
             rows[i].text);
    csi_fake_storage_set_roles(f->storage, 2, rows[i].role);
    assert_failed(f, call_set_online(f, 2, false), CSI_FAILED_PRECONDITION, expected);
    assert_online(f, 2, true);
    assert_ok(f, call_set_online(f, 2, true));
  }
  csi_fake_storage_set_roles(f->storage, 2, 0);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_ROLES, 1, 1117);
  assert_failed(
      f, call_set_online(f, 2, false), CSI_FAILED_PRECONDITION,
      "error setting disk 2 attach state. error: disk 2 must not be changed, because it cannot be found out");
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 2, &csi_partition_type_efi_system, 0, MIB, 100 * MIB);
  assert_failed(f, call_set_online(f, 2, false), CSI_FAILED_PRECONDITION,
                "error setting disk 2 attach state. error: disk 2 has an EFI system partition");
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_MBR);
  csi_fake_storage_add_partition(f->storage, 2, NULL, 0xEF, MIB, 100 * MIB);
  assert_failed(f, call_set_online(f, 2, false), CSI_FAILED_PRECONDITION,
                "error setting disk 2 attach state. error: disk 2 has an EFI system partition");
  csi_fake_storage_set_roles(f->storage, 2, CSI_DISK_HOLDS_WINDOWS);
  use_guard(f, false);
  assert_ok(f, call_set_online(f, 2, false));
  assert_online(f, 2, false);
}

static void test_offline_with_unreadable_table(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  csi_fake_storage_set_roles(f->storage, 2, CSI_DISK_HOLDS_WINDOWS);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_LAYOUT, 1, 1117);
  assert_failed(f, call_set_online(f, 2, false), CSI_FAILED_PRECONDITION,
                "error setting disk 2 attach state. error: disk 2 holds Windows");
  csi_fake_storage_set_roles(f->storage, 2, 0);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_LAYOUT, 1, 1117);
  assert_ok(f, call_set_online(f, 2, false));
  assert_online(f, 2, false);
}

static void test_rescan(void **state) {
  struct fixture *f = *state;
  int64_t size;
  add_raw_disk(f, 2);
  csi_fake_storage_grow_disk(f->storage, 2, 2 * GIB);
  assert_ok(f, call_get_size(f, 2, &size));
  assert_int_equal(size, GIB);
  assert_ok(f, call_rescan(f));
  assert_ok(f, call_get_size(f, 2, &size));
  assert_int_equal(size, 2 * GIB);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_RESCAN, 1, 5);
  assert_failed(f, call_rescan(f), CSI_PERMISSION_DENIED, "error updating host storage cache output. err: ");
}

/* Drivers repeat it while they wait for a disk; what hangs must not take a thread for each of them. */
static void test_one_rescan_at_a_time(void **state) {
  struct fixture *f = *state;
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 16), .deadline_ns = CSI_NO_DEADLINE};
  assert_non_null(ctx.arena);
  assert_true(csi_keyed_lock(f->locks, &ctx, "rescan", "Rescan"));
  csi_fake_storage_reset_counts(f->storage);
  f->limit_ms = 50;
  assert_failed(f, call_rescan(f), CSI_DEADLINE_EXCEEDED,
                "error updating host storage cache output. err: rescan is busy with Rescan for ");
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_RESCAN, CSI_FAKE_ANY_DISK), 0);
  csi_keyed_unlock(f->locks, "rescan");
  f->limit_ms = 0;
  assert_ok(f, call_rescan(f));
  assert_ok(f, call_rescan(f)); /* the lock was given back */
  csi_arena_free(ctx.arena);
}

static void test_changes_wait_for_each_other(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  add_raw_disk(f, 3);
  struct csi_ctx other = {.arena = csi_arena_new(4096), .deadline_ns = CSI_NO_DEADLINE};
  assert_true(csi_keyed_lock(f->locks, &other, "disk 2", "FormatVolume"));
  f->limit_ms = 30;
  assert_failed(f, call_set_online(f, 2, false), CSI_DEADLINE_EXCEEDED, "");
  assert_non_null(strstr(f->status.text, "FormatVolume"));
  assert_failed(f, call_partition(f, 2), CSI_DEADLINE_EXCEEDED, "");
  f->limit_ms = 0;
  bool online;
  assert_ok(f, call_is_online(f, 2, &online)); /* questions do not wait */
  assert_ok(f, call_set_online(f, 3, false));  /* nor do other disks */
  csi_keyed_unlock(f->locks, "disk 2");
  assert_ok(f, call_set_online(f, 2, false));
  csi_arena_free(other.arena);
}

static void test_short_memory(void **state) {
  struct fixture *f = *state;
  add_disk(f, 1, 1, "ascii:one@0/1", "1");
  add_disk(f, 2, 2, "ascii:two@0/1", "2");
  struct csi_disk_list_disk_locations_response locations;
  struct csi_disk_list_disk_ids_response ids;
  uint32_t number;
  for (int call = 0; call < 3; call++) {
    unsigned failures = 0;
    do {
      f->fail_allocation = failures + 1;
      bool done = call == 0   ? call_list_locations(f, &locations)
                  : call == 1 ? call_list_ids(f, &ids)
                              : call_find(f, "two", &number);
      if (!f->allocation_failed) {
        assert_ok(f, done);
        break;
      }
      assert_failed(f, done, CSI_RESOURCE_EXHAUSTED, "");
    } while (++failures < 1000);
    assert_in_range(failures, 4, 999);
    f->fail_allocation = 0;
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_locations),
      TEST(test_ids),
      TEST(test_odd_disk),
      TEST(test_disk_that_goes_while_it_is_listed),
      TEST(test_hanging_disk),
      TEST(test_lists_that_cannot_be_made),
      TEST(test_cost_of_lists),
      TEST(test_find),
      TEST(test_size),
      TEST(test_state),
      TEST(test_state_waits_for_volumes),
      TEST(test_state_is_read_back),
      TEST(test_state_errors),
      TEST(test_guarded_disks_stay_online),
      TEST(test_offline_with_unreadable_table),
      TEST(test_rescan),
      TEST(test_one_rescan_at_a_time),
      TEST(test_changes_wait_for_each_other),
      TEST(test_short_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
