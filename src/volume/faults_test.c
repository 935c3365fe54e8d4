/* SPDX-License-Identifier: Apache-2.0
 *
 * Every step of every RPC is made to fail in turn, then to hang, then to lose the disk; then the same call is
 * made again. A failed call says so, closes and unlocks all it had (the fixture looks), and leaves what the
 * same call repairs.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "volume/volume_fixture.h"

#define PV K "\\pv"

enum {
  IO_DEVICE = 1117,    /* an error that no rule forgives */
  HANG_MS = 40,        /* deadline of a call whose step hangs */
  STEP_LIMIT_MS = 500, /* of a step that the client's deadline does not end: a format */
  STEPS_MAX = 100,     /* more steps than any call takes */
  ALLOCATIONS_MAX = 400,
};

/* The longest a call with a deadline may take, on a busy machine. */
#define HANG_LIMIT_NS INT64_C(3000000000)

/* An RPC, the scene it needs, and how to tell that it did what it should. */
struct operation {
  const char *name;
  void (*prepare)(struct volume_fixture *f);
  bool (*call)(struct volume_fixture *f);
  void (*check)(struct volume_fixture *f);
  bool forgives_gone; /* the device may vanish */
};

static void nothing(struct volume_fixture *f) {
  (void)f;
}

static void prepare_formatted(struct volume_fixture *f) {
  csi_fake_storage_sign(f->storage, DATA_DISK, DATA, CSI_FAKE_NTFS);
}

static void prepare_mounted(struct volume_fixture *f) {
  prepare_formatted(f);
  assert_ok(f, call_mount(f, f->id, PV));
}

static bool list(struct volume_fixture *f) {
  return call_list(f, DATA_DISK, 0);
}

static void check_list(struct volume_fixture *f) {
  assert_int_equal(f->id_count, 1);
  assert_string_equal(f->ids[0], f->id);
}

static bool mount(struct volume_fixture *f) {
  return call_mount(f, f->id, PV);
}

static void check_mounted(struct volume_fixture *f) {
  struct csi_guid announced;
  assert_mounted(f, PV, true);
  assert_true(csi_fake_storage_get_announced(f->storage, PV, &announced));
  assert_true(csi_guid_equal(&announced, &f->data));
}

static bool unmount(struct volume_fixture *f) {
  return call_unmount(f, f->id, PV);
}

static void check_unmounted(struct volume_fixture *f) {
  assert_false(csi_fake_is_reparse_point(f->files, PV));
  assert_true(csi_fake_is_directory(f->files, PV));
}

static bool is_formatted(struct volume_fixture *f) {
  bool formatted = true;
  if (!call_is_formatted(f, f->id, &formatted)) return false;
  assert_false(formatted);
  return true;
}

static bool format(struct volume_fixture *f) {
  return call_format(f, f->id);
}

static void check_formatted(struct volume_fixture *f) {
  assert_int_equal(csi_fake_storage_get_signature(f->storage, &f->data), CSI_FAKE_NTFS);
}

static bool resize(struct volume_fixture *f) {
  return call_resize(f, f->id, 0);
}

static void check_resized(struct volume_fixture *f) {
  int64_t total, used;
  assert_ok(f, call_stats(f, f->id, &total, &used));
  assert_true((uint64_t)total > 2 * GIB - 18 * MIB && (uint64_t)total <= 2 * GIB - 17 * MIB);
}

static bool stats(struct volume_fixture *f) {
  int64_t total = 0, used = 0;
  if (!call_stats(f, f->id, &total, &used)) return false;
  assert_true((uint64_t)total > 511 * MIB && used > 0);
  return true;
}

static bool disk_number(struct volume_fixture *f) {
  uint32_t number = 0;
  if (!call_disk_number(f, f->id, &number)) return false;
  assert_int_equal(number, DATA_DISK);
  return true;
}

static bool lookup(struct volume_fixture *f) {
  if (!call_lookup(f, PV)) return false;
  assert_string_equal(f->ids[0], f->id);
  return true;
}

static bool closest(struct volume_fixture *f) {
  return call_closest(f, K);
}

static bool write_cache(struct volume_fixture *f) {
  return call_write_cache(f, f->id);
}

static const struct operation operations[] = {
    {"ListVolumesOnDisk", nothing, list, check_list, false},
    {"MountVolume", prepare_formatted, mount, check_mounted, false},
    {"UnmountVolume", prepare_mounted, unmount, check_unmounted, true},
    {"IsVolumeFormatted", nothing, is_formatted, nothing, false},
    {"FormatVolume", nothing, format, check_formatted, false},
    {"ResizeVolume", prepare_formatted, resize, check_resized, false},
    {"ResizeVolume, unformatted", nothing, resize, nothing, false},
    {"GetVolumeStats", prepare_formatted, stats, nothing, false},
    {"GetDiskNumberFromVolumeID", nothing, disk_number, nothing, false},
    {"GetVolumeIDFromTargetPath", prepare_mounted, lookup, nothing, true},
    {"GetClosestVolumeIDFromTargetPath", nothing, closest, nothing, false},
    {"WriteVolumeCache", nothing, write_cache, nothing, false},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static struct volume_fixture *begin(const struct operation *operation, void **state) {
  assert_int_equal(volume_fixture_set_up(state), 0);
  struct volume_fixture *f = *state;
  operation->prepare(f);
  csi_fake_storage_reset_counts(f->storage);
  return f;
}

/* The same call without the fault. */
static void repeat(const struct operation *operation, struct volume_fixture *f) {
  csi_fake_storage_clear_faults(f->storage);
  csi_fake_fail(f->files, 0, 0, 0);
  f->deadline_ns = CSI_NO_DEADLINE;
  if (!operation->call(f)) fail_msg("%s again: %s", operation->name, f->status.text);
  operation->check(f);
}

static void test_every_device_call_fails(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++) {
    unsigned nth = 1;
    for (;; nth++) {
      assert_true(nth < STEPS_MAX);
      struct volume_fixture *f = begin(operation, state);
      csi_fake_storage_fail(f->storage, CSI_FAKE_ANY_STEP, nth, IO_DEVICE);
      bool result = operation->call(f);
      bool struck = csi_fake_storage_struck(f->storage) > 0;
      csi_fake_storage_clear_faults(f->storage);
      if (!result) assert_int_equal(f->status.number, IO_DEVICE);
      if (result) operation->check(f); /* some steps may fail: what already was as it should be */
      repeat(operation, f);
      volume_fixture_tear_down(state);
      if (!struck) break;
    }
    print_message("%s: %u device calls\n", operation->name, nth - 1);
  }
}

static void test_every_device_call_hangs(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++)
    for (unsigned nth = 1;; nth++) {
      assert_true(nth < STEPS_MAX);
      struct volume_fixture *f = begin(operation, state);
      csi_fake_storage_add_fault(
          f->storage,
          &(struct csi_fake_fault){
              .step = CSI_FAKE_ANY_STEP, .disk = CSI_FAKE_ANY_DISK, .nth = nth, .count = 1, .hang = true});
      csi_fake_storage_set_step_limit(f->storage, STEP_LIMIT_MS);
      f->deadline_ns = csi_now_ns() + (int64_t)HANG_MS * 1000000;
      int64_t begin_ns = csi_now_ns();
      bool result = operation->call(f);
      if (csi_now_ns() - begin_ns > HANG_LIMIT_NS) fail_msg("%s, step %u: too long", operation->name, nth);
      bool struck = csi_fake_storage_struck(f->storage) > 0;
      if (struck && !result) assert_int_equal(f->status.code, CSI_DEADLINE_EXCEEDED);
      csi_fake_storage_clear_faults(f->storage);
      f->deadline_ns = CSI_NO_DEADLINE;
      if (result) operation->check(f);
      repeat(operation, f);
      volume_fixture_tear_down(state);
      if (!struck) break;
    }
}

static void test_disk_is_lost_at_every_device_call(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++)
    for (unsigned nth = 1;; nth++) {
      assert_true(nth < STEPS_MAX);
      struct volume_fixture *f = begin(operation, state);
      csi_fake_storage_add_fault(
          f->storage,
          &(struct csi_fake_fault){
              .step = CSI_FAKE_ANY_STEP, .disk = DATA_DISK, .nth = nth, .count = 1, .unplug = true});
      bool result = operation->call(f);
      bool struck = csi_fake_storage_struck(f->storage) > 0;
      if (operation->forgives_gone || !struck) assert_ok(f, result);
      if (!operation->forgives_gone && struck && result) fail_msg("%s, step %u", operation->name, nth);
      csi_fake_storage_clear_faults(f->storage);
      if (struck) csi_fake_storage_plug(f->storage, DATA_DISK, DATA_DISK);
      repeat(operation, f);
      volume_fixture_tear_down(state);
      if (!struck) break;
    }
}

static void test_every_file_step_fails(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++)
    for (unsigned nth = 1;; nth++) {
      assert_true(nth < STEPS_MAX);
      struct volume_fixture *f = begin(operation, state);
      csi_fake_fail(f->files, CSI_FAKE_ANY_CALL, nth, IO_DEVICE);
      bool result = operation->call(f);
      bool struck = csi_fake_has_failed(f->files);
      assert_int_equal(result, !struck);
      if (struck) assert_int_equal(f->status.number, IO_DEVICE);
      repeat(operation, f);
      volume_fixture_tear_down(state);
      if (!struck) break;
    }
}

static void test_memory_is_short(void **state) {
  for (const struct operation *operation = operations; operation < operations + OPERATIONS; operation++)
    for (unsigned nth = 1;; nth++) {
      assert_true(nth < ALLOCATIONS_MAX);
      struct volume_fixture *f = begin(operation, state);
      f->fail_allocation = nth;
      bool result = operation->call(f);
      bool struck = f->allocation_failed;
      f->fail_allocation = 0;
      if (!struck) assert_ok(f, result);
      if (!result) assert_int_equal(f->status.code, CSI_RESOURCE_EXHAUSTED);
      repeat(operation, f);
      volume_fixture_tear_down(state);
      if (!struck) break;
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_device_call_fails),
      cmocka_unit_test(test_every_device_call_hangs),
      cmocka_unit_test(test_disk_is_lost_at_every_device_call),
      cmocka_unit_test(test_every_file_step_fails),
      cmocka_unit_test(test_memory_is_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
