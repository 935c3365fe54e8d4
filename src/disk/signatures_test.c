/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/signatures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint8_t *new_zeros(size_t size_bytes) {
  uint8_t *bytes = calloc(1, size_bytes);
  assert_non_null(bytes);
  return bytes;
}

static void test_empty(void **state) {
  (void)state;
  uint8_t *bytes = new_zeros(CSI_CONTENTS_BYTES);
  struct csi_contents contents = csi_contents_recognise(bytes, CSI_CONTENTS_BYTES);
  assert_true(contents.is_empty);
  assert_null(contents.name);
  assert_true(csi_contents_recognise(bytes, 0).is_empty);
  assert_true(csi_contents_recognise_end(bytes, CSI_CONTENTS_END_BYTES).is_empty);
  assert_true(csi_contents_recognise_end(bytes, 0).is_empty);
  free(bytes);
}

/* Whatever the byte, wherever it is. */
static void test_one_byte(void **state) {
  (void)state;
  static const size_t places[] = {0, 1, 511, 4095, 65535, CSI_CONTENTS_BYTES - 1};
  uint8_t *bytes = new_zeros(CSI_CONTENTS_BYTES);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    bytes[places[i]] = 1;
    struct csi_contents contents = csi_contents_recognise(bytes, CSI_CONTENTS_BYTES);
    assert_false(contents.is_empty);
    assert_null(contents.name);
    assert_int_equal(contents.offset_bytes, places[i]);
    bytes[places[i]] = 0;
  }
  free(bytes);
}

static void test_names(void **state) {
  (void)state;
  static const struct {
    size_t offset_bytes;
    const char *magic;
    size_t magic_bytes;
    const char *name;
  } rows[] = {
      {3, "-FVE-FS-", 8, "BitLocker"},
      {3, "NTFS    ", 8, "NTFS"},
      {3, "ReFS\0\0\0", 8, "ReFS"},
      {3, "EXFAT   ", 8, "exFAT"},
      {82, "FAT32   ", 8, "FAT32"},
      {54, "FAT16   ", 8, "FAT16"},
      {0, "LUKS\xba\xbe", 6, "LUKS"},
      {0, "XFSB", 4, "XFS"},
      {1080, "\x53\xef", 2, "ext2, ext3 or ext4"},
      {0x10040, "_BHRfS_M", 8, "btrfs"},
      {512, "LABELONE", 8, "LVM"},
      {4086, "SWAPSPACE2", 10, "Linux swap"},
      {4096, "\xfc\x4e\x2b\xa9", 4, "Linux software RAID"},
      {512, "EFI PART", 8, "a partition table"},
      {0, "SPACEDB ", 8, "Storage Spaces"},
      {32, "NXSB", 4, "APFS"},
      {510, "\x55\xaa", 2, "a boot sector or partition table"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint8_t *bytes = new_zeros(CSI_CONTENTS_BYTES);
    memcpy(bytes + rows[i].offset_bytes, rows[i].magic, rows[i].magic_bytes);
    struct csi_contents contents = csi_contents_recognise(bytes, CSI_CONTENTS_BYTES);
    assert_non_null(contents.name);
    assert_string_equal(contents.name, rows[i].name);
    assert_int_equal(contents.offset_bytes, rows[i].offset_bytes);
    assert_false(contents.is_empty);
    /* Cut in the middle of the signature it has no name any more. */
    contents = csi_contents_recognise(bytes, rows[i].offset_bytes + rows[i].magic_bytes - 1);
    assert_null(contents.name);
    free(bytes);
  }
}

static void test_what_is_told_by_more_wins(void **state) {
  (void)state;
  uint8_t *bytes = new_zeros(CSI_CONTENTS_BYTES);
  memcpy(bytes + 3, "-FVE-FS-", 8);
  memcpy(bytes + 82, "FAT32   ", 8);
  memcpy(bytes + 510, "\x55\xaa", 2);
  assert_string_equal(csi_contents_recognise(bytes, CSI_CONTENTS_BYTES).name, "BitLocker");
  free(bytes);
}

/* A file system made over a disk that had a table is a file system. */
static void test_tables(void **state) {
  (void)state;
  uint8_t *bytes = new_zeros(CSI_CONTENTS_BYTES);
  memcpy(bytes + 510, "\x55\xaa", 2);
  assert_true(csi_contents_recognise(bytes, CSI_CONTENTS_BYTES).is_table);
  memcpy(bytes + 512, "EFI PART", 8);
  assert_true(csi_contents_recognise(bytes, CSI_CONTENTS_BYTES).is_table);
  assert_true(csi_contents_recognise_end(bytes + 512, 512).is_table);
  memcpy(bytes + 1080, "\x53\xef", 2);
  struct csi_contents contents = csi_contents_recognise(bytes, CSI_CONTENTS_BYTES);
  assert_false(contents.is_table);
  assert_string_equal(contents.name, "ext2, ext3 or ext4");
  free(bytes);
}

static void test_end(void **state) {
  (void)state;
  uint8_t *bytes = new_zeros(CSI_CONTENTS_END_BYTES);
  bytes[100] = 1; /* nothing that has a name */
  assert_true(csi_contents_recognise_end(bytes, CSI_CONTENTS_END_BYTES).is_empty);
  memcpy(bytes + CSI_CONTENTS_END_BYTES - 512 + 3, "NTFS    ", 8);
  struct csi_contents contents = csi_contents_recognise_end(bytes, CSI_CONTENTS_END_BYTES);
  assert_false(contents.is_empty);
  assert_string_equal(contents.name, "NTFS");
  assert_int_equal(contents.offset_bytes, CSI_CONTENTS_END_BYTES - 512 + 3);
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_empty),  cmocka_unit_test(test_one_byte),
      cmocka_unit_test(test_names),  cmocka_unit_test(test_what_is_told_by_more_wins),
      cmocka_unit_test(test_tables), cmocka_unit_test(test_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
