/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>
#include <zlib.h>

#include "metrics/gzip.h"

static void the_header_is_understood(void **unused) {
  (void)unused;
  assert_true(csi_gzip_is_accepted("gzip"));
  assert_true(csi_gzip_is_accepted("deflate, gzip;q=0.5"));
  assert_true(csi_gzip_is_accepted(" br ,\tGZIP ; q=1"));
  assert_true(csi_gzip_is_accepted("*"));
  assert_true(csi_gzip_is_accepted("gzip, *;q=0"));
  assert_true(csi_gzip_is_accepted("*;q=0, gzip"));
  assert_true(csi_gzip_is_accepted("gzip;q=0.001"));
  assert_false(csi_gzip_is_accepted(NULL));
  assert_false(csi_gzip_is_accepted(""));
  assert_false(csi_gzip_is_accepted("identity"));
  assert_false(csi_gzip_is_accepted("gzip;q=0"));
  assert_false(csi_gzip_is_accepted("gzip;q=0, *")); /* its own item decides */
  assert_false(csi_gzip_is_accepted("*, gzip;q=0"));
  assert_false(csi_gzip_is_accepted("gzip; q=0.000, br"));
  assert_false(csi_gzip_is_accepted("x-gzipped, gzi, gzip2"));
  assert_false(csi_gzip_is_accepted(",,;,"));
}

static void what_is_compressed_comes_back(void **unused) {
  (void)unused;
  enum { BYTES = 300000 };
  char *text = malloc(BYTES), *back = malloc(BYTES + 1), *packed = NULL;
  size_t packed_bytes = 0;
  for (size_t i = 0; i < BYTES; i++)
    text[i] = (char)(i * i % 251);
  assert_true(csi_gzip(text, BYTES, &packed, &packed_bytes));
  z_stream stream = {.next_in = (Bytef *)packed,
                     .avail_in = (uInt)packed_bytes,
                     .next_out = (Bytef *)back,
                     .avail_out = BYTES + 1};
  assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK); /* gzip alone */
  assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
  assert_int_equal(stream.total_out, BYTES);
  assert_memory_equal(back, text, BYTES);
  inflateEnd(&stream);
  free(text);
  free(back);
  free(packed);
}

static void an_empty_text_is_compressed_too(void **unused) {
  (void)unused;
  char *packed = NULL;
  size_t packed_bytes = 0;
  assert_true(csi_gzip("", 0, &packed, &packed_bytes));
  assert_true(packed_bytes > 0);
  free(packed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_header_is_understood),
      cmocka_unit_test(what_is_compressed_comes_back),
      cmocka_unit_test(an_empty_text_is_compressed_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
