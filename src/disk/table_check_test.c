/* SPDX-License-Identifier: Apache-2.0
 *
 * Partition tables that Windows does not see: whole, torn, empty.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/little_endian.h"
#include "disk/layout.h"
#include "disk/table_check.h"
#include "disk/table_image.h"

enum {
  PIECE_BYTES = 64 << 10,
};
static const uint64_t disk_bytes = UINT64_C(1) << 30;
static uint8_t bytes[PIECE_BYTES];

static bool at_begin(void) {
  return csi_table_is_at_begin(&(struct csi_piece){.bytes = bytes, .size_bytes = sizeof bytes}, disk_bytes);
}

static bool at_end(void) {
  return csi_table_is_at_end(&(struct csi_piece){.bytes = bytes,
                                                 .size_bytes = sizeof bytes,
                                                 .offset_bytes = disk_bytes - sizeof bytes},
                             disk_bytes);
}

static void make_begin(uint32_t sector_bytes, const struct csi_guid *type) {
  memset(bytes, 0, sizeof bytes);
  table_image_make_gpt(bytes + sector_bytes, bytes + 2 * (size_t)sector_bytes, 2, type);
}

static void make_end(uint32_t sector_bytes, const struct csi_guid *type) {
  memset(bytes, 0, sizeof bytes);
  size_t entries_at = sizeof bytes - sector_bytes - TABLE_IMAGE_ENTRIES_BYTES;
  uint64_t entries_sector = (disk_bytes - sizeof bytes + entries_at) / sector_bytes;
  table_image_make_gpt(bytes + sizeof bytes - sector_bytes, bytes + entries_at, entries_sector, type);
}

static void test_checksum(void **state) {
  (void)state;
  assert_int_equal(table_image_crc((const uint8_t *)"123456789", 9), 0xCBF43926);
}

static void test_gpt(void **state) {
  (void)state;
  for (uint32_t sector_bytes = 512; sector_bytes <= 4096; sector_bytes *= 8) {
    make_begin(sector_bytes, &csi_partition_type_basic_data);
    assert_true(at_begin());
    assert_false(at_end());
    make_end(sector_bytes, &csi_partition_type_efi_system);
    assert_true(at_end());
    assert_false(at_begin());
  }
}

static void test_gpt_without_partitions(void **state) {
  (void)state;
  make_begin(512, NULL);
  assert_false(at_begin());
  make_end(4096, NULL);
  assert_false(at_end());
  make_begin(512, &csi_partition_type_microsoft_reserved); /* what Windows puts into an empty one */
  assert_false(at_begin());
}

/* One wrong bit anywhere. */
static void test_torn_gpt(void **state) {
  (void)state;
  make_begin(512, &csi_partition_type_basic_data);
  for (size_t at = 512; at < 512 + TABLE_IMAGE_HEADER_BYTES; at++) {
    bytes[at] ^= 0x10;
    if (at_begin()) fail_msg("byte %zu of the header", at - 512);
    bytes[at] ^= 0x10;
  }
  for (size_t at = 1024; at < 1024 + TABLE_IMAGE_ENTRIES_BYTES; at += 61) {
    bytes[at] ^= 1;
    if (at_begin()) fail_msg("byte %zu of the entries", at - 1024);
    bytes[at] ^= 1;
  }
  assert_true(at_begin());
}

static void put_in_header(size_t at, uint64_t value, size_t width) {
  make_begin(512, &csi_partition_type_basic_data);
  uint8_t *header = bytes + 512;
  if (width == 8) csi_put_u64(header + at, value);
  if (width == 4) csi_put_u32(header + at, (uint32_t)value);
  csi_put_u32(header + 16, 0);
  csi_put_u32(header + 16, table_image_crc(header, TABLE_IMAGE_HEADER_BYTES));
}

static void test_impossible_headers(void **state) {
  (void)state;
  put_in_header(72, 2, 8);
  assert_true(at_begin());
  put_in_header(84, 64, 4); /* entries too short */
  assert_false(at_begin());
  put_in_header(12, 91, 4); /* a header too short */
  assert_false(at_begin());
  put_in_header(12, UINT32_MAX, 4);
  assert_false(at_begin());
  put_in_header(72, UINT64_MAX, 8); /* entries behind the end of all disks */
  assert_false(at_begin());
  put_in_header(72, 4096, 8); /* entries that were not read: nobody knows, so they count */
  assert_true(at_begin());
  put_in_header(80, UINT32_MAX, 4);
  assert_true(at_begin());
}

static void test_mbr(void **state) {
  (void)state;
  memset(bytes, 0, sizeof bytes);
  assert_false(at_begin());
  csi_put_u16(bytes + 510, 0xAA55);
  assert_false(at_begin()); /* empty */
  table_image_put_mbr(bytes, 0, 0xEE, 1, UINT32_MAX);
  assert_false(at_begin()); /* only stands for a GPT, which is not there */
  table_image_put_mbr(bytes, 2, 0x83, 2048, 4096);
  assert_true(at_begin());
  table_image_put_mbr(bytes, 2, 0x83, 2048, (uint32_t)(disk_bytes / 512) - 2048);
  assert_true(at_begin());
  table_image_put_mbr(bytes, 2, 0x83, 2048, (uint32_t)(disk_bytes / 512) - 2047);
  assert_false(at_begin()); /* beyond the disk */
  table_image_put_mbr(bytes, 2, 0x83, 0, 4096);
  assert_false(at_begin());
  table_image_put_mbr(bytes, 2, 7, 2048, 4096);
  bytes[446 + 32] = 0x33; /* neither active nor not: program text */
  assert_false(at_begin());
  bytes[446 + 32] = 0x80;
  assert_true(at_begin());
  bytes[510] = 0;
  assert_false(at_begin());
}

static void test_cut_short(void **state) {
  (void)state;
  make_begin(512, &csi_partition_type_basic_data);
  table_image_put_mbr(bytes, 0, 7, 2048, 4096);
  for (size_t size = 0; size < 512; size++)
    assert_false(csi_table_is_at_begin(&(struct csi_piece){.bytes = bytes, .size_bytes = size}, disk_bytes));
  assert_false(csi_table_is_at_end(&(struct csi_piece){.bytes = bytes}, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checksum),
      cmocka_unit_test(test_gpt),
      cmocka_unit_test(test_gpt_without_partitions),
      cmocka_unit_test(test_torn_gpt),
      cmocka_unit_test(test_impossible_headers),
      cmocka_unit_test(test_mbr),
      cmocka_unit_test(test_cut_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
