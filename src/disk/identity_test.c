/* SPDX-License-Identifier: Apache-2.0
 *
 * Identifiers and serial numbers as drivers compare them, and descriptors that lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/little_endian.h"
#include "disk/identity.h"

enum {
  BINARY = 1,
  ASCII = 2,
  UTF8 = 3,
  DEVICE = 0,
  PORT = 1,
  T10 = 1,
  NAA = 3,
  NAME_STRING = 8,
  ROOM = 1024,
};

struct descriptor {
  uint8_t bytes[ROOM];
  size_t size;
  size_t last; /* where the last identifier begins */
};

static struct descriptor new_ids(void) {
  struct descriptor ids = {.size = 12};
  csi_put_u32(ids.bytes, 12);
  csi_put_u32(ids.bytes + 4, 12);
  return ids;
}

static void add(struct descriptor *ids, uint32_t code_set, uint32_t type, uint32_t association,
                const void *value, size_t size) {
  uint8_t *entry = ids->bytes + ids->size;
  size_t stride = (16 + size + 3) / 4 * 4;
  csi_put_u32(entry, code_set);
  csi_put_u32(entry + 4, type);
  csi_put_u16(entry + 8, (uint16_t)size);
  csi_put_u16(entry + 10, (uint16_t)stride);
  csi_put_u32(entry + 12, association);
  memcpy(entry + 16, value, size);
  ids->last = ids->size;
  ids->size += stride;
  csi_put_u32(ids->bytes + 4, (uint32_t)ids->size);
  csi_put_u32(ids->bytes + 8, csi_get_u32(ids->bytes + 8) + 1);
}

/* An exact copy, so that a sanitizer sees every byte too many that is read. */
static void assert_chosen(const struct descriptor *ids, size_t size, const char *expected) {
  struct csi_arena *arena = csi_arena_new(1 << 20);
  uint8_t *bytes = malloc(size > 0 ? size : 1);
  assert_non_null(bytes);
  memcpy(bytes, ids->bytes, size);
  assert_string_equal(csi_page83_choose(arena, bytes, size), expected);
  free(bytes);
  csi_arena_free(arena);
}

static const uint8_t vsphere_naa[] = {0x60, 0x00, 0xc2, 0x9b, 0x1c, 0x2d, 0x7e, 0x3f,
                                      0x90, 0xa1, 0xb2, 0xc3, 0xd4, 0xe5, 0xf6, 0x07};

static void test_platforms(void **state) {
  (void)state;
  struct descriptor ids = new_ids();
  add(&ids, BINARY, NAA, DEVICE, vsphere_naa, sizeof vsphere_naa);
  assert_chosen(&ids, ids.size, "6000c29b1c2d7e3f90a1b2c3d4e5f607");

  ids = new_ids(); /* GCE, SCSI: both blanks stay */
  add(&ids, ASCII, T10, DEVICE, "Google  persistent-disk-0", 25);
  assert_chosen(&ids, ids.size, "Google  persistent-disk-0");

  ids = new_ids(); /* GCE, NVMe */
  add(&ids, ASCII, NAME_STRING, DEVICE, "eui.10cc9636b6e3ce3b0000000000000000", 36);
  assert_chosen(&ids, ids.size, "eui.10cc9636b6e3ce3b0000000000000000");

  ids = new_ids(); /* EBS, NVMe: vendor, model and serial number */
  add(&ids, ASCII, T10, DEVICE, "NVMe    Amazon EC2 NVMe vol0123456789abcdef0", 44);
  assert_chosen(&ids, ids.size, "NVMe    Amazon EC2 NVMe vol0123456789abcdef0");

  static const uint8_t azure[] = {0x4d, 0x53, 0x46, 0x54, 0x20, 0x20, 0x20, 0x20, 0x32, 0x8d, 0x59, 0xb3,
                                  0x60, 0x87, 0x58, 0x45, 0xac, 0x64, 0x54, 0x73, 0xbe, 0x82, 0x67, 0xbf};
  ids = new_ids(); /* Azure and Hyper-V */
  add(&ids, BINARY, T10, DEVICE, azure, sizeof azure);
  add(&ids, BINARY, NAA, DEVICE, vsphere_naa, sizeof vsphere_naa);
  assert_chosen(&ids, ids.size, "4d53465420202020328d59b360875845ac645473be8267bf");
}

static void test_first_of_the_device(void **state) {
  (void)state;
  struct descriptor ids = new_ids();
  assert_chosen(&ids, ids.size, "");
  add(&ids, BINARY, NAA, PORT, "\x50\x01", 2);
  assert_chosen(&ids, ids.size, "");
  add(&ids, UTF8, NAME_STRING, DEVICE, "naa.5001", 8);
  assert_chosen(&ids, ids.size, "");
  add(&ids, ASCII, T10, DEVICE, "second", 6);
  add(&ids, BINARY, NAA, DEVICE, vsphere_naa, sizeof vsphere_naa);
  assert_chosen(&ids, ids.size, "second");
}

static void test_text(void **state) {
  (void)state;
  static const struct {
    const char *value;
    size_t size;
    const char *expected;
  } rows[] = {
      {"trailing ", 9, "trailing "}, {"padded\0\0", 8, "padded"}, {"    ", 4, ""},
      {" \t\r\n ", 5, ""},           {"\0\0\0\0", 4, ""},         {"", 0, ""},
      {"a\0b", 3, "610062"},         {"caf\xe9", 4, "636166e9"},  {"caf\xc3\xa9", 5, "caf\xc3\xa9"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct descriptor ids = new_ids();
    add(&ids, ASCII, T10, DEVICE, rows[i].value, rows[i].size);
    add(&ids, ASCII, T10, DEVICE, "another", 7); /* is not asked when the first is blank */
    assert_chosen(&ids, ids.size, rows[i].expected);
  }
}

static void test_offsets_that_lie(void **state) {
  (void)state;
  /* 0 for ever; into itself; into the value; one byte before its end; around the end of 16 bits. */
  static const uint16_t offsets[] = {0, 1, 15, 16, 17, 23, 0xFFFF, 0x8000};
  for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
    struct descriptor ids = new_ids();
    add(&ids, ASCII, T10, PORT, "12345678", 8);
    csi_put_u16(ids.bytes + ids.last + 10, offsets[i]);
    add(&ids, ASCII, T10, DEVICE, "good", 4);
    assert_chosen(&ids, ids.size, "");
  }
  struct descriptor ids = new_ids(); /* what was found before it counts */
  add(&ids, ASCII, T10, DEVICE, "good", 4);
  csi_put_u16(ids.bytes + ids.last + 10, 0);
  assert_chosen(&ids, ids.size, "good");
}

static void test_sizes_that_lie(void **state) {
  (void)state;
  struct descriptor ids = new_ids();
  add(&ids, ASCII, T10, PORT, "12345678", 8);
  add(&ids, ASCII, T10, DEVICE, "good", 4);
  csi_put_u32(ids.bytes + 8, UINT32_MAX); /* more identifiers than there is room */
  csi_put_u32(ids.bytes + 4, UINT32_MAX); /* larger than what came */
  assert_chosen(&ids, ids.size, "good");
  for (size_t size = 0; size < ids.size; size++)
    assert_chosen(&ids, size, size == ids.size ? "good" : "");
  csi_put_u32(ids.bytes + 4, 20); /* smaller than what came */
  assert_chosen(&ids, ids.size, "");
  csi_put_u32(ids.bytes + 4, 0);
  assert_chosen(&ids, ids.size, "");

  ids = new_ids();
  add(&ids, ASCII, T10, DEVICE, "good", 4);
  csi_put_u16(ids.bytes + ids.last + 8, 5); /* a value beyond the end */
  assert_chosen(&ids, ids.size, "");
  csi_put_u16(ids.bytes + ids.last + 8, UINT16_MAX);
  assert_chosen(&ids, ids.size, "");
}

static void test_largest(void **state) {
  (void)state;
  enum { VALUE_BYTES = 65532 - 16 };
  uint8_t *bytes = calloc(1, 12 + 16 + VALUE_BYTES);
  assert_non_null(bytes);
  csi_put_u32(bytes + 4, 12 + 16 + VALUE_BYTES);
  csi_put_u32(bytes + 8, 1);
  csi_put_u32(bytes + 12, BINARY);
  csi_put_u16(bytes + 12 + 8, VALUE_BYTES);
  struct csi_arena *arena = csi_arena_new(1 << 20);
  assert_int_equal(strlen(csi_page83_choose(arena, bytes, 12 + 16 + VALUE_BYTES)), 2 * VALUE_BYTES);
  csi_arena_free(arena);
  arena = csi_arena_new(1 << 10);
  assert_null(csi_page83_choose(arena, bytes, 12 + 16 + VALUE_BYTES));
  csi_arena_free(arena);
  free(bytes);
}

static void assert_serial(const char *stored, size_t stored_bytes, uint32_t offset, const char *expected) {
  struct csi_arena *arena = csi_arena_new(1 << 16);
  size_t size = 36 + stored_bytes;
  uint8_t *bytes = calloc(1, size);
  assert_non_null(bytes);
  csi_put_u32(bytes, (uint32_t)size);
  csi_put_u32(bytes + 4, (uint32_t)size);
  csi_put_u32(bytes + 24, offset);
  memcpy(bytes + 36, stored, stored_bytes);
  assert_string_equal(csi_serial_number(arena, bytes, size), expected);
  for (size_t cut = 0; cut < 36; cut++)
    assert_string_equal(csi_serial_number(arena, bytes, cut), "");
  free(bytes);
  csi_arena_free(arena);
}

static void test_serial_numbers(void **state) {
  (void)state;
  static const char *const as_they_are[] = {
      "vol0123456789abcdef0_00000001.",           /* EBS, NVMe */
      "vol0123456789abcdef0",                     /* EBS, Xen */
      "10CC_9636_B6E3_CE3B_0000_0000_0000_0000.", /* GCE, NVMe */
      "6000c29b1c2d7e3f90a1b2c3d4e5f607",         /* vSphere */
      "  leading blanks stay",
      "60022480D8A3B1A2C3D4E5F60718293A", /* Azure */
  };
  for (size_t i = 0; i < sizeof as_they_are / sizeof as_they_are[0]; i++)
    assert_serial(as_they_are[i], strlen(as_they_are[i]) + 1, 36, as_they_are[i]);
  assert_serial("trailing   ", 12, 36, "trailing");
  assert_serial("    ", 5, 36, "");
  assert_serial("without end", 11, 36, "without end");
  assert_serial("x\xff\xfey", 5, 36, "x??y");
}

static void test_serial_offsets(void **state) {
  (void)state;
  static const uint32_t nowhere[] = {0, UINT32_MAX, 1, 35, 43, 44, 0x80000000};
  for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++)
    assert_serial("abcdef", 7, nowhere[i], "");
  assert_serial("abcdef", 7, 41, "f");
  assert_serial("abcdef", 7, 42, "");
}

static void test_vendor_product_and_bus(void **state) {
  (void)state;
  enum { SIZE = 64, VENDOR = 36, PRODUCT = 46 };
  struct csi_arena *arena = csi_arena_new(1 << 16);
  assert_non_null(arena);
  uint8_t bytes[SIZE] = {0};
  csi_put_u32(bytes + 4, SIZE);
  csi_put_u32(bytes + 12, VENDOR);
  csi_put_u32(bytes + 16, PRODUCT);
  csi_put_u32(bytes + 28, CSI_BUS_NVME);
  memcpy(bytes + VENDOR, "  ACME  ", 9);
  memcpy(bytes + PRODUCT, "Disk\xff 1 ", 9);
  assert_string_equal(csi_disk_vendor(arena, bytes, SIZE), "ACME");
  assert_string_equal(csi_disk_product(arena, bytes, SIZE), "Disk? 1");
  assert_string_equal(csi_bus_type_name(csi_disk_bus_type(bytes, SIZE)), "NVMe");
  assert_int_equal(csi_disk_bus_type(bytes, 31), CSI_BUS_UNKNOWN);
  assert_string_equal(csi_disk_vendor(arena, bytes, 35), "");
  assert_string_equal(csi_bus_type_name(CSI_BUS_UNKNOWN), "");
  assert_string_equal(csi_bus_type_name(UINT32_MAX), "");
  assert_string_equal(csi_page83_type_name(3), "NAA");
  assert_string_equal(csi_page83_type_name(UINT32_MAX), "unknown type");
  csi_arena_free(arena);
}

static void test_more_of_page83(void **state) {
  (void)state;
  enum { SIZE = 12 + 20 + 20 };
  struct csi_arena *arena = csi_arena_new(1 << 16);
  assert_non_null(arena);
  uint8_t bytes[SIZE] = {0};
  csi_put_u32(bytes + 4, SIZE);
  csi_put_u32(bytes + 8, 2);
  for (size_t at = 12; at < SIZE; at += 20) {
    bytes[at] = 1;     /* binary */
    bytes[at + 4] = 3; /* NAA */
    bytes[at + 8] = 4; /* bytes */
    bytes[at + 10] = 20;
    bytes[at + 16] = 0x60;
  }
  bytes[12 + 12] = 1; /* the first is of the port */
  struct csi_page83 chosen;
  assert_true(csi_page83_find(arena, bytes, SIZE, &chosen));
  assert_string_equal(chosen.text, "60000000");
  assert_int_equal(chosen.type, 3);
  assert_false(chosen.is_ascii);
  assert_int_equal(chosen.seen_count, 2);
  bytes[12 + 20 + 12] = 2; /* the second of the target */
  assert_true(csi_page83_find(arena, bytes, SIZE, &chosen));
  assert_string_equal(chosen.text, "");
  assert_int_equal(chosen.seen_count, 2);
  csi_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vendor_product_and_bus),
      cmocka_unit_test(test_more_of_page83),
      cmocka_unit_test(test_platforms),
      cmocka_unit_test(test_first_of_the_device),
      cmocka_unit_test(test_text),
      cmocka_unit_test(test_offsets_that_lie),
      cmocka_unit_test(test_sizes_that_lie),
      cmocka_unit_test(test_largest),
      cmocka_unit_test(test_serial_numbers),
      cmocka_unit_test(test_serial_offsets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
