/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/request_json.h"

#include <google/protobuf/descriptor.upb.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* package v1; message Login { string user = 1; string password = 2; Login next = 3;
 * repeated Login more = 4; map<string, Login> by_host = 5; uint64 size = 6; Kind kind = 7;
 * bytes token = 8; repeated string words = 9; } enum Kind { NONE = 0; CHAP = 1; } */
static upb_Arena *arena_of_set;
static struct csi_service_list list;
static struct csi_service_list list_without_secrets;
static const char *const secret_fields[] = {"v1.Login.password", "v1.Login.token", NULL};

static upb_StringView view(const char *text) {
  return upb_StringView_FromString(text);
}

static void add_field(google_protobuf_DescriptorProto *message, int number, const char *name, int type,
                      const char *type_name, bool repeated) {
  google_protobuf_FieldDescriptorProto *field =
      google_protobuf_DescriptorProto_add_field(message, arena_of_set);
  google_protobuf_FieldDescriptorProto_set_number(field, number);
  google_protobuf_FieldDescriptorProto_set_name(field, view(name));
  google_protobuf_FieldDescriptorProto_set_type(field, type);
  google_protobuf_FieldDescriptorProto_set_label(
      field, repeated ? google_protobuf_FieldDescriptorProto_LABEL_REPEATED
                      : google_protobuf_FieldDescriptorProto_LABEL_OPTIONAL);
  if (type_name) google_protobuf_FieldDescriptorProto_set_type_name(field, view(type_name));
}

static void add_enum(google_protobuf_FileDescriptorProto *file) {
  google_protobuf_EnumDescriptorProto *kind =
      google_protobuf_FileDescriptorProto_add_enum_type(file, arena_of_set);
  google_protobuf_EnumDescriptorProto_set_name(kind, view("Kind"));
  static const char *const names[] = {"NONE", "CHAP"};
  for (int i = 0; i < 2; i++) {
    google_protobuf_EnumValueDescriptorProto *value =
        google_protobuf_EnumDescriptorProto_add_value(kind, arena_of_set);
    google_protobuf_EnumValueDescriptorProto_set_name(value, view(names[i]));
    google_protobuf_EnumValueDescriptorProto_set_number(value, i);
  }
}

static void add_map_entry(google_protobuf_DescriptorProto *message) {
  google_protobuf_DescriptorProto *entry =
      google_protobuf_DescriptorProto_add_nested_type(message, arena_of_set);
  google_protobuf_DescriptorProto_set_name(entry, view("ByHostEntry"));
  add_field(entry, 1, "key", google_protobuf_FieldDescriptorProto_TYPE_STRING, NULL, false);
  add_field(entry, 2, "value", google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, ".v1.Login", false);
  google_protobuf_MessageOptions_set_map_entry(
      google_protobuf_DescriptorProto_mutable_options(entry, arena_of_set), true);
}

static void add_message(google_protobuf_FileDescriptorProto *file) {
  google_protobuf_DescriptorProto *login =
      google_protobuf_FileDescriptorProto_add_message_type(file, arena_of_set);
  google_protobuf_DescriptorProto_set_name(login, view("Login"));
  add_field(login, 1, "user", google_protobuf_FieldDescriptorProto_TYPE_STRING, NULL, false);
  add_field(login, 2, "password", google_protobuf_FieldDescriptorProto_TYPE_STRING, NULL, false);
  add_field(login, 3, "next", google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, ".v1.Login", false);
  add_field(login, 4, "more", google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, ".v1.Login", true);
  add_field(login, 5, "by_host", google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, ".v1.Login.ByHostEntry",
            true);
  add_field(login, 6, "size", google_protobuf_FieldDescriptorProto_TYPE_UINT64, NULL, false);
  add_field(login, 7, "kind", google_protobuf_FieldDescriptorProto_TYPE_ENUM, ".v1.Kind", false);
  add_field(login, 8, "token", google_protobuf_FieldDescriptorProto_TYPE_BYTES, NULL, false);
  add_field(login, 9, "words", google_protobuf_FieldDescriptorProto_TYPE_STRING, NULL, true);
  add_map_entry(login);
}

static int make_lists(void **state) {
  (void)state;
  arena_of_set = upb_Arena_New();
  assert_non_null(arena_of_set);
  google_protobuf_FileDescriptorSet *set = google_protobuf_FileDescriptorSet_new(arena_of_set);
  google_protobuf_FileDescriptorProto *file = google_protobuf_FileDescriptorSet_add_file(set, arena_of_set);
  google_protobuf_FileDescriptorProto_set_name(file, view("login.proto"));
  google_protobuf_FileDescriptorProto_set_package(file, view("v1"));
  google_protobuf_FileDescriptorProto_set_syntax(file, view("proto3"));
  add_enum(file);
  add_message(file);
  size_t length = 0;
  const char *bytes = google_protobuf_FileDescriptorSet_serialize(set, arena_of_set, &length);
  assert_non_null(bytes);
  list = (struct csi_service_list){.descriptor_set = (const uint8_t *)bytes,
                                   .descriptor_set_bytes = length,
                                   .secret_fields = secret_fields};
  list_without_secrets = list;
  list_without_secrets.secret_fields = NULL;
  return 0;
}

static int free_lists(void **state) {
  (void)state;
  upb_Arena_Free(arena_of_set);
  return 0;
}

/* ---- Requests ---- */

struct request {
  uint8_t bytes[CSI_REQUEST_JSON_INPUT_BYTES + 1];
  size_t length;
};

static void add_bytes(struct request *request, const void *bytes, size_t length) {
  assert_true(length <= sizeof request->bytes - request->length);
  memcpy(request->bytes + request->length, bytes, length);
  request->length += length;
}

static void add_varint(struct request *request, size_t value) {
  for (; value >= 0x80; value >>= 7)
    add_bytes(request, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
  add_bytes(request, &(uint8_t){(uint8_t)value}, 1);
}

static void add_text(struct request *request, unsigned number, const char *text, size_t length) {
  add_varint(request, number << 3 | 2);
  add_varint(request, length);
  add_bytes(request, text, length);
}

static void add_string(struct request *request, unsigned number, const char *text) {
  add_text(request, number, text, strlen(text));
}

static void add_request(struct request *request, unsigned number, const struct request *part) {
  add_text(request, number, (const char *)part->bytes, part->length);
}

static void expect_json(const struct csi_service_list *services, const struct request *request,
                        const char *expected) {
  struct csi_arena *arena = csi_arena_new((size_t)1 << 20);
  assert_non_null(arena);
  assert_string_equal(csi_request_json(arena, services, "v1.Login", request->bytes, request->length),
                      expected);
  csi_arena_free(arena);
}

/* ---- Tests ---- */

static void fields_are_shown_by_their_proto_names(void **state) {
  (void)state;
  struct request request = {.length = 0};
  expect_json(&list, &request, "{}");
  expect_json(&list_without_secrets, &request, "{}");

  struct request entry = {.length = 0};
  add_string(&entry, 1, "h");
  add_string(&entry, 2, "");
  add_string(&request, 1, "C:\\x\n\"\xc3\xa4");
  add_bytes(&request, "\x30\x96\x01\x38\x01", 5);
  add_string(&request, 9, "a");
  add_string(&request, 9, "b");
  add_request(&request, 5, &entry);
  add_string(&request, 15, "nobody knows this");
  const char *expected = "{\"user\":\"C:\\\\x\\n\\\"\xc3\xa4\",\"by_host\":{\"h\":{}},\"size\":\"150\","
                         "\"kind\":\"CHAP\",\"words\":[\"a\",\"b\"]}";
  expect_json(&list, &request, expected);
  expect_json(&list_without_secrets, &request, expected);
}

static void secrets_are_blanked(void **state) {
  (void)state;
  struct request request = {.length = 0};
  add_string(&request, 2, "hunter2");
  expect_json(&list, &request, "{\"password\":\"***\"}");
  expect_json(&list_without_secrets, &request, "{\"password\":\"hunter2\"}");

  add_string(&request, 2, "");
  add_string(&request, 1, "me");
  expect_json(&list, &request, "{\"user\":\"me\",\"password\":\"***\"}");

  request.length = 0;
  add_string(&request, 8, "\x01\x02");
  expect_json(&list, &request, "{\"token\":\"Kioq\"}"); /* base64 of three asterisks */
}

static void nested_secrets_are_blanked(void **state) {
  (void)state;
  struct request inner = {.length = 0};
  add_string(&inner, 1, "me");
  add_string(&inner, 2, "hunter2");
  struct request entry = {.length = 0};
  add_string(&entry, 1, "h");
  add_request(&entry, 2, &inner);
  struct request next = {.length = 0};
  add_request(&next, 3, &inner);
  struct request request = {.length = 0};
  add_request(&request, 3, &next);
  add_request(&request, 4, &inner);
  add_request(&request, 4, &inner);
  add_request(&request, 5, &entry);
#define ME "{\"user\":\"me\",\"password\":\"***\"}"
  expect_json(&list, &request,
              "{\"next\":{\"next\":" ME "},\"more\":[" ME "," ME "],\"by_host\":{\"h\":" ME "}}");
}

/* The greatest growth that blanking can cause. */
static void many_tiny_secrets_fit(void **state) {
  (void)state;
  struct request request = {.length = 0};
  while (request.length <= CSI_REQUEST_JSON_INPUT_BYTES - 2)
    add_string(&request, 2, "");
  expect_json(&list, &request, "{\"password\":\"***\"}");

  struct request login = {.length = 0};
  add_string(&login, 2, "");
  request.length = 0;
  for (int i = 0; i < 3; i++)
    add_request(&request, 4, &login);
#define NOBODY "{\"password\":\"***\"}"
  expect_json(&list, &request, "{\"more\":[" NOBODY "," NOBODY "," NOBODY "]}");
}

/* Empty messages: what upb makes of them is fifty times as large. */
static void memory_is_limited(void **state) {
  (void)state;
  struct request request = {.length = 0};
  while (request.length <= CSI_REQUEST_JSON_INPUT_BYTES - 2)
    add_string(&request, 4, "");
  struct csi_arena *arena = csi_arena_new((size_t)4 << 20);
  assert_non_null(arena);
  assert_string_equal(csi_request_json(arena, &list, "v1.Login", request.bytes, request.length),
                      "(request cannot be shown)");
  assert_in_range(csi_arena_used_bytes(arena), CSI_REQUEST_JSON_INPUT_BYTES, 544 * 1024);
  csi_arena_free(arena);
}

static void secret_in_another_wire_type_is_not_shown(void **state) {
  (void)state;
  struct request request = {.length = 0};
  add_bytes(&request, "\x10\xb9\x0a", 3); /* password = 1337 */
  expect_json(&list, &request, "{\"password\":\"***\"}");
  expect_json(&list_without_secrets, &request, "{}");
}

static void long_text_is_cut_between_characters(void **state) {
  (void)state;
  static char text[CSI_REQUEST_JSON_BYTES + 1];
  for (size_t shift = 0; shift < 3; shift++) {
    struct csi_arena *arena = csi_arena_new((size_t)1 << 20);
    assert_non_null(arena);
    memset(text, 'x', sizeof text - 1);
    for (size_t i = shift; i + 2 < sizeof text; i += 2)
      memcpy(text + i, "\xc3\xa4", 2);
    struct request request = {.length = 0};
    add_string(&request, 1, text);
    const char *json = csi_request_json(arena, &list, "v1.Login", request.bytes, request.length);
    const size_t length = strlen(json);
    assert_in_range(length, CSI_REQUEST_JSON_BYTES - 3, CSI_REQUEST_JSON_BYTES - 1);
    assert_string_equal(json + length - 3, "\xe2\x80\xa6");
    assert_memory_equal(json + length - 5, "\xc3\xa4", 2);
    csi_arena_free(arena);
  }
}

static void text_that_just_fits_is_not_cut(void **state) {
  (void)state;
  static char text[CSI_REQUEST_JSON_BYTES];
  const size_t around = strlen("{\"user\":\"\"}");
  const size_t fitting = CSI_REQUEST_JSON_BYTES - 1 - around;
  struct csi_arena *arena = csi_arena_new((size_t)1 << 20);
  assert_non_null(arena);
  memset(text, 'x', fitting + 1);
  struct request request = {.length = 0};
  add_text(&request, 1, text, fitting);
  const char *json = csi_request_json(arena, &list, "v1.Login", request.bytes, request.length);
  assert_int_equal(strlen(json), CSI_REQUEST_JSON_BYTES - 1);
  assert_string_equal(json + strlen(json) - 2, "\"}");

  request.length = 0;
  add_text(&request, 1, text, fitting + 1);
  json = csi_request_json(arena, &list, "v1.Login", request.bytes, request.length);
  assert_string_equal(json + strlen(json) - 3, "\xe2\x80\xa6");
  csi_arena_free(arena);
}

static void long_request_is_only_measured(void **state) {
  (void)state;
  static struct request request;
  request.length = CSI_REQUEST_JSON_INPUT_BYTES + 1;
  expect_json(&list, &request, "(request of 8193 bytes is not shown)");
}

static void what_cannot_be_decoded_is_said_so(void **state) {
  (void)state;
  static const char cannot[] = "(request cannot be shown)";
  static const struct csi_service_list bad_list = {.descriptor_set = (const uint8_t *)"\x0a\x05",
                                                   .descriptor_set_bytes = 2};
  struct request request = {.length = 0};
  add_bytes(&request,
            "\x0a\x05"
            "ab",
            4);
  expect_json(&list, &request, cannot);
  expect_json(&list_without_secrets, &request, cannot);
  request.length = 0;
  add_string(&request, 1, "\xff");
  expect_json(&list, &request, cannot);
  request.length = 0;
  expect_json(&bad_list, &request, cannot);
  expect_json(&bad_list, &request, cannot);

  struct csi_arena *arena = csi_arena_new(4096);
  assert_non_null(arena);
  assert_string_equal(csi_request_json(arena, &list, "v1.Nobody", NULL, 0), cannot);
  csi_arena_free(arena);
}

/* 40 messages within each other: neither the blanking nor upb goes down that far. */
static void depth_is_limited(void **state) {
  (void)state;
  struct request request = {.length = 0};
  for (int i = 0; i < 40; i++) {
    struct request outer = {.length = 0};
    add_request(&outer, 3, &request);
    request = outer;
  }
  expect_json(&list, &request, "(request cannot be shown)");
  expect_json(&list_without_secrets, &request, "(request cannot be shown)");
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  struct request request = {.length = 0};
  add_string(&request, 1, "a user whose name is not short");
  add_string(&request, 2, "hunter2");
  expect_json(&list, &request, "{\"user\":\"a user whose name is not short\",\"password\":\"***\"}");
  unsigned failed = 0;
  for (unsigned countdown = 1;; countdown++) {
    struct csi_arena *arena = csi_arena_new((size_t)1 << 20);
    assert_non_null(arena);
    csi_arena_fail_after(countdown);
    const char *text = csi_request_json(arena, &list, "v1.Login", request.bytes, request.length);
    const bool all_counted = csi_arena_fail_after(0) == 0;
    assert_int_equal(all_counted, strcmp(text, "(request cannot be shown)") == 0);
    csi_arena_free(arena);
    if (!all_counted) break;
    failed++;
  }
  assert_in_range(failed, 3, 100); /* the copy, a block for upb, the text */
}

static void *show_often(void *result) {
  static const uint8_t bytes[] = "\x0a\x02me\x12\x01x";
  for (int i = 0; i < 200; i++) {
    struct csi_arena *arena = csi_arena_new(65536);
    if (!arena) return NULL;
    const char *text = csi_request_json(arena, result, "v1.Login", bytes, sizeof bytes - 1);
    const bool right = strcmp(text, "{\"user\":\"me\",\"password\":\"***\"}") == 0;
    csi_arena_free(arena);
    if (!right) return NULL;
  }
  return result;
}

static void threads_share_the_descriptors(void **state) {
  (void)state;
  static struct csi_service_list fresh; /* not loaded yet; kept, as its address stays in the cache */
  fresh = list;
  pthread_t threads[4];
  for (size_t i = 0; i < COUNT(threads); i++)
    assert_int_equal(pthread_create(&threads[i], NULL, show_often, &fresh), 0);
  for (size_t i = 0; i < COUNT(threads); i++) {
    void *result = NULL;
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_ptr_equal(result, &fresh);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_are_shown_by_their_proto_names),
      cmocka_unit_test(secrets_are_blanked),
      cmocka_unit_test(nested_secrets_are_blanked),
      cmocka_unit_test(many_tiny_secrets_fit),
      cmocka_unit_test(memory_is_limited),
      cmocka_unit_test(secret_in_another_wire_type_is_not_shown),
      cmocka_unit_test(long_text_is_cut_between_characters),
      cmocka_unit_test(text_that_just_fits_is_not_cut),
      cmocka_unit_test(long_request_is_only_measured),
      cmocka_unit_test(what_cannot_be_decoded_is_said_so),
      cmocka_unit_test(depth_is_limited),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(threads_share_the_descriptors),
  };
  return cmocka_run_group_tests(tests, make_lists, free_lists);
}
