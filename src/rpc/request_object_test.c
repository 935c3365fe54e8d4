/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/request_object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "rpc/wire_probe.pb-c.h"

#define CANNOT "(request cannot be shown)"
#define ELLIPSIS "\xe2\x80\xa6"
/* The numbers of a message that has none, behind its other fields; and with flag set. */
#define ZEROS "four=0 eight=0 flag=false color=RED distance=0"
#define FLAG "four=0 eight=0 flag=true color=RED distance=0"

static const char *const secrets[] = {"csi_test.Probe.blob", "csi_test.Probe.words", NULL};

static struct csi_arena *arena;

static int set_up(void **unused) {
  (void)unused;
  arena = csi_arena_new(1 << 20);
  return arena == NULL ? -1 : 0;
}

static int tear_down(void **unused) {
  (void)unused;
  csi_arena_free(arena);
  return 0;
}

static const char *show_bytes(const char *bytes, size_t length, const char *const *secret_fields) {
  return csi_request_object(arena, &csi_test__probe__descriptor, secret_fields, (const uint8_t *)bytes,
                            length);
}

#define SHOW(bytes) show_bytes(bytes, sizeof(bytes) - 1, NULL)
#define SHOW_SECRET(bytes) show_bytes(bytes, sizeof(bytes) - 1, secrets)

static const char *show_probe(const CsiTest__Probe *probe) {
  size_t length = csi_test__probe__get_packed_size(probe);
  uint8_t *bytes = csi_arena_alloc(arena, length + 1);
  assert_non_null(bytes);
  assert_int_equal(csi_test__probe__pack(probe, bytes), length);
  return csi_request_object(arena, &csi_test__probe__descriptor, secrets, bytes, length);
}

static void test_every_kind(void **unused) {
  (void)unused;
  uint32_t numbers[] = {1, 300};
  uint64_t eights[] = {UINT64_MAX};
  CsiTest__Probe probe = CSI_TEST__PROBE__INIT;
  probe.name = "C:\\a \"b\"";
  probe.n_numbers = 2;
  probe.numbers = numbers;
  probe.four = 7;
  probe.eight = -0.5;
  probe.flag = 1;
  probe.color = CSI_TEST__COLOR__GREEN;
  probe.n_eights = 1;
  probe.eights = eights;
  probe.distance = -3;
  assert_string_equal(show_probe(&probe),
                      "name=\"C:\\\\a \\\"b\\\"\" numbers=[1,300] four=7 eight=-0.5 flag=true color=GREEN "
                      "eights=[18446744073709551615] distance=-3");
}

/* Disk 0, or is_online=false, is what a call is about; nobody sends it. */
static void test_numbers_of_the_request_are_always_shown(void **unused) {
  (void)unused;
  assert_string_equal(SHOW(""), ZEROS);
  assert_string_equal(show_bytes(NULL, 0, NULL), ZEROS);
  assert_string_equal(SHOW("\x50\x00\x45\x00\x00\x00\x00"), ZEROS);
  assert_string_equal(SHOW("\x50\x01"), FLAG);
}

static void test_other_defaults_are_left_out(void **unused) {
  (void)unused;
  assert_string_equal(SHOW("\x0a\x00"), ZEROS);
  assert_string_equal(SHOW("\x2a\x00"), "child{} " ZEROS);
  assert_string_equal(SHOW("\x2a\x02\x50\x00"), "child{} " ZEROS);
  assert_string_equal(SHOW("\x1a\x00"), "numbers=[] " ZEROS);
}

static void test_last_value_counts(void **unused) {
  (void)unused;
  assert_string_equal(SHOW("\x0a\x01x\x50\x01\x0a\x01y"), "name=\"y\" " FLAG);
  assert_string_equal(SHOW("\x0a\x01x\x0a\x00"), ZEROS);
  assert_string_equal(SHOW("\x50\x01\x50\x00"), ZEROS);
}

static void test_packed_and_single(void **unused) {
  (void)unused;
  assert_string_equal(SHOW("\x18\x01\x1a\x02\x02\x03\x18\x04"), "numbers=[1,2,3,4] " ZEROS);
  assert_string_equal(SHOW("\x1a\x0a\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a"),
                      "numbers=[1,2,3,4,5,6,7,8," ELLIPSIS " 2 more] " ZEROS);
  assert_string_equal(SHOW("\x62\x08\x01\x00\x00\x00\x02\x00\x00\x00"),
                      "four=0 eight=0 flag=false color=RED fours=[1,2] distance=0");
  assert_string_equal(SHOW("\x62\x07\x01\x00\x00\x00\x02\x00\x00"), CANNOT);
}

static void test_nested(void **unused) {
  (void)unused;
  assert_string_equal(SHOW("\x2a\x05\x0a\x03"
                           "abc\x32\x02\x50\x01\x32\x00"),
                      "child{name=\"abc\"} children=[{flag=true},{}] " ZEROS);
  assert_string_equal(SHOW("\x3a\x07\x0a\x01k\x12\x02\x50\x01"),
                      "by_name=[{key=\"k\" value{flag=true}}] " ZEROS);
  assert_string_equal(SHOW("\x2a\x0a\x2a\x08\x2a\x06\x2a\x04\x2a\x02\x50\x01"),
                      "child{child{child{child{...}}}} " ZEROS);
}

static void test_unknown_fields_are_left_out(void **unused) {
  (void)unused;
  assert_string_equal(SHOW("\xa2\x06\x06secret\x50\x01"), FLAG);
  assert_string_equal(SHOW("\x58\x63"), "four=0 eight=0 flag=false color=99 distance=0");
}

static void test_malicious_strings(void **unused) {
  (void)unused;
  assert_string_equal(SHOW("\x0a\x06"
                           "a\r\n\"\xff"
                           "b"),
                      "name=\"a\\r\\n\\\"\\xffb\" " ZEROS);
  assert_string_equal(SHOW("\x0a\x03"
                           "a\0b"),
                      "name=\"a\\x00b\" " ZEROS);
  assert_string_equal(SHOW("\x0a\x03\xe2\x80\xae"), "name=\"\\u202e\" " ZEROS);
}

static void test_secrets(void **unused) {
  (void)unused;
  static const char *const number[] = {"csi_test.Probe.four", NULL};
  assert_string_equal(SHOW_SECRET("\x0a\x04user\x12\x06hunter"), "name=\"user\" blob=*** " ZEROS);
  assert_string_equal(SHOW_SECRET("\x22\x06hunter\x22\x01x"), "words=*** " ZEROS);
  assert_string_equal(SHOW_SECRET("\x2a\x08\x12\x06hunter"), "child{blob=***} " ZEROS);
  assert_string_equal(SHOW_SECRET("\x3a\x0d\x0a\x01k\x12\x08\x12\x06hunter"),
                      "by_name=[{key=\"k\" value{blob=***}}] " ZEROS);
  assert_string_equal(SHOW("\x12\x06hunter"), "blob=(6 bytes) " ZEROS);
  assert_string_equal(show_bytes("", 0, number), "four=*** eight=0 flag=false color=RED distance=0");
}

static void test_malformed_is_not_shown_at_all(void **unused) {
  (void)unused;
  assert_string_equal(SHOW_SECRET("\x0a\x01x\x12\x07hunter"), CANNOT);
  assert_string_equal(SHOW_SECRET("\x0a\x01x\x12\x05hunter"), CANNOT);
  assert_string_equal(SHOW_SECRET("\x0a\x01x\x10\x05"), CANNOT); /* blob as a number */
  assert_string_equal(SHOW_SECRET("\x0a\x01x\x2a\x02\x12\x05"), CANNOT);
  assert_string_equal(SHOW("\x08\x01"), CANNOT);
  assert_string_equal(SHOW("\x80"), CANNOT);
}

/* What a secret would leave when its field's number were read as another one's must not depend on where
 * the message is cut. */
static void test_every_cut_hides_the_secret(void **unused) {
  (void)unused;
  static const char whole[] = "\x0a\x04user\x12\x0ahunterhunt\x2a\x0c\x12\x0ahunterhunt\x50\x01";
  for (size_t length = 0; length < sizeof whole; length++)
    assert_null(strstr(show_bytes(whole, length, secrets), "hunter"));
}

static void test_long_ones_are_cut(void **unused) {
  (void)unused;
  char name[2000];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  CsiTest__Probe probe = CSI_TEST__PROBE__INIT;
  probe.name = name;
  probe.flag = 1;
  const char *text = show_probe(&probe);
  assert_int_equal(strlen(text),
                   strlen("name=") + CSI_REQUEST_OBJECT_STRING_BYTES - 1 + strlen(ELLIPSIS " " FLAG));
  assert_non_null(strstr(text, "xx\"" ELLIPSIS " " FLAG));

  CsiTest__Probe *children[CSI_REQUEST_OBJECT_ITEMS] = {&probe, &probe, &probe, &probe, &probe, &probe};
  CsiTest__Probe parent = CSI_TEST__PROBE__INIT;
  parent.n_children = 6;
  parent.children = children;
  text = show_probe(&parent);
  assert_true(strlen(text) < CSI_REQUEST_OBJECT_BYTES && strlen(text) > CSI_REQUEST_OBJECT_BYTES - 10);
  assert_string_equal(text + strlen(text) - strlen(ELLIPSIS), ELLIPSIS);
}

static void test_too_many_bytes(void **unused) {
  (void)unused;
  char *bytes = calloc(1, CSI_REQUEST_OBJECT_INPUT_BYTES + 1);
  assert_non_null(bytes);
  assert_string_equal(show_bytes(bytes, CSI_REQUEST_OBJECT_INPUT_BYTES + 1, NULL),
                      "(request of 65537 bytes is not shown)");
  free(bytes);
}

static void test_short_memory(void **unused) {
  (void)unused;
  struct csi_arena *small = csi_arena_new(1);
  assert_non_null(small);
  const uint8_t bytes[] = {0x50, 1};
  assert_string_equal(csi_request_object(small, &csi_test__probe__descriptor, NULL, bytes, sizeof bytes),
                      CANNOT);
  csi_arena_free(small);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_kind),
      cmocka_unit_test(test_numbers_of_the_request_are_always_shown),
      cmocka_unit_test(test_other_defaults_are_left_out),
      cmocka_unit_test(test_last_value_counts),
      cmocka_unit_test(test_packed_and_single),
      cmocka_unit_test(test_nested),
      cmocka_unit_test(test_unknown_fields_are_left_out),
      cmocka_unit_test(test_malicious_strings),
      cmocka_unit_test(test_secrets),
      cmocka_unit_test(test_malformed_is_not_shown_at_all),
      cmocka_unit_test(test_every_cut_hides_the_secret),
      cmocka_unit_test(test_long_ones_are_cut),
      cmocka_unit_test(test_too_many_bytes),
      cmocka_unit_test(test_short_memory),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
