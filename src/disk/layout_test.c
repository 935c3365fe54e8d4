/* SPDX-License-Identifier: Apache-2.0
 *
 * Partition tables in and out, and what follows from them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/little_endian.h"
#include "disk/layout.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define GPT_END(disk_bytes) ((disk_bytes)-33 * UINT64_C(512))

enum {
  HEADER = 48,
  ENTRY = 144,
  PARTITIONS = 8,
};

static const struct csi_guid disk_id = {0x01020304, 0x0506, 0x0708, {9, 10, 11, 12, 13, 14, 15, 16}};

/* A GPT disk with 512-byte sectors. */
struct disk {
  struct csi_layout layout;
  struct csi_partition partitions[PARTITIONS];
};

static void new_gpt(struct disk *disk, uint64_t disk_bytes) {
  memset(disk, 0, sizeof *disk);
  disk->layout = (struct csi_layout){
      .style = CSI_PARTITION_STYLE_GPT,
      .disk_id = disk_id,
      .usable_offset_bytes = 34 * 512,
      .usable_length_bytes = GPT_END(disk_bytes) - 34 * 512,
      .max_partition_count = 128,
      .partitions = disk->partitions,
  };
}

static void new_mbr(struct disk *disk) {
  memset(disk, 0, sizeof *disk);
  disk->layout = (struct csi_layout){.style = CSI_PARTITION_STYLE_MBR, .partitions = disk->partitions};
}

static struct csi_partition *add(struct disk *disk, const struct csi_guid *type, uint64_t offset,
                                 uint64_t length) {
  struct csi_partition *partition = &disk->partitions[disk->layout.partition_count++];
  partition->number = (uint32_t)disk->layout.partition_count;
  partition->offset_bytes = offset;
  partition->length_bytes = length;
  if (type != NULL) partition->type = *type;
  return partition;
}

static struct csi_partition *add_msr(struct disk *disk) {
  return add(disk, &csi_partition_type_microsoft_reserved, 17408, 16 * MIB - 17408);
}

static bool parse(struct csi_arena *arena, const uint8_t *bytes, size_t size, struct csi_layout *layout_out,
                  struct csi_status *status) {
  uint8_t *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  csi_status_clear(status);
  bool parsed = csi_layout_parse(arena, copy, size, layout_out, status);
  free(copy);
  assert_int_equal(parsed, csi_status_ok(status));
  return parsed;
}

static void assert_malformed(const uint8_t *bytes, size_t size, const char *what) {
  struct csi_arena *arena = csi_arena_new(4 << 20);
  struct csi_layout layout;
  struct csi_status status = {0};
  assert_false(parse(arena, bytes, size, &layout, &status));
  assert_int_equal(status.code, CSI_DATA_LOSS);
  assert_non_null(strstr(status.text, what));
  csi_arena_free(arena);
}

static void test_round_trip(void **state) {
  (void)state;
  struct csi_arena *arena = csi_arena_new(1 << 20);
  struct disk disk;
  new_gpt(&disk, GIB);
  add_msr(&disk);
  struct csi_partition *data = add(&disk, &csi_partition_type_basic_data, 16 * MIB, 900 * MIB);
  data->id = (struct csi_guid){0xdeadbeef, 0x1234, 0x4567, {0x89, 1, 2, 3, 4, 5, 6, 7}};
  data->attributes = CSI_GPT_ATTRIBUTE_NO_DRIVE_LETTER;
  for (uint16_t i = 0; i < CSI_PARTITION_NAME_UNITS; i++)
    data->name_w[i] = (uint16_t)(0x100 + i);
  size_t size;
  uint8_t *bytes = csi_layout_serialize(arena, &disk.layout, &size);
  assert_non_null(bytes);
  assert_int_equal(size, HEADER + 2 * ENTRY);
  struct csi_layout layout;
  struct csi_status status = {0};
  assert_true(parse(arena, bytes, size, &layout, &status));
  assert_int_equal(layout.style, CSI_PARTITION_STYLE_GPT);
  assert_true(csi_guid_equal(&layout.disk_id, &disk_id));
  assert_int_equal(layout.usable_offset_bytes, 34 * 512);
  assert_int_equal(layout.usable_length_bytes, GPT_END(GIB) - 34 * 512);
  assert_int_equal(layout.max_partition_count, 128);
  assert_int_equal(layout.partition_count, 2);
  assert_memory_equal(&layout.partitions[0], &disk.partitions[0], sizeof disk.partitions[0]);
  assert_memory_equal(&layout.partitions[1], data, sizeof *data);
  csi_arena_free(arena);
}

/* The bytes themselves, for a mistake that reading and writing share. */
static void test_bytes(void **state) {
  (void)state;
  struct csi_arena *arena = csi_arena_new(1 << 20);
  struct disk disk;
  new_gpt(&disk, GIB);
  struct csi_partition *data = add(&disk, &csi_partition_type_basic_data, MIB, 2 * MIB);
  data->name_w[0] = 'B';
  data->attributes = CSI_GPT_ATTRIBUTE_NO_DRIVE_LETTER;
  size_t size;
  const uint8_t *bytes = csi_layout_serialize(arena, &disk.layout, &size);
  assert_non_null(bytes);
  static const uint8_t head[] = {1, 0, 0, 0, 1, 0,  0,  0,  4,  3,  2,  1,
                                 6, 5, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16};
  static const uint8_t basic[] = {0xa2, 0xa0, 0xd0, 0xeb, 0xe5, 0xb9, 0x33, 0x44,
                                  0x87, 0xc0, 0x68, 0xb6, 0xb7, 0x26, 0x99, 0xc7};
  assert_memory_equal(bytes, head, sizeof head);
  assert_int_equal(csi_get_u64(bytes + 24), 34 * 512);
  assert_int_equal(csi_get_u32(bytes + 40), 128);
  const uint8_t *entry = bytes + HEADER;
  assert_int_equal(csi_get_u32(entry), 1);
  assert_int_equal(csi_get_u64(entry + 8), MIB);
  assert_int_equal(csi_get_u64(entry + 16), 2 * MIB);
  assert_int_equal(csi_get_u32(entry + 24), 1);
  assert_int_equal(entry[28], 1); /* RewritePartition */
  assert_memory_equal(entry + 32, basic, sizeof basic);
  assert_int_equal(csi_get_u64(entry + 64), UINT64_C(0x8000000000000000));
  assert_int_equal(csi_get_u16(entry + 72), 'B');
  csi_arena_free(arena);
}

static void test_raw_and_mbr(void **state) {
  (void)state;
  struct csi_arena *arena = csi_arena_new(1 << 20);
  uint8_t bytes[HEADER + 4 * ENTRY] = {0};
  struct csi_layout layout;
  struct csi_status status = {0};
  csi_put_u32(bytes, CSI_PARTITION_STYLE_RAW);
  csi_put_u32(bytes + 4, 4711); /* counts for nothing */
  assert_true(parse(arena, bytes, HEADER, &layout, &status));
  assert_int_equal(layout.style, CSI_PARTITION_STYLE_RAW);
  assert_int_equal(layout.partition_count, 0);

  csi_put_u32(bytes, CSI_PARTITION_STYLE_MBR);
  csi_put_u32(bytes + 4, 4);
  csi_put_u32(bytes + 8, 0xcafe1234);
  uint8_t *ifs = bytes + HEADER + ENTRY; /* the first entry is empty */
  csi_put_u64(ifs + 8, MIB);
  csi_put_u64(ifs + 16, 5 * MIB);
  csi_put_u32(ifs + 24, 1);
  ifs[32] = 7;
  ifs[33] = 1;
  assert_true(parse(arena, bytes, sizeof bytes, &layout, &status));
  assert_int_equal(layout.mbr_signature, 0xcafe1234);
  assert_int_equal(layout.partition_count, 1);
  assert_int_equal(layout.partitions[0].number, 1);
  assert_int_equal(layout.partitions[0].mbr_type, 7);
  assert_true(layout.partitions[0].mbr_active);
  assert_true(csi_partition_is_basic(&layout, &layout.partitions[0]));
  csi_arena_free(arena);
}

static void test_malformed(void **state) {
  (void)state;
  struct csi_arena *arena = csi_arena_new(1 << 20);
  struct disk disk;
  new_gpt(&disk, GIB);
  add_msr(&disk);
  add(&disk, &csi_partition_type_basic_data, 16 * MIB, 900 * MIB);
  size_t size;
  uint8_t *bytes = csi_layout_serialize(arena, &disk.layout, &size);
  assert_non_null(bytes);
  for (size_t cut = 0; cut < size; cut++)
    assert_malformed(bytes, cut, "it is cut short");

  uint8_t bad[HEADER + 2 * ENTRY];
#define BREAK(put, at, value, what)                                                                          \
  do {                                                                                                       \
    memcpy(bad, bytes, sizeof bad);                                                                          \
    put(bad + (at), value);                                                                                  \
    assert_malformed(bad, sizeof bad, what);                                                                 \
  } while (0)
  BREAK(csi_put_u32, 0, 3, "unknown style");
  BREAK(csi_put_u32, 4, 3, "it is cut short");
  BREAK(csi_put_u32, 4, UINT32_MAX, "too many partitions");
  BREAK(csi_put_u64, 24, UINT64_MAX, "usable range");
  BREAK(csi_put_u64, 32, INT64_MAX, "usable range");
  BREAK(csi_put_u32, HEADER + ENTRY, CSI_PARTITION_STYLE_MBR, "another style");
  BREAK(csi_put_u64, HEADER + ENTRY + 8, UINT64_MAX, "impossible size");
  BREAK(csi_put_u64, HEADER + ENTRY + 16, UINT64_MAX, "impossible size");
  BREAK(csi_put_u64, HEADER + ENTRY + 16, INT64_MAX, "impossible size");
  BREAK(csi_put_u64, HEADER + ENTRY + 16, 0, "without length");
  BREAK(csi_put_u64, HEADER + ENTRY + 8, 15 * MIB, "overlap");
#undef BREAK
  csi_arena_free(arena);
}

static void test_basic(void **state) {
  (void)state;
  static const struct csi_guid linux_data = {
      0x0fc63daf, 0x8483, 0x4772, {0x8e, 0x79, 0x3d, 0x69, 0xd8, 0x47, 0x7d, 0xe4}};
  struct disk disk;
  new_gpt(&disk, GIB);
  assert_false(csi_partition_is_basic(&disk.layout, add_msr(&disk)));
  assert_true(csi_partition_is_basic(&disk.layout, add(&disk, &csi_partition_type_basic_data, MIB, MIB)));
  assert_true(csi_partition_is_basic(&disk.layout, add(&disk, &csi_partition_type_efi_system, MIB, MIB)));
  assert_true(csi_partition_is_basic(&disk.layout, add(&disk, &linux_data, MIB, MIB)));
  assert_false(csi_partition_is_basic(&disk.layout, add(&disk, NULL, MIB, MIB)));
}

static void assert_gap(const struct disk *disk, uint64_t offset, uint64_t length) {
  uint64_t gap_offset = 0, gap_length = 0;
  assert_true(csi_layout_largest_gap(&disk->layout, &gap_offset, &gap_length));
  assert_int_equal(gap_offset, offset);
  assert_int_equal(gap_length, length);
}

static void test_largest_gap(void **state) {
  (void)state;
  struct disk disk;
  uint64_t offset, length;
  new_gpt(&disk, GIB);
  assert_gap(&disk, MIB, GIB - 2 * MIB);
  add_msr(&disk);
  assert_gap(&disk, 16 * MIB, GIB - 17 * MIB);
  add(&disk, &csi_partition_type_basic_data, 500 * MIB, 100 * MIB);
  assert_gap(&disk, 16 * MIB, 484 * MIB);
  add(&disk, &csi_partition_type_basic_data, 16 * MIB, 100 * MIB + 512);
  assert_gap(&disk, 600 * MIB, GIB - 601 * MIB);
  add(&disk, &csi_partition_type_basic_data, 600 * MIB, GIB - 601 * MIB);
  assert_gap(&disk, 117 * MIB, 383 * MIB);
  add(&disk, &csi_partition_type_basic_data, 117 * MIB, 383 * MIB);
  assert_false(csi_layout_largest_gap(&disk.layout, &offset, &length));

  new_gpt(&disk, 64 * MIB + 20 * 512); /* does not end at a whole MiB */
  assert_gap(&disk, MIB, 62 * MIB);
  new_gpt(&disk, 2 * MIB);
  assert_false(csi_layout_largest_gap(&disk.layout, &offset, &length));
  new_gpt(&disk, 64 * (UINT64_C(1) << 40));
  assert_gap(&disk, MIB, 64 * (UINT64_C(1) << 40) - 2 * MIB);
  new_mbr(&disk);
  assert_false(csi_layout_largest_gap(&disk.layout, &offset, &length));
  disk.layout.style = CSI_PARTITION_STYLE_RAW;
  assert_false(csi_layout_largest_gap(&disk.layout, &offset, &length));
}

static void test_max_length(void **state) {
  (void)state;
  struct disk disk;
  new_gpt(&disk, GIB);
  add_msr(&disk);
  struct csi_partition *first = add(&disk, &csi_partition_type_basic_data, 16 * MIB, 100 * MIB);
  assert_int_equal(csi_layout_max_length(&disk.layout, first, GIB), GIB - 17 * MIB);
  struct csi_partition *second = add(&disk, &csi_partition_type_basic_data, 200 * MIB + 512, 100 * MIB);
  assert_int_equal(csi_layout_max_length(&disk.layout, first, GIB), 184 * MIB);
  assert_int_equal(csi_layout_max_length(&disk.layout, second, GIB), GIB - MIB - (200 * MIB + 512));
  second->length_bytes = GPT_END(GIB) - second->offset_bytes; /* longer than what aligned would be */
  assert_int_equal(csi_layout_max_length(&disk.layout, second, GIB), second->length_bytes);
}

static void test_max_length_of_mbr(void **state) {
  (void)state;
  struct disk disk;
  new_mbr(&disk);
  struct csi_partition *primary = add(&disk, NULL, MIB, 10 * MIB);
  primary->mbr_type = 7;
  assert_int_equal(csi_layout_max_length(&disk.layout, primary, GIB), GIB - MIB);
  assert_int_equal(csi_layout_max_length(&disk.layout, primary, 8192 * GIB), 2048 * GIB - MIB);
  struct csi_partition *extended = add(&disk, NULL, 100 * MIB, 400 * MIB);
  extended->mbr_type = 0x0F;
  struct csi_partition *logical = add(&disk, NULL, 101 * MIB, 50 * MIB);
  logical->mbr_type = 7;
  assert_int_equal(csi_layout_max_length(&disk.layout, primary, GIB), 99 * MIB);
  assert_int_equal(csi_layout_max_length(&disk.layout, logical, GIB), 399 * MIB);
}

static void test_short_memory(void **state) {
  (void)state;
  struct disk disk;
  new_gpt(&disk, GIB);
  add_msr(&disk);
  struct csi_arena *arena = csi_arena_new(1 << 16), *small = csi_arena_new(64);
  size_t size;
  const uint8_t *bytes = csi_layout_serialize(arena, &disk.layout, &size);
  assert_non_null(bytes);
  assert_null(csi_layout_serialize(small, &disk.layout, &size));
  struct csi_layout layout;
  struct csi_status status = {0};
  assert_false(csi_layout_parse(small, bytes, size, &layout, &status));
  assert_int_equal(status.code, CSI_RESOURCE_EXHAUSTED);
  csi_arena_free(small);
  csi_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_raw_and_mbr),  cmocka_unit_test(test_malformed),
      cmocka_unit_test(test_basic),        cmocka_unit_test(test_largest_gap),
      cmocka_unit_test(test_max_length),   cmocka_unit_test(test_max_length_of_mbr),
      cmocka_unit_test(test_short_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
