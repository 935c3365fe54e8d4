/* SPDX-License-Identifier: Apache-2.0
 *
 * ListVolumesOnDisk, GetDiskNumberFromVolumeID, GetVolumeStats, WriteVolumeCache.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "volume/volume_fixture.h"

static void test_list(void **state) {
  struct volume_fixture *f = *state;
  assert_ok(f, call_list(f, DATA_DISK, 0));
  assert_int_equal(f->id_count, 1);
  assert_string_equal(f->ids[0], f->id);
  assert_ok(f, call_list(f, DATA_DISK, DATA));
  assert_int_equal(f->id_count, 1);
  assert_string_equal(f->ids[0], f->id);
}

static void test_list_costs_three_calls(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_reset_counts(f->storage);
  assert_ok(f, call_list(f, DATA_DISK, 0));
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_ANY_STEP, CSI_FAKE_ANY_DISK), 3);
}

static void test_list_is_ordered_by_number(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_add_disk(f->storage, &(struct csi_fake_disk){.number = 5, .size_bytes = GIB});
  struct csi_partition partitions[3] = {
      {.number = 3, .offset_bytes = 200 * MIB, .length_bytes = 100 * MIB, .id.data1 = 3},
      {.number = 1, .offset_bytes = 400 * MIB, .length_bytes = 100 * MIB, .id.data1 = 1},
      {.number = 2, .offset_bytes = 100 * MIB, .length_bytes = 100 * MIB, .id.data1 = 2},
  };
  for (int i = 0; i < 3; i++)
    partitions[i].type = csi_partition_type_basic_data;
  const struct csi_layout layout = {.style = CSI_PARTITION_STYLE_GPT,
                                    .usable_offset_bytes = MIB,
                                    .usable_length_bytes = 1022 * MIB,
                                    .max_partition_count = 128,
                                    .partitions = partitions,
                                    .partition_count = 3};
  csi_fake_storage_force_layout(f->storage, 5, &layout);
  assert_ok(f, call_list(f, 5, 0));
  assert_int_equal(f->id_count, 3);
  for (uint32_t number = 1; number <= 3; number++) {
    char id[CSI_VOLUME_ID_BYTES];
    volume_id_of(f, 5, number, id);
    assert_string_equal(f->ids[number - 1], id);
  }
}

static void test_list_mbr(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_add_disk(f->storage, &(struct csi_fake_disk){.number = 5, .size_bytes = GIB});
  csi_fake_storage_set_style(f->storage, 5, CSI_PARTITION_STYLE_MBR);
  assert_ok(f, call_list(f, 5, 0));
  assert_int_equal(f->id_count, 0);
  csi_fake_storage_add_partition(f->storage, 5, NULL, 7, MIB, 100 * MIB);
  assert_ok(f, call_list(f, 5, 0));
  assert_int_equal(f->id_count, 1);
}

static void test_list_of_nothing(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_add_disk(f->storage, &(struct csi_fake_disk){.number = 5, .size_bytes = GIB});
  assert_ok(f, call_list(f, 5, 0)); /* raw */
  assert_int_equal(f->id_count, 0);
  csi_fake_storage_set_style(f->storage, 5, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 5, &csi_partition_type_microsoft_reserved, 0, MIB, 15 * MIB);
  assert_ok(f, call_list(f, 5, 0));
  assert_int_equal(f->id_count, 0);
}

/* Not every partition is meant to have a volume. */
static void test_list_passes_over_what_has_no_volume(void **state) {
  struct volume_fixture *f = *state;
  static const struct csi_guid recovery = {
      0xDE94BBA4, 0x06D1, 0x4D40, {0xA1, 0x6A, 0xBF, 0xD5, 0x01, 0x79, 0xD6, 0xAC}};
  csi_fake_storage_add_partition(f->storage, DATA_DISK, &recovery, 0, GIB, 16 * MIB);
  assert_ok(f, call_list(f, DATA_DISK, 0));
  assert_int_equal(f->id_count, 1);
  assert_string_equal(f->ids[0], f->id);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_FIND_VOLUME, 1, 2);
  assert_failed(f, call_list(f, DATA_DISK, 0), CSI_UNAVAILABLE,
                "failed to list volumes on disk 3: partition 2");
}

static void test_list_of_unknown(void **state) {
  struct volume_fixture *f = *state;
  assert_failed(f, call_list(f, 77, 0), CSI_NOT_FOUND, "failed to list partition on disk 77: ");
  assert_failed(f, call_list(f, DATA_DISK, 9), CSI_NOT_FOUND,
                "failed to list partition on disk 3: partition 9: not found");
  assert_failed(f, call_list(f, DATA_DISK, 1), CSI_UNAVAILABLE,
                "failed to list volumes on disk 3: partition 1");
}

/* The list must not be empty for now, nor have its second volume first. */
static void test_list_waits_for_nobody(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_add_disk(
      f->storage, &(struct csi_fake_disk){.number = 5, .size_bytes = GIB, .volume_delay_ms = 3600000});
  csi_fake_storage_set_style(f->storage, 5, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 5, &csi_partition_type_basic_data, 0, MIB, 100 * MIB);
  assert_failed(f, call_list(f, 5, 0), CSI_UNAVAILABLE,
                "failed to list volumes on disk 5: partition 1 has no volume, or not yet");
  csi_fake_storage_set_volume_delay(f->storage, 5, 0);
  csi_fake_storage_add_partition(f->storage, 5, &csi_partition_type_basic_data, 0, 200 * MIB, 100 * MIB);
  assert_failed(f, call_list(f, 5, 0), CSI_UNAVAILABLE, "failed to list volumes on disk 5: partition 1");
  assert_ok(f, call_list(f, 5, 2));
  assert_int_equal(f->id_count, 1);
}

static void test_list_of_offline_disk(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_set_attributes(f->storage, DATA_DISK, true, false);
  assert_failed(f, call_list(f, DATA_DISK, 0), CSI_FAILED_PRECONDITION,
                "failed to list volumes on disk 3: the disk is offline");
}

static void test_disk_number(void **state) {
  struct volume_fixture *f = *state;
  uint32_t number = 0;
  assert_ok(f, call_disk_number(f, f->id, &number));
  assert_int_equal(number, DATA_DISK);
  csi_fake_storage_reset_counts(f->storage);
  assert_ok(f, call_disk_number(f, f->id, &number));
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_ANY_STEP, CSI_FAKE_ANY_DISK), 2);
  struct csi_extent more = {.disk_number = 5, .offset_bytes = MIB, .length_bytes = MIB};
  csi_fake_storage_span(f->storage, &f->data, &more);
  assert_ok(f, call_disk_number(f, f->id, &number));
  assert_int_equal(number, DATA_DISK);
}

static void test_disk_number_of_unknown(void **state) {
  struct volume_fixture *f = *state;
  uint32_t number;
  assert_failed(f, call_disk_number(f, "", &number), CSI_INVALID_ARGUMENT, "volume id empty");
  assert_failed(f, call_disk_number(f, "3", &number), CSI_NOT_FOUND, "failed to query volume 3: not found");
  /* The EBS driver reads the end of it as "nothing is mounted". */
  assert_failed(f, call_disk_number(f, NO_VOLUME, &number), CSI_NOT_FOUND,
                "failed to query volume " NO_VOLUME ": not found: ");
  assert_says(f, "because it does not exist");
  csi_fake_storage_unplug(f->storage, DATA_DISK);
  assert_false(call_disk_number(f, f->id, &number));
}

static void assert_keeps_silent(struct volume_fixture *f, bool result) {
  assert_false(result);
  if (strstr(f->status.text, "because it does not exist") != NULL) fail_msg("%s", f->status.text);
}

/* NodeUnstage of the EBS driver must not take a volume that comes and goes for one that is gone. */
static void test_passing_absence_is_no_absence(void **state) {
  struct volume_fixture *f = *state;
  uint32_t number;
  static const uint32_t errors[] = {3, 21, 55, 433, 1167};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_OPEN, 1, errors[i]);
    assert_keeps_silent(f, call_disk_number(f, f->id, &number));
  }
  for (unsigned opens = 1; opens <= 2; opens++) {
    struct csi_fake_fault fault = {
        .step = CSI_FAKE_VOLUME_OPEN, .disk = DATA_DISK, .nth = 1, .count = opens, .error = 2};
    csi_fake_storage_add_fault(f->storage, &fault);
    assert_keeps_silent(f, call_disk_number(f, f->id, &number));
    csi_fake_storage_clear_faults(f->storage);
  }
  struct csi_fake_fault gone = {.step = CSI_FAKE_VOLUME_OPEN, .disk = DATA_DISK, .error = 2};
  csi_fake_storage_add_fault(f->storage, &gone);
  int64_t begin_ns = csi_now_ns();
  assert_false(call_disk_number(f, f->id, &number));
  assert_says(f, "because it does not exist");
  assert_true(csi_now_ns() - begin_ns >= INT64_C(450000000));
}

static void test_only_the_disk_number_tells_absence(void **state) {
  struct volume_fixture *f = *state;
  int64_t total, used;
  bool formatted;
  assert_keeps_silent(f, call_stats(f, NO_VOLUME, &total, &used));
  assert_keeps_silent(f, call_is_formatted(f, NO_VOLUME, &formatted));
  assert_keeps_silent(f, call_format(f, NO_VOLUME));
  assert_keeps_silent(f, call_resize(f, NO_VOLUME, 0));
  assert_keeps_silent(f, call_mount(f, NO_VOLUME, K "\\pv"));
  assert_keeps_silent(f, call_write_cache(f, NO_VOLUME));
}

static void test_spellings(void **state) {
  struct volume_fixture *f = *state;
  char text[CSI_VOLUME_ID_BYTES + 4], guid[CSI_GUID_TEXT_BYTES];
  csi_guid_format(&f->data, guid);
  uint32_t number = 0;
  for (char *c = guid; *c != '\0'; c++)
    if (*c >= 'a' && *c <= 'f') *c = (char)(*c - 'a' + 'A');
  static const char *const forms[] = {"\\\\.\\Volume{%s}", "volume{%s}", "\\??\\VOLUME{%s}\\"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const char *at = strstr(forms[i], "%s");
    memcpy(text, forms[i], (size_t)(at - forms[i]));
    text[at - forms[i]] = '\0';
    strcat(strcat(text, guid), at + 2);
    assert_ok(f, call_disk_number(f, text, &number));
    assert_int_equal(number, DATA_DISK);
  }
}

static void test_stats(void **state) {
  struct volume_fixture *f = *state;
  int64_t total = -1, used = -1;
  assert_ok(f, call_stats(f, f->id, &total, &used)); /* unformatted: as the original had it */
  assert_int_equal(total, 0);
  assert_int_equal(used, 0);
  csi_fake_storage_sign(f->storage, DATA_DISK, DATA, CSI_FAKE_NTFS);
  csi_fake_storage_set_used(f->storage, &f->data, 33 * MIB);
  csi_fake_storage_reset_counts(f->storage);
  assert_ok(f, call_stats(f, f->id, &total, &used));
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_ANY_STEP, CSI_FAKE_ANY_DISK), 1);
  assert_true(total > (int64_t)(511 * MIB) && total <= (int64_t)(512 * MIB));
  assert_int_equal(used, 33 * MIB);
}

static void test_stats_of_unknown(void **state) {
  struct volume_fixture *f = *state;
  int64_t total, used;
  assert_failed(f, call_stats(f, "", &total, &used), CSI_INVALID_ARGUMENT, "volume id empty");
  assert_failed(f, call_stats(f, "3", &total, &used), CSI_NOT_FOUND,
                "error querying volume (3). error: failed to query volume 3: not found");
  assert_failed(f, call_stats(f, NO_VOLUME, &total, &used), CSI_NOT_FOUND,
                "error querying volume (" NO_VOLUME "). error: failed to query volume " NO_VOLUME
                ": not found: ");
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_GET_SPACE, 1, 5);
  assert_failed(f, call_stats(f, f->id, &total, &used), CSI_PERMISSION_DENIED,
                "failed to query volume size (");
}

static void test_write_cache(void **state) {
  struct volume_fixture *f = *state;
  assert_ok(f, call_write_cache(f, f->id));
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_VOLUME_FLUSH, DATA_DISK), 1);
  assert_failed(f, call_write_cache(f, ""), CSI_INVALID_ARGUMENT, "volume id empty");
  assert_failed(f, call_write_cache(f, "Volume{}"), CSI_NOT_FOUND,
                "error querying volume (Volume{}). error: failed to query volume Volume{}: not found");
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_FLUSH, 1, 1117);
  assert_false(call_write_cache(f, f->id));
  assert_says(f, "error writing volume (");
  assert_says(f, ") cache. error: failed to flush volume ");
}

static void test_write_cache_of_read_only_volume(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_FLUSH, 1, 19);
  assert_ok(f, call_write_cache(f, f->id));
  csi_fake_storage_set_attributes(f->storage, DATA_DISK, false, true);
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_OPEN, 1, 5);
  assert_ok(f, call_write_cache(f, f->id));
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_FLUSH, 1, 5);
  assert_ok(f, call_write_cache(f, f->id));
}

/* Nothing was written, whatever the reason. */
static void test_write_cache_without_access(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_OPEN, 1, 5);
  assert_failed(f, call_write_cache(f, f->id), CSI_PERMISSION_DENIED, "error querying volume (");
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_FLUSH, 1, 5);
  assert_failed(f, call_write_cache(f, f->id), CSI_PERMISSION_DENIED, "error writing volume (");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, volume_fixture_set_up, volume_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_list),
      TEST(test_list_costs_three_calls),
      TEST(test_list_is_ordered_by_number),
      TEST(test_list_mbr),
      TEST(test_list_of_nothing),
      TEST(test_list_passes_over_what_has_no_volume),
      TEST(test_list_of_unknown),
      TEST(test_list_waits_for_nobody),
      TEST(test_list_of_offline_disk),
      TEST(test_disk_number),
      TEST(test_disk_number_of_unknown),
      TEST(test_spellings),
      TEST(test_stats),
      TEST(test_stats_of_unknown),
      TEST(test_write_cache),
      TEST(test_write_cache_of_read_only_volume),
      TEST(test_write_cache_without_access),
      TEST(test_passing_absence_is_no_absence),
      TEST(test_only_the_disk_number_tells_absence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
