/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties: one line of valid UTF-8 of bounded length, whatever comes; and what stands in a secret field
 * has no influence on the text.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rpc/request_object.h"
#include "rpc/wire_probe.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const secrets[] = {"csi_test.Probe.blob", NULL};

static void expect(bool holds) {
  if (!holds) abort();
}

static void expect_one_line(const char *text) {
  const size_t length = strlen(text);
  char escaped[4 * CSI_REQUEST_OBJECT_BYTES];
  expect(length < CSI_REQUEST_OBJECT_BYTES);
  expect(csi_utf8_is_valid(text, length));
  expect(csi_text_escape(escaped, sizeof escaped, text, length) == length && strcmp(escaped, text) == 0);
}

/* The last number of the message is shown, whatever else it has, unless the text says that something is
 * missing.
 */
static void expect_numbers(const char *text) {
  static const char ellipsis[] = "\xe2\x80\xa6";
  const size_t length = strlen(text);
  expect(strncmp(text, "(request ", 9) == 0 || strstr(text, "distance=") ||
         (length >= sizeof ellipsis - 1 && strcmp(text + length - (sizeof ellipsis - 1), ellipsis) == 0));
}

/* Overwrites the secret of a message that decodes, and of its child, and shows it again. */
static void expect_blank(struct csi_arena *arena, const uint8_t *data, size_t size) {
  CsiTest__Probe *probe = csi_test__probe__unpack(NULL, size, data);
  if (!probe) return;
  const size_t length = csi_test__probe__get_packed_size(probe);
  uint8_t *bytes = csi_arena_alloc(arena, length + 1);
  expect(bytes);
  (void)csi_test__probe__pack(probe, bytes);
  const char *before = csi_request_object(arena, &csi_test__probe__descriptor, secrets, bytes, length);
  if (probe->blob.len > 0) memset(probe->blob.data, 'S', probe->blob.len);
  (void)csi_test__probe__pack(probe, bytes);
  expect(strcmp(before, csi_request_object(arena, &csi_test__probe__descriptor, secrets, bytes, length)) ==
         0);
  csi_test__probe__free_unpacked(probe, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_arena *arena = csi_arena_new(1 << 24);
  expect(arena);
  const char *text = csi_request_object(arena, &csi_test__probe__descriptor, secrets, data, size);
  expect_one_line(text);
  expect_numbers(text);
  expect_blank(arena, data, size);
  csi_arena_free(arena);
  return 0;
}
