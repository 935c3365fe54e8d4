/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ntfs_boot.h"

#define GIB ((uint64_t)1 << 30)
#define TIB ((uint64_t)1 << 40)

static uint8_t boot[NTFS_BOOT_BYTES];

static uint64_t number_at(size_t offset, size_t bytes) {
  uint64_t value = 0;
  while (bytes-- > 0)
    value = value << 8 | boot[offset + bytes];
  return value;
}

static enum ntfs_boot_result make(uint64_t size_bytes, uint32_t sector_bytes, uint32_t cluster_bytes) {
  struct ntfs_boot_volume volume = {
      .sector_count = size_bytes / sector_bytes,
      .hidden_sectors = (1 << 20) / sector_bytes,
      .sector_bytes = sector_bytes,
      .cluster_bytes = cluster_bytes,
      .serial_number = 0x0123456789ABCDEF,
  };
  memset(boot, 0xCC, sizeof boot);
  return ntfs_boot_make(&volume, boot);
}

/* Offsets and values as Windows writes them on a disk of 1 GiB with sectors of 512 bytes. */
static void fields(void **state) {
  (void)state;
  assert_int_equal(make(GIB, 512, 0), NTFS_BOOT_DONE);
  assert_memory_equal(boot, "\xEB\x52\x90NTFS    ", 11);
  assert_int_equal(number_at(0x0B, 2), 512);
  assert_int_equal(boot[0x0D], 8);
  assert_int_equal(boot[0x15], 0xF8);
  assert_int_equal(number_at(0x1C, 4), 2048);
  assert_int_equal(number_at(0x28, 8), GIB / 512 - 1);
  assert_int_equal(number_at(0x30, 8), (GIB / 512 - 1) / 8 / 3);
  assert_int_equal(number_at(0x38, 8), 2);
  assert_int_equal(boot[0x40], 0xF6); /* 1024 bytes, less than a cluster */
  assert_int_equal(boot[0x44], 1);    /* one cluster */
  assert_true(number_at(0x48, 8) == 0x0123456789ABCDEF);
  assert_int_equal(number_at(0x1FE, 2), 0xAA55);
}

static void long_sectors(void **state) {
  (void)state;
  assert_int_equal(make(16 * GIB, 4096, 0), NTFS_BOOT_DONE);
  assert_int_equal(number_at(0x0B, 2), 4096);
  assert_int_equal(boot[0x0D], 1);
  assert_int_equal(number_at(0x30, 8), 786432);
  assert_int_equal(boot[0x40], 1);
}

static void cluster_sizes(void **state) {
  (void)state;
  static const struct {
    uint64_t size_bytes;
    uint32_t sector_bytes, cluster_bytes;
    uint8_t code;
  } rows[] = {
      {8 * TIB, 512, 0, 8},   {16 * TIB, 512, 0, 16},   {40 * TIB, 512, 0, 32},
      {64 * TIB, 4096, 0, 8}, {100 * TIB, 512, 0, 64},  {GIB, 512, 512, 1},
      {GIB, 512, 65536, 128}, {GIB, 512, 131072, 0xF8}, {GIB, 512, 2 << 20, 0xF4},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_int_equal(make(rows[i].size_bytes, rows[i].sector_bytes, rows[i].cluster_bytes), NTFS_BOOT_DONE);
    assert_int_equal(boot[0x0D], rows[i].code);
  }
}

static void refused(void **state) {
  (void)state;
  assert_int_equal(make(4 << 20, 512, 0), NTFS_BOOT_VOLUME_TOO_SMALL);
  assert_int_equal(make(0, 512, 0), NTFS_BOOT_VOLUME_TOO_SMALL);
  assert_int_equal(make(64 * TIB, 512, 4096), NTFS_BOOT_VOLUME_TOO_BIG);
  assert_int_equal(make(GIB, 512, 256), NTFS_BOOT_CLUSTER_TOO_SMALL);
  assert_int_equal(make(GIB, 512, 3000), NTFS_BOOT_CLUSTER_TOO_SMALL);
  assert_int_equal(make(GIB, 4096, 2048), NTFS_BOOT_CLUSTER_TOO_SMALL);
  assert_int_equal(make(GIB, 512, 4 << 20), NTFS_BOOT_CLUSTER_TOO_BIG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields),
      cmocka_unit_test(long_sectors),
      cmocka_unit_test(cluster_sizes),
      cmocka_unit_test(refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
