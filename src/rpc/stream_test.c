/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams through the whole server, over a Unix socket.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rpc/server_state.h"
#include "rpc/snapshot.h"
#include "rpc/test_client.h"
#include "rpc/test_server.h"
#include "rpc/wire_probe.h"
#include "rpc/wire_probe.pb-c.h"

/* -- The service ----------------------------------------------------------------------------------- */

enum { LARGE_BYTES = 1 << 20 };

struct group {
  atomic_int value;   /* what Watch answers */
  atomic_int looks;   /* how often it was asked */
  atomic_int flooded; /* how many large answers were made */
  sem_t ended;        /* posted when a call has ended */
  pthread_mutex_t lock;
  char story[512]; /* "started:Watch ended:Watch:CANCELLED " */
};

static CsiTest__Probe *new_response(struct csi_ctx *ctx, const ProtobufCMessage **response_out) {
  CsiTest__Probe *response = csi_arena_alloc(ctx->arena, sizeof *response);
  if (!response) {
    csi_fail_out_of_memory(&ctx->status);
    return NULL;
  }
  csi_test__probe__init(response);
  *response_out = &response->base;
  return response;
}

static bool serve_echo(struct csi_ctx *ctx, void *group, const ProtobufCMessage *request,
                       const ProtobufCMessage **response_out) {
  (void)group;
  CsiTest__Probe *response = new_response(ctx, response_out);
  if (!response) return false;
  response->name = ((const CsiTest__Probe *)request)->name;
  if (strcmp(response->name, "bad") == 0) return csi_fail(&ctx->status, CSI_NOT_FOUND, "no such thing");
  return true;
}

static bool serve_watch(struct csi_ctx *ctx, void *context, const ProtobufCMessage *request,
                        const ProtobufCMessage **response_out) {
  struct group *group = context;
  (void)request;
  CsiTest__Probe *response = new_response(ctx, response_out);
  if (!response) return false;
  atomic_fetch_add(&group->looks, 1);
  response->distance = atomic_load(&group->value);
  return true;
}

static bool serve_flood(struct csi_ctx *ctx, void *context, const ProtobufCMessage *request,
                        const ProtobufCMessage **response_out) {
  struct group *group = context;
  (void)request;
  CsiTest__Probe *response = new_response(ctx, response_out);
  uint8_t *bytes = csi_arena_alloc(ctx->arena, LARGE_BYTES);
  if (!response || !bytes) return csi_fail_out_of_memory(&ctx->status);
  response->blob = (ProtobufCBinaryData){LARGE_BYTES, bytes};
  atomic_fetch_add(&group->flooded, 1);
  return true;
}

#define METHOD(rpc, where, how, function)                                                                    \
  {                                                                                                          \
    .name = (rpc), .lane = (where), .streaming = (how), .request = &csi_test__probe__descriptor,             \
    .request_wire = &probe_wire, .serve = (function)                                                         \
  }

static const struct csi_method methods[] = {
    METHOD("Echo", CSI_LANE_INLINE, CSI_UNARY, serve_echo),
    METHOD("Each", CSI_LANE_SHORT, CSI_ANSWERS_EACH, serve_echo),
    METHOD("EachInline", CSI_LANE_INLINE, CSI_ANSWERS_EACH, serve_echo),
    METHOD("Watch", CSI_LANE_SHORT, CSI_WATCHES, serve_watch),
    METHOD("Flood", CSI_LANE_SHORT, CSI_ANSWERS_EACH, serve_flood),
};
static const struct csi_service service = {.group = "probe",
                                           .version = "v1",
                                           .name = "v1.Probe",
                                           .methods = methods,
                                           .method_count = sizeof methods / sizeof *methods,
                                           .precise_codes = true};
static const struct csi_service *const services[] = {&service};
static const struct csi_service_list service_list = {.services = services, .service_count = 1};

/* -- Fixture --------------------------------------------------------------------------------------- */

struct fixture {
  struct test_server test;
  struct group group;
};

static void tell(struct group *group, const char *what, const struct csi_call_info *call, const char *code) {
  pthread_mutex_lock(&group->lock);
  size_t length = strlen(group->story);
  snprintf(group->story + length, sizeof group->story - length, "%s:%s%s ", what, call->method->name, code);
  pthread_mutex_unlock(&group->lock);
}

static void call_started(void *context, const struct csi_call_info *call) {
  tell(context, "started", call, "");
}

static void call_ended(void *context, const struct csi_call_info *call) {
  struct group *group = context;
  char code[64];
  snprintf(code, sizeof code, ":%s", csi_code_name(call->status->code));
  tell(group, "ended", call, code);
  sem_post(&group->ended);
}

static int set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  sem_init(&fixture->group.ended, 0, 0);
  pthread_mutex_init(&fixture->group.lock, NULL);
  const struct csi_call_observer observer = {&fixture->group, call_started, call_ended};
  test_server_prepare(&fixture->test);
  test_server_start(&fixture->test, &service_list, &fixture->group, &observer);
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  test_server_remove(&fixture->test);
  sem_destroy(&fixture->group.ended);
  pthread_mutex_destroy(&fixture->group.lock);
  free(fixture);
  return 0;
}

static const uint8_t hello[] = {0x0a, 5, 'h', 'e', 'l', 'l', 'o'};

static void assert_answered(struct test_stream *stream, const uint8_t *bytes, size_t length) {
  uint8_t received[64];
  size_t received_length = 0;
  assert_true(test_receive(stream, received, sizeof received, &received_length));
  assert_int_equal(received_length, length);
  assert_memory_equal(received, bytes, length);
}

static void assert_ends(struct test_stream *stream, grpc_status_code code, const char *text) {
  struct test_reply reply;
  test_end_stream(stream, &reply);
  assert_int_equal(reply.code, code);
  assert_string_equal(reply.text, text);
}

static void assert_code(struct test_stream *stream, grpc_status_code code) {
  struct test_reply reply;
  test_end_stream(stream, &reply);
  assert_int_equal(reply.code, code);
}

/* What does not come about lets the test run into its time limit. */
static void assert_streams(struct test_server *test, size_t expected) {
  struct csi_call_counts counts;
  do {
    usleep(1000);
    csi_server_count_calls(test->server, &counts);
  } while (counts.streams != expected);
}

static void assert_no_streams(struct test_server *test) {
  assert_streams(test, 0);
}

/* distance = 1 and 2, as the zigzag of sint64 has them */
static const uint8_t one[] = {0x80, 0x01, 2}, two[] = {0x80, 0x01, 4};

/* -- Tests ----------------------------------------------------------------------------------------- */

static void test_answers_each_message_in_order(void **state) {
  struct fixture *fixture = *state;
  const char *const paths[] = {"/v1.Probe/Each", "/v1.Probe/EachInline"};
  for (int i = 0; i < 2; i++) {
    struct test_stream *stream = test_open_stream(fixture->test.channel, paths[i]);
    for (int message = 0; message < 20; message++) {
      const uint8_t numbered[] = {0x0a, 1, (uint8_t)('a' + message)};
      test_send(stream, numbered, sizeof numbered);
    }
    for (int message = 0; message < 20; message++) {
      const uint8_t numbered[] = {0x0a, 1, (uint8_t)('a' + message)};
      assert_answered(stream, numbered, sizeof numbered);
    }
    test_send_no_more(stream);
    uint8_t unused;
    size_t length;
    assert_false(test_receive(stream, &unused, 1, &length));
    assert_ends(stream, GRPC_STATUS_OK, "");
    sem_wait(&fixture->group.ended);
  }
  assert_no_streams(&fixture->test);
  assert_string_equal(fixture->group.story,
                      "started:Each ended:Each:OK started:EachInline ended:EachInline:OK ");
}

static void test_a_stream_without_messages_is_a_stream_too(void **state) {
  struct fixture *fixture = *state;
  struct test_stream *stream = test_open_stream(fixture->test.channel, "/v1.Probe/Each");
  test_send_no_more(stream);
  assert_ends(stream, GRPC_STATUS_OK, "");
  sem_wait(&fixture->group.ended);
  assert_string_equal(fixture->group.story, "started:Each ended:Each:OK ");
}

static void test_what_is_wrong_with_a_message_ends_the_stream(void **state) {
  struct fixture *fixture = *state;
  static const uint8_t truncated[] = {0x0a, 200, 'x'};
  static const uint8_t too_long[] = {0x0a, 9, '1', '2', '3', '4', '5', '6', '7', '8', '9'};
  static const uint8_t bad[] = {0x0a, 3, 'b', 'a', 'd'};
  const struct {
    const uint8_t *bytes;
    size_t length;
    grpc_status_code code;
    const char *text;
  } cases[] = {
      {truncated, sizeof truncated, GRPC_STATUS_INTERNAL,
       "grpc: error unmarshalling request: csi_test.Probe: truncated"},
      {too_long, sizeof too_long, GRPC_STATUS_INVALID_ARGUMENT, "csi_test.Probe.name is longer than 8 bytes"},
      {bad, sizeof bad, GRPC_STATUS_NOT_FOUND, "no such thing"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct test_stream *stream = test_open_stream(fixture->test.channel, "/v1.Probe/Each");
    test_send(stream, hello, sizeof hello);
    assert_answered(stream, hello, sizeof hello);
    test_send(stream, cases[i].bytes, cases[i].length);
    struct test_reply reply;
    test_end_stream(stream, &reply);
    assert_int_equal(reply.code, cases[i].code);
    assert_memory_equal(reply.text, cases[i].text, strlen(cases[i].text));
  }
  assert_no_streams(&fixture->test);
}

static void test_a_watch_tells_what_changes_and_nothing_else(void **state) {
  struct fixture *fixture = *state;
  struct group *group = &fixture->group;
  atomic_store(&group->value, 1);
  struct test_stream *stream = test_open_stream(fixture->test.channel, "/v1.Probe/Watch");
  test_send(stream, hello, sizeof hello);
  test_send_no_more(stream);
  assert_answered(stream, one, sizeof one);
  for (int i = 0; i < 3; i++) {
    int looks = atomic_load(&group->looks);
    csi_server_refresh_watches(fixture->test.server);
    while (atomic_load(&group->looks) == looks)
      usleep(1000);
  }
  atomic_store(&group->value, 2);
  csi_server_refresh_watches(fixture->test.server);
  assert_answered(stream, two, sizeof two);
  atomic_store(&group->value, 1);
  assert_answered(stream, one, sizeof one); /* found without being told */
  test_cancel_stream(stream);
  assert_ends(stream, GRPC_STATUS_CANCELLED, "CANCELLED");
  sem_wait(&group->ended);
  assert_string_equal(group->story, "started:Watch ended:Watch:CANCELLED ");
  assert_no_streams(&fixture->test);
}

static void test_a_watch_needs_a_request(void **state) {
  struct fixture *fixture = *state;
  struct test_stream *stream = test_open_stream(fixture->test.channel, "/v1.Probe/Watch");
  test_send_no_more(stream);
  assert_ends(stream, GRPC_STATUS_INTERNAL, "grpc: error unmarshalling request: no message");
}

static void test_a_client_that_goes_away_ends_its_streams(void **state) {
  struct fixture *fixture = *state;
  grpc_channel *channel = test_connect(fixture->test.endpoint, false);
  struct test_stream *watch = test_open_stream(channel, "/v1.Probe/Watch");
  struct test_stream *each = test_open_stream(channel, "/v1.Probe/Each");
  test_send(watch, hello, sizeof hello);
  test_send(each, hello, sizeof hello);
  assert_answered(each, hello, sizeof hello);
  assert_streams(&fixture->test, 2); /* the watch has come, too */
  test_cancel_stream(watch);
  test_cancel_stream(each);
  struct test_reply reply;
  test_end_stream(watch, &reply);
  test_end_stream(each, &reply);
  grpc_channel_destroy(channel);
  assert_no_streams(&fixture->test);
  assert_non_null(strstr(fixture->group.story, "ended:Watch:CANCELLED"));
  assert_non_null(strstr(fixture->group.story, "ended:Each:CANCELLED"));
}

static void note_running(void *context, size_t running) {
  size_t *most = context;
  if (running > *most) *most = running;
}

/* A drain that waited would wait until the test is killed. */
static void test_drain_does_not_wait_for_streams(void **state) {
  struct fixture *fixture = *state;
  atomic_store(&fixture->group.value, 1);
  struct test_stream *watch = test_open_stream(fixture->test.channel, "/v1.Probe/Watch");
  test_send(watch, hello, sizeof hello);
  assert_answered(watch, one, sizeof one);
  struct test_stream *silent = test_open_stream(fixture->test.channel, "/v1.Probe/Watch");
  struct test_stream *each = test_open_stream(fixture->test.channel, "/v1.Probe/Each");
  test_send(each, hello, sizeof hello);
  assert_answered(each, hello, sizeof hello);
  atomic_store(&fixture->group.value, 2);
  csi_server_refresh_watches(fixture->test.server);
  assert_answered(watch, two, sizeof two);
  size_t most = 0;
  assert_int_equal(csi_server_drain(fixture->test.server, 3600 * 1000, note_running, &most), 0);
  assert_int_equal(most, 0);
  assert_true(csi_server_free(fixture->test.server));
  fixture->test.server = NULL;
  /* The text may also be what the client says of a connection that was closed at the same time. */
  assert_code(watch, GRPC_STATUS_UNAVAILABLE);
  assert_code(each, GRPC_STATUS_UNAVAILABLE);
  assert_code(silent, GRPC_STATUS_UNAVAILABLE);
  assert_non_null(strstr(fixture->group.story, "ended:Watch:UNAVAILABLE"));
  assert_non_null(strstr(fixture->group.story, "ended:Each:UNAVAILABLE"));
}

/* Two answers may be made that the client does not take: one on its way, one that waits. */
static void test_a_client_that_does_not_read_costs_little_and_delays_no_drain(void **state) {
  struct fixture *fixture = *state;
  enum { REQUESTS = 50 };
  struct test_stream *stream = test_open_stream(fixture->test.channel, "/v1.Probe/Flood");
  for (int i = 0; i < REQUESTS; i++)
    test_send(stream, hello, sizeof hello);
  grpc_channel *other = test_connect(fixture->test.endpoint, false);
  struct test_call call = {
      .channel = other, .path = "/v1.Probe/Echo", .request = hello, .request_length = sizeof hello};
  for (int i = 0; i < REQUESTS; i++) {
    struct test_reply reply;
    test_make_call(&call, &reply);
    assert_int_equal(reply.code, GRPC_STATUS_OK);
    usleep(2000);
  }
  assert_true(atomic_load(&fixture->group.flooded) <= 5);
  grpc_channel_destroy(other);
  assert_int_equal(csi_server_drain(fixture->test.server, 3600 * 1000, NULL, NULL), 0);
  assert_true(csi_server_free(fixture->test.server));
  fixture->test.server = NULL;
  static uint8_t answer[LARGE_BYTES];
  size_t length;
  while (test_receive(stream, answer, sizeof answer, &length)) /* what was on its way comes before the end */
    continue;
  assert_code(stream, GRPC_STATUS_UNAVAILABLE);
}

/* One process leaves some to the others. */
static void test_streams_are_limited_for_each_process(void **state) {
  struct fixture *fixture = *state;
  grpc_channel *other = test_connect(fixture->test.endpoint, false);
  struct test_stream *streams[CSI_STREAMS_PER_PROCESS];
  for (int i = 0; i < CSI_STREAMS_PER_PROCESS; i++) {
    streams[i] = test_open_stream(i % 2 == 0 ? fixture->test.channel : other, "/v1.Probe/Each");
    test_send(streams[i], hello, sizeof hello);
    assert_answered(streams[i], hello, sizeof hello);
  }
  char text[64];
  snprintf(text, sizeof text, "process %d has 16 streams already; it is to end some", (int)getpid());
  assert_ends(test_open_stream(other, "/v1.Probe/Each"), GRPC_STATUS_RESOURCE_EXHAUSTED, text);
  for (int i = 0; i < CSI_STREAMS_PER_PROCESS; i++) {
    test_send_no_more(streams[i]);
    assert_ends(streams[i], GRPC_STATUS_OK, "");
  }
  grpc_channel_destroy(other);
  assert_no_streams(&fixture->test);
}

static void let_a_process_have_all(struct csi_server *server) {
  pthread_mutex_lock(&server->environment.lock);
  server->environment.streams_per_process = CSI_ALL_STREAMS + 1;
  pthread_mutex_unlock(&server->environment.lock);
}

/* A call that its client has an answer to is there for a moment more. */
static void wait_until_only_streams_run(struct csi_server *server) {
  for (int left = 1000; csi_calls_running(&server->environment) > 0 && left > 0; left--)
    usleep(1000);
}

/* In the order they came, each once. */
static void assert_all_are_listed(struct csi_server *server) {
  wait_until_only_streams_run(server);
  struct csi_arena *arena = csi_arena_new(1 << 20);
  const struct csi_running_call *calls;
  size_t count;
  assert_true(csi_server_list_calls(server, arena, &calls, &count));
  assert_int_equal(count, CSI_ALL_STREAMS);
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(calls[i].method->name, "Each");
    assert_int_equal(calls[i].process_id, getpid());
    if (i > 0) assert_true(calls[i].id > calls[i - 1].id);
  }
  csi_arena_free(arena);
}

static void test_streams_are_limited_in_all_and_on_a_connection(void **state) {
  struct fixture *fixture = *state;
  let_a_process_have_all(fixture->test.server);
  enum { CONNECTIONS = CSI_ALL_STREAMS / CSI_STREAMS_PER_CONNECTION };
  grpc_channel *channels[CONNECTIONS];
  struct test_stream *streams[CSI_ALL_STREAMS];
  for (int i = 0; i < CONNECTIONS; i++) {
    channels[i] = test_connect(fixture->test.endpoint, false);
    for (int j = 0; j < CSI_STREAMS_PER_CONNECTION; j++) {
      struct test_stream *stream = test_open_stream(channels[i], "/v1.Probe/Each");
      test_send(stream, hello, sizeof hello);
      assert_answered(stream, hello, sizeof hello);
      streams[i * CSI_STREAMS_PER_CONNECTION + j] = stream;
    }
  }
  struct test_stream *one_more = test_open_stream(fixture->test.channel, "/v1.Probe/Each");
  assert_ends(one_more, GRPC_STATUS_RESOURCE_EXHAUSTED, "there are 64 streams already; try again later");
  struct test_call call = {.channel = channels[0],
                           .path = "/v1.Probe/Echo",
                           .request = hello,
                           .request_length = sizeof hello,
                           .timeout_ms = 100};
  struct test_reply reply;
  test_make_call(&call, &reply); /* waits in the client, because the connection is full */
  assert_int_equal(reply.code, GRPC_STATUS_DEADLINE_EXCEEDED);
  call.channel = fixture->test.channel;
  call.timeout_ms = 0;
  test_make_call(&call, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_OK);
  struct csi_call_counts counts;
  csi_server_count_calls(fixture->test.server, &counts);
  assert_int_equal(counts.streams, CSI_ALL_STREAMS);
  assert_all_are_listed(fixture->test.server);
  assert_int_equal(counts.rejected[CSI_REJECTED_QUEUE_FULL], 1);
  for (int i = 0; i < CSI_ALL_STREAMS; i++) {
    test_send_no_more(streams[i]);
    assert_ends(streams[i], GRPC_STATUS_OK, "");
  }
  for (int i = 0; i < CONNECTIONS; i++)
    grpc_channel_destroy(channels[i]);
  assert_no_streams(&fixture->test);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_answers_each_message_in_order),
      TEST(test_a_stream_without_messages_is_a_stream_too),
      TEST(test_what_is_wrong_with_a_message_ends_the_stream),
      TEST(test_a_watch_tells_what_changes_and_nothing_else),
      TEST(test_a_watch_needs_a_request),
      TEST(test_a_client_that_goes_away_ends_its_streams),
      TEST(test_drain_does_not_wait_for_streams),
      TEST(test_a_client_that_does_not_read_costs_little_and_delays_no_drain),
      TEST(test_streams_are_limited_for_each_process),
      TEST(test_streams_are_limited_in_all_and_on_a_connection),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
