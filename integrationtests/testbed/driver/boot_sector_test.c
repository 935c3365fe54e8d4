/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "boot_sector.h"

enum { BOOT_BYTES = 512 };

static void put(uint8_t *sector, size_t at, uint64_t value, size_t bytes) {
  memcpy(sector + at, &value, bytes);
}

static void make_ntfs(uint8_t *sector) {
  memset(sector, 0, BOOT_BYTES);
  memcpy(sector + 3, "NTFS    ", 8);
  put(sector, 0x0B, 512, 2);
  put(sector, 0x0D, 8, 1);
  put(sector, 0x28, 2047, 8);
  put(sector, 0x30, 4, 8);
  put(sector, 0x48, 0x1122334455667788, 8);
  sector[510] = 0x55;
  sector[511] = 0xAA;
}

static enum vdisk_fs decode(const uint8_t *sector) {
  struct vdisk_boot boot;
  vdisk_boot_decode(sector, &boot);
  return boot.fs;
}

static void test_ntfs(void **unused) {
  (void)unused;
  uint8_t sector[BOOT_BYTES];
  struct vdisk_boot boot;
  make_ntfs(sector);
  vdisk_boot_decode(sector, &boot);
  assert_int_equal(boot.fs, VDISK_FS_NTFS);
  assert_int_equal(boot.sector_bytes, 512);
  assert_int_equal(boot.cluster_bytes, 4096);
  assert_int_equal(boot.sector_count, 2047);
  assert_int_equal(boot.mft_cluster, 4);
  assert_int_equal(boot.serial, 0x1122334455667788);
  assert_int_equal(boot.label_w[0], 0);
}

static void test_large_clusters(void **unused) {
  (void)unused;
  uint8_t sector[BOOT_BYTES];
  struct vdisk_boot boot;
  make_ntfs(sector);
  sector[0x0D] = 256 - 12;
  vdisk_boot_decode(sector, &boot);
  assert_int_equal(boot.fs, VDISK_FS_NTFS);
  assert_int_equal(boot.cluster_bytes, 2 << 20);
}

static void test_nonsense_is_unknown(void **unused) {
  (void)unused;
  uint8_t sector[BOOT_BYTES];
  make_ntfs(sector);
  sector[511] = 0;
  assert_int_equal(decode(sector), VDISK_FS_UNKNOWN);
  make_ntfs(sector);
  put(sector, 0x0B, 513, 2);
  assert_int_equal(decode(sector), VDISK_FS_UNKNOWN);
  make_ntfs(sector);
  sector[0x0D] = 0;
  assert_int_equal(decode(sector), VDISK_FS_UNKNOWN);
  make_ntfs(sector);
  sector[0x0D] = 200;
  assert_int_equal(decode(sector), VDISK_FS_UNKNOWN);
  memset(sector, 0, sizeof sector);
  memcpy(sector + 3, "MSDOS5.0", 8);
  assert_int_equal(decode(sector), VDISK_FS_UNKNOWN);
}

static void test_others(void **unused) {
  (void)unused;
  uint8_t sector[BOOT_BYTES] = {0};
  assert_int_equal(decode(sector), VDISK_FS_RAW);
  memcpy(sector + 3, "-FVE-FS-", 8);
  assert_int_equal(decode(sector), VDISK_FS_BITLOCKER);

  memset(sector, 0, sizeof sector);
  memcpy(sector + 3, "ReFS\0\0\0\0", 8);
  assert_int_equal(decode(sector), VDISK_FS_UNKNOWN);
  memcpy(sector + 0x10, "FSRS", 4);
  put(sector, 0x18, 4096, 8);
  put(sector, 0x20, 512, 4);
  put(sector, 0x24, 8, 4);
  struct vdisk_boot boot;
  vdisk_boot_decode(sector, &boot);
  assert_int_equal(boot.fs, VDISK_FS_REFS);
  assert_int_equal(boot.sector_count, 4096);
  assert_int_equal(boot.cluster_bytes, 4096);
}

static void test_size_and_label_can_be_changed(void **unused) {
  (void)unused;
  uint8_t sector[BOOT_BYTES];
  struct vdisk_boot boot;
  uint16_t label_w[VDISK_LABEL_UNITS + 1];
  for (size_t i = 0; i <= VDISK_LABEL_UNITS; i++)
    label_w[i] = (uint16_t)('a' + i);
  make_ntfs(sector);
  vdisk_boot_decode(sector, &boot);
  vdisk_boot_set_sector_count(sector, &boot, 4095);
  vdisk_boot_set_label(sector, label_w, VDISK_LABEL_UNITS + 1);
  vdisk_boot_decode(sector, &boot);
  assert_int_equal(boot.fs, VDISK_FS_NTFS);
  assert_int_equal(boot.sector_count, 4095);
  assert_memory_equal(boot.label_w, label_w, VDISK_LABEL_UNITS * sizeof label_w[0]);
  assert_int_equal(boot.label_w[VDISK_LABEL_UNITS], 0);
  vdisk_boot_set_label(sector, label_w, 1);
  vdisk_boot_decode(sector, &boot);
  assert_int_equal(boot.label_w[0], 'a');
  assert_int_equal(boot.label_w[1], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ntfs),
      cmocka_unit_test(test_large_clusters),
      cmocka_unit_test(test_nonsense_is_unknown),
      cmocka_unit_test(test_others),
      cmocka_unit_test(test_size_and_label_can_be_changed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
