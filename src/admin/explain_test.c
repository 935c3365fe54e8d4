/* SPDX-License-Identifier: Apache-2.0
 *
 * ExplainDisk: what is found in each scene, and how serious it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "admin/fixture.h"
#include "iscsi_command.h"

#define OK CSI_ADMIN_FINDING_LEVEL_OK
#define NOTE CSI_ADMIN_FINDING_LEVEL_NOTE
#define PROBLEM CSI_ADMIN_FINDING_LEVEL_PROBLEM

#define IQN "iqn.2026-01.test:one"

enum {
  IO_DEVICE = 1117,
};

/* Disk 1 has a finding of that level on the subject, with that text, and an advice with that text. */
static void assert_found(struct fixture *f, enum csi_admin_finding_level level, const char *subject,
                         const char *text, const char *advice) {
  struct csi_admin_explain_disk_response response;
  assert_ok(f, call_explain_disk(f, 1, &response));
  assert_int_equal(response.disk->number, 1);
  for (size_t i = 0; i < response.findings_count; i++) {
    const struct csi_admin_finding *finding = &response.findings[i];
    if (strcmp(finding->subject, subject) != 0 || strstr(finding->text, text) == NULL) continue;
    if (finding->level != level) fail_msg("level %d: %s", (int)finding->level, finding->text);
    assert_has(finding->advice, advice);
    return;
  }
  for (size_t i = 0; i < response.findings_count; i++)
    print_message("%s: %s\n", response.findings[i].subject, response.findings[i].text);
  fail_msg("no finding on %s with \"%s\"", subject, text);
}

static void test_no_such_disk(void **state) {
  struct fixture *f = *state;
  struct csi_admin_explain_disk_response response;
  assert_false(call_explain_disk(f, 1, &response));
  assert_int_equal(f->status.code, CSI_NOT_FOUND);
  assert_has(f->status.text, "failed to query disk 1. error: not found: ");
}

/* ---- What drivers go by. ---- */

static void test_names(void **state) {
  static const struct {
    const char *bus, *vendor, *page83, *serial;
    enum csi_admin_finding_level level;
    const char *subject, *text, *advice;
  } rows[] = {
      {"sas", "VMware", "hex:6000c29a@0/3", NULL, OK, "page 83 identifier",
       "\"6000c29a\" (NAA): the vSphere driver", ""},
      {"sas", "VMware", "none", NULL, PROBLEM, "page 83 identifier",
       "The vSphere driver finds disks by it alone", "disk.EnableUUID"},
      {"sas", "Google", "ascii:Google%20%20pvc-1@0/1", NULL, OK, "page 83 identifier",
       "the GCE driver finds the disk as device \"pvc-1\"", ""},
      {"nvme", "NVMe", "ascii:eui.0123456789abcdef@0/8", NULL, OK, "page 83 identifier",
       "the GCE driver reads the number of the NVMe namespace", ""},
      {"nvme", "NVMe", "unsupported", "X", OK, "page 83 identifier", "as usual with NVMe", ""},
      {"sas", "ACME", "hex:6000c29a@1/3", NULL, NOTE, "page 83 identifier", "none of its own: the 1", ""},
      {"sas", "ACME", "unsupported", NULL, NOTE, "page 83 identifier", "The disk has none.", ""},
      {"sas", "ACME", "ascii:own@0/1", NULL, OK, "page 83 identifier", "\"own\" (T10 vendor, ASCII)", ""},
      {"nvme", "NVMe", "unsupported", "vol0a1b2c3d4e5f60718_00000001.", OK, "serial number",
       "the EBS driver finds the disk as volume vol-0a1b2c3d4e5f60718", ""},
      {"nvme", "NVMe", "unsupported", "10CC_9636_B6E3_CE3B_0000_0000_0000_0000.", OK, "serial number",
       "the GCE driver reads", ""},
      {"sas", "ACME", "unsupported", "6000c29a1b2c3d4e5f60718293a4b5c6", OK, "serial number",
       "ListDiskIDs gives it so", ""},
      {"sas", "ACME", "unsupported", "volume-1", OK, "serial number", "\"volume-1\": ListDiskIDs gives it so",
       ""},
      {"sas", "ACME", "unsupported", NULL, NOTE, "serial number", "The disk has none.", ""},
      {"nvme", "ACME", "unsupported", NULL, PROBLEM, "serial number", "The disk has none.", ""},
      {"sas", "ACME", "unsupported", "a\nb", OK, "serial number", "\"a\\nb\"", ""},
  };
  struct fixture *f = *state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    add_named_disk(f, 1, rows[i].bus, rows[i].vendor, rows[i].page83, rows[i].serial);
    assert_found(f, rows[i].level, rows[i].subject, rows[i].text, rows[i].advice);
    csi_fake_storage_unplug(f->storage, 1);
  }
}

static void test_location(void **state) {
  struct fixture *f = *state;
  const struct csi_disk_address address = {.port = 1, .lun = 5};
  add_named_disk(f, 1, "sas", "Msft", "none", NULL);
  assert_found(f, NOTE, "location", "The disk has no address on a SCSI bus", "");
  csi_fake_storage_set_address(f->storage, 1, &address);
  assert_found(f, OK, "location", "the Azure driver finds the disk when it was attached at LUN 5", "");
  add_disk(f, 2);
  csi_fake_storage_set_address(f->storage, 2, &(struct csi_disk_address){.port = 0, .lun = 5});
  assert_found(f, NOTE, "location, other disks", "The same as of disk 2: ", "");
  csi_fake_storage_set_descriptor(f->storage, 1, "ACME", NULL, "nvme");
  assert_found(f, NOTE, "location", "LUN 5: made up by the NVMe driver", "");
}

static void test_doubles(void **state) {
  struct fixture *f = *state;
  for (uint32_t number = 1; number <= 3; number++)
    add_named_disk(f, number, "sas", "ACME", "ascii:same@0/1", number < 3 ? "SN" : "other");
  assert_found(f, PROBLEM, "page 83 identifier, other disks", "The same as of disks 2, 3: ", "MPIO");
  assert_found(f, NOTE, "serial number, other disks", "The same as of disk 2: ", "");
  /* One that does not answer is found by nobody; the others are compared all the same. */
  csi_fake_storage_add_fault(
      f->storage, &(struct csi_fake_fault){.step = CSI_FAKE_DISK_OPEN, .disk = 2, .error = IO_DEVICE});
  assert_found(f, PROBLEM, "page 83 identifier, other disks", "The same as of disk 3: ", "");
}

static void test_iscsi(void **state) {
  struct fixture *f = *state;
  csi_fake_iscsi_do(f->targets, "target add iqn=" IQN " portal=192.0.2.1:3260");
  csi_fake_iscsi_do(f->targets, "target lun iqn=" IQN " number=1 size=64M file=lun bus=iscsi");
  csi_fake_iscsi_do(f->targets, "session add iqn=" IQN);
  assert_found(f, OK, "iSCSI session", "a session with target " IQN ", which has a connection", "");
  csi_fake_iscsi_do(f->targets, "initiator set running=0");
  assert_found(f, NOTE, "iSCSI session", "could not be found out", "");
}

static void test_iscsi_disk_of_nobody(void **state) {
  struct fixture *f = *state;
  add_named_disk(f, 1, "iscsi", "LIO", "none", NULL);
  assert_found(f, NOTE, "iSCSI session", "none of the 0 sessions", "");
}

/* ---- What stands in the way. ---- */

static void test_attributes(void **state) {
  struct fixture *f = *state;
  add_disk(f, 1);
  assert_found(f, OK, "state", "The disk is online and can be written to.", "");
  csi_fake_storage_set_attributes(f->storage, 1, true, true);
  assert_found(f, NOTE, "state", "The disk is offline: the SAN policy",
               "Set-Disk -Number 1 -IsOffline $false");
  assert_found(f, NOTE, "state", "The disk is read-only", "Set-Disk -Number 1 -IsReadOnly $false");
}

static void test_guard(void **state) {
  struct fixture *f = *state;
  add_disk(f, 1);
  assert_found(f, OK, "guard", "clients may change it", "");
  csi_fake_storage_set_roles(f->storage, 1, CSI_DISK_HOLDS_PAGE_FILE | CSI_DISK_HOLDS_BOOT_FILES);
  assert_found(f, NOTE, "guard", "The disk holds: boot files, page file. PartitionDisk", "");
  use_guard(f, false);
  assert_found(f, PROBLEM, "guard", "-allow-system-disks is set", "without -allow-system-disks");
}

static void test_guard_that_is_unknown(void **state) {
  struct fixture *f = *state;
  add_disk(f, 1);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_ROLES, 1, IO_DEVICE);
  assert_found(f, PROBLEM, "guard", "could not be found out, so that every change is refused", "");
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_ROLES, 1, IO_DEVICE);
  assert_found(f, PROBLEM, "errors", "what Windows needs the disk for: ", "");
}

static void test_raw(void **state) {
  struct fixture *f = *state;
  uint8_t sector[512] = {0};
  add_disk(f, 1);
  assert_found(f, OK, "partition table", "nothing known is on it: PartitionDisk makes it a GPT disk", "");
  memcpy(sector, "XFSB", 4);
  csi_fake_storage_write(f->storage, 1, 0, sector, sizeof sector);
  assert_found(f, PROBLEM, "partition table", "PartitionDisk refuses the disk: ", "select disk 1, clean");
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_READ, 1, IO_DEVICE);
  assert_found(f, PROBLEM, "partition table", "PartitionDisk would fail: ", "");
}

static void test_tables(void **state) {
  struct fixture *f = *state;
  add_disk(f, 1);
  csi_fake_storage_set_style(f->storage, 1, CSI_PARTITION_STYLE_MBR);
  assert_found(f, PROBLEM, "partition table", "an MBR without partitions: PartitionDisk refuses it", "clean");
  csi_fake_storage_add_partition(f->storage, 1, NULL, 0x07, MIB, 64 * MIB);
  assert_found(f, OK, "partition table", "an MBR with 1 data partition: PartitionDisk leaves it", "");
  assert_found(f, NOTE, "partition table", "beyond 2 TiB", "");
  csi_fake_storage_set_style(f->storage, 1, CSI_PARTITION_STYLE_GPT);
  assert_found(f, OK, "partition table", "a GPT without data partition: PartitionDisk adds one of ", "");
  csi_fake_storage_add_partition(f->storage, 1, &csi_partition_type_basic_data, 0, MIB, 64 * MIB);
  assert_found(f, OK, "partition table", "a GPT with 1 data partition", "");
  csi_fake_storage_add_partition(f->storage, 1, &csi_partition_type_basic_data, 0, 128 * MIB, 64 * MIB);
  assert_found(f, NOTE, "partition table",
               "a GPT with 2 data partitions: PartitionDisk leaves it as it is, and", "");
}

static void test_volumes(void **state) {
  struct fixture *f = *state;
  add_disk(f, 1);
  csi_fake_storage_set_style(f->storage, 1, CSI_PARTITION_STYLE_GPT);
  uint32_t number =
      csi_fake_storage_add_partition(f->storage, 1, &csi_partition_type_basic_data, 0, MIB, 64 * MIB);
  assert_found(f, NOTE, "volume", "without a file system", "");
  csi_fake_storage_sign(f->storage, 1, number, CSI_FAKE_NTFS);
  assert_found(f, OK, "volume", "bytes free, not mounted", "");
  csi_fake_storage_fail(f->storage, CSI_FAKE_VOLUME_GET_SPACE, 1, IO_DEVICE);
  assert_found(f, PROBLEM, "volume", "does not tell everything: size: ", "");
  csi_fake_storage_set_volume_delay(f->storage, 1, 3600 * 1000);
  csi_fake_storage_set_style(f->storage, 1, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 1, &csi_partition_type_basic_data, 0, MIB, 64 * MIB);
  assert_found(f, PROBLEM, "volume", "has no volume, or not yet", "mountvol /E");
}

/* A text has no fixed length: nothing is cut, least of all in the middle of a character. What there are many
 * of is counted. */
static void test_many_mount_points(void **state) {
  enum { PLACES = 24, CHARACTERS = 60 };
  struct fixture *f = *state;
  struct csi_guid guid;
  char path[512];
  add_disk(f, 1);
  csi_fake_storage_set_style(f->storage, 1, CSI_PARTITION_STYLE_GPT);
  uint32_t number =
      csi_fake_storage_add_partition(f->storage, 1, &csi_partition_type_basic_data, 0, MIB, 64 * MIB);
  csi_fake_storage_sign(f->storage, 1, number, CSI_FAKE_NTFS);
  assert_true(csi_fake_storage_get_volume(f->storage, 1, number, &guid));
  for (int i = 0; i < PLACES; i++) {
    size_t length = (size_t)snprintf(path, sizeof path, K "\\%02d-", i);
    for (int j = 0; j < CHARACTERS; j++)
      length += (size_t)snprintf(path + length, sizeof path - length, "\xE6\x97\xA5");
    mount_volume(f, path, &guid);
    if (i == 7) assert_found(f, OK, "volume", "\xE6\x97\xA5.", "");
  }
  assert_found(f, OK, "volume", "\xE6\x97\xA5 and 16 more.", "");
}

/* ---- Trouble. ---- */

/* A disk that hangs at one question leaves time for what else there is to say. */
static void test_a_disk_that_hangs(void **state) {
  struct fixture *f = *state;
  add_named_disk(f, 1, "sas", "VMware", "hex:6000c29a@0/3", "SN");
  csi_fake_storage_add_fault(
      f->storage, &(struct csi_fake_fault){.step = CSI_FAKE_DISK_GET_LAYOUT, .disk = 1, .hang = true});
  f->limit_ms = 400;
  assert_found(f, OK, "page 83 identifier", "the vSphere driver", "");
  csi_fake_storage_add_fault(
      f->storage, &(struct csi_fake_fault){.step = CSI_FAKE_DISK_GET_LAYOUT, .disk = 1, .hang = true});
  assert_found(f, PROBLEM, "errors", "partition table: ", "");
}

static void test_memory(void **state) {
  struct fixture *f = *state;
  struct csi_admin_explain_disk_response response;
  add_named_disk(f, 1, "sas", "Msft", "ascii:same@0/1", "SN");
  add_named_disk(f, 2, "sas", "Msft", "ascii:same@0/1", "SN");
  csi_fake_storage_set_attributes(f->storage, 1, true, true);
  do {
    f->fail_allocation++;
    assert_true(!call_explain_disk(f, 1, &response) || !f->allocation_failed);
    if (f->allocation_failed) assert_int_equal(f->status.code, CSI_RESOURCE_EXHAUSTED);
  } while (f->allocation_failed);
}

int main(void) {
#define ADMIN_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
  const struct CMUnitTest tests[] = {
      ADMIN_TEST(test_no_such_disk),
      ADMIN_TEST(test_names),
      ADMIN_TEST(test_location),
      ADMIN_TEST(test_doubles),
      ADMIN_TEST(test_iscsi),
      ADMIN_TEST(test_iscsi_disk_of_nobody),
      ADMIN_TEST(test_attributes),
      ADMIN_TEST(test_guard),
      ADMIN_TEST(test_guard_that_is_unknown),
      ADMIN_TEST(test_raw),
      ADMIN_TEST(test_tables),
      ADMIN_TEST(test_volumes),
      ADMIN_TEST(test_many_mount_points),
      ADMIN_TEST(test_a_disk_that_hangs),
      ADMIN_TEST(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
