/* SPDX-License-Identifier: Apache-2.0
 *
 * The generated code of three versions, from a client's structures to bytes, through the server's tables
 * and handlers, and back: everything but the connection.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codegen/runtime/convert.h"
#include "csi-proxy/dummy.h"
#include "dummy/client_group.h"
#include "dummy/convert_v1.h"
#include "dummy/convert_v1beta1.h"
#include "dummy/dummy.h"
#include "dummy/handlers.h"
#include "dummy/services.h"
#include "dummy/wire.h"
#include "rpc/pb_arena.h"

/* The stubs are not called here. */
enum csi_code csi_client_call(struct csi_client *client, const struct csi_client_group *group, size_t rpc,
                              const void *request, const struct csi_call_options *options,
                              void **response_out, struct csi_error *error_out) {
  (void)client;
  (void)group;
  (void)rpc;
  (void)request;
  (void)options;
  (void)response_out;
  (void)error_out;
  return CSI_UNIMPLEMENTED;
}

/* --- one call without a connection */

struct bytes {
  uint8_t *data;
  size_t length;
};

struct fixture {
  struct csi_ctx ctx;
  struct csi_dummy dummy;
};

static int set_up(void **state) {
  static struct fixture fixture;
  memset(&fixture, 0, sizeof fixture);
  fixture.ctx.arena = csi_arena_new(1 << 20);
  fixture.ctx.deadline_ns = CSI_NO_DEADLINE;
  *state = &fixture;
  return fixture.ctx.arena == NULL;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  csi_arena_free(fixture->ctx.arena);
  return 0;
}

static const struct csi_service *find_service(const char *version) {
  for (size_t i = 0; i < csi_dummy_services.service_count; i++)
    if (strcmp(csi_dummy_services.services[i]->version, version) == 0) return csi_dummy_services.services[i];
  return NULL;
}

static const struct csi_method *find_method(const char *version, const char *name) {
  const struct csi_service *service = find_service(version);
  assert_non_null(service);
  for (size_t i = 0; i < service->method_count; i++)
    if (strcmp(service->methods[i].name, name) == 0) return &service->methods[i];
  return NULL;
}

/* As the client finds it: by version and by the name in group.proto. */
static const struct csi_client_method *find_client_method(const char *version, const char *rpc) {
  for (size_t v = 0; v < csi_dummy_client_group.version_count; v++) {
    const struct csi_client_version *known = &csi_dummy_client_group.versions[v];
    for (size_t r = 0; r < csi_dummy_client_group.rpc_count; r++)
      if (strcmp(known->version, version) == 0 && strcmp(csi_dummy_client_group.rpc_names[r], rpc) == 0)
        return &known->methods[r];
  }
  return NULL;
}

static bool pack(struct csi_ctx *ctx, const ProtobufCMessage *message, struct bytes *bytes_out) {
  bytes_out->length = protobuf_c_message_get_packed_size(message);
  bytes_out->data = csi_arena_alloc(ctx->arena, bytes_out->length + 1);
  if (bytes_out->data == NULL) return csi_fail_out_of_memory(&ctx->status);
  protobuf_c_message_pack(message, bytes_out->data);
  return true;
}

static bool unpack(struct csi_ctx *ctx, const ProtobufCMessageDescriptor *descriptor,
                   const struct csi_wire_message *wire, const struct bytes *bytes,
                   const ProtobufCMessage **message_out) {
  ProtobufCAllocator allocator = csi_pb_arena_allocator(ctx->arena);
  if (!csi_wire_check(wire, bytes->data, bytes->length, &ctx->status)) return false;
  *message_out = protobuf_c_message_unpack(descriptor, &allocator, bytes->length, bytes->data);
  return *message_out != NULL || csi_fail_out_of_memory(&ctx->status);
}

/* What the server does with the bytes of a request. */
static bool serve(struct fixture *fixture, const char *version, const char *method_name,
                  const struct bytes *request, struct bytes *response_out) {
  const struct csi_method *method = find_method(version, method_name);
  const ProtobufCMessage *message, *answer;
  assert_non_null(method);
  return unpack(&fixture->ctx, method->request, method->request_wire, request, &message) &&
         method->serve(&fixture->ctx, &fixture->dummy, message, &answer) &&
         pack(&fixture->ctx, answer, response_out);
}

/* A whole call by the client's tables. */
static bool call(struct fixture *fixture, const char *version, const char *rpc, const void *request,
                 void *response) {
  const struct csi_client_method *method = find_client_method(version, rpc);
  ProtobufCMessage *message;
  const ProtobufCMessage *answer;
  struct bytes request_bytes, response_bytes;
  assert_non_null(method);
  assert_non_null(method->path);
  const char *name = strrchr(method->path, '/') + 1;
  struct csi_ctx *ctx = &fixture->ctx;
  return method->request_to_wire(ctx->arena, &ctx->status, request, &message) &&
         pack(ctx, message, &request_bytes) &&
         serve(fixture, version, name, &request_bytes, &response_bytes) &&
         unpack(ctx, method->response, method->response_wire, &response_bytes, &answer) &&
         method->response_from_wire(ctx->arena, &ctx->status, answer, response);
}

static struct bytes pack_all(struct fixture *fixture, const ProtobufCMessage *message) {
  struct bytes bytes;
  assert_true(pack(&fixture->ctx, message, &bytes));
  return bytes;
}

/* --- tables */

static void test_services_are_listed_oldest_first(void **state) {
  (void)state;
  static const char *const versions[] = {"v1alpha1", "v1beta1", "v1"};
  static const char *const names[] = {"v1alpha1.Dummy", "v1beta1.Dummy", "v1.Dummy"};
  static const size_t counts[] = {2, 4, 5};
  assert_int_equal(csi_dummy_services.service_count, 3);
  for (size_t i = 0; i < 3; i++) {
    const struct csi_service *service = csi_dummy_services.services[i];
    assert_string_equal(service->group, "dummy");
    assert_string_equal(service->version, versions[i]);
    assert_string_equal(service->name, names[i]);
    assert_int_equal(service->method_count, counts[i]);
  }
}

static void test_methods_carry_their_annotations(void **state) {
  (void)state;
  const struct csi_method *twice = find_method("v1alpha1", "Twice");
  const struct csi_method *exchange = find_method("v1beta1", "Exchange");
  assert_int_equal(twice->lane, CSI_LANE_INLINE);
  assert_false(twice->mutating);
  assert_false(twice->secret);
  assert_int_equal(exchange->lane, CSI_LANE_LONG);
  assert_true(exchange->mutating);
  assert_true(exchange->secret);
  assert_int_equal(find_method("v1", "ListShelves")->lane, CSI_LANE_SHORT);
  assert_null(find_method("v1", "Twice"));
  assert_null(find_method("v1beta1", "Sleep"));
}

static void test_secrets_are_named_in_every_version(void **state) {
  (void)state;
  assert_string_equal(csi_dummy_services.secret_fields[0], "v1beta1.Credentials.passPhrase");
  assert_string_equal(csi_dummy_services.secret_fields[1], "v1.Credentials.password");
  assert_null(csi_dummy_services.secret_fields[2]);
}

static void test_client_prefers_stable_then_beta_then_alpha(void **state) {
  (void)state;
  assert_int_equal(csi_dummy_client_group.version_count, 3);
  assert_string_equal(csi_dummy_client_group.versions[0].version, "v1");
  assert_string_equal(csi_dummy_client_group.versions[1].version, "v1beta1");
  assert_string_equal(csi_dummy_client_group.versions[2].version, "v1alpha1");
  assert_string_equal(find_client_method("v1alpha1", "TellMeAPoem")->path, "/v1alpha1.Dummy/Recite");
  assert_null(find_client_method("v1alpha1", "Exchange")->path);
}

/* --- renames and hand-written conversions */

static void test_every_version_doubles(void **state) {
  static const char *const versions[] = {"v1alpha1", "v1beta1", "v1"};
  for (size_t i = 0; i < 3; i++) {
    struct csi_dummy_compute_double_request request = {.input = -21};
    struct csi_dummy_compute_double_response response = {0};
    assert_true(call(*state, versions[i], "ComputeDouble", &request, &response));
    assert_int_equal(response.response, -42);
  }
}

static void test_64_bits_pass_where_the_version_has_them(void **state) {
  struct csi_dummy_compute_double_request request = {.input = INT64_C(1) << 40};
  struct csi_dummy_compute_double_response response = {0};
  assert_true(call(*state, "v1beta1", "ComputeDouble", &request, &response));
  assert_true(response.response == INT64_C(1) << 41);
  assert_false(call(*state, "v1alpha1", "ComputeDouble", &request, &response));
}

static void test_failure_of_a_handler_arrives_unchanged(void **state) {
  struct fixture *fixture = *state;
  struct csi_dummy_compute_double_request request = {.input = INT64_MAX};
  struct csi_dummy_compute_double_response response = {0};
  assert_false(call(fixture, "v1", "ComputeDouble", &request, &response));
  assert_int_equal(fixture->ctx.status.code, CSI_OUT_OF_RANGE);
  assert_string_equal(fixture->ctx.status.text, "int64 overflow with input: 9223372036854775807");
}

static void test_failure_of_a_hand_written_conversion_arrives(void **state) {
  struct fixture *fixture = *state;
  struct csi_dummy_compute_double_request request = {.input = INT32_MAX};
  struct csi_dummy_compute_double_response response = {0};
  assert_false(call(fixture, "v1alpha1", "ComputeDouble", &request, &response));
  assert_int_equal(fixture->ctx.status.code, CSI_OUT_OF_RANGE);
  assert_string_equal(fixture->ctx.status.text, "4294967294 does not fit into 32 bits");
}

static void test_poem_under_old_and_new_names(void **state) {
  static const char *const versions[] = {"v1alpha1", "v1beta1", "v1"};
  for (size_t i = 0; i < 3; i++) {
    struct csi_dummy_tell_me_a_poem_request request = {.i_want_a_title = true, .line_count = 2};
    struct csi_dummy_tell_me_a_poem_response response = {0};
    assert_true(call(*state, versions[i], "TellMeAPoem", &request, &response));
    assert_string_equal(response.title, "The Pipe");
    assert_int_equal(response.lines_count, 2);
    assert_string_equal(response.lines[1], "a pipe that hears,");
  }
}

static void test_old_name_prefixes_errors(void **state) {
  struct fixture *fixture = *state;
  struct csi_dummy_tell_me_a_poem_request request = {0};
  struct csi_dummy_tell_me_a_poem_response response = {0};
  assert_false(call(fixture, "v1beta1", "TellMeAPoem", &request, &response));
  assert_string_equal(fixture->ctx.status.text, "a poem has lines");
  csi_status_clear(&fixture->ctx.status);
  assert_false(call(fixture, "v1alpha1", "TellMeAPoem", &request, &response));
  assert_int_equal(fixture->ctx.status.code, CSI_INVALID_ARGUMENT);
  assert_string_equal(fixture->ctx.status.text, "Forward to TellMeAPoem failed, err=a poem has lines");
}

/* --- maps, nested and repeated messages */

static void check_shelves(struct fixture *fixture, const char *version) {
  static const uint32_t numbers[] = {30, 4, 7}, pages[] = {1, 300, 70000};
  static const struct csi_dummy_book book = {
      .title = "Pipes", .picture_pages = pages, .picture_pages_count = 3};
  static const struct csi_dummy_list_shelves_request_labels_entry labels[] = {{"z", "last"}, {"a", NULL}};
  struct csi_dummy_list_shelves_request request = {
      .numbers = numbers, .numbers_count = 3, .book = &book, .labels = labels, .labels_count = 2};
  struct csi_dummy_list_shelves_response response = {0};
  assert_true(call(fixture, version, "ListShelves", &request, &response));
  assert_int_equal(response.shelves_count, 3);
  for (size_t i = 0; i < 3; i++) {
    const struct csi_dummy_shelf *shelf = &response.shelves[i].value;
    assert_int_equal(shelf->material, CSI_DUMMY_MATERIAL_GLASS);
    assert_int_equal(shelf->books_count, 1);
    assert_string_equal(shelf->books[0].title, "Pipes");
    assert_int_equal(shelf->books[0].picture_pages_count, 3);
    assert_memory_equal(shelf->books[0].picture_pages, pages, sizeof pages);
  }
  assert_int_equal(response.labels_count, 2);
  assert_string_equal(response.labels[0].key, "a");
  assert_string_equal(response.labels[0].value, "");
  assert_string_equal(response.labels[1].value, "last");
}

static void test_shelves_with_number_keys_are_sorted(void **state) {
  static const uint32_t numbers[] = {30, 4, 7};
  struct csi_dummy_list_shelves_request request = {.numbers = numbers, .numbers_count = 3};
  struct csi_dummy_list_shelves_response response = {0};
  check_shelves(*state, "v1");
  assert_true(call(*state, "v1", "ListShelves", &request, &response));
  assert_int_equal(response.shelves[0].key, 4);
  assert_int_equal(response.shelves[1].key, 7);
  assert_int_equal(response.shelves[2].key, 30);
  assert_int_equal(response.shelves[2].value.books_count, 0); /* no book given: the pointer stayed NULL */
}

static void test_shelves_with_text_keys_by_hand(void **state) {
  check_shelves(*state, "v1beta1");
}

static void test_text_key_that_is_no_number(void **state) {
  struct fixture *fixture = *state;
  char key[] = "4294967296";
  V1beta1__ListShelvesResponse__ShelvesEntry entry, *entries[] = {&entry};
  V1beta1__ListShelvesResponse message;
  struct csi_dummy_list_shelves_response response = {0};
  v1beta1__list_shelves_response__shelves_entry__init(&entry);
  v1beta1__list_shelves_response__init(&message);
  entry.key = key;
  message.shelves = entries;
  message.n_shelves = 1;
  assert_false(csi_dummy_v1beta1_list_shelves_response_from_wire(fixture->ctx.arena, &fixture->ctx.status,
                                                                 &message, &response));
  assert_string_equal(fixture->ctx.status.text, "\"4294967296\" is no number of a shelf");
}

static void test_repeated_keys_and_missing_values(void **state) {
  struct fixture *fixture = *state;
  /* shelves: {5: wood}, {3: no value}, {5: glass}, {no key: no value} */
  static const uint8_t encoded[] = {0x0a, 6,    0x08, 5,    0x12, 2,    0x08, 1,    0x0a, 2,    0x08,
                                    3,    0x0a, 6,    0x08, 5,    0x12, 2,    0x08, 2,    0x0a, 0};
  struct bytes bytes = {(uint8_t *)encoded, sizeof encoded};
  const ProtobufCMessage *message;
  struct csi_dummy_list_shelves_response response = {0};
  assert_true(unpack(&fixture->ctx, &v1__list_shelves_response__descriptor,
                     &csi_dummy_v1_list_shelves_response_wire, &bytes, &message));
  assert_true(csi_dummy_v1_list_shelves_response_from_wire(
      fixture->ctx.arena, &fixture->ctx.status, (const V1__ListShelvesResponse *)message, &response));
  assert_int_equal(response.shelves_count, 3);
  assert_int_equal(response.shelves[0].key, 0);
  assert_int_equal(response.shelves[1].key, 3);
  assert_int_equal(response.shelves[1].value.material, CSI_DUMMY_MATERIAL_UNKNOWN);
  assert_int_equal(response.shelves[2].key, 5);
  assert_int_equal(response.shelves[2].value.material, CSI_DUMMY_MATERIAL_GLASS);
}

static int compare_ints(const void *a, const void *b) {
  const int *x = a, *y = b;
  return *x / 10 - *y / 10; /* tens are the key, units tell equal keys apart */
}

static void test_map_sort_is_stable_for_every_length(void **state) {
  struct fixture *fixture = *state;
  for (size_t count = 0; count <= 33; count++) {
    int values[33];
    const void *entries[33];
    for (size_t i = 0; i < count; i++) {
      values[i] = (int)((i * 7 % 5) * 10 + i % 10);
      entries[i] = &values[i];
    }
    const void **sorted;
    size_t kept;
    assert_true(csi_convert_map(fixture->ctx.arena, &fixture->ctx.status, entries, count, compare_ints,
                                &sorted, &kept));
    assert_int_equal(kept, count < 5 ? count : 5);
    for (size_t i = 0; i < kept; i++) {
      const int *entry = sorted[i];
      assert_true(i == 0 || compare_ints(sorted[i - 1], entry) < 0);
      for (const int *later = entry + 1; later < values + count; later++)
        assert_int_not_equal(*later / 10, *entry / 10); /* the last of its key was kept */
    }
  }
}

/* --- values of every kind */

static struct csi_dummy_goods sample_goods(void) {
  static const uint8_t bytes[] = {0, 1, 0, 255};
  static const struct csi_bytes blobs[] = {{bytes, 4}, {NULL, 0}, {bytes + 3, 1}};
  static const bool flags[] = {true, false, true};
  static const enum csi_dummy_material materials[] = {CSI_DUMMY_MATERIAL_GLASS, (enum csi_dummy_material)99};
  static const struct csi_dummy_goods_blobs_by_number_entry by_number[] = {{-5, {bytes, 2}},
                                                                           {INT64_MAX, {NULL, 0}}};
  static const struct csi_dummy_goods_materials_by_flag_entry by_flag[] = {
      {false, CSI_DUMMY_MATERIAL_WOOD}, {true, CSI_DUMMY_MATERIAL_UNKNOWN}};
  return (struct csi_dummy_goods){.blob = {bytes, sizeof bytes},
                                  .blobs = blobs,
                                  .blobs_count = 3,
                                  .flags = flags,
                                  .flags_count = 3,
                                  .material = (enum csi_dummy_material)77,
                                  .materials = materials,
                                  .materials_count = 2,
                                  .blobs_by_number = by_number,
                                  .blobs_by_number_count = 2,
                                  .materials_by_flag = by_flag,
                                  .materials_by_flag_count = 2,
                                  .ratio = -0.1,
                                  .small_ratio = 1.5F,
                                  .temperature = INT32_MIN,
                                  .serial = UINT64_MAX};
}

static void assert_bytes_equal(const struct csi_bytes *a, const struct csi_bytes *b) {
  assert_int_equal(a->size_bytes, b->size_bytes);
  if (a->size_bytes > 0) assert_memory_equal(a->data, b->data, a->size_bytes);
}

static void assert_goods_equal(const struct csi_dummy_goods *a, const struct csi_dummy_goods *b) {
  assert_bytes_equal(&a->blob, &b->blob);
  assert_int_equal(a->blobs_count, b->blobs_count);
  for (size_t i = 0; i < b->blobs_count; i++)
    assert_bytes_equal(&a->blobs[i], &b->blobs[i]);
  assert_int_equal(a->flags_count, b->flags_count);
  assert_memory_equal(a->flags, b->flags, b->flags_count * sizeof *b->flags);
  assert_int_equal(a->material, b->material);
  assert_int_equal(a->materials_count, b->materials_count);
  assert_memory_equal(a->materials, b->materials, b->materials_count * sizeof *b->materials);
  assert_int_equal(a->blobs_by_number_count, b->blobs_by_number_count);
  for (size_t i = 0; i < b->blobs_by_number_count; i++) {
    assert_true(a->blobs_by_number[i].key == b->blobs_by_number[i].key);
    assert_bytes_equal(&a->blobs_by_number[i].value, &b->blobs_by_number[i].value);
  }
  assert_int_equal(a->materials_by_flag_count, b->materials_by_flag_count);
  for (size_t i = 0; i < b->materials_by_flag_count; i++) {
    assert_int_equal(a->materials_by_flag[i].key, b->materials_by_flag[i].key);
    assert_int_equal(a->materials_by_flag[i].value, b->materials_by_flag[i].value);
  }
  assert_true(a->ratio == b->ratio);
  assert_true(a->small_ratio == b->small_ratio);
  assert_int_equal(a->temperature, b->temperature);
  assert_true(a->serial == b->serial);
}

static void test_goods_come_back_as_they_went(void **state) {
  struct fixture *fixture = *state;
  static const char *const versions[] = {"v1beta1", "v1"};
  fixture->dummy.expected_password = "sesame";
  for (size_t i = 0; i < 2; i++) {
    struct csi_dummy_goods goods = sample_goods();
    struct csi_dummy_credentials credentials = {.user = "ali", .password = "sesame"};
    struct csi_dummy_exchange_request request = {.credentials = &credentials, .goods = &goods};
    struct csi_dummy_exchange_response response = {0};
    assert_true(call(fixture, versions[i], "Exchange", &request, &response));
    assert_string_equal(response.user, "ali");
    assert_non_null(response.goods);
    assert_goods_equal(response.goods, &goods);
  }
}

static void test_absent_and_empty_values(void **state) {
  struct csi_dummy_goods goods = {0};
  struct csi_dummy_credentials credentials = {0};
  struct csi_dummy_exchange_request request = {.credentials = &credentials, .goods = &goods};
  struct csi_dummy_exchange_response response = {0};
  assert_true(call(*state, "v1", "Exchange", &request, &response));
  assert_string_equal(response.user, "");
  assert_non_null(response.goods); /* empty, but there */
  assert_int_equal(response.goods->blobs_count + response.goods->blob.size_bytes, 0);
  struct csi_dummy_exchange_request nothing = {0};
  assert_true(call(*state, "v1", "Exchange", &nothing, &response));
  response.goods = NULL;
  assert_true(call(*state, "v1", "Exchange", &nothing, &response));
  assert_null(response.goods);
}

/* --- dropped fields and limits */

static void test_dropped_fields_are_ignored(void **state) {
  struct fixture *fixture = *state;
  char text[] = "nobody reads this";
  uint32_t number = 5;
  V1beta1__Hint hint, *hints[] = {&hint};
  V1beta1__ListShelvesRequest request;
  v1beta1__hint__init(&hint);
  v1beta1__list_shelves_request__init(&request);
  hint.text = text;
  request.hints = hints;
  request.n_hints = 1;
  request.context = V1BETA1__CONTEXT__THERE;
  request.numbers = &number;
  request.n_numbers = 1;
  struct bytes bytes = pack_all(fixture, &request.base), response;
  assert_true(serve(fixture, "v1beta1", "ListShelves", &bytes, &response));
  struct csi_dummy_list_shelves_request neutral = {0};
  assert_true(csi_dummy_v1beta1_list_shelves_request_from_wire(fixture->ctx.arena, &fixture->ctx.status,
                                                               &request, &neutral));
  assert_int_equal(neutral.numbers_count, 1);
}

static void assert_refused(struct fixture *fixture, const char *method, const ProtobufCMessage *request) {
  struct bytes bytes = pack_all(fixture, request), response;
  csi_status_clear(&fixture->ctx.status);
  unsigned calls = fixture->dummy.calls;
  assert_false(serve(fixture, "v1", method, &bytes, &response));
  assert_int_equal(fixture->ctx.status.code, CSI_INVALID_ARGUMENT);
  assert_int_equal(fixture->dummy.calls, calls);
}

static void test_limits_stop_a_request_before_the_handler(void **state) {
  struct fixture *fixture = *state;
  char title[66];
  uint32_t numbers[9] = {0};
  struct bytes bytes, response;
  V1__Book book;
  V1__ListShelvesRequest request;
  memset(title, 'x', sizeof title);
  title[64] = '\0';
  v1__book__init(&book);
  v1__list_shelves_request__init(&request);
  request.book = &book;
  book.title = title;
  request.numbers = numbers;
  request.n_numbers = 8;
  bytes = pack_all(fixture, &request.base);
  assert_true(serve(fixture, "v1", "ListShelves", &bytes, &response)); /* exactly the limits */
  title[64] = 'x';
  title[65] = '\0';
  assert_refused(fixture, "ListShelves", &request.base);
  title[64] = '\0';
  request.n_numbers = 9;
  assert_refused(fixture, "ListShelves", &request.base);
}

static void test_limits_of_bytes(void **state) {
  static uint8_t blob[1025];
  struct fixture *fixture = *state;
  V1__Goods goods;
  V1__ExchangeRequest request;
  struct bytes bytes, response;
  v1__goods__init(&goods);
  v1__exchange_request__init(&request);
  request.goods = &goods;
  goods.blob = (ProtobufCBinaryData){.data = blob, .len = 1024};
  bytes = pack_all(fixture, &request.base);
  assert_true(serve(fixture, "v1", "Exchange", &bytes, &response));
  goods.blob.len = 1025;
  assert_refused(fixture, "Exchange", &request.base);
}

static void test_limits_of_maps_hold_for_keys_and_values(void **state) {
  struct fixture *fixture = *state;
  char fits[] = "0123456789abcdef", too_long[] = "0123456789abcdefg";
  V1__ListShelvesRequest__LabelsEntry entry, *entries[] = {&entry, &entry, &entry, &entry, &entry};
  V1__ListShelvesRequest request;
  struct bytes bytes, response;
  v1__list_shelves_request__labels_entry__init(&entry);
  v1__list_shelves_request__init(&request);
  entry.key = fits;
  entry.value = fits;
  request.labels = entries;
  request.n_labels = 4;
  bytes = pack_all(fixture, &request.base);
  assert_true(serve(fixture, "v1", "ListShelves", &bytes, &response));
  entry.value = too_long;
  assert_refused(fixture, "ListShelves", &request.base);
  entry.value = fits;
  entry.key = too_long;
  assert_refused(fixture, "ListShelves", &request.base);
  entry.key = fits;
  request.n_labels = 5;
  assert_refused(fixture, "ListShelves", &request.base);
}

/* --- memory */

/* One whole call; false when an allocation failed. */
static bool exchange_once(struct fixture *fixture) {
  struct csi_dummy_goods goods = sample_goods();
  struct csi_dummy_credentials credentials = {.user = "ali", .password = "sesame"};
  struct csi_dummy_exchange_request request = {.credentials = &credentials, .goods = &goods};
  struct csi_dummy_exchange_response response = {0};
  csi_status_clear(&fixture->ctx.status);
  if (!call(fixture, "v1", "Exchange", &request, &response)) {
    assert_int_equal(fixture->ctx.status.code, CSI_RESOURCE_EXHAUSTED);
    return false;
  }
  assert_goods_equal(response.goods, &goods);
  return true;
}

static bool shelves_once(struct fixture *fixture) {
  static const uint32_t numbers[] = {3, 1};
  static const struct csi_dummy_book book = {.title = "Pipes"};
  static const struct csi_dummy_list_shelves_request_labels_entry labels[] = {{"z", "last"}};
  struct csi_dummy_list_shelves_request request = {
      .numbers = numbers, .numbers_count = 2, .book = &book, .labels = labels, .labels_count = 1};
  struct csi_dummy_list_shelves_response response = {0};
  csi_status_clear(&fixture->ctx.status);
  if (call(fixture, "v1beta1", "ListShelves", &request, &response)) return true;
  assert_int_equal(fixture->ctx.status.code, CSI_RESOURCE_EXHAUSTED);
  return false;
}

static void fail_every_allocation(struct fixture *fixture, bool (*once)(struct fixture *)) {
  unsigned failed = 0;
  for (unsigned countdown = 1;; countdown++) {
    csi_arena_fail_after(countdown);
    bool succeeded = once(fixture);
    csi_arena_fail_after(0);
    if (succeeded) break;
    failed++;
    assert_true(countdown < 1000);
  }
  assert_true(failed > 20);
}

static void test_every_allocation_may_fail(void **state) {
  fail_every_allocation(*state, exchange_once);
  fail_every_allocation(*state, shelves_once);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_services_are_listed_oldest_first),
      TEST(test_methods_carry_their_annotations),
      TEST(test_secrets_are_named_in_every_version),
      TEST(test_client_prefers_stable_then_beta_then_alpha),
      TEST(test_every_version_doubles),
      TEST(test_64_bits_pass_where_the_version_has_them),
      TEST(test_failure_of_a_handler_arrives_unchanged),
      TEST(test_failure_of_a_hand_written_conversion_arrives),
      TEST(test_poem_under_old_and_new_names),
      TEST(test_old_name_prefixes_errors),
      TEST(test_shelves_with_number_keys_are_sorted),
      TEST(test_shelves_with_text_keys_by_hand),
      TEST(test_text_key_that_is_no_number),
      TEST(test_repeated_keys_and_missing_values),
      TEST(test_map_sort_is_stable_for_every_length),
      TEST(test_goods_come_back_as_they_went),
      TEST(test_absent_and_empty_values),
      TEST(test_dropped_fields_are_ignored),
      TEST(test_limits_stop_a_request_before_the_handler),
      TEST(test_limits_of_bytes),
      TEST(test_limits_of_maps_hold_for_keys_and_values),
      TEST(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
