/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/marker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "disk/signatures.h"

#define GUID "0fc63daf-8483-4772-8e79-3d69d8477de4"

static struct csi_guid guid_of(const char *text) {
  struct csi_guid guid;
  assert_true(csi_guid_parse(text, strlen(text), &guid));
  return guid;
}

static void test_text(void **state) {
  (void)state;
  struct csi_guid guid = guid_of(GUID);
  uint8_t block[CSI_MARKER_BYTES];
  csi_marker_make(&guid, block);
  assert_memory_equal(block, "CSI-PROXY UNFINISHED FORMAT, VERSION 1\r\n", 40);
  assert_non_null(strstr((const char *)block, "volume {" GUID "}"));
  for (size_t i = strlen((const char *)block); i < sizeof block; i++)
    assert_int_equal(block[i], 0);
  assert_true(strlen((const char *)block) < 512);
}

static void test_one_byte_off(void **state) {
  (void)state;
  struct csi_guid guid = guid_of(GUID);
  uint8_t bytes[2 * CSI_MARKER_BYTES];
  csi_marker_make(&guid, bytes);
  memset(bytes + CSI_MARKER_BYTES, 0xA5, CSI_MARKER_BYTES); /* what is behind it does not matter */
  assert_true(csi_marker_is_of(&guid, bytes, sizeof bytes));
  assert_true(csi_marker_is_of(&guid, bytes, CSI_MARKER_BYTES));
  assert_false(csi_marker_is_of(&guid, bytes, CSI_MARKER_BYTES - 1));
  assert_false(csi_marker_is_of(&guid, bytes, 0));
  for (size_t i = 0; i < CSI_MARKER_BYTES; i++) {
    bytes[i] ^= 1;
    assert_false(csi_marker_is_of(&guid, bytes, sizeof bytes));
    bytes[i] ^= 1;
  }
}

static void test_another_volume(void **state) {
  (void)state;
  struct csi_guid guid = guid_of(GUID), other = guid_of("0fc63daf-8483-4772-8e79-3d69d8477de5");
  uint8_t block[CSI_MARKER_BYTES];
  csi_marker_make(&guid, block);
  assert_false(csi_marker_is_of(&other, block, sizeof block));
}

/* To all who do not know it, it is data of unknown kind. */
static void test_looks_like_nothing_else(void **state) {
  (void)state;
  struct csi_guid guid = guid_of(GUID);
  uint8_t block[CSI_MARKER_BYTES];
  csi_marker_make(&guid, block);
  struct csi_contents contents = csi_contents_recognise(block, sizeof block);
  assert_false(contents.is_empty);
  assert_null(contents.name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text),
      cmocka_unit_test(test_one_byte_off),
      cmocka_unit_test(test_another_volume),
      cmocka_unit_test(test_looks_like_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
