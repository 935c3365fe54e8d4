/* SPDX-License-Identifier: Apache-2.0
 *
 * PartitionDisk: what it makes of every kind of disk, what it never touches, and that calling it again
 * repairs what a crash between any two of its steps has left.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "disk/fixture.h"
#include "disk/table_image.h"

enum {
  SAMPLE_BYTES = 4096,
  MOST_STEPS = 200,
};

#define CHECKING "error checking initialized status of disk 2: "
#define CREATING "error creating partition on disk 2. err: "

/* The only partition that is not reserved; fails the test when there is none or another one. */
static struct csi_partition data_partition(struct fixture *f, uint32_t number) {
  struct csi_layout layout = layout_of(f, number);
  assert_int_equal(layout.style, CSI_PARTITION_STYLE_GPT);
  struct csi_partition found = {0};
  for (size_t i = 0; i < layout.partition_count; i++) {
    if (!csi_partition_is_basic(&layout, &layout.partitions[i])) continue;
    assert_int_equal(found.number, 0);
    found = layout.partitions[i];
  }
  assert_int_not_equal(found.number, 0);
  return found;
}

static void assert_listable(struct fixture *f, uint32_t number, uint32_t partition_number) {
  struct csi_guid volume;
  assert_true(csi_fake_storage_get_volume(f->storage, number, partition_number, &volume));
  assert_true(csi_fake_storage_has_volume(f->storage, &volume));
}

static void assert_made(struct fixture *f, uint32_t number, uint64_t offset, uint64_t length) {
  static const char name[] = "Basic data partition";
  struct csi_partition partition = data_partition(f, number);
  assert_true(csi_guid_equal(&partition.type, &csi_partition_type_basic_data));
  assert_int_equal(partition.offset_bytes, offset);
  assert_int_equal(partition.length_bytes, length);
  assert_int_equal(partition.attributes, CSI_GPT_ATTRIBUTE_NO_DRIVE_LETTER);
  for (size_t i = 0; i < sizeof name; i++)
    assert_int_equal(partition.name_w[i], name[i]);
  assert_listable(f, number, partition.number);
}

static void write_sample(struct fixture *f, uint32_t number, uint64_t offset, uint8_t value) {
  uint8_t sample[SAMPLE_BYTES];
  memset(sample, value, sizeof sample);
  csi_fake_storage_write(f->storage, number, offset, sample, sizeof sample);
}

static void assert_sample(struct fixture *f, uint32_t number, uint64_t offset, uint8_t value) {
  uint8_t sample[SAMPLE_BYTES];
  csi_fake_storage_read(f->storage, number, offset, sample, sizeof sample);
  for (size_t i = 0; i < sizeof sample; i++)
    if (sample[i] != value) fail_msg("byte %zu is %#x, not %#x", (size_t)offset + i, sample[i], value);
}

static void test_raw(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  assert_ok(f, call_partition(f, 2));
  assert_made(f, 2, MIB, GIB - 2 * MIB);
  struct csi_partition first = data_partition(f, 2);
  assert_ok(f, call_partition(f, 2));
  struct csi_partition again = data_partition(f, 2);
  assert_true(csi_guid_equal(&first.id, &again.id));
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_CREATE_GPT, 2), 1);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_SET_LAYOUT, 2), 1);
}

static void test_sizes(void **state) {
  struct fixture *f = *state;
  static const struct {
    uint64_t size;
    uint32_t sector;
    uint64_t length;
  } rows[] = {
      {64 * MIB, 512, 62 * MIB},
      {64 * MIB, 4096, 62 * MIB},
      {64 * MIB + 512, 512, 62 * MIB},
      {8 * MIB, 512, 6 * MIB},
      {100 * GIB, 4096, 100 * GIB - 2 * MIB},
      {65536 * GIB, 512, 65536 * GIB - 2 * MIB},
  };
  for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    csi_fake_storage_add_disk(
        f->storage,
        &(struct csi_fake_disk){.number = i, .size_bytes = rows[i].size, .sector_bytes = rows[i].sector});
    assert_ok(f, call_partition(f, i));
    assert_made(f, i, MIB, rows[i].length);
  }
}

static void test_reserved_partition_of_windows(void **state) {
  struct fixture *f = *state;
  csi_fake_storage_add_disk(f->storage,
                            &(struct csi_fake_disk){.number = 2, .size_bytes = GIB, .msr_on_create = true});
  assert_ok(f, call_partition(f, 2));
  struct csi_partition partition = data_partition(f, 2);
  assert_int_equal(layout_of(f, 2).partition_count, 2);
  assert_int_equal(partition.offset_bytes % MIB, 0);
  assert_made(f, 2, partition.offset_bytes, GIB - MIB - partition.offset_bytes);
}

static void test_gpt_with_reserved_partition_only(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 2, &csi_partition_type_microsoft_reserved, 0, 17408,
                                 16 * MIB - 17408);
  write_sample(f, 2, 16 * MIB, 0xA5); /* somebody may want this back: the disk was not raw */
  struct csi_guid reserved = layout_of(f, 2).partitions[0].id;
  assert_ok(f, call_partition(f, 2));
  assert_made(f, 2, 16 * MIB, GIB - 17 * MIB);
  assert_true(csi_guid_equal(&layout_of(f, 2).partitions[0].id, &reserved));
  assert_sample(f, 2, 16 * MIB, 0xA5);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_CREATE_GPT, 2), 0);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_WRITE, 2), 0);
}

static void assert_untouched(struct fixture *f, uint32_t number) {
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_CREATE_GPT, number), 0);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_SET_LAYOUT, number), 0);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_WRITE, number), 0);
}

/* What the in-tree plugins of old Kubernetes made. */
static void test_mbr(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_MBR);
  uint32_t number = csi_fake_storage_add_partition(f->storage, 2, NULL, 7, MIB, 0);
  csi_fake_storage_sign(f->storage, 2, number, CSI_FAKE_NTFS);
  assert_ok(f, call_partition(f, 2));
  assert_listable(f, 2, number);
  assert_untouched(f, 2);
}

static void test_empty_mbr(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_MBR);
  assert_failed(f, call_partition(f, 2), CSI_FAILED_PRECONDITION,
                CREATING "its partition table is an empty MBR");
  assert_untouched(f, 2);
}

static void test_other_partitions_are_left_alone(void **state) {
  struct fixture *f = *state;
  static const struct csi_guid linux_data = {
      0x0fc63daf, 0x8483, 0x4772, {0x8e, 0x79, 0x3d, 0x69, 0xd8, 0x47, 0x7d, 0xe4}};
  csi_fake_storage_add_disk(
      f->storage, &(struct csi_fake_disk){.number = 2, .size_bytes = GIB, .volume_delay_ms = 60000});
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 2, &linux_data, 0, 5 * MIB, 10 * MIB);
  assert_ok(f, call_partition(f, 2)); /* and no volume is waited for */
  assert_untouched(f, 2);
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_MBR);
  csi_fake_storage_add_partition(f->storage, 2, NULL, 0x42, MIB, 0);
  assert_ok(f, call_partition(f, 2));
  assert_untouched(f, 2);
}

/* Nothing to do, and no volume to wait for. */
static void test_partitions_without_volume(void **state) {
  struct fixture *f = *state;
  static const uint8_t types[] = {0x05, 0x0F, 0x17, 0x27, 0x42, 0x83, 0xEE, 0xEF};
  f->limit_ms = 20000;
  for (uint32_t i = 0; i < sizeof types; i++) {
    add_raw_disk(f, i);
    csi_fake_storage_set_style(f->storage, i, CSI_PARTITION_STYLE_MBR);
    csi_fake_storage_add_partition(f->storage, i, NULL, types[i], MIB, 0);
    assert_ok(f, call_partition(f, i));
    assert_untouched(f, i);
  }
  assert_int_equal(
      csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_WAIT_FOR_VOLUMES, CSI_FAKE_ANY_DISK), 0);
}

static void test_hidden_partition(void **state) {
  struct fixture *f = *state;
  f->limit_ms = 20000;
  add_raw_disk(f, 2);
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 2, &csi_partition_type_basic_data, 0, MIB, 10 * MIB);
  struct csi_layout layout = layout_of(f, 2);
  layout.partitions[0].attributes = CSI_GPT_ATTRIBUTE_HIDDEN;
  csi_fake_storage_force_layout(f->storage, 2, &layout);
  assert_ok(f, call_partition(f, 2));
  assert_untouched(f, 2);
}

/* Whose volumes are there: one look, whoever else needs the disk and whether it can be written. */
static void test_nothing_to_do_is_quick(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  assert_ok(f, call_partition(f, 2));
  csi_fake_storage_set_roles(f->storage, 2, CSI_DISK_HOLDS_PAGE_FILE);
  csi_fake_storage_reset_counts(f->storage);
  assert_ok(f, call_partition(f, 2));
  assert_untouched(f, 2);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_GET_ROLES, CSI_FAKE_ANY_DISK), 0);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_WAIT_FOR_VOLUMES, 2), 0);
}

static void test_read_only_for_good(void **state) {
  struct fixture *f = *state;
  struct csi_fake_fault fault = {
      .step = CSI_FAKE_DISK_SET_ATTRIBUTES, .disk = 3, .nth = 1, .count = 1, .error = 19};
  add_raw_disk(f, 2);
  add_raw_disk(f, 3);
  csi_fake_storage_set_style(f->storage, 3, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 3, &csi_partition_type_basic_data, 0, MIB, 0);
  csi_fake_storage_set_attributes(f->storage, 3, true, true);
  csi_fake_storage_add_fault(f->storage, &fault);
  assert_ok(f, call_partition(f, 3)); /* it has its partition */
  assert_listable(f, 3, 1);
  csi_fake_storage_clear_faults(f->storage);
  csi_fake_storage_set_attributes(f->storage, 2, true, true);
  fault.disk = 2;
  csi_fake_storage_add_fault(f->storage, &fault);
  assert_failed(f, call_partition(f, 2), CSI_FAILED_PRECONDITION, CHECKING "disk 2 is read-only");
  assert_untouched(f, 2);
}

/* All that must have a volume are awaited when the call has made them appear. */
static void test_several_volumes(void **state) {
  struct fixture *f = *state;
  csi_fake_storage_set_automount(f->storage, false);
  f->limit_ms = 20000;
  csi_fake_storage_add_disk(f->storage,
                            &(struct csi_fake_disk){.number = 2, .size_bytes = GIB, .volume_delay_ms = 30});
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 2, &csi_partition_type_basic_data, 0, MIB, 10 * MIB);
  csi_fake_storage_add_partition(f->storage, 2, &csi_partition_type_basic_data, 0, 20 * MIB, 10 * MIB);
  csi_fake_storage_set_attributes(f->storage, 2, true, false);
  assert_ok(f, call_partition(f, 2));
  assert_listable(f, 2, 1);
  assert_listable(f, 2, 2);
}

static void test_offline_and_read_only(void **state) {
  struct fixture *f = *state;
  for (uint32_t i = 0; i < 4; i++) {
    add_raw_disk(f, i);
    csi_fake_storage_set_attributes(f->storage, i, (i & 1) != 0, (i & 2) != 0);
    assert_ok(f, call_partition(f, i));
    assert_made(f, i, MIB, GIB - 2 * MIB);
    bool online;
    assert_ok(f, call_is_online(f, i, &online));
    assert_true(online);
  }
}

static void test_offline_with_partition(void **state) {
  struct fixture *f = *state;
  csi_fake_storage_add_disk(f->storage,
                            &(struct csi_fake_disk){.number = 2, .size_bytes = GIB, .volume_delay_ms = 30});
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 2, &csi_partition_type_basic_data, 0, MIB, 0);
  csi_fake_storage_set_attributes(f->storage, 2, true, true);
  assert_ok(f, call_partition(f, 2));
  assert_listable(f, 2, 1);
  assert_untouched(f, 2);
}

/* The table of an offline disk may be unreadable until it is online. */
static void test_unreadable_while_offline(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  csi_fake_storage_set_attributes(f->storage, 2, true, false);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_LAYOUT, 1, 21);
  assert_ok(f, call_partition(f, 2));
  assert_made(f, 2, MIB, GIB - 2 * MIB);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_LAYOUT, 1, 21); /* not so when it is online */
  assert_failed(f, call_partition(f, 2), CSI_UNAVAILABLE, CHECKING);

  add_raw_disk(f, 3); /* what appears is left alone */
  csi_fake_storage_set_style(f->storage, 3, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 3, &csi_partition_type_efi_system, 0, MIB, 100 * MIB);
  csi_fake_storage_set_attributes(f->storage, 3, true, false);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_LAYOUT, 1, 21);
  assert_ok(f, call_partition(f, 3));
  assert_untouched(f, 3);
}

static void test_no_room(void **state) {
  struct fixture *f = *state;
  csi_fake_storage_add_disk(f->storage, &(struct csi_fake_disk){.number = 2, .size_bytes = 64 * MIB});
  csi_fake_storage_set_style(f->storage, 2, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, 2, &csi_partition_type_microsoft_reserved, 0, MIB, 62 * MIB);
  assert_failed(f, call_partition(f, 2), CSI_FAILED_PRECONDITION, CREATING "there is no free space");
}

static void test_guard(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  csi_fake_storage_set_roles(f->storage, 2, CSI_DISK_HOLDS_PAGE_FILE);
  csi_fake_storage_set_attributes(f->storage, 2, true, false);
  assert_failed(f, call_partition(f, 2), CSI_FAILED_PRECONDITION,
                CHECKING "disk 2 holds a page file and must not be changed (the flag -allow-system-disks");
  bool online;
  assert_ok(f, call_is_online(f, 2, &online));
  assert_false(online);
  assert_untouched(f, 2);
  csi_fake_storage_set_roles(f->storage, 2, 0);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_GET_ROLES, 1, 5);
  assert_failed(f, call_partition(f, 2), CSI_FAILED_PRECONDITION,
                CHECKING "disk 2 must not be changed, because");
  assert_untouched(f, 2);
  csi_fake_storage_set_roles(f->storage, 2, CSI_DISK_HOLDS_WINDOWS);
  use_guard(f, false);
  assert_ok(f, call_partition(f, 2));
  assert_made(f, 2, MIB, GIB - 2 * MIB);
}

/* Remains of an earlier life of a disk that was cleaned by overwriting its table only. */
static void test_raw_is_wiped(void **state) {
  struct fixture *f = *state;
  for (uint32_t msr = 0; msr < 2; msr++) {
    uint32_t number = 2 + msr;
    csi_fake_storage_add_disk(
        f->storage, &(struct csi_fake_disk){.number = number, .size_bytes = GIB, .msr_on_create = msr != 0});
    for (uint64_t at = MIB; at < 140 * MIB; at += MIB)
      write_sample(f, number, at, 0xA5);
    write_sample(f, number, GIB - MIB - SAMPLE_BYTES, 0xA5);
    assert_ok(f, call_partition(f, number));
    struct csi_partition partition = data_partition(f, number);
    struct csi_guid volume;
    assert_true(csi_fake_storage_get_volume(f->storage, number, partition.number, &volume));
    assert_int_equal(csi_fake_storage_get_signature(f->storage, &volume), CSI_FAKE_RAW);
    assert_sample(f, number, partition.offset_bytes, 0);
    assert_sample(f, number, partition.offset_bytes + partition.length_bytes - SAMPLE_BYTES, 0);
  }
}

/* Windows makes a reserved partition of a size that it never had. */
static void reserve_unusual_size(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk,
                                 void *data) {
  bool *reserved = data;
  if (step != CSI_FAKE_DISK_UPDATE_PROPERTIES || *reserved) return;
  *reserved = true;
  csi_fake_storage_add_partition(storage, (uint32_t)disk, &csi_partition_type_microsoft_reserved, 0, 17408,
                                 40 * MIB - 17408);
}

static void test_raw_is_wiped_at_unusual_places(void **state) {
  struct fixture *f = *state;
  bool reserved = false;
  add_raw_disk(f, 2);
  write_sample(f, 2, 40 * MIB, 0xA5);
  csi_fake_storage_set_hook(f->storage, reserve_unusual_size, &reserved);
  assert_ok(f, call_partition(f, 2));
  csi_fake_storage_set_hook(f->storage, NULL, NULL);
  assert_made(f, 2, 40 * MIB, GIB - 41 * MIB);
  assert_sample(f, 2, 40 * MIB, 0);
}

/* --- What else may be on a disk without partition table */

static void write_text(struct fixture *f, uint32_t number, uint64_t offset, const void *text, size_t bytes) {
  csi_fake_storage_write(f->storage, number, offset, text, bytes);
}
#define WRITE_TEXT(f, number, offset, text) write_text(f, number, offset, text, sizeof(text) - 1)

/* Whole-disk file systems and the like, as other systems make them: to Windows these disks are raw. */
static void test_other_systems_disks_are_refused(void **state) {
  struct fixture *f = *state;
  static const struct {
    uint64_t offset;
    const char *magic;
    size_t magic_bytes;
    const char *text;
  } rows[] = {
      {0, "XFSB", 4, "XFS (signature at byte 0)"},
      {0, "LUKS\xba\xbe", 6, "LUKS (signature at byte 0)"},
      {3, "-FVE-FS-", 8, "BitLocker (signature at byte 3)"},
      {3, "NTFS    ", 8, "NTFS (signature at byte 3)"},
      {512, "LABELONE", 8, "LVM (signature at byte 512)"},
      {1080, "\x53\xef", 2, "ext2, ext3 or ext4 (signature at byte 1080)"},
      {0x10040, "_BHRfS_M", 8, "btrfs (signature at byte 65600)"},
      {0, "bluestore block device\n", 23, "Ceph BlueStore (signature at byte 0)"},
      {32, "ORCLDISK", 8, "Oracle ASM (signature at byte 32)"},
      {0xC00, "PRIVHEAD", 8, "a dynamic disk (signature at byte 3072)"},
      {0x1000, "OCFSV2", 6, "OCFS2 (signature at byte 4096)"},
      {0x10000, "\x01\x16\x19\x70", 4, "GFS2 (signature at byte 65536)"},
      {GIB - 4096, "PRIVHEAD", 8, "a dynamic disk (signature at byte 1073737728)"},
      {GIB - 65536, "\xfc\x4e\x2b\xa9", 4, "Linux software RAID (signature at byte 1073676288)"},
  };
  for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[256];
    csi_fake_storage_add_disk(
        f->storage,
        &(struct csi_fake_disk){.number = i, .size_bytes = GIB, .sector_bytes = (i & 1) != 0 ? 4096 : 512});
    WRITE_TEXT(f, i, 510, "\x55\xaa"); /* left over from a table */
    write_text(f, i, rows[i].offset, rows[i].magic, rows[i].magic_bytes);
    snprintf(text, sizeof text,
             "failed to initializing disk %u: error: the disk has no partition table, but it is not empty: "
             "it looks like %s; partitioning would destroy it. If that is wanted, clear the disk first",
             (unsigned)i, rows[i].text);
    assert_failed(f, call_partition(f, i), CSI_FAILED_PRECONDITION, text);
    assert_untouched(f, i);
    assert_int_equal(layout_of(f, i).style, CSI_PARTITION_STYLE_RAW);
  }
}

/* Where a table may be that Windows does not see, and how large its sectors were. */
static void write_gpt(struct fixture *f, uint32_t number, bool at_end, uint32_t sector_bytes,
                      const struct csi_guid *type) {
  uint8_t header[TABLE_IMAGE_HEADER_BYTES], entries[TABLE_IMAGE_ENTRIES_BYTES];
  uint64_t header_at = at_end ? GIB - sector_bytes : sector_bytes;
  uint64_t entries_at = at_end ? header_at - sizeof entries : header_at + sector_bytes;
  table_image_make_gpt(header, entries, entries_at / sector_bytes, type);
  csi_fake_storage_write(f->storage, number, header_at, header, sizeof header);
  csi_fake_storage_write(f->storage, number, entries_at, entries, sizeof entries);
}

static void assert_table_refused(struct fixture *f, uint32_t number) {
  assert_failed(f, call_partition(f, number), CSI_UNAVAILABLE, "failed to initializing disk ");
  assert_non_null(strstr(f->status.text, ": error: Windows does not read the partition table that is there; "
                                         "try Rescan"));
  assert_untouched(f, number);
}

static void test_unseen_table_is_kept(void **state) {
  struct fixture *f = *state;
  for (uint32_t i = 0; i < 8; i++) {
    uint32_t presented = (i & 1) != 0 ? 4096 : 512, made = (i & 2) != 0 ? 4096 : 512;
    csi_fake_storage_add_disk(
        f->storage, &(struct csi_fake_disk){.number = i, .size_bytes = GIB, .sector_bytes = presented});
    write_gpt(f, i, (i & 4) != 0, made, &csi_partition_type_basic_data);
    assert_table_refused(f, i);
  }
  uint8_t sector[512] = {0};
  table_image_put_mbr(sector, 1, 0x83, 2048, 4096);
  add_raw_disk(f, 8);
  csi_fake_storage_write(f->storage, 8, 0, sector, sizeof sector);
  assert_table_refused(f, 8);
}

static void test_table_without_partitions_goes(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  write_gpt(f, 2, false, 512, NULL);
  write_gpt(f, 2, true, 512, &csi_partition_type_microsoft_reserved);
  assert_ok(f, call_partition(f, 2));
  assert_made(f, 2, MIB, GIB - 2 * MIB);
}

static void write_remains(struct fixture *f, uint32_t number) {
  for (uint64_t at = 0; at < 128 << 10; at += SAMPLE_BYTES)
    write_sample(f, number, at, 0xA5);
  WRITE_TEXT(f, number, 510, "\x55\xaa");
  WRITE_TEXT(f, number, 512, "EFI PART");
  WRITE_TEXT(f, number, 4096, "EFI PART");
}

/* A table that is broken, and what nobody knows. */
static void test_remains_are_no_file_system(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  write_remains(f, 2);
  assert_ok(f, call_partition(f, 2));
  assert_made(f, 2, MIB, GIB - 2 * MIB);
}

static void test_unreadable_disk_is_not_wiped(void **state) {
  struct fixture *f = *state;
  add_raw_disk(f, 2);
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_READ, 1, 1117);
  assert_failed(f, call_partition(f, 2), CSI_DATA_LOSS, "failed to initializing disk 2: error: ");
  assert_untouched(f, 2);
}

static void test_tiny_disks(void **state) {
  struct fixture *f = *state;
  for (uint32_t i = 0; i < 2; i++) {
    csi_fake_storage_add_disk(
        f->storage, &(struct csi_fake_disk){.number = i, .size_bytes = 9 * 512, .sector_bytes = 512});
    if (i == 1) WRITE_TEXT(f, i, 0, "XFSB");
    assert_false(call_partition(f, i));
    assert_int_equal(strstr(f->status.text, "XFS") != NULL, i == 1);
  }
}

static void test_slow_volume(void **state) {
  struct fixture *f = *state;
  csi_fake_storage_add_disk(f->storage,
                            &(struct csi_fake_disk){.number = 2, .size_bytes = GIB, .volume_delay_ms = 150});
  assert_ok(f, call_partition(f, 2));
  assert_made(f, 2, MIB, GIB - 2 * MIB);
}

/* Also where Windows cannot tell whether volumes are ready. */
static void test_polling(void **state) {
  struct fixture *f = *state;
  csi_fake_storage_add_disk(f->storage,
                            &(struct csi_fake_disk){.number = 2, .size_bytes = GIB, .volume_delay_ms = 150});
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_WAIT_FOR_VOLUMES, 1, 1);
  assert_ok(f, call_partition(f, 2));
  assert_made(f, 2, MIB, GIB - 2 * MIB);
  assert_in_range(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_FIND_VOLUME, 2), 2, 20);
}

static void test_automount_off(void **state) {
  struct fixture *f = *state;
  csi_fake_storage_set_automount(f->storage, false);
  f->limit_ms = 20000;
  add_raw_disk(f, 2);
  assert_ok(f, call_partition(f, 2));
  assert_made(f, 2, MIB, GIB - 2 * MIB);
}

static void test_volume_that_never_comes(void **state) {
  struct fixture *f = *state;
  csi_fake_storage_add_disk(
      f->storage, &(struct csi_fake_disk){.number = 2, .size_bytes = GIB, .volume_delay_ms = 60000});
  f->limit_ms = 1500; /* enough for the steps before, in valgrind too */
  assert_failed(f, call_partition(f, 2), CSI_DEADLINE_EXCEEDED, "the volumes of disk 2 have not arrived: ");
  csi_fake_storage_fail(f->storage, CSI_FAKE_DISK_WAIT_FOR_VOLUMES, 1, 1);
  assert_failed(f, call_partition(f, 2), CSI_DEADLINE_EXCEEDED,
                "the volume of partition 1 on disk 2 has not arrived: ");
  atomic_store(&f->cancelled, true);
  f->limit_ms = 0;
  assert_failed(f, call_partition(f, 2), CSI_CANCELLED, "");
}

/* A disk that is pulled out is not waited for. */
static void test_unplugged(void **state) {
  struct fixture *f = *state;
  f->limit_ms = 20000;
  for (unsigned step = 1; step < MOST_STEPS; step++) {
    csi_fake_storage_add_disk(f->storage,
                              &(struct csi_fake_disk){.number = 2, .size_bytes = GIB, .volume_delay_ms = 3});
    struct csi_fake_fault fault = {.step = CSI_FAKE_ANY_STEP, .disk = 2, .nth = step, .unplug = true};
    csi_fake_storage_add_fault(f->storage, &fault);
    int64_t begin_ns = csi_now_ns();
    bool done = call_partition(f, 2);
    bool struck = csi_fake_storage_struck(f->storage) > 0;
    csi_fake_storage_clear_faults(f->storage);
    assert_true(csi_now_ns() - begin_ns < INT64_C(5000000000));
    if (!struck) {
      assert_ok(f, done);
      return;
    }
  }
  fail_msg("never ran through");
}

static void test_missing(void **state) {
  struct fixture *f = *state;
  assert_failed(f, call_partition(f, 7), CSI_NOT_FOUND,
                "error checking initialized status of disk 7: failed to query disk 7. error: not found: ");
}

/* --- A crash after every step */

struct crash {
  void (*prepare)(struct fixture *f, uint32_t number);
  void (*check)(struct fixture *f, uint32_t number);
};

/* Lets the call fail at its nth step and at all after it, as if the process had ended there. False when
 * it has fewer. */
static bool crash_at(struct fixture *f, uint32_t number, unsigned nth) {
  struct csi_fake_fault fault = {
      .step = CSI_FAKE_ANY_STEP, .disk = CSI_FAKE_ANY_DISK, .nth = nth, .count = 0, .error = 1117};
  csi_fake_storage_add_fault(f->storage, &fault);
  bool done = call_partition(f, number);
  bool struck = csi_fake_storage_struck(f->storage) > 0;
  csi_fake_storage_clear_faults(f->storage);
  if (!struck) assert_ok(f, done);
  return struck;
}

static void crash_everywhere(struct fixture *f, const struct crash *crash) {
  unsigned nth = 1;
  for (;; nth++) {
    crash->prepare(f, nth);
    bool crashed = crash_at(f, nth, nth);
    assert_ok(f, call_partition(f, nth));
    crash->check(f, nth);
    if (!crashed) break;
    assert_true(nth < MOST_STEPS);
  }
  assert_true(nth > 4);
}

static void prepare_raw(struct fixture *f, uint32_t number) {
  csi_fake_storage_add_disk(
      f->storage, &(struct csi_fake_disk){.number = number, .size_bytes = 64 * MIB, .msr_on_create = true});
  for (uint64_t at = MIB; at < 64 * MIB; at += MIB)
    write_sample(f, number, at, 0xA5);
}

static void check_raw(struct fixture *f, uint32_t number) {
  struct csi_partition partition = data_partition(f, number);
  assert_made(f, number, partition.offset_bytes, 63 * MIB - partition.offset_bytes);
  assert_sample(f, number, partition.offset_bytes, 0);
}

static void prepare_remains(struct fixture *f, uint32_t number) {
  prepare_raw(f, number);
  write_remains(f, number);
}

static void prepare_offline_raw(struct fixture *f, uint32_t number) {
  prepare_raw(f, number);
  csi_fake_storage_set_attributes(f->storage, number, true, true);
}

static void prepare_data(struct fixture *f, uint32_t number) {
  csi_fake_storage_add_disk(f->storage, &(struct csi_fake_disk){.number = number, .size_bytes = 64 * MIB});
  csi_fake_storage_set_style(f->storage, number, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, number, &csi_partition_type_basic_data, 0, 8 * MIB, 20 * MIB);
  csi_fake_storage_set_attributes(f->storage, number, true, true);
  for (uint64_t at = MIB; at < 63 * MIB; at += MIB)
    write_sample(f, number, at, 0xA5);
}

static void check_data(struct fixture *f, uint32_t number) {
  struct csi_partition partition = data_partition(f, number);
  assert_int_equal(partition.offset_bytes, 8 * MIB);
  assert_int_equal(partition.length_bytes, 20 * MIB);
  assert_listable(f, number, partition.number);
  for (uint64_t at = MIB; at < 63 * MIB; at += MIB)
    assert_sample(f, number, at, 0xA5);
}

static void prepare_mbr(struct fixture *f, uint32_t number) {
  csi_fake_storage_add_disk(f->storage, &(struct csi_fake_disk){.number = number, .size_bytes = 64 * MIB});
  csi_fake_storage_set_style(f->storage, number, CSI_PARTITION_STYLE_MBR);
  csi_fake_storage_add_partition(f->storage, number, NULL, 7, MIB, 0);
  csi_fake_storage_set_attributes(f->storage, number, true, true);
  write_sample(f, number, MIB, 0xA5);
}

static void check_mbr(struct fixture *f, uint32_t number) {
  struct csi_layout layout = layout_of(f, number);
  assert_int_equal(layout.style, CSI_PARTITION_STYLE_MBR);
  assert_int_equal(layout.partition_count, 1);
  assert_sample(f, number, MIB, 0xA5);
  assert_listable(f, number, 1);
}

static void prepare_reserved(struct fixture *f, uint32_t number) {
  csi_fake_storage_add_disk(f->storage, &(struct csi_fake_disk){.number = number, .size_bytes = 64 * MIB});
  csi_fake_storage_set_style(f->storage, number, CSI_PARTITION_STYLE_GPT);
  csi_fake_storage_add_partition(f->storage, number, &csi_partition_type_microsoft_reserved, 0, MIB,
                                 16 * MIB);
  write_sample(f, number, 20 * MIB, 0xA5);
}

static void check_reserved(struct fixture *f, uint32_t number) {
  assert_made(f, number, 17 * MIB, 46 * MIB);
  assert_int_equal(layout_of(f, number).partition_count, 2);
  assert_sample(f, number, 20 * MIB, 0xA5);
}

static void test_crash_everywhere(void **state) {
  static const struct crash crashes[] = {
      {prepare_raw, check_raw}, {prepare_offline_raw, check_raw},   {prepare_data, check_data},
      {prepare_mbr, check_mbr}, {prepare_reserved, check_reserved}, {prepare_remains, check_raw},
  };
  fixture_tear_down(state);
  for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
    fixture_set_up(state);
    crash_everywhere(*state, &crashes[i]);
    fixture_tear_down(state);
  }
  fixture_set_up(state);
}

static void test_short_memory(void **state) {
  struct fixture *f = *state;
  for (uint32_t nth = 1; nth < MOST_STEPS; nth++) {
    add_raw_disk(f, nth);
    f->fail_allocation = nth;
    bool done = call_partition(f, nth);
    f->fail_allocation = 0;
    if (!f->allocation_failed) {
      assert_ok(f, done);
      return;
    }
    assert_failed(f, done, CSI_RESOURCE_EXHAUSTED, "");
    assert_ok(f, call_partition(f, nth));
    assert_made(f, nth, MIB, GIB - 2 * MIB);
  }
  fail_msg("never ran through");
}

/* --- Two at a time */

static void *partition_in_thread(void *data) {
  struct fixture *f = data;
  struct csi_disk_partition_disk_request request = {.disk_number = 2};
  struct csi_disk_partition_disk_response response = {0};
  struct csi_ctx ctx = {.arena = csi_arena_new(4 << 20), .deadline_ns = CSI_NO_DEADLINE};
  bool done = csi_disk_serve_partition_disk(&ctx, f->group, &request, &response);
  csi_arena_free(ctx.arena);
  return done ? data : NULL;
}

static void test_two_at_a_time(void **state) {
  struct fixture *f = *state;
  csi_fake_storage_add_disk(f->storage,
                            &(struct csi_fake_disk){.number = 2, .size_bytes = GIB, .volume_delay_ms = 20});
  pthread_t threads[4];
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, partition_in_thread, f), 0);
  for (size_t i = 0; i < 4; i++) {
    void *done;
    pthread_join(threads[i], &done);
    assert_non_null(done);
  }
  assert_made(f, 2, MIB, GIB - 2 * MIB);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_CREATE_GPT, 2), 1);
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_DISK_SET_LAYOUT, 2), 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_raw),
      TEST(test_sizes),
      TEST(test_reserved_partition_of_windows),
      TEST(test_gpt_with_reserved_partition_only),
      TEST(test_mbr),
      TEST(test_empty_mbr),
      TEST(test_other_partitions_are_left_alone),
      TEST(test_partitions_without_volume),
      TEST(test_hidden_partition),
      TEST(test_nothing_to_do_is_quick),
      TEST(test_read_only_for_good),
      TEST(test_several_volumes),
      TEST(test_unseen_table_is_kept),
      TEST(test_table_without_partitions_goes),
      TEST(test_offline_and_read_only),
      TEST(test_offline_with_partition),
      TEST(test_unreadable_while_offline),
      TEST(test_no_room),
      TEST(test_guard),
      TEST(test_raw_is_wiped),
      TEST(test_raw_is_wiped_at_unusual_places),
      TEST(test_other_systems_disks_are_refused),
      TEST(test_remains_are_no_file_system),
      TEST(test_unreadable_disk_is_not_wiped),
      TEST(test_tiny_disks),
      TEST(test_slow_volume),
      TEST(test_polling),
      TEST(test_automount_off),
      TEST(test_volume_that_never_comes),
      TEST(test_unplugged),
      TEST(test_missing),
      TEST(test_crash_everywhere),
      TEST(test_short_memory),
      TEST(test_two_at_a_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
