/* SPDX-License-Identifier: Apache-2.0
 *
 * ListDisks and ListVolumes: everything that is known is there, and one odd disk fails nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "admin/fixture.h"
#include "volume/volume_id.h"

enum {
  IO_DEVICE = 1117, /* ERROR_IO_DEVICE */
};

static void test_details(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_disks_response response;
  const struct csi_disk_address address = {.port = 3, .path = 1, .target = 2, .lun = 63};
  add_named_disk(f, 7, "nvme", "  ACME ", "hex:6000c29a@0/3", "SN-7 ");
  csi_fake_storage_set_address(f->storage, 7, &address);
  csi_fake_storage_set_attributes(f->storage, 7, true, true);
  add_disk(f, 2);
  assert_ok(f, call_list_disks(f, &response));
  assert_int_equal(response.errors_count, 0);
  assert_int_equal(response.disks_count, 2);
  assert_int_equal(response.disks[0].number, 2);
  const struct csi_admin_disk_details *disk = &response.disks[1];
  assert_int_equal(disk->number, 7);
  assert_int_equal(disk->size_bytes, GIB);
  assert_int_equal(disk->sector_bytes, 512);
  assert_string_equal(disk->bus_type, "NVMe");
  assert_string_equal(disk->vendor, "ACME");
  assert_string_equal(disk->product, "Disk");
  assert_string_equal(disk->serial_number, "SN-7");
  assert_string_equal(disk->page83, "6000c29a");
  assert_true(disk->has_location);
  assert_int_equal(disk->adapter, 3);
  assert_int_equal(disk->bus, 1);
  assert_int_equal(disk->target, 2);
  assert_int_equal(disk->lun, 63);
  assert_false(disk->online);
  assert_true(disk->read_only);
  assert_string_equal(disk->partition_style, "RAW");
  assert_int_equal(disk->errors_count, 0);
}

/* A device that does not know a question has no answer; that is no error. */
static void test_silent_disk(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_disks_response response;
  add_disk(f, 1);
  assert_ok(f, call_list_disks(f, &response));
  assert_int_equal(response.disks_count, 1);
  assert_string_equal(response.disks[0].page83, "");
  assert_string_equal(response.disks[0].serial_number, "");
  assert_string_equal(response.disks[0].bus_type, "");
  assert_false(response.disks[0].has_location);
  assert_true(response.disks[0].online);
  assert_int_equal(response.disks[0].errors_count, 0);
}

static void test_partitions(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_disks_response response;
  struct csi_guid guid;
  char id[CSI_VOLUME_ID_BYTES];
  add_disk(f, 3);
  csi_fake_storage_set_style(f->storage, 3, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 3, &csi_partition_type_efi_system, 0, MIB, 16 * MIB);
  uint32_t data =
      csi_fake_storage_add_partition(f->storage, 3, &csi_partition_type_basic_data, 0, 32 * MIB, 64 * MIB);
  csi_fake_storage_set_roles(f->storage, 3, CSI_DISK_HOLDS_WINDOWS | CSI_DISK_HOLDS_CRASH_DUMP);
  assert_true(csi_fake_storage_get_volume(f->storage, 3, data, &guid));
  csi_volume_id_format(&guid, id);
  assert_ok(f, call_list_disks(f, &response));
  const struct csi_admin_disk_details *disk = &response.disks[0];
  assert_string_equal(disk->partition_style, "GPT");
  assert_int_equal(disk->partitions_count, 2);
  assert_string_equal(disk->partitions[0].type, "EFI system");
  assert_string_equal(disk->partitions[1].type, "basic data");
  assert_int_equal(disk->partitions[1].number, data);
  assert_int_equal(disk->partitions[1].offset_bytes, 32 * MIB);
  assert_int_equal(disk->partitions[1].size_bytes, 64 * MIB);
  assert_string_equal(disk->partitions[1].volume_id, id);
  assert_int_equal(disk->guarded_by_count, 3);
  assert_string_equal(disk->guarded_by[0], "Windows");
  assert_string_equal(disk->guarded_by[1], "crash dump");
  assert_string_equal(disk->guarded_by[2], "EFI system partition");
}

/* Every question in turn fails: the rest is told. */
static void test_each_question_may_fail(void **state) {
  static const struct {
    enum csi_fake_step step;
    const char *error;
  } rows[] = {
      {CSI_FAKE_DISK_GET_IDENTIFIERS, "page 83 identifier: "},
      {CSI_FAKE_DISK_GET_DESCRIPTOR, "vendor, product and serial number: "},
      {CSI_FAKE_DISK_GET_ADDRESS, "location: "},
      {CSI_FAKE_DISK_GET_GEOMETRY, "size: "},
      {CSI_FAKE_DISK_GET_ATTRIBUTES, "online and read-only: "},
      {CSI_FAKE_DISK_GET_LAYOUT, "partition table: "},
      {CSI_FAKE_DISK_GET_ROLES, "what Windows needs the disk for: "},
  };
  struct fixture *f = *state;
  add_named_disk(f, 1, "sas", "ACME", "ascii:one@0/1", "SN");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct csi_admin_list_disks_response response;
    csi_fake_storage_fail(f->storage, rows[i].step, 1, IO_DEVICE);
    assert_ok(f, call_list_disks(f, &response));
    assert_int_equal(response.disks_count, 1);
    assert_int_equal(response.disks[0].errors_count, 1);
    assert_has(response.disks[0].errors[0], rows[i].error);
    assert_has(response.disks[0].errors[0], csi_fake_step_name(rows[i].step));
    assert_true(rows[i].step == CSI_FAKE_DISK_GET_DESCRIPTOR ||
                strcmp(response.disks[0].serial_number, "SN") == 0);
    csi_fake_storage_clear_faults(f->storage);
  }
}

static void test_broken_interface(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_disks_response response;
  add_disk(f, 1);
  csi_fake_storage_add_disk(
      f->storage, &(struct csi_fake_disk){.number = 2, .size_bytes = GIB, .interface_broken = true});
  assert_ok(f, call_list_disks(f, &response));
  assert_int_equal(response.disks_count, 1);
  assert_int_equal(response.errors_count, 1);
  assert_has(response.errors[0], "CreateFileW");
}

static void test_no_list_at_all(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_disks_response response;
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_LIST, 1, IO_DEVICE);
  assert_false(call_list_disks(f, &response));
  assert_has(f->status.text, "failed to list disks: ");
}

/* Two disks that hang leave time for the others, and say so. */
static void test_disks_that_hang(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_disks_response response;
  for (uint32_t number = 1; number <= 4; number++)
    add_named_disk(f, number, "sas", "ACME", "none", "SN");
  for (int64_t number = 1; number <= 2; number++)
    csi_fake_storage_add_fault(
        f->storage,
        &(struct csi_fake_fault){.step = CSI_FAKE_DISK_GET_GEOMETRY, .disk = number, .hang = true});
  f->limit_ms = 400;
  assert_ok(f, call_list_disks(f, &response));
  assert_int_equal(response.disks_count, 4);
  assert_int_equal(response.disks[0].size_bytes, 0);
  assert_string_equal(response.disks[0].serial_number, "SN");
  assert_some_has(response.disks[0].errors, response.disks[0].errors_count, "size: ");
  assert_some_has(response.disks[1].errors, response.disks[1].errors_count, "the rest was not asked for");
  assert_int_equal(response.disks[2].errors_count, 0);
  assert_int_equal(response.disks[3].size_bytes, GIB);
}

static void test_memory(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_disks_response disks;
  struct csi_admin_list_volumes_response volumes;
  add_named_disk(f, 1, "sas", "ACME", "ascii:one@0/1", "SN");
  csi_fake_storage_set_style(f->storage, 1, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 1, &csi_partition_type_basic_data, 0, MIB, 0);
  do {
    f->fail_allocation++;
    assert_true(!call_list_disks(f, &disks) || !f->allocation_failed);
    if (f->allocation_failed) assert_int_equal(f->status.code, CSI_RESOURCE_EXHAUSTED);
  } while (f->allocation_failed);
  f->fail_allocation = 0;
  do {
    f->fail_allocation++;
    assert_true(!call_list_volumes(f, &volumes) || !f->allocation_failed);
    if (f->allocation_failed) assert_int_equal(f->status.code, CSI_RESOURCE_EXHAUSTED);
  } while (f->allocation_failed);
}

/* ---- Volumes. ---- */

/* One partition over the whole disk. */
static struct csi_guid add_volume(struct fixture *f, uint32_t number, enum csi_fake_signature signature) {
  struct csi_guid guid;
  add_disk(f, number);
  csi_fake_storage_set_style(f->storage, number, CSI_PARTITION_STYLE_GPT);
  uint32_t partition =
      csi_fake_storage_add_partition(f->storage, number, &csi_partition_type_basic_data, 0, MIB, 512 * MIB);
  csi_fake_storage_sign(f->storage, number, partition, signature);
  assert_true(csi_fake_storage_get_volume(f->storage, number, partition, &guid));
  return guid;
}

static void test_volumes(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_volumes_response response;
  struct csi_guid formatted = add_volume(f, 5, CSI_FAKE_NTFS);
  add_volume(f, 4, CSI_FAKE_RAW);
  csi_fake_storage_set_used(f->storage, &formatted, 100 * MIB);
  csi_fake_storage_set_letter(f->storage, &formatted, 'X');
  mount_volume(f, K "\\pv1", &formatted);
  assert_ok(f, call_list_volumes(f, &response));
  assert_int_equal(response.errors_count, 0);
  assert_int_equal(response.volumes_count, 2);
  assert_int_equal(response.volumes[0].disk_number, 4);
  assert_string_equal(response.volumes[0].file_system, "");
  assert_int_equal(response.volumes[0].total_bytes, 512 * MIB);
  assert_int_equal(response.volumes[0].free_bytes, 0);
  assert_int_equal(response.volumes[0].mount_points_count, 0);
  const struct csi_admin_volume_details *volume = &response.volumes[1];
  assert_int_equal(volume->disk_number, 5);
  assert_int_equal(volume->partition_number, 1);
  assert_string_equal(volume->file_system, "NTFS");
  assert_true(volume->total_bytes > 500 * MIB);
  assert_int_equal(volume->total_bytes - volume->free_bytes, 100 * MIB);
  assert_int_equal(volume->mount_points_count, 2);
  assert_string_equal(volume->mount_points[0], "X:\\");
  assert_string_equal(volume->mount_points[1], K "\\pv1");
}

static void test_volume_errors(void **state) {
  static const struct {
    enum csi_fake_step step;
    const char *error;
  } rows[] = {
      {CSI_FAKE_VOLUME_LIST_MOUNT_POINTS, "mount points: "},
      {CSI_FAKE_VOLUME_GET_FILE_SYSTEM, "file system: "},
      {CSI_FAKE_VOLUME_GET_SPACE, "size: "},
  };
  struct fixture *f = *state;
  add_volume(f, 1, CSI_FAKE_NTFS);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct csi_admin_list_volumes_response response;
    csi_fake_storage_fail(f->storage, rows[i].step, 1, IO_DEVICE);
    assert_ok(f, call_list_volumes(f, &response));
    assert_int_equal(response.volumes_count, 1);
    assert_int_equal(response.volumes[0].errors_count, 1);
    assert_has(response.volumes[0].errors[0], rows[i].error);
    csi_fake_storage_clear_faults(f->storage);
  }
}

static void test_volumes_of_an_unreadable_disk(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_volumes_response response;
  add_volume(f, 1, CSI_FAKE_NTFS);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_LAYOUT, 1, IO_DEVICE);
  assert_ok(f, call_list_volumes(f, &response));
  assert_int_equal(response.volumes_count, 0);
  assert_int_equal(response.errors_count, 1);
  assert_has(response.errors[0], "disk 1: partition table: ");
}

int main(void) {
#define ADMIN_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
  const struct CMUnitTest tests[] = {
      ADMIN_TEST(test_details),
      ADMIN_TEST(test_silent_disk),
      ADMIN_TEST(test_partitions),
      ADMIN_TEST(test_each_question_may_fail),
      ADMIN_TEST(test_broken_interface),
      ADMIN_TEST(test_no_list_at_all),
      ADMIN_TEST(test_disks_that_hang),
      ADMIN_TEST(test_memory),
      ADMIN_TEST(test_volumes),
      ADMIN_TEST(test_volume_errors),
      ADMIN_TEST(test_volumes_of_an_unreadable_disk),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
