/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/volume_id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define GUID "01234567-89ab-cdef-0123-456789abcdef"
#define UPPER "01234567-89AB-CDEF-0123-456789ABCDEF"
#define CANONICAL "\\\\?\\Volume{" GUID "}\\"

static void test_every_usual_spelling(void **state) {
  (void)state;
  static const char *const texts[] = {
      CANONICAL,
      "\\\\?\\Volume{" GUID "}",
      "\\\\.\\Volume{" GUID "}",
      "\\\\.\\Volume{" GUID "}\\",
      "\\??\\Volume{" GUID "}",
      "\\??\\Volume{" GUID "}\\",
      "Volume{" GUID "}",
      "Volume{" GUID "}\\",
      "\\\\?\\VOLUME{" UPPER "}\\",
      "volume{" UPPER "}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct csi_guid guid;
    char text[CSI_VOLUME_ID_BYTES];
    if (!csi_volume_id_parse(texts[i], &guid)) fail_msg("%s", texts[i]);
    csi_volume_id_format(&guid, text);
    assert_string_equal(text, CANONICAL);
  }
}

static void test_anything_else(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "3",
      "\\",
      "\\\\?\\",
      GUID,
      "{" GUID "}",
      "Volume{}",
      "Volume{" GUID,
      "Volume{" GUID "}}",
      "Volume{" GUID "}\\\\",
      "Volume{" GUID "}\\dir",
      "Volume{" GUID "} ",
      " Volume{" GUID "}",
      "Volume{0123456789ab-cdef-0123-456789abcdef--}",
      "Volume{g1234567-89ab-cdef-0123-456789abcdef}",
      "Volume{01234567-89ab-cdef-0123-456789abcde}",
      "Volume{ 1234567-89ab-cdef-0123-456789abcdef}",
      "Volume{+1234567-89ab-cdef-0123-456789abcdef}",
      "//?/Volume{" GUID "}/",
      "\\\\server\\Volume{" GUID "}",
      "\\\\?\\\\\\?\\Volume{" GUID "}",
      "\\\\?\\GLOBALROOT\\Device\\HarddiskVolume3",
      "C:\\",
      "Vol\xc3\xbcme{" GUID "}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct csi_guid guid;
    if (csi_volume_id_parse(texts[i], &guid)) fail_msg("%s", texts[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_usual_spelling),
      cmocka_unit_test(test_anything_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
