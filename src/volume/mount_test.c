/* SPDX-License-Identifier: Apache-2.0
 *
 * MountVolume and UnmountVolume, with people who plant links meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "volume/volume_fixture.h"

#define PV K "\\pv"
#define OTHER "Volume{01234567-0000-0000-0000-00000000000d}"

static bool is_announced(struct volume_fixture *f, const char *path) {
  struct csi_guid guid;
  return csi_fake_storage_get_announced(f->storage, path, &guid) && csi_guid_equal(&guid, &f->data);
}

static void test_mount(void **state) {
  struct volume_fixture *f = *state;
  assert_ok(f, call_mount(f, f->id, PV));
  assert_mounted(f, PV, true);
  assert_true(is_announced(f, PV));
  assert_ok(f, call_mount(f, f->id, PV)); /* again */
  assert_mounted(f, PV, true);
  assert_ok(f, call_unmount(f, f->id, PV));
  assert_mounted(f, PV, false);
  assert_true(csi_fake_is_directory(f->files, PV));
  assert_false(csi_fake_is_reparse_point(f->files, PV));
  assert_ok(f, call_unmount(f, f->id, PV)); /* again */
}

/* Drivers send paths as the kubelet spells them. */
static void test_spellings(void **state) {
  struct volume_fixture *f = *state;
  static const char *const paths[] = {"/var/lib/kubelet/pv", "\\var\\lib\\kubelet\\pv\\",
                                      "c:/var/lib/KUBELET//pv/.", "\\\\?\\C:\\var\\lib\\kubelet\\pv"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    assert_ok(f, call_mount(f, f->id, paths[i]));
    assert_mounted(f, paths[(i + 1) % 4], true);
    assert_ok(f, call_unmount(f, f->id, paths[(i + 2) % 4]));
    assert_mounted(f, PV, false);
  }
}

static void test_outside_of_working_directories(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_add_directory(f->files, "C:\\ProgramData\\ECS\\ebs");
  assert_ok(f, call_mount(f, f->id, "C:\\ProgramData\\ECS\\ebs"));
  assert_mounted(f, "C:\\ProgramData\\ECS\\ebs", true);
  assert_ok(f, call_unmount(f, f->id, "C:\\ProgramData\\ECS\\ebs"));
}

static void test_empty_and_malformed(void **state) {
  struct volume_fixture *f = *state;
  assert_failed(f, call_mount(f, "", PV), CSI_INVALID_ARGUMENT, "MountVolumeRequest.VolumeId is empty");
  assert_failed(f, call_mount(f, f->id, ""), CSI_INVALID_ARGUMENT, "MountVolumeRequest.TargetPath is empty");
  assert_failed(f, call_unmount(f, "", PV), CSI_INVALID_ARGUMENT, "volume id empty");
  assert_failed(f, call_unmount(f, f->id, ""), CSI_INVALID_ARGUMENT, "target path empty");
  assert_failed(f, call_mount(f, "3", PV), CSI_NOT_FOUND,
                "error mount volume (3) to path " PV ". error: failed to query volume 3: not found");
  assert_failed(f, call_unmount(f, "3", PV), CSI_NOT_FOUND,
                "error querying volume (3). error: failed to query volume 3: not found");
  assert_failed(f, call_mount(f, NO_VOLUME, PV), CSI_NOT_FOUND,
                "error mount volume (" NO_VOLUME ") to path " PV ". error: failed to query volume " NO_VOLUME
                ": not found: ");
  static const char *const paths[] = {
      "pv",   "\\\\server\\share", "//server/share", "\\\\.\\C:\\pv", "\\??\\UNC\\server\\share",
      "C:pv", "C:\\a\\..\\b",      "C:\\nul",        "C:\\a:b"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    assert_false(call_mount(f, f->id, paths[i]));
    assert_int_equal(f->status.code, CSI_INVALID_ARGUMENT);
    assert_false(call_unmount(f, f->id, paths[i]));
    assert_int_equal(f->status.code, CSI_INVALID_ARGUMENT);
  }
  assert_int_equal(csi_fake_network_touches(f->files), 0);
}

static void test_mount_needs_an_empty_directory(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_add_file(f->files, K "\\full\\x");
  csi_fake_add_file(f->files, K "\\file");
  csi_fake_add_symlink(f->files, K "\\link", "\\??\\C:\\var\\lib\\kubelet\\pv", false, true);
  csi_fake_add_junction(f->files, K "\\junction", "\\??\\C:\\var\\lib\\kubelet\\pv");
  assert_failed(f, call_mount(f, f->id, K "\\full"), CSI_FAILED_PRECONDITION, "error mount volume (");
  assert_says(f, "The directory is not empty.");
  assert_failed(f, call_mount(f, f->id, K "\\missing"), CSI_NOT_FOUND, "error mount volume (");
  assert_says(f, "The system cannot find the file specified.");
  assert_false(call_mount(f, f->id, K "\\file"));
  assert_says(f, "The directory name is invalid.");
  assert_failed(f, call_mount(f, f->id, K "\\link"), CSI_FAILED_PRECONDITION, "error mount volume (");
  assert_says(f, "this is a link, not a directory");
  assert_failed(f, call_mount(f, f->id, K "\\junction"), CSI_FAILED_PRECONDITION, "error mount volume (");
  assert_failed(f, call_mount(f, f->id, K), CSI_FAILED_PRECONDITION, "error mount volume (");
  assert_says(f, "this is a working directory");
  assert_failed(f, call_mount(f, f->id, "C:\\"), CSI_FAILED_PRECONDITION, "error mount volume (");
  assert_says(f, "this is the root of a drive");
  assert_mounted(f, PV, false);
}

static void test_other_volume(void **state) {
  struct volume_fixture *f = *state;
  char other[CSI_VOLUME_ID_BYTES], substitute[CSI_VOLUME_ID_BYTES];
  volume_id_of(f, SYSTEM_DISK, 1, other);
  snprintf(substitute, sizeof substitute, "\\??%s", other + 3);
  csi_fake_add_junction(f->files, K "\\taken", substitute);
  assert_failed(f, call_mount(f, f->id, K "\\taken"), CSI_FAILED_PRECONDITION, "error mount volume (");
  assert_says(f, other);
  assert_says(f, " is mounted there");
  /* Neither is it replaced while nobody knows whether there is such a volume. */
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_OPEN, 2, 21);
  assert_failed(f, call_mount(f, f->id, K "\\taken"), CSI_UNAVAILABLE, "error mount volume (");
  assert_failed(f, call_unmount(f, f->id, K "\\taken"), CSI_FAILED_PRECONDITION, "error umount volume (");
  assert_says(f, " is mounted there");
  assert_true(csi_fake_is_reparse_point(f->files, K "\\taken"));
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_VOLUME_FLUSH, CSI_FAKE_ANY_DISK), 0);
}

static void test_dangling_mount_point_is_replaced(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_add_volume(f->files, OTHER, 0, 77);
  csi_fake_add_junction(f->files, K "\\dangling", "\\??\\" OTHER "\\");
  assert_failed(f, call_unmount(f, f->id, K "\\dangling"), CSI_FAILED_PRECONDITION, "error umount volume (");
  assert_true(csi_fake_is_reparse_point(f->files, K "\\dangling"));
  assert_ok(f, call_mount(f, f->id, K "\\dangling"));
  assert_mounted(f, K "\\dangling", true);
  assert_true(is_announced(f, K "\\dangling"));
}

/* A folder that was left over, with a volume name in capitals. */
static void test_same_volume_in_capitals(void **state) {
  struct volume_fixture *f = *state;
  char substitute[CSI_VOLUME_ID_BYTES];
  snprintf(substitute, sizeof substitute, "\\??%s", f->id + 3);
  for (char *c = substitute; *c != '\0'; c++)
    if (*c >= 'a' && *c <= 'f') *c = (char)(*c - 'a' + 'A');
  csi_fake_add_junction(f->files, K "\\left", substitute);
  assert_ok(f, call_mount(f, f->id, K "\\left"));
  assert_true(is_announced(f, K "\\left"));
  assert_ok(f, call_unmount(f, f->id, K "\\left"));
  assert_false(csi_fake_is_reparse_point(f->files, K "\\left"));
}

static void test_unmount_of_nothing(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_add_file(f->files, K "\\file");
  csi_fake_add_symlink(f->files, K "\\link", "\\??\\C:\\var\\lib\\kubelet\\pv", false, true);
  assert_ok(f, call_unmount(f, f->id, PV));
  assert_ok(f, call_unmount(f, f->id, K "\\file"));
  assert_ok(f, call_unmount(f, f->id, K "\\missing"));
  assert_ok(f, call_unmount(f, f->id, K "\\missing\\deeper"));
  assert_ok(f, call_unmount(f, NO_VOLUME, PV));
  assert_failed(f, call_unmount(f, f->id, K "\\link"), CSI_FAILED_PRECONDITION, "error umount volume (");
  assert_says(f, "this is a link, not a mounted folder");
}

static void test_unmount_after_device_has_vanished(void **state) {
  struct volume_fixture *f = *state;
  assert_ok(f, call_mount(f, f->id, PV));
  csi_fake_storage_unplug(f->storage, DATA_DISK);
  assert_mounted(f, PV, true); /* the folder says so, whatever became of the volume */
  assert_ok(f, call_unmount(f, f->id, PV));
  assert_mounted(f, PV, false);
}

static void test_unmount_while_device_vanishes(void **state) {
  struct volume_fixture *f = *state;
  static const uint32_t errors[] = {2, 55, 433, 1167, 1617};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    assert_ok(f, call_mount(f, f->id, PV));
    csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_FLUSH, 1, errors[i]);
    assert_ok(f, call_unmount(f, f->id, PV));
  }
  static const uint32_t ambiguous[] = {21, 31, 1117};
  for (size_t i = 0; i < sizeof ambiguous / sizeof *ambiguous; i++) {
    assert_ok(f, call_mount(f, f->id, PV));
    csi_fake_storage_add_fault(f->storage, &(struct csi_fake_fault){.step = CSI_FAKE_VOLUME_FLUSH,
                                                                    .disk = DATA_DISK,
                                                                    .error = ambiguous[i],
                                                                    .count = 1,
                                                                    .unplug = true});
    assert_ok(f, call_unmount(f, f->id, PV));
    assert_mounted(f, PV, false);
    csi_fake_storage_plug(f->storage, DATA_DISK, DATA_DISK);
  }
}

/* What could not be written must not be lost in silence. */
static void test_unmount_reports_failed_flush(void **state) {
  struct volume_fixture *f = *state;
  static const uint32_t errors[] = {21, 31, 1117, 23};
  assert_ok(f, call_mount(f, f->id, PV));
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_FLUSH, 1, errors[i]);
    assert_false(call_unmount(f, f->id, PV));
    assert_int_equal(f->status.number, errors[i]);
    assert_says(f, ") cache. error: failed to flush volume ");
    assert_mounted(f, PV, true);
  }
  struct csi_extent more = {.disk_number = SYSTEM_DISK, .offset_bytes = MIB, .length_bytes = MIB};
  csi_fake_storage_span(f->storage, &f->data, &more);
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_FLUSH, 1, 31);
  assert_false(call_unmount(f, f->id, PV));
  assert_mounted(f, PV, true);
  assert_ok(f, call_unmount(f, f->id, PV));
}

static void test_failed_announcement_is_undone(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_ANNOUNCE_MOUNT, 1, 5);
  assert_failed(f, call_mount(f, f->id, PV), CSI_PERMISSION_DENIED, "error mount volume (");
  assert_false(csi_fake_is_reparse_point(f->files, PV));
  assert_ok(f, call_mount(f, f->id, PV));
  /* Nothing is undone that an earlier call has done. */
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_ANNOUNCE_MOUNT, 1, 5);
  assert_ok(f, call_mount(f, f->id, PV));
  assert_mounted(f, PV, true);
}

static void test_file_system_that_keeps_no_mount_point(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_lose_reparse_points(f->files);
  assert_failed(f, call_mount(f, f->id, PV), CSI_INTERNAL, "error mount volume (");
  assert_says(f, "the file system does not keep the mount point");
}

/* --- Planted links. */

static void test_planted_link_on_the_way(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_add_directory(f->files, "C:\\Windows\\empty");
  csi_fake_add_symlink(f->files, K "\\pods", "\\??\\C:\\Windows", false, true);
  assert_failed(f, call_mount(f, f->id, K "\\pods\\empty"), CSI_FAILED_PRECONDITION, "error mount volume (");
  assert_says(f, K "\\pods is a link");
  assert_false(csi_fake_is_reparse_point(f->files, "C:\\Windows\\empty"));
  assert_failed(f, call_unmount(f, f->id, K "\\pods\\empty"), CSI_FAILED_PRECONDITION,
                "error umount volume (");
}

/* Exchanges a directory for a link whenever a step is about to be done; undoes it afterwards. */
struct intruder {
  unsigned countdown;
  bool done;
};

static void exchange(struct csi_fake_filesystem *files, enum csi_fake_call call, const char *name,
                     void *data) {
  (void)call;
  (void)name;
  struct intruder *intruder = data;
  if (intruder->done || --intruder->countdown > 0) return;
  intruder->done = true;
  csi_fake_move(files, K "\\a", "C:\\hidden");
  csi_fake_add_symlink(files, K "\\a", "\\??\\C:\\Windows", false, true);
}

static void test_link_planted_meanwhile(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_add_directory(f->files, K "\\a\\b");
  csi_fake_add_directory(f->files, "C:\\Windows\\b");
  bool any_success = false, any_failure = false;
  for (unsigned step = 1;; step++) {
    struct intruder intruder = {.countdown = step};
    csi_fake_set_hook(f->files, exchange, &intruder);
    bool mounted = call_mount(f, f->id, K "\\a\\b");
    csi_fake_set_hook(f->files, NULL, NULL);
    assert_false(csi_fake_is_reparse_point(f->files, "C:\\Windows\\b"));
    if (!intruder.done) break;
    assert_int_equal(csi_fake_is_reparse_point(f->files, "C:\\hidden\\b"), mounted);
    any_success |= mounted;
    any_failure |= !mounted;
    if (mounted) assert_ok(f, call_unmount(f, f->id, "C:\\hidden\\b"));
    csi_fake_move(f->files, K "\\a", "C:\\trash");
    csi_fake_move(f->files, "C:\\hidden", K "\\a");
    csi_fake_move(f->files, "C:\\trash", "C:\\Windows\\b\\x");
    csi_fake_move(f->files, "C:\\Windows\\b", "C:\\done");
    csi_fake_add_directory(f->files, "C:\\Windows\\b");
    csi_fake_move(f->files, "C:\\done", (char[]){'C', ':', '\\', 'd', (char)('a' + step), '\0'});
  }
  assert_true(any_success && any_failure);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, volume_fixture_set_up, volume_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_mount),
      TEST(test_spellings),
      TEST(test_outside_of_working_directories),
      TEST(test_empty_and_malformed),
      TEST(test_mount_needs_an_empty_directory),
      TEST(test_other_volume),
      TEST(test_dangling_mount_point_is_replaced),
      TEST(test_same_volume_in_capitals),
      TEST(test_unmount_of_nothing),
      TEST(test_unmount_after_device_has_vanished),
      TEST(test_unmount_while_device_vanishes),
      TEST(test_unmount_reports_failed_flush),
      TEST(test_failed_announcement_is_undone),
      TEST(test_file_system_that_keeps_no_mount_point),
      TEST(test_planted_link_on_the_way),
      TEST(test_link_planted_meanwhile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
