/* SPDX-License-Identifier: Apache-2.0
 *
 * Other programs check what we wrote: sgdisk tables of 512-byte sectors, fdisk those of 4096. sgdisk takes an
 * image file to be of 512-byte sectors always.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "table.h"

/* Sparse files of 64 TiB need a file system that has room for them in a file's size: memory has, ext4 not. */
static char path[] = "/dev/shm/csi-proxy-table-XXXXXX";
static int file = -1;

static const uint64_t sizes_bytes[] = {64ull << 20, 1ull << 30,  10ull << 30, 2ull << 40,
                                       3ull << 40,  16ull << 40, 64ull << 40, (64ull << 40) - 4096};

static bool read_file(void *context, uint64_t first, uint32_t count, void *buffer) {
  uint32_t sector_bytes = *(uint32_t *)context;
  return pread(file, buffer, (size_t)count * sector_bytes, (off_t)(first * sector_bytes)) ==
         (ssize_t)((size_t)count * sector_bytes);
}

static bool write_file(void *context, uint64_t first, uint32_t count, const void *buffer) {
  uint32_t sector_bytes = *(uint32_t *)context;
  return pwrite(file, buffer, (size_t)count * sector_bytes, (off_t)(first * sector_bytes)) ==
         (ssize_t)((size_t)count * sector_bytes);
}

static int set_up(void **unused) {
  (void)unused;
  file = mkstemp(path);
  return file < 0 ? -1 : 0;
}

static int tear_down(void **unused) {
  (void)unused;
  close(file);
  return unlink(path);
}

static void make_table(struct vdisk_sectors *sectors, uint64_t size_bytes) {
  static struct vdisk_table table;
  uint64_t mebibyte = (1 << 20) / sectors->sector_bytes;
  assert_int_equal(ftruncate(file, 0), 0);
  assert_int_equal(ftruncate(file, (off_t)size_bytes), 0);
  sectors->count = size_bytes / sectors->sector_bytes;
  vdisk_table_init(sectors, &table, VDISK_STYLE_GPT);
  memset(table.disk_guid, 0x4D, sizeof table.disk_guid);
  struct vdisk_partition partition = {
      .number = 1,
      .first_sector = table.first_usable_sector,
      .sector_count = 16 * mebibyte - table.first_usable_sector,
      .type_guid = {0x16, 0xE3, 0xC9, 0xE3, 0x5C, 0x0B, 0xB8, 0x4D, 0x81, 0x7D, 0xF9, 0x2D, 0xF0, 0x02, 0x15,
                    0xAE},
      .guid = {1},
  };
  assert_true(vdisk_table_insert(&table, &partition));
  uint64_t end = (table.first_usable_sector + table.usable_sectors) / mebibyte * mebibyte;
  partition = (struct vdisk_partition){
      .number = 2,
      .first_sector = 16 * mebibyte,
      .sector_count = end - 16 * mebibyte,
      .type_guid = {0xA2, 0xA0, 0xD0, 0xEB, 0xE5, 0xB9, 0x33, 0x44, 0x87, 0xC0, 0x68, 0xB6, 0xB7, 0x26, 0x99,
                    0xC7},
      .guid = {2},
      .name_w = {'d', 'a', 't', 'a'},
  };
  assert_true(vdisk_table_insert(&table, &partition));
  assert_true(vdisk_table_is_sound(&table));
  assert_true(vdisk_table_write(sectors, &table));
}

/* What a shell command prints. */
static const char *output_of(const char *format, const char *file_path) {
  static char output[65536];
  char command[256];
  assert_in_range(snprintf(command, sizeof command, format, file_path), 1, sizeof command - 1);
  FILE *program = popen(command, "r");
  assert_non_null(program);
  output[fread(output, 1, sizeof output - 1, program)] = 0;
  pclose(program);
  return output;
}

static void assert_contains(const char *output, const char *wanted) {
  if (strstr(output, wanted) == NULL) fail_msg("no \"%s\" in:\n%s", wanted, output);
}

static struct vdisk_sectors sectors_of(uint32_t *sector_bytes) {
  return (struct vdisk_sectors){
      .context = sector_bytes, .sector_bytes = *sector_bytes, .read = read_file, .write = write_file};
}

static void test_sgdisk_is_content(void **unused) {
  (void)unused;
  uint32_t sector_bytes = 512;
  struct vdisk_sectors sectors = sectors_of(&sector_bytes);
  for (size_t i = 0; i < sizeof sizes_bytes / sizeof sizes_bytes[0]; i++) {
    make_table(&sectors, sizes_bytes[i]);
    assert_contains(output_of("LC_ALL=C PATH=$PATH:/usr/sbin sgdisk -v %s 2>&1", path), "No problems found.");
    const char *second = output_of("LC_ALL=C PATH=$PATH:/usr/sbin sgdisk -i 2 %s 2>&1", path);
    assert_contains(second, "Partition GUID code: EBD0A0A2-B9E5-4433-87C0-68B6B72699C7");
    assert_contains(second, "First sector: 32768 ");
    assert_contains(second, "Partition name: 'data'");
  }
}

static void test_fdisk_is_content(void **unused) {
  (void)unused;
  static const uint32_t sectors_bytes[] = {512, 4096};
  for (size_t i = 0; i < sizeof sizes_bytes / sizeof sizes_bytes[0]; i++) {
    for (size_t j = 0; j < 2; j++) {
      uint32_t sector_bytes = sectors_bytes[j];
      struct vdisk_sectors sectors = sectors_of(&sector_bytes);
      char command[128];
      snprintf(command, sizeof command,
               "printf 'v\\nq\\n' | LC_ALL=C PATH=$PATH:/usr/sbin fdisk -b %u %%s 2>&1", sector_bytes);
      make_table(&sectors, sizes_bytes[i]);
      const char *output = output_of(command, path);
      assert_contains(output, "No errors detected.");
      assert_null(strstr(output, "corrupt"));
      assert_null(strstr(output, "mismatch"));
    }
  }
}

/* The check is one that can fail. */
static void test_damage_is_seen(void **unused) {
  (void)unused;
  uint32_t sector_bytes = 512;
  struct vdisk_sectors sectors = sectors_of(&sector_bytes);
  make_table(&sectors, 64 << 20);
  assert_int_equal(pwrite(file, "x", 1, 2 * 512 + 40), 1);
  assert_null(
      strstr(output_of("LC_ALL=C PATH=$PATH:/usr/sbin sgdisk -v %s 2>&1", path), "No problems found."));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sgdisk_is_content),
      cmocka_unit_test(test_fdisk_is_content),
      cmocka_unit_test(test_damage_is_seen),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
