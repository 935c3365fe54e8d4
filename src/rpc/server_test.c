/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole server over a Unix socket, with a service of its own: what every API group gets from rpc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "rpc/server.h"
#include "rpc/test_client.h"
#include "rpc/test_server.h"
#include "rpc/wire_probe.h"
#include "rpc/wire_probe.pb-c.h"

/* -- The service ----------------------------------------------------------------------------------- */

struct group {
  sem_t entered;      /* posted by every call of Wait */
  sem_t go_on;        /* what Wait waits for */
  sem_t gave_up;      /* posted when Wait saw that nobody waits for it any more */
  enum csi_code seen; /* why */
  bool saw_stopping;  /* ctx->stopping then */
};

static bool serve_wait(struct csi_ctx *ctx, void *context, const ProtobufCMessage *request,
                       const ProtobufCMessage **response_out) {
  struct group *group = context;
  sem_post(&group->entered);
  while (sem_trywait(&group->go_on) != 0) {
    if (!csi_ctx_alive(ctx)) {
      group->seen = ctx->status.code;
      group->saw_stopping = atomic_load(ctx->stopping);
      sem_post(&group->gave_up);
      return false;
    }
    usleep(1000);
  }
  return test_serve_echo(ctx, group, request, response_out);
}

static bool serve_hang(struct csi_ctx *ctx, void *context, const ProtobufCMessage *request,
                       const ProtobufCMessage **response_out) {
  struct group *group = context;
  sem_post(&group->entered);
  sem_wait(&group->go_on);
  return test_serve_echo(ctx, group, request, response_out);
}

/* Tells how long it may take, in minutes. */
static bool serve_limit(struct csi_ctx *ctx, void *group, const ProtobufCMessage *request,
                        const ProtobufCMessage **response_out) {
  if (!test_serve_echo(ctx, group, request, response_out)) return false;
  CsiTest__Probe *response = (CsiTest__Probe *)(uintptr_t)*response_out;
  uint32_t limit_ms = csi_ctx_remaining_ms(ctx, UINT32_MAX);
  response->name = csi_arena_printf(ctx->arena, "%u", (limit_ms + 30000) / 60000);
  return response->name || csi_fail_out_of_memory(&ctx->status);
}

static bool serve_fail(struct csi_ctx *ctx, void *group, const ProtobufCMessage *request,
                       const ProtobufCMessage **response_out) {
  (void)group, (void)request, (void)response_out;
  return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, 3, "CreateDirectoryW", "mkdir %s", "C:\\x");
}

/* A device that took too long, while the caller has time. */
static bool serve_late(struct csi_ctx *ctx, void *group, const ProtobufCMessage *request,
                       const ProtobufCMessage **response_out) {
  (void)group, (void)request, (void)response_out;
  return csi_fail(&ctx->status, CSI_DEADLINE_EXCEEDED, "disk 3 did not answer within 30 s");
}

static bool serve_peer(struct csi_ctx *ctx, void *group, const ProtobufCMessage *request,
                       const ProtobufCMessage **response_out) {
  if (!test_serve_echo(ctx, group, request, response_out)) return false;
  CsiTest__Probe *response = (CsiTest__Probe *)(uintptr_t)*response_out;
  response->name = csi_arena_printf(ctx->arena, "%u", ctx->peer.process_id);
  return response->name || csi_fail_out_of_memory(&ctx->status);
}

#define METHOD(rpc, where, function)                                                                         \
  {                                                                                                          \
    .name = (rpc), .lane = (where), .request = &csi_test__probe__descriptor, .request_wire = &probe_wire,    \
    .serve = (function)                                                                                      \
  }

static const struct csi_method methods[] = {
    METHOD("Echo", CSI_LANE_INLINE, test_serve_echo), METHOD("EchoShort", CSI_LANE_SHORT, test_serve_echo),
    METHOD("WaitShort", CSI_LANE_SHORT, serve_wait),  METHOD("WaitLong", CSI_LANE_LONG, serve_wait),
    METHOD("HangLong", CSI_LANE_LONG, serve_hang),    METHOD("Fail", CSI_LANE_INLINE, serve_fail),
    METHOD("Peer", CSI_LANE_INLINE, serve_peer),      METHOD("LimitShort", CSI_LANE_SHORT, serve_limit),
    METHOD("LimitLong", CSI_LANE_LONG, serve_limit),  METHOD("Late", CSI_LANE_INLINE, serve_late),
};

static const struct csi_service service = {.group = "probe",
                                           .version = "v1",
                                           .name = "v1.Probe",
                                           .methods = methods,
                                           .method_count = sizeof methods / sizeof *methods};
static const struct csi_service *const services[] = {&service};
static const char *const no_secrets[] = {NULL};
static const struct csi_service_list service_list = {
    .services = services, .service_count = 1, .secret_fields = no_secrets};

/* -- Fixture --------------------------------------------------------------------------------------- */

struct fixture {
  struct test_server test;
  struct group group;
};

static const uint8_t hello[] = {0x0a, 5, 'h', 'e', 'l', 'l', 'o'};

static void start_server(struct fixture *fixture) {
  test_server_start(&fixture->test, &service_list, &fixture->group, NULL);
}

static int set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  test_server_prepare(&fixture->test);
  sem_init(&fixture->group.entered, 0, 0);
  sem_init(&fixture->group.go_on, 0, 0);
  sem_init(&fixture->group.gave_up, 0, 0);
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  test_server_remove(&fixture->test);
  sem_destroy(&fixture->group.entered);
  sem_destroy(&fixture->group.go_on);
  sem_destroy(&fixture->group.gave_up);
  free(fixture);
  return 0;
}

static struct test_call call_of(const struct fixture *fixture, const char *path) {
  return (struct test_call){
      .channel = fixture->test.channel, .path = path, .request = hello, .request_length = sizeof hello};
}

static void assert_hello(const struct test_reply *reply) {
  assert_int_equal(reply->code, GRPC_STATUS_OK);
  assert_int_equal(reply->response_length, sizeof hello);
  assert_memory_equal(reply->response, hello, sizeof hello);
}

/* -- Tests ----------------------------------------------------------------------------------------- */

static void test_answers_inline_and_on_the_pool(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  const char *const paths[] = {"/v1.Probe/Echo", "/v1.Probe/EchoShort"};
  for (size_t i = 0; i < 2; i++) {
    struct test_call call = call_of(fixture, paths[i]);
    struct test_reply reply;
    test_make_call(&call, &reply);
    assert_hello(&reply);
    assert_string_equal(reply.precise_code, "");
  }
}

static void test_refuses_unknown_names_as_grpc_go_does(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  const struct {
    const char *path, *text;
  } cases[] = {
      {"/v1.Disk/Echo", "unknown service v1.Disk"},
      {"/v1beta1.Probe/Echo", "unknown service v1beta1.Probe"},
      {"/v1.Probe/Nothing", "unknown method Nothing for service v1.Probe"},
      {"/v1.Probe/", "unknown method  for service v1.Probe"},
      {"/v1.Probe", "malformed method name: \"/v1.Probe\""},
      {"/a/b/c", "unknown service a/b"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct test_call call = call_of(fixture, cases[i].path);
    struct test_reply reply;
    test_make_call(&call, &reply);
    assert_int_equal(reply.code, GRPC_STATUS_UNIMPLEMENTED);
    assert_string_equal(reply.text, cases[i].text);
  }
}

static void test_refuses_what_is_no_message(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  static const uint8_t truncated[] = {0x0a, 200, 'x'};
  static const uint8_t not_utf8[] = {0x0a, 2, 0xc3, 0x28};
  const struct {
    const uint8_t *bytes;
    size_t length;
  } cases[] = {{truncated, sizeof truncated}, {not_utf8, sizeof not_utf8}};
  for (size_t i = 0; i < 2; i++) {
    struct test_call call = call_of(fixture, "/v1.Probe/Echo");
    call.request = cases[i].bytes;
    call.request_length = cases[i].length;
    struct test_reply reply;
    test_make_call(&call, &reply);
    assert_int_equal(reply.code, GRPC_STATUS_INTERNAL);
    assert_memory_equal(reply.text, "grpc: error unmarshalling request: ", 35);
  }
}

static void test_refuses_what_is_over_a_limit(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  static const uint8_t too_long[] = {0x0a, 9, '1', '2', '3', '4', '5', '6', '7', '8', '9'};
  struct test_call call = call_of(fixture, "/v1.Probe/Echo");
  call.request = too_long;
  call.request_length = sizeof too_long;
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_UNKNOWN);
  assert_string_equal(reply.precise_code, "INVALID_ARGUMENT");
}

static void test_refuses_a_message_over_4_mib(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  size_t length = 4 * 1024 * 1024 + 1;
  uint8_t *bytes = calloc(1, length);
  struct test_call call = call_of(fixture, "/v1.Probe/Echo");
  call.request = bytes;
  call.request_length = length;
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_RESOURCE_EXHAUSTED);
  free(bytes);
}

static void test_refuses_gzip(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  grpc_channel *channel = test_connect(fixture->test.endpoint, true);
  uint8_t compressible[2048] = {0x12, 0xfd, 0x0f}; /* a message that gzip makes shorter */
  struct test_call call = call_of(fixture, "/v1.Probe/Echo");
  call.channel = channel;
  call.request = compressible;
  call.request_length = sizeof compressible;
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_UNIMPLEMENTED);
  grpc_channel_destroy(channel);
}

static void test_failure_carries_text_and_numbers(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/Fail");
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_UNKNOWN);
  const char *leading = "mkdir C:\\x: The system cannot find the path specified.";
  assert_memory_equal(reply.text, leading, strlen(leading));
  assert_string_equal(reply.precise_code, "NOT_FOUND");
  assert_string_equal(reply.error_space, "Win32");
  assert_string_equal(reply.error_number, "3");
  assert_string_equal(reply.error_call, "CreateDirectoryW");
  assert_false(reply.has_response);
}

static void test_what_took_too_long_is_unknown_like_other_failures(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/Late");
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_UNKNOWN);
  assert_string_equal(reply.text, "disk 3 did not answer within 30 s");
  assert_string_equal(reply.precise_code, "DEADLINE_EXCEEDED");
}

static void test_knows_the_caller(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/Peer");
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_OK);
  char expected[16];
  int length = snprintf(expected, sizeof expected, "%d", (int)getpid());
  assert_int_equal(reply.response_length, length + 2);
  assert_memory_equal(reply.response + 2, expected, (size_t)length);
}

static void assert_limit(struct fixture *fixture, const char *path, uint32_t timeout_ms,
                         const char *minutes) {
  struct test_call call = call_of(fixture, path);
  call.timeout_ms = timeout_ms;
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_OK);
  assert_int_equal(reply.response_length, strlen(minutes) + 2);
  assert_memory_equal(reply.response + 2, minutes, strlen(minutes));
}

static void test_no_call_lasts_for_ever(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  assert_limit(fixture, "/v1.Probe/LimitShort", 0, "1");
  assert_limit(fixture, "/v1.Probe/LimitLong", 0, "30");
  assert_limit(fixture, "/v1.Probe/LimitShort", 7 * 60 * 1000, "1");
  assert_limit(fixture, "/v1.Probe/LimitLong", 24 * 60 * 60 * 1000, "30");
  assert_limit(fixture, "/v1.Probe/LimitLong", 2 * 60 * 1000, "2");
}

static void test_stuck_calls_do_not_delay_others(void **state) {
  struct fixture *fixture = *state;
  fixture->test.options.short_threads = 2;
  start_server(fixture);
  enum { STUCK = 5 };
  struct test_call stuck_call = call_of(fixture, "/v1.Probe/WaitShort");
  struct test_pending *stuck[STUCK];
  for (int i = 0; i < STUCK; i++)
    stuck[i] = test_start_call(&stuck_call);
  for (int i = 0; i < STUCK; i++)
    sem_wait(&fixture->group.entered);
  struct test_call call = call_of(fixture, "/v1.Probe/EchoShort");
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_hello(&reply);
  for (int i = 0; i < STUCK; i++)
    sem_post(&fixture->group.go_on);
  for (int i = 0; i < STUCK; i++) {
    test_finish(stuck[i], &reply);
    assert_hello(&reply);
  }
}

static void test_deadline_reaches_the_handler(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/WaitShort");
  call.timeout_ms = 100;
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_DEADLINE_EXCEEDED);
  sem_wait(&fixture->group.gave_up);
  assert_true(fixture->group.seen == CSI_DEADLINE_EXCEEDED || fixture->group.seen == CSI_CANCELLED);
}

static void test_cancellation_reaches_the_handler(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/WaitShort");
  struct test_pending *pending = test_start_call(&call);
  sem_wait(&fixture->group.entered);
  test_cancel(pending);
  struct test_reply reply;
  test_finish(pending, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_CANCELLED);
  sem_wait(&fixture->group.gave_up);
  assert_int_equal(fixture->group.seen, CSI_CANCELLED);
  assert_false(fixture->group.saw_stopping);
}

static void test_long_calls_do_not_delay_short_ones(void **state) {
  struct fixture *fixture = *state;
  fixture->test.options.long_threads = 1;
  start_server(fixture);
  struct test_call busy_call = call_of(fixture, "/v1.Probe/WaitLong");
  struct test_pending *running = test_start_call(&busy_call);
  sem_wait(&fixture->group.entered);
  struct test_pending *queued = test_start_call(&busy_call);
  struct test_call call = call_of(fixture, "/v1.Probe/EchoShort");
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_hello(&reply);
  sem_post(&fixture->group.go_on);
  sem_post(&fixture->group.go_on);
  test_finish(running, &reply);
  assert_hello(&reply);
  test_finish(queued, &reply);
  assert_hello(&reply);
}

static void test_refuses_calls_when_too_many_wait(void **state) {
  struct fixture *fixture = *state;
  fixture->test.options.short_threads = 1;
  fixture->test.options.max_threads = 1;
  fixture->test.options.max_queued_calls = 1;
  start_server(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/WaitShort");
  struct test_pending *running = test_start_call(&call);
  sem_wait(&fixture->group.entered);
  enum { MORE = 4 };
  struct test_pending *more[MORE];
  for (int i = 0; i < MORE; i++)
    more[i] = test_start_call(&call);
  sem_post(&fixture->group.go_on);
  sem_post(&fixture->group.go_on);
  struct test_reply reply;
  test_finish(running, &reply);
  assert_hello(&reply);
  int answered = 0, refused = 0;
  for (int i = 0; i < MORE; i++) {
    /* At most one of them had waited; whoever came after the first ended got its place. */
    sem_post(&fixture->group.go_on);
    test_finish(more[i], &reply);
    if (reply.code == GRPC_STATUS_OK) answered++;
    if (reply.code == GRPC_STATUS_RESOURCE_EXHAUSTED) refused++;
  }
  assert_int_equal(answered + refused, MORE);
  assert_true(refused >= 1);
}

static void count_progress(void *context, size_t running) {
  size_t *highest = context;
  if (running > *highest) *highest = running;
}

struct releaser {
  struct group *group;
  pthread_t thread;
};

static void *release_later(void *context) {
  usleep(700 * 1000);
  sem_post(&((struct releaser *)context)->group->go_on);
  return NULL;
}

static void test_drain_lets_calls_finish(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/HangLong");
  struct test_pending *pending = test_start_call(&call);
  sem_wait(&fixture->group.entered);
  struct releaser releaser = {.group = &fixture->group};
  assert_int_equal(pthread_create(&releaser.thread, NULL, release_later, &releaser), 0);
  size_t highest = 0;
  assert_int_equal(csi_server_drain(fixture->test.server, 10000, count_progress, &highest), 0);
  assert_int_equal(highest, 1);
  assert_true(csi_server_free(fixture->test.server));
  fixture->test.server = NULL;
  pthread_join(releaser.thread, NULL);
  struct test_reply reply;
  test_finish(pending, &reply);
  assert_hello(&reply);
  assert_int_not_equal(access(fixture->test.endpoint, F_OK), 0);
}

static void test_drain_cancels_after_the_grace_period(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/WaitLong");
  struct test_pending *pending = test_start_call(&call);
  sem_wait(&fixture->group.entered);
  assert_int_equal(csi_server_drain(fixture->test.server, 200, NULL, NULL), 1);
  assert_true(csi_server_free(fixture->test.server));
  fixture->test.server = NULL;
  assert_true(fixture->group.saw_stopping);
  struct test_reply reply;
  test_finish(pending, &reply);
  assert_int_not_equal(reply.code, GRPC_STATUS_OK);
}

static char logged[1024];

static void keep_warnings(void *data, enum csi_severity severity, const char *line, size_t length_bytes) {
  (void)data, (void)length_bytes;
  size_t length = strlen(logged);
  if (severity == CSI_SEVERITY_WARNING) snprintf(logged + length, sizeof logged - length, "%s", line);
}

static void test_a_call_that_hangs_is_named_and_keeps_the_server(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/HangLong");
  struct test_pending *pending = test_start_call(&call);
  sem_wait(&fixture->group.entered);
  assert_int_equal(csi_server_drain(fixture->test.server, 0, NULL, NULL), 1);
  csi_log_set_sink(keep_warnings, NULL);
  assert_false(csi_server_free(fixture->test.server));
  csi_log_set_sink(NULL, NULL);
  assert_non_null(strstr(logged, "/v1.Probe/HangLong hangs for "));
  sem_post(&fixture->group.go_on);
  struct test_reply reply;
  test_finish(pending, &reply);
  while (!csi_server_free(fixture->test.server))
    usleep(1000);
  fixture->test.server = NULL;
}

static void test_second_server_is_told_who_has_the_endpoint(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  struct csi_status status = {0};
  struct csi_server *second = csi_server_new(&fixture->test.options, &status);
  assert_non_null(second);
  assert_false(csi_server_add_group(second, &service_list, &fixture->group, &status));
  assert_int_equal(status.code, CSI_ALREADY_EXISTS);
  assert_non_null(strstr(status.text, fixture->test.endpoint));
  assert_int_equal(csi_server_drain(second, 1000, NULL, NULL), 0);
  assert_true(csi_server_free(second));
  struct test_call call = call_of(fixture, "/v1.Probe/Echo");
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_hello(&reply);
}

struct caller {
  const struct fixture *fixture;
  pthread_t thread;
  int answered;
};

enum { CALLERS = 16, CALLS_EACH = 50 };

static void *call_often(void *context) {
  struct caller *caller = context;
  struct test_call call = call_of(caller->fixture, "/v1.Probe/EchoShort");
  for (int i = 0; i < CALLS_EACH; i++) {
    struct test_reply reply;
    call.path = i % 2 ? "/v1.Probe/Echo" : "/v1.Probe/EchoShort";
    test_make_call(&call, &reply);
    if (reply.code == GRPC_STATUS_OK && reply.response_length == sizeof hello) caller->answered++;
  }
  return NULL;
}

static void test_serves_many_callers_at_once(void **state) {
  struct fixture *fixture = *state;
  start_server(fixture);
  struct caller callers[CALLERS];
  for (int i = 0; i < CALLERS; i++) {
    callers[i] = (struct caller){.fixture = fixture};
    assert_int_equal(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
  }
  for (int i = 0; i < CALLERS; i++) {
    pthread_join(callers[i].thread, NULL);
    assert_int_equal(callers[i].answered, CALLS_EACH);
  }
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_answers_inline_and_on_the_pool),
      TEST(test_refuses_unknown_names_as_grpc_go_does),
      TEST(test_refuses_what_is_no_message),
      TEST(test_refuses_what_is_over_a_limit),
      TEST(test_refuses_a_message_over_4_mib),
      TEST(test_refuses_gzip),
      TEST(test_failure_carries_text_and_numbers),
      TEST(test_what_took_too_long_is_unknown_like_other_failures),
      TEST(test_knows_the_caller),
      TEST(test_no_call_lasts_for_ever),
      TEST(test_stuck_calls_do_not_delay_others),
      TEST(test_deadline_reaches_the_handler),
      TEST(test_cancellation_reaches_the_handler),
      TEST(test_long_calls_do_not_delay_short_ones),
      TEST(test_refuses_calls_when_too_many_wait),
      TEST(test_drain_lets_calls_finish),
      TEST(test_drain_cancels_after_the_grace_period),
      TEST(test_a_call_that_hangs_is_named_and_keeps_the_server),
      TEST(test_second_server_is_told_who_has_the_endpoint),
      TEST(test_serves_many_callers_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
