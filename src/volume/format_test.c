/* SPDX-License-Identifier: Apache-2.0
 *
 * IsVolumeFormatted and FormatVolume: what must never be formatted by mistake, and what must be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "volume/marker.h"
#include "volume/volume_fixture.h"

static void sign(struct volume_fixture *f, enum csi_fake_signature signature) {
  csi_fake_storage_sign(f->storage, DATA_DISK, DATA, signature);
}

/* Writes to the data volume. */
static void scribble(struct volume_fixture *f, uint64_t offset_bytes, const char *text) {
  char sector[4096] = {0};
  memcpy(sector + offset_bytes % sizeof sector, text, strlen(text));
  csi_fake_storage_write(f->storage, DATA_DISK, 16 * MIB + offset_bytes - offset_bytes % sizeof sector,
                         sector, sizeof sector);
}

static bool is_data_ntfs(struct volume_fixture *f) {
  return csi_fake_storage_get_signature(f->storage, &f->data) == CSI_FAKE_NTFS;
}

static void test_formatted(void **state) {
  struct volume_fixture *f = *state;
  assert_formatted(f, f->id, false);
  sign(f, CSI_FAKE_NTFS);
  csi_fake_storage_reset_counts(f->storage);
  assert_formatted(f, f->id, true);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_ANY_STEP, CSI_FAKE_ANY_DISK), 1);
  sign(f, CSI_FAKE_REFS);
  assert_formatted(f, f->id, true);
}

static void assert_refused(struct volume_fixture *f, const char *what) {
  bool formatted = true;
  assert_failed(f, call_is_formatted(f, f->id, &formatted), CSI_FAILED_PRECONDITION,
                "failed to query volume file system type (");
  assert_says(f, what);
  assert_false(formatted);
  assert_failed(f, call_format(f, f->id), CSI_FAILED_PRECONDITION, "error formatting volume (");
  assert_says(f, what);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_VOLUME_FORMAT, CSI_FAKE_ANY_DISK), 0);
}

static void test_foreign_data_is_not_unformatted(void **state) {
  struct volume_fixture *f = *state;
  sign(f, CSI_FAKE_EXFAT);
  assert_refused(f, "it looks like exFAT (signature at byte 3)");
  sign(f, CSI_FAKE_NOISE);
  assert_refused(f, "data of an unknown kind begin at byte ");
  sign(f, CSI_FAKE_RAW);
  assert_formatted(f, f->id, false);
  scribble(f, 0x10040, "_BHRfS_M");
  assert_refused(f, "it looks like btrfs (signature at byte 65600)");
}

/* The boot sector is gone, its copy is not: a broken NTFS, not an empty volume. */
static void test_copy_of_the_boot_sector(void **state) {
  struct volume_fixture *f = *state;
  static const char zeros[65536];
  sign(f, CSI_FAKE_NTFS);
  csi_fake_storage_write(f->storage, DATA_DISK, 16 * MIB, zeros, sizeof zeros);
  assert_refused(f, "it looks like NTFS (signature at byte 536870403)");
}

static void test_locked_volume(void **state) {
  struct volume_fixture *f = *state;
  bool formatted;
  sign(f, CSI_FAKE_BITLOCKER);
  assert_false(call_is_formatted(f, f->id, &formatted));
  assert_int_equal(f->status.number, CSI_FAKE_BITLOCKER_LOCKED);
  assert_says(f, "failed to query volume file system type (");
  assert_false(call_format(f, f->id));
  assert_int_equal(csi_fake_storage_get_signature(f->storage, &f->data), CSI_FAKE_BITLOCKER);
}

static void test_unreadable_volume(void **state) {
  struct volume_fixture *f = *state;
  bool formatted = true;
  static const enum csi_fake_step steps[] = {CSI_FAKE_VOLUME_GET_FILE_SYSTEM, CSI_FAKE_VOLUME_OPEN,
                                             CSI_FAKE_VOLUME_GET_EXTENTS, CSI_FAKE_VOLUME_READ};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    csi_fake_storage_fail(f->storage, steps[i], 1, 1117);
    assert_false(call_is_formatted(f, f->id, &formatted));
    assert_false(formatted);
    assert_int_equal(f->status.number, 1117);
  }
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_READ, 2, 1117); /* its end */
  assert_false(call_is_formatted(f, f->id, &formatted));
}

static void test_unknown_volume(void **state) {
  struct volume_fixture *f = *state;
  bool formatted;
  assert_failed(f, call_is_formatted(f, "", &formatted), CSI_INVALID_ARGUMENT, "volume id empty");
  assert_failed(f, call_is_formatted(f, "3", &formatted), CSI_NOT_FOUND,
                "error querying volume (3). error: failed to query volume 3: not found");
  assert_failed(f, call_is_formatted(f, NO_VOLUME, &formatted), CSI_NOT_FOUND,
                "error querying volume (" NO_VOLUME "). error: failed to query volume " NO_VOLUME
                ": not found: ");
  assert_failed(f, call_format(f, ""), CSI_INVALID_ARGUMENT, "volume id empty");
  assert_failed(f, call_format(f, "3"), CSI_NOT_FOUND,
                "error querying volume (3). error: failed to query volume 3: not found");
  assert_failed(f, call_format(f, NO_VOLUME), CSI_NOT_FOUND,
                "error querying volume (" NO_VOLUME "). error: failed to query volume " NO_VOLUME
                ": not found: ");
}

static void test_small_volume(void **state) {
  struct volume_fixture *f = *state;
  char id[CSI_VOLUME_ID_BYTES];
  csi_fake_storage_add_partition(f->storage, DATA_DISK, &csi_partition_type_basic_data, 0, 600 * MIB,
                                 160 * 1024);
  volume_id_of(f, DATA_DISK, 3, id);
  assert_formatted(f, id, false);
  csi_fake_storage_add_partition(f->storage, DATA_DISK, &csi_partition_type_basic_data, 0, 610 * MIB,
                                 64 * 1024);
  volume_id_of(f, DATA_DISK, 4, id);
  assert_formatted(f, id, false);
}

static void test_format(void **state) {
  struct volume_fixture *f = *state;
  assert_ok(f, call_format(f, f->id));
  assert_true(is_data_ntfs(f));
  assert_formatted(f, f->id, true);
  assert_ok(f, call_format(f, f->id)); /* again: drivers ask first */
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_VOLUME_FORMAT, DATA_DISK), 2);
}

static void test_format_spares_windows(void **state) {
  struct volume_fixture *f = *state;
  char id[CSI_VOLUME_ID_BYTES];
  volume_id_of(f, SYSTEM_DISK, 1, id);
  assert_failed(f, call_format(f, id), CSI_FAILED_PRECONDITION, "error formatting volume (");
  assert_says(f, "disk 0 holds Windows");
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_VOLUME_FORMAT, CSI_FAKE_ANY_DISK), 0);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_ROLES, 1, 5);
  assert_failed(f, call_format(f, f->id), CSI_FAILED_PRECONDITION, "error formatting volume (");
}

static void test_format_of_a_volume_in_pieces(void **state) {
  struct volume_fixture *f = *state;
  struct csi_extent more = {.disk_number = SYSTEM_DISK, .offset_bytes = MIB, .length_bytes = MIB};
  csi_fake_storage_span(f->storage, &f->data, &more);
  assert_failed(f, call_format(f, f->id), CSI_FAILED_PRECONDITION, "error formatting volume (");
  assert_says(f, "the volume consists of 2 pieces");
}

/* What Windows had written when it was stopped must not keep the next call away. */
static void leave_remains(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk,
                          void *data) {
  (void)disk;
  (void)data;
  if (step != CSI_FAKE_VOLUME_FORMAT) return;
  csi_fake_storage_write(storage, DATA_DISK, 16 * MIB + 8192, (char[512]){"FILE0"}, 512);
}

static void test_stopped_format_is_cleared_away(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_set_hook(f->storage, leave_remains, NULL);
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_FORMAT, 1, 1117);
  assert_false(call_format(f, f->id));
  assert_int_equal(f->status.number, 1117);
  assert_formatted(f, f->id, false);
  csi_fake_storage_set_hook(f->storage, NULL, NULL);
  assert_formatted(f, f->id, false);
  assert_ok(f, call_format(f, f->id));
  assert_formatted(f, f->id, true);
}

/* While Windows formats, the client goes away, or the service ends. */
static void leave_by(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk, void *reason) {
  leave_remains(storage, step, disk, NULL);
  if (step == CSI_FAKE_VOLUME_FORMAT) atomic_store((atomic_bool *)reason, true);
}

static void test_format_outlives_its_client(void **state) {
  struct volume_fixture *f = *state;
  const struct csi_fake_fault slow = {
      .step = CSI_FAKE_VOLUME_FORMAT, .disk = DATA_DISK, .count = 1, .delay_ms = 300};
  csi_fake_storage_add_fault(f->storage, &slow);
  f->deadline_ns = csi_now_ns() + 100 * 1000000;
  assert_ok(f, call_format(f, f->id));
  assert_true(csi_now_ns() > f->deadline_ns);
  f->deadline_ns = CSI_NO_DEADLINE;
  assert_formatted(f, f->id, true);

  sign(f, CSI_FAKE_RAW);
  csi_fake_storage_write(f->storage, DATA_DISK, 528 * MIB - 512, (char[512]){0}, 512); /* the copy */
  csi_fake_storage_add_fault(f->storage, &slow);
  csi_fake_storage_set_hook(f->storage, leave_by, &f->cancelled);
  assert_ok(f, call_format(f, f->id));
  assert_true(atomic_load(&f->cancelled));
  csi_fake_storage_set_hook(f->storage, NULL, NULL);
  atomic_store(&f->cancelled, false);
  assert_formatted(f, f->id, true);
}

static void test_format_ends_with_the_service(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_add_fault(
      f->storage,
      &(struct csi_fake_fault){.step = CSI_FAKE_VOLUME_FORMAT, .disk = DATA_DISK, .count = 1, .hang = true});
  csi_fake_storage_set_hook(f->storage, leave_by, &f->stopping);
  assert_failed(f, call_format(f, f->id), CSI_CANCELLED, "error formatting volume (");
  assert_says(f, "error: the format was given up: the service is stopping");
  csi_fake_storage_set_hook(f->storage, NULL, NULL);
  atomic_store(&f->stopping, false);
  assert_formatted(f, f->id, false);
  assert_ok(f, call_format(f, f->id));
  assert_formatted(f, f->id, true);
}

static void test_format_that_was_refused_changes_nothing(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_set_attributes(f->storage, DATA_DISK, false, true);
  assert_false(call_format(f, f->id));
  csi_fake_storage_set_attributes(f->storage, DATA_DISK, false, false);
  assert_int_equal(csi_fake_storage_get_signature(f->storage, &f->data), CSI_FAKE_RAW);
}

/* --- The end of the process in the middle of it */

/* What Windows has written when the process ends: parts of the new file system, and the copy of the boot
 * sector. */
static void leave_half(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk, void *data) {
  leave_remains(storage, step, disk, data);
  if (step != CSI_FAKE_VOLUME_FORMAT) return;
  csi_fake_storage_write(storage, DATA_DISK, 16 * MIB + 66 * 1024, (char[512]){"FILE0"}, 512);
  csi_fake_storage_write(storage, DATA_DISK, 528 * MIB - 512, (char[512]){"\xEB\x52\x90NTFS    "}, 512);
}

/* From its nth step on everything fails, as if the process had ended there. False when there are fewer. */
static bool crash_at(struct volume_fixture *f, unsigned nth) {
  csi_fake_storage_add_fault(
      f->storage, &(struct csi_fake_fault){
                      .step = CSI_FAKE_ANY_STEP, .disk = CSI_FAKE_ANY_DISK, .nth = nth, .error = 1117});
  csi_fake_storage_set_hook(f->storage, leave_half, NULL);
  bool done = call_format(f, f->id);
  size_t struck = csi_fake_storage_struck(f->storage);
  csi_fake_storage_set_hook(f->storage, NULL, NULL);
  csi_fake_storage_clear_faults(f->storage);
  assert_true(struck > 0 || done);
  return struck > 0;
}

static void assert_repaired(struct volume_fixture *f) {
  if (!is_data_ntfs(f)) {
    assert_formatted(f, f->id, false);
    assert_ok(f, call_format(f, f->id));
  }
  assert_true(is_data_ntfs(f));
  assert_formatted(f, f->id, true);
}

static void test_crash_while_formatting(void **state) {
  struct volume_fixture *f = *state;
  unsigned nth = 1;
  size_t begun = 0;
  for (;; nth++) {
    assert_true(nth < 100);
    csi_fake_storage_reset_counts(f->storage);
    bool crashed = crash_at(f, nth);
    begun += csi_fake_storage_count_steps(f->storage, CSI_FAKE_VOLUME_FORMAT, DATA_DISK);
    assert_repaired(f);
    if (!crashed) break;
    volume_fixture_tear_down(state);
    volume_fixture_set_up(state);
    f = *state;
  }
  assert_true(begun > 1); /* there was a crash in the format itself */
}

/* The format fails, and the process ends while it clears away what is left; with what was there before, too.
 */
static void test_crash_while_clearing_away(void **state) {
  static const enum csi_fake_signature before[] = {CSI_FAKE_RAW, CSI_FAKE_NTFS};
  for (size_t i = 0; i < 2; i++)
    for (unsigned nth = 2; nth < 7; nth++) { /* the first write is the mark, which NTFS does not get first */
      volume_fixture_tear_down(state);
      volume_fixture_set_up(state);
      struct volume_fixture *f = *state;
      sign(f, before[i]);
      csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_FORMAT, 1, 1117);
      csi_fake_storage_add_fault(
          f->storage, &(struct csi_fake_fault){
                          .step = CSI_FAKE_DISK_WRITE, .disk = DATA_DISK, .nth = nth, .error = 1117});
      csi_fake_storage_set_hook(f->storage, leave_half, NULL);
      assert_false(call_format(f, f->id));
      csi_fake_storage_set_hook(f->storage, NULL, NULL);
      csi_fake_storage_clear_faults(f->storage);
      assert_repaired(f);
    }
}

/* Only what this program has written on this volume counts. */
static void test_marks_that_do_not_count(void **state) {
  struct volume_fixture *f = *state;
  uint8_t block[CSI_MARKER_BYTES];
  struct csi_guid other = f->data;
  other.data1 ^= 1;
  csi_marker_make(&f->data, block);
  csi_fake_storage_write(f->storage, DATA_DISK, 16 * MIB, block, sizeof block);
  scribble(f, 0x10000, "FILE0");
  assert_formatted(f, f->id, false);
  scribble(f, 0x10040, "_BHRfS_M"); /* made by somebody else since */
  assert_refused(f, "it looks like btrfs");
  scribble(f, 0x10000, "FILE0");
  block[sizeof block - 1] = 1;
  csi_fake_storage_write(f->storage, DATA_DISK, 16 * MIB, block, sizeof block);
  assert_refused(f, "data of an unknown kind begin at byte ");
  csi_marker_make(&other, block);
  csi_fake_storage_write(f->storage, DATA_DISK, 16 * MIB, block, sizeof block);
  assert_refused(f, "data of an unknown kind begin at byte ");
  csi_marker_make(&f->data, block);
  csi_fake_storage_write(f->storage, DATA_DISK, 16 * MIB, (char[4096]){0}, 4096);
  csi_fake_storage_write(f->storage, DATA_DISK, 16 * MIB + 4096, block, sizeof block); /* not at its place */
  assert_refused(f, "data of an unknown kind begin at byte ");
}

/* Windows lets nobody write below a file system that it knows, and there is no need to. */
static void test_what_has_a_file_system_is_not_marked(void **state) {
  struct volume_fixture *f = *state;
  sign(f, CSI_FAKE_NTFS);
  assert_ok(f, call_format(f, f->id));
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_WRITE, DATA_DISK), 0);
}

static void test_mark_that_windows_does_not_let_through(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_WRITE, 1, CSI_FAKE_ACCESS_DENIED);
  assert_ok(f, call_format(f, f->id));
  assert_formatted(f, f->id, true);
  sign(f, CSI_FAKE_RAW);
  csi_fake_storage_reset_counts(f->storage);
  csi_fake_storage_write(f->storage, DATA_DISK, 528 * MIB - 512, (char[512]){0}, 512); /* the copy */
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_WRITE, 1, 1117);
  assert_failed(f, call_format(f, f->id), CSI_DATA_LOSS, "error formatting volume (");
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_VOLUME_FORMAT, DATA_DISK), 0);
}

static void test_mark_is_gone_when_a_format_has_failed(void **state) {
  struct volume_fixture *f = *state;
  uint8_t block[CSI_MARKER_BYTES];
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_FORMAT, 1, 1117);
  assert_false(call_format(f, f->id));
  csi_fake_storage_read(f->storage, DATA_DISK, 16 * MIB, block, sizeof block);
  for (size_t i = 0; i < sizeof block; i++)
    assert_int_equal(block[i], 0);
}

static void test_cancelled_format(void **state) {
  struct volume_fixture *f = *state;
  atomic_store(&f->cancelled, true);
  assert_failed(f, call_format(f, f->id), CSI_CANCELLED, "error querying volume (");
  atomic_store(&f->cancelled, false);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_VOLUME_FORMAT, CSI_FAKE_ANY_DISK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, volume_fixture_set_up, volume_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_formatted),
      TEST(test_foreign_data_is_not_unformatted),
      TEST(test_copy_of_the_boot_sector),
      TEST(test_locked_volume),
      TEST(test_unreadable_volume),
      TEST(test_unknown_volume),
      TEST(test_small_volume),
      TEST(test_format),
      TEST(test_format_spares_windows),
      TEST(test_format_of_a_volume_in_pieces),
      TEST(test_stopped_format_is_cleared_away),
      TEST(test_format_outlives_its_client),
      TEST(test_format_ends_with_the_service),
      TEST(test_format_that_was_refused_changes_nothing),
      TEST(test_crash_while_formatting),
      TEST(test_crash_while_clearing_away),
      TEST(test_marks_that_do_not_count),
      TEST(test_what_has_a_file_system_is_not_marked),
      TEST(test_mark_that_windows_does_not_let_through),
      TEST(test_mark_is_gone_when_a_format_has_failed),
      TEST(test_cancelled_format),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
