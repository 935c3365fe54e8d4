/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crc32.h"
#include "gpt.h"
#include "mbr.h"
#include "table.h"

enum { MEDIUM_BYTES = 4 << 20, GROWN_BYTES = 8 << 20 };

/* A medium in memory of which one sector may be bad. */
struct medium {
  uint8_t bytes[GROWN_BYTES];
  uint32_t sector_bytes;
  uint64_t bad_sector;
};

static struct medium *medium;
static struct vdisk_table table, read_back;

static bool read_medium(void *context, uint64_t first, uint32_t count, void *buffer) {
  const struct medium *from = context;
  if (first <= from->bad_sector && from->bad_sector < first + count) return false;
  assert_true((first + count) * from->sector_bytes <= sizeof from->bytes);
  memcpy(buffer, from->bytes + first * from->sector_bytes, (size_t)count * from->sector_bytes);
  return true;
}

static bool write_medium(void *context, uint64_t first, uint32_t count, const void *buffer) {
  struct medium *to = context;
  if (first <= to->bad_sector && to->bad_sector < first + count) return false;
  assert_true((first + count) * to->sector_bytes <= sizeof to->bytes);
  memcpy(to->bytes + first * to->sector_bytes, buffer, (size_t)count * to->sector_bytes);
  return true;
}

static struct vdisk_sectors sectors_of(uint32_t sector_bytes, uint64_t size_bytes) {
  medium->sector_bytes = sector_bytes;
  return (struct vdisk_sectors){
      .context = medium,
      .count = size_bytes / sector_bytes,
      .sector_bytes = sector_bytes,
      .read = read_medium,
      .write = write_medium,
  };
}

static int set_up(void **unused) {
  (void)unused;
  medium = calloc(1, sizeof *medium);
  if (medium == NULL) return -1;
  medium->bad_sector = UINT64_MAX;
  return 0;
}

static int tear_down(void **unused) {
  (void)unused;
  free(medium);
  return 0;
}

static void add(uint32_t number, uint64_t first_sector, uint64_t sector_count) {
  struct vdisk_partition partition = {
      .number = number,
      .first_sector = first_sector,
      .sector_count = sector_count,
      .attributes = 1ull << 63,
      .name_w = {'d', 'a', 't', 'a'},
  };
  memset(partition.type_guid, 0xA0, sizeof partition.type_guid);
  memset(partition.guid, (int)number, sizeof partition.guid);
  assert_true(vdisk_table_insert(&table, &partition));
}

static void make_gpt(const struct vdisk_sectors *sectors) {
  vdisk_table_init(sectors, &table, VDISK_STYLE_GPT);
  memset(table.disk_guid, 0xD1, sizeof table.disk_guid);
  add(5, 400, 20);
  add(2, 300, 50);
  assert_true(vdisk_table_is_sound(&table));
  assert_true(vdisk_table_write(sectors, &table));
}

static void test_crc(void **unused) {
  (void)unused;
  assert_int_equal(vdisk_crc32(0, "123456789", 9), 0xCBF43926);
  assert_int_equal(vdisk_crc32(vdisk_crc32(0, "1234", 4), "56789", 5), 0xCBF43926);
}

static void test_gpt_is_read_as_written(void **unused) {
  (void)unused;
  static const uint32_t sizes[] = {512, 4096};
  for (size_t i = 0; i < 2; i++) {
    struct vdisk_sectors sectors = sectors_of(sizes[i], MEDIUM_BYTES);
    make_gpt(&sectors);
    assert_true(vdisk_table_read(&sectors, &read_back));
    assert_memory_equal(&read_back, &table, sizeof table);
    assert_int_equal(read_back.partitions[0].number, 2);
  }
}

static void test_usable_range(void **unused) {
  (void)unused;
  struct vdisk_sectors sectors = sectors_of(512, MEDIUM_BYTES);
  vdisk_table_init(&sectors, &table, VDISK_STYLE_GPT);
  assert_int_equal(table.first_usable_sector, 34);
  assert_int_equal(table.first_usable_sector + table.usable_sectors - 1, sectors.count - 34);
  sectors = sectors_of(4096, MEDIUM_BYTES);
  vdisk_table_init(&sectors, &table, VDISK_STYLE_GPT);
  assert_int_equal(table.first_usable_sector, 6);
  assert_int_equal(table.first_usable_sector + table.usable_sectors - 1, sectors.count - 6);
}

static void test_the_second_copy_helps(void **unused) {
  (void)unused;
  struct vdisk_sectors sectors = sectors_of(512, MEDIUM_BYTES);
  static const uint64_t places[] = {512 + 8, 512 + 60, 2 * 512 + 32}; /* magic... header, guid, an entry */
  for (size_t i = 0; i < 3; i++) {
    make_gpt(&sectors);
    medium->bytes[places[i]] ^= 1;
    assert_true(vdisk_table_read(&sectors, &read_back));
    assert_memory_equal(&read_back, &table, sizeof table);
  }
  medium->bytes[MEDIUM_BYTES - 512] ^= 1;
  assert_true(vdisk_table_read(&sectors, &read_back));
  assert_int_equal(read_back.style, VDISK_STYLE_RAW);
}

static void test_a_gpt_without_its_mbr_is_none(void **unused) {
  (void)unused;
  struct vdisk_sectors sectors = sectors_of(512, MEDIUM_BYTES);
  make_gpt(&sectors);
  memset(medium->bytes, 0, 512);
  assert_true(vdisk_table_read(&sectors, &read_back));
  assert_int_equal(read_back.style, VDISK_STYLE_RAW);
}

static void test_a_grown_medium(void **unused) {
  (void)unused;
  struct vdisk_sectors sectors = sectors_of(512, MEDIUM_BYTES);
  make_gpt(&sectors);
  sectors = sectors_of(512, GROWN_BYTES);
  assert_true(vdisk_table_read(&sectors, &read_back));
  assert_int_equal(read_back.count, 2);
  assert_int_equal(read_back.first_usable_sector + read_back.usable_sectors - 1, sectors.count - 34);
  assert_true(vdisk_table_write(&sectors, &read_back));
  medium->bytes[512] ^= 1;
  assert_true(vdisk_table_read(&sectors, &table));
  assert_memory_equal(&read_back, &table, sizeof table);
}

static void test_mbr_is_read_as_written(void **unused) {
  (void)unused;
  struct vdisk_sectors sectors = sectors_of(512, MEDIUM_BYTES);
  make_gpt(&sectors);
  memset(medium->bytes, 0x90, 440); /* boot code, which is not ours */
  vdisk_table_init(&sectors, &table, VDISK_STYLE_MBR);
  table.signature = 0x12345678;
  struct vdisk_partition partition = {.number = 3, .first_sector = 2048, .sector_count = 100, .mbr_type = 7};
  assert_true(vdisk_table_insert(&table, &partition));
  partition = (struct vdisk_partition){
      .number = 1, .first_sector = 63, .sector_count = 1000, .mbr_type = 0x0C, .is_active = true};
  assert_true(vdisk_table_insert(&table, &partition));
  assert_true(vdisk_table_is_sound(&table));
  assert_true(vdisk_table_write(&sectors, &table));
  assert_true(vdisk_table_read(&sectors, &read_back));
  assert_memory_equal(&read_back, &table, sizeof table);
  assert_int_equal(medium->bytes[439], 0x90);
}

static void test_a_boot_sector_is_no_mbr(void **unused) {
  (void)unused;
  struct vdisk_sectors sectors = sectors_of(512, MEDIUM_BYTES);
  memset(medium->bytes, 0xCC, 510);
  medium->bytes[510] = 0x55;
  medium->bytes[511] = 0xAA;
  assert_true(vdisk_table_read(&sectors, &read_back));
  assert_int_equal(read_back.style, VDISK_STYLE_RAW);
}

static void test_raw_wipes(void **unused) {
  (void)unused;
  struct vdisk_sectors sectors = sectors_of(512, MEDIUM_BYTES);
  make_gpt(&sectors);
  vdisk_table_init(&sectors, &table, VDISK_STYLE_RAW);
  assert_true(vdisk_table_write(&sectors, &table));
  assert_true(vdisk_table_read(&sectors, &read_back));
  assert_int_equal(read_back.style, VDISK_STYLE_RAW);
  assert_int_equal(medium->bytes[512], 0);
  assert_int_equal(medium->bytes[MEDIUM_BYTES - 512], 0);
}

static void test_errors_of_the_medium(void **unused) {
  (void)unused;
  struct vdisk_sectors sectors = sectors_of(512, MEDIUM_BYTES);
  make_gpt(&sectors);
  static const uint64_t bad_for_reading[] = {0, 1, 2, 33};
  for (size_t i = 0; i < 4; i++) {
    medium->bad_sector = bad_for_reading[i];
    assert_false(vdisk_table_read(&sectors, &read_back));
    assert_false(vdisk_table_write(&sectors, &table));
  }
  medium->bad_sector = sectors.count - 1;
  assert_true(vdisk_table_read(&sectors, &read_back));
  assert_false(vdisk_table_write(&sectors, &table));
}

static void test_soundness(void **unused) {
  (void)unused;
  struct vdisk_sectors sectors = sectors_of(512, MEDIUM_BYTES);
  static const struct {
    uint32_t number;
    uint64_t first_sector, sector_count;
    bool is_sound;
  } second[] = {
      {2, 300, 1, true},         {2, 34, 66, true},       {2, 34, 67, false},
      {2, 199, 1, false},        {2, 200, 1, true},       {1, 300, 1, false},
      {0, 300, 1, false},        {128, 300, 1, true},     {129, 300, 1, false},
      {2, 33, 1, false},         {2, 300, 0, false},      {2, 300, UINT64_MAX, false},
      {2, UINT64_MAX, 2, false}, {2, 8192 - 34, 1, true}, {2, 8192 - 33, 1, false},
      {2, 8192 - 34, 2, false},
  };
  for (size_t i = 0; i < sizeof second / sizeof second[0]; i++) {
    vdisk_table_init(&sectors, &table, VDISK_STYLE_GPT);
    add(1, 100, 100);
    add(second[i].number, second[i].first_sector, second[i].sector_count);
    assert_int_equal(vdisk_table_is_sound(&table), second[i].is_sound);
  }
}

static void test_numbers_and_limits(void **unused) {
  (void)unused;
  struct vdisk_sectors sectors = sectors_of(512, MEDIUM_BYTES);
  vdisk_table_init(&sectors, &table, VDISK_STYLE_GPT);
  assert_int_equal(vdisk_table_free_number(&table), 1);
  add(3, 100, 100);
  add(1, 300, 100);
  assert_int_equal(vdisk_table_free_number(&table), 2);
  assert_int_equal(vdisk_table_limit(&table, vdisk_table_find(&table, 3)), 300);
  assert_int_equal(vdisk_table_limit(&table, vdisk_table_find(&table, 1)), sectors.count - 33);
  assert_null(vdisk_table_find(&table, 2));
  while (table.count < VDISK_PARTITIONS_MAX)
    add(vdisk_table_free_number(&table), 1, 1);
  assert_int_equal(table.partitions[VDISK_PARTITIONS_MAX - 1].number, VDISK_PARTITIONS_MAX);
  assert_false(vdisk_table_insert(&table, &table.partitions[0]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_crc),
      cmocka_unit_test_setup_teardown(test_gpt_is_read_as_written, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_usable_range, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_the_second_copy_helps, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_gpt_without_its_mbr_is_none, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_grown_medium, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_mbr_is_read_as_written, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_boot_sector_is_no_mbr, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_raw_wipes, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_errors_of_the_medium, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_soundness, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_numbers_and_limits, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
