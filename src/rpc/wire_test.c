/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rpc/wire_probe.h"
#include "rpc/wire_probe.pb-c.h"
#include "rpc/wire_reader.h"

struct sample {
  const char *what;
  const char *bytes;
  size_t length;
  const char *text; /* of the error; NULL when the sample is valid */
};

#define SAMPLE(what, bytes, text)                                                                            \
  { what, bytes, sizeof bytes - 1, text }

#define P "csi_test.Probe"

static const struct sample valid_samples[] = {
    SAMPLE("nothing", "", NULL),
    SAMPLE("string", "\x0a\x03xyz", NULL),
    SAMPLE("string of the greatest length", "\x0a\x08stuvwxyz", NULL),
    SAMPLE("empty string", "\x0a\x00", NULL),
    SAMPLE("characters of two, three, four bytes", "\x0a\x08\xc3\xa4\xf0\x9f\x98\x80xx", NULL),
    SAMPLE("string given twice", "\x0a\x01x\x0a\x01y", NULL),
    SAMPLE("NUL in bytes", "\x12\x02\x00\xff", NULL),
    SAMPLE("numbers one by one", "\x18\x01\x18\x96\x01", NULL),
    SAMPLE("numbers packed", "\x1a\x03\x01\x96\x01", NULL),
    SAMPLE("as many numbers as allowed, both ways", "\x18\x01\x1a\x02\x01\x02\x18\x01", NULL),
    SAMPLE("empty packed list", "\x1a\x00", NULL),
    SAMPLE("negative number", "\x58\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", NULL),
    SAMPLE("number padded to ten bytes", "\x50\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00", NULL),
    SAMPLE("enum value nobody knows", "\x58\x63", NULL),
    SAMPLE("fixed32 and double", "\x45\x01\x02\x03\x04\x49\x01\x02\x03\x04\x05\x06\x07\x08", NULL),
    SAMPLE("packed fixed32 and fixed64", "\x62\x04\x01\x02\x03\x04\x6a\x08\x01\x02\x03\x04\x05\x06\x07\x08",
           NULL),
    SAMPLE("fixed32 one by one", "\x65\x01\x02\x03\x04\x65\x01\x02\x03\x04", NULL),
    SAMPLE("tag of two bytes", "\x80\x01\x05", NULL),
    SAMPLE("length padded to five bytes", "\x0a\x81\x80\x80\x80\x00x", NULL),
    SAMPLE("empty child", "\x2a\x00", NULL),
    SAMPLE("child with a name and an empty child", "\x2a\x05\x0a\x01x\x2a\x00", NULL),
    SAMPLE("map entry", "\x3a\x07\x0a\x01k\x12\x02\x50\x01", NULL),
    SAMPLE("map entry without key and value", "\x3a\x00", NULL),
    SAMPLE("map entry, value first", "\x3a\x05\x12\x00\x0a\x01k", NULL),
    SAMPLE("same key twice", "\x3a\x03\x0a\x01k\x3a\x03\x0a\x01k", NULL),
    SAMPLE("unknown number", "\xa0\x06\x01", NULL),
    SAMPLE("unknown bytes with NUL", "\xa2\x06\x02\x00\xff", NULL),
    SAMPLE("unknown fixed32 and fixed64", "\xa5\x06\x01\x02\x03\x04\xa1\x06\x01\x02\x03\x04\x05\x06\x07\x08",
           NULL),
    SAMPLE("greatest field number", "\xf8\xff\xff\xff\x0f\x01", NULL),
};

static const struct sample undecodable_samples[] = {
    SAMPLE("half a tag", "\x80", P ": truncated in a tag or length"),
    SAMPLE("tag of 33 bits", "\xff\xff\xff\xff\x1f\x01", P ": tag or length out of range"),
    SAMPLE("tag of six bytes", "\x88\x80\x80\x80\x80\x00\x01", P ": tag or length out of range"),
    SAMPLE("no length", "\x0a", P ": truncated in a tag or length"),
    SAMPLE("half a length", "\x0a\x80", P ": truncated in a tag or length"),
    SAMPLE("length of six bytes", "\x0a\x81\x80\x80\x80\x80\x00x", P ": tag or length out of range"),
    SAMPLE("length above 2 GiB", "\x0a\xff\xff\xff\xff\x0f", P ": length out of range"),
    SAMPLE("length of 2 GiB", "\x0a\xff\xff\xff\xff\x07", P ": truncated in a value"),
    SAMPLE("string that is too short", "\x0a\x03xy", P ": truncated in a value"),
    SAMPLE("fixed32 that is too short", "\x45\x01\x02\x03", P ": truncated in a value"),
    SAMPLE("double that is too short", "\x49\x01\x02\x03\x04\x05\x06\x07", P ": truncated in a value"),
    SAMPLE("no number", "\x50", P ": truncated in a number"),
    SAMPLE("half a number", "\x50\x80", P ": truncated in a number"),
    SAMPLE("number of eleven bytes", "\x50\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",
           P ": number out of range"),
    SAMPLE("number of 65 bits", "\x50\x81\x80\x80\x80\x80\x80\x80\x80\x80\x02", P ": number out of range"),
    SAMPLE("unknown field that is too short", "\xa2\x06\x02x", P ": truncated in a value"),
    SAMPLE("field number 0", "\x00\x01", P ": field number 0"),
    SAMPLE("field number 0, padded", "\x80\x00\x01", P ": field number 0"),
    SAMPLE("group", "\xa3\x06\xa4\x06", P ": unknown wire type or group"),
    SAMPLE("end of no group", "\xa4\x06", P ": unknown wire type or group"),
    SAMPLE("wire type 6", "\xa6\x06\x01", P ": unknown wire type or group"),
    SAMPLE("wire type 7", "\xa7\x06\x01", P ": unknown wire type or group"),
    SAMPLE("string as a number", "\x08\x01", P ".name: wire type does not fit the field"),
    SAMPLE("bool as a string", "\x52\x01x", P ".flag: wire type does not fit the field"),
    SAMPLE("fixed32 as fixed64", "\x41\x01\x02\x03\x04\x05\x06\x07\x08",
           P ".four: wire type does not fit the field"),
    SAMPLE("list of numbers as fixed32", "\x1d\x01\x02\x03\x04",
           P ".numbers: wire type does not fit the field"),
    SAMPLE("child as a number", "\x28\x01", P ".child: wire type does not fit the field"),
    SAMPLE("packed list cut in a number", "\x1a\x02\x01\x80", P ".numbers: truncated in a number"),
    SAMPLE("packed fixed32 of seven bytes", "\x62\x07\x01\x02\x03\x04\x05\x06\x07",
           P ".fours: truncated in a packed list"),
    SAMPLE("packed fixed64 of seven bytes", "\x6a\x07\x01\x02\x03\x04\x05\x06\x07",
           P ".eights: truncated in a packed list"),
    SAMPLE("0xff in a string", "\x0a\x01\xff", P ".name: string contains invalid UTF-8"),
    SAMPLE("surrogate in a string", "\x0a\x03\xed\xa0\x80", P ".name: string contains invalid UTF-8"),
    SAMPLE("padded character in a string", "\x0a\x02\xc0\x80", P ".name: string contains invalid UTF-8"),
    SAMPLE("character cut by the end", "\x0a\x02x\xc3", P ".name: string contains invalid UTF-8"),
    SAMPLE("invalid UTF-8 in a list", "\x22\x01x\x22\x01\x80", P ".words: string contains invalid UTF-8"),
    SAMPLE("invalid UTF-8 in a key", "\x3a\x03\x0a\x01\x80",
           P ".ByNameEntry.key: string contains invalid UTF-8"),
    SAMPLE("child that is too short", "\x2a\x02\x0a\x01", P ": truncated in a value"),
    SAMPLE("malformed grandchild", "\x2a\x03\x2a\x01\x50", P ": truncated in a number"),
};

static const struct sample refused_samples[] = {
    SAMPLE("NUL in a string", "\x0a\x03x\0y", P ".name contains a NUL character"),
    SAMPLE("NUL at the end of a string", "\x0a\x02x\0", P ".name contains a NUL character"),
    SAMPLE("NUL in a list", "\x22\x01\0", P ".words contains a NUL character"),
    SAMPLE("NUL in a key", "\x3a\x03\x0a\x01\0", P ".ByNameEntry.key contains a NUL character"),
    SAMPLE("NUL in a child", "\x2a\x03\x0a\x01\0", P ".name contains a NUL character"),
    SAMPLE("string that is too long", "\x0a\x09rstuvwxyz", P ".name is longer than 8 bytes"),
    SAMPLE("bytes that are too long", "\x12\x05vwxyz", P ".blob is longer than 4 bytes"),
    SAMPLE("list item that is too long", "\x22\x05vwxyz", P ".words is longer than 4 bytes"),
    SAMPLE("too many numbers one by one", "\x18\x01\x18\x01\x18\x01\x18\x01\x18\x01",
           P ".numbers has more than 4 elements"),
    SAMPLE("too many numbers packed", "\x1a\x05\x01\x01\x01\x01\x01", P ".numbers has more than 4 elements"),
    SAMPLE("too many numbers, both ways", "\x1a\x02\x01\x01\x18\x01\x1a\x03\x96\x01\x01",
           P ".numbers has more than 4 elements"),
    SAMPLE("too many packed fixed32", "\x62\x10wwwwxxxxyyyyzzzz", P ".fours has more than 3 elements"),
    SAMPLE("too many words", "\x22\x00\x22\x00\x22\x00", P ".words has more than 2 elements"),
    SAMPLE("too many entries", "\x3a\x00\x3a\x00\x3a\x00", P ".by_name has more than 2 elements"),
    SAMPLE("too many words in a child", "\x2a\x06\x22\x00\x22\x00\x22\x00",
           P ".words has more than 2 elements"),
    SAMPLE("child twice", "\x2a\x00\x2a\x00", P ".child is given more than once"),
    SAMPLE("value of an entry twice", "\x3a\x04\x12\x00\x12\x00",
           P ".ByNameEntry.value is given more than once"),
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* In memory of exactly its size, so that the sanitizer sees one byte read too many. */
static bool check_exact(const char *bytes, size_t length, struct csi_status *status) {
  csi_status_clear(status);
  uint8_t *copy = malloc(length > 0 ? length : 1);
  assert_non_null(copy);
  memcpy(copy, bytes, length);
  const bool ok = csi_wire_check(&probe_wire, copy, length, status);
  free(copy);
  return ok;
}

static bool decodes(const char *bytes, size_t length) {
  CsiTest__Probe *probe = csi_test__probe__unpack(NULL, length, (const uint8_t *)bytes);
  if (!probe) return false;
  csi_test__probe__free_unpacked(probe, NULL);
  return true;
}

static void valid_messages_pass_and_decode(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(valid_samples); i++) {
    const struct sample *sample = &valid_samples[i];
    struct csi_status status;
    if (!check_exact(sample->bytes, sample->length, &status)) fail_msg("%s: %s", sample->what, status.text);
    if (!decodes(sample->bytes, sample->length)) fail_msg("%s: protobuf-c refuses it", sample->what);
  }
}

static void expect_refusal(const struct sample *samples, size_t count, enum csi_code code,
                           const char *prefix) {
  for (size_t i = 0; i < count; i++) {
    struct csi_status status;
    char expected[256];
    snprintf(expected, sizeof expected, "%s%s", prefix, samples[i].text);
    if (check_exact(samples[i].bytes, samples[i].length, &status)) fail_msg("%s: accepted", samples[i].what);
    if (status.code != code) fail_msg("%s: code %d", samples[i].what, (int)status.code);
    if (strcmp(status.text, expected) != 0) fail_msg("%s: %s", samples[i].what, status.text);
  }
}

static void what_is_no_encoding_is_internal(void **state) {
  (void)state;
  expect_refusal(undecodable_samples, COUNT(undecodable_samples), CSI_INTERNAL,
                 "grpc: error unmarshalling request: ");
}

static void what_is_over_a_limit_is_invalid_argument(void **state) {
  (void)state;
  expect_refusal(refused_samples, COUNT(refused_samples), CSI_INVALID_ARGUMENT, "");
}

static void no_bytes_may_be_null(void **state) {
  (void)state;
  struct csi_status status;
  csi_status_clear(&status);
  assert_true(csi_wire_check(&probe_wire, NULL, 0, &status));
}

static void message_without_fields_skips_everything(void **state) {
  (void)state;
  static const struct csi_wire_message empty = {.name = "v1.RescanRequest"};
  struct csi_status status;
  csi_status_clear(&status);
  assert_true(csi_wire_check(&empty, (const uint8_t *)"\x0a\x01\x00", 3, &status));
  assert_false(csi_wire_check(&empty, (const uint8_t *)"\x0a\x01", 2, &status));
  assert_string_equal(status.text,
                      "grpc: error unmarshalling request: v1.RescanRequest: truncated in a value");
}

/* Wraps an empty message so often that there are `depth` messages; returns the length. */
static size_t nest(char *bytes, size_t depth) {
  size_t length = 0;
  for (size_t i = 1; i < depth; i++) {
    memmove(bytes + 2, bytes, length);
    bytes[0] = 0x2a;
    bytes[1] = (char)length;
    length += 2;
  }
  return length;
}

static void depth_is_limited(void **state) {
  (void)state;
  char bytes[2 * CSI_WIRE_MAX_DEPTH];
  struct csi_status status;
  assert_true(check_exact(bytes, nest(bytes, CSI_WIRE_MAX_DEPTH), &status));
  assert_false(check_exact(bytes, nest(bytes, CSI_WIRE_MAX_DEPTH + 1), &status));
  assert_int_equal(status.code, CSI_INTERNAL);
  assert_string_equal(status.text, "grpc: error unmarshalling request: " P ": nested too deeply");
}

/* A sample of all kinds; every byte of it in turn becomes every value, and it is cut everywhere. */
static const char rich[] = "\x0a\x03x\xc3\xa4\x12\x02\x00\x01\x1a\x02\x01\x02\x18\x96\x01\x22\x01w\x2a\x09"
                           "\x0a\x01k\x32\x04\x50\x01\x2a\x00\x3a\x07\x0a\x01k\x12\x02\x50\x01\x45wxyz\x49stu"
                           "vwxyz\x50\x01\x58\x01\x62\x04wxyz\x6a\x08stuvwxyz\x80\x01\x05\xa0\x06\x01";

static void expect_agreement(const char *bytes, size_t length, size_t *accepted) {
  struct csi_status status;
  if (!check_exact(bytes, length, &status)) return;
  ++*accepted;
  if (!decodes(bytes, length)) fail_msg("protobuf-c refuses what passed (%zu bytes)", length);
}

static void whatever_passes_decodes(void **state) {
  (void)state;
  const size_t length = sizeof rich - 1;
  size_t accepted = 0;
  for (size_t cut = 0; cut <= length; cut++)
    expect_agreement(rich, cut, &accepted);
  assert_in_range(accepted, 14, length); /* at least at every boundary between fields */

  char changed[sizeof rich];
  accepted = 0;
  for (size_t at = 0; at < length; at++)
    for (unsigned value = 0; value < 256; value++) {
      memcpy(changed, rich, sizeof rich);
      changed[at] = (char)value;
      expect_agreement(changed, length, &accepted);
    }
  assert_in_range(accepted, length, 256 * length - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(valid_messages_pass_and_decode),
      cmocka_unit_test(what_is_no_encoding_is_internal),
      cmocka_unit_test(what_is_over_a_limit_is_invalid_argument),
      cmocka_unit_test(no_bytes_may_be_null),
      cmocka_unit_test(message_without_fields_skips_everything),
      cmocka_unit_test(depth_is_limited),
      cmocka_unit_test(whatever_passes_decodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
