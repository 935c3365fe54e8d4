/* SPDX-License-Identifier: Apache-2.0
 *
 * What observers and snapshots tell of calls, through the whole server, over a Unix socket.
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

#include "base/ctx.h"
#include "rpc/snapshot.h"
#include "rpc/test_client.h"
#include "rpc/test_server.h"
#include "rpc/wire_probe.h"
#include "rpc/wire_probe.pb-c.h"

/* Of the request itself, which are always shown. */
#define NUMBERS "four=0 eight=0 flag=false color=RED distance=0"

/* -- The service ----------------------------------------------------------------------------------- */

struct told {
  uint64_t id;
  bool started;
  char service[32], method[32], object[128], text[128];
  enum csi_rejection rejection;
  enum csi_code code, wire_code;
  uint32_t process_id;
  int64_t queued_ns, duration_ns;
};

enum { MOST_TOLD = 16 };

struct group {
  sem_t entered, go_on, ended;
  pthread_mutex_t lock;
  struct told told[MOST_TOLD]; /* in the order they ended */
  size_t told_count;
  uint64_t started[MOST_TOLD];
  size_t started_count;
};

static bool serve_fail(struct csi_ctx *ctx, void *group, const ProtobufCMessage *request,
                       const ProtobufCMessage **response_out) {
  (void)group, (void)request, (void)response_out;
  return csi_fail(&ctx->status, CSI_NOT_FOUND, "no such thing");
}

static bool serve_wait(struct csi_ctx *ctx, void *context, const ProtobufCMessage *request,
                       const ProtobufCMessage **response_out) {
  struct group *group = context;
  sem_post(&group->entered);
  sem_wait(&group->go_on);
  return test_serve_echo(ctx, group, request, response_out);
}

#define METHOD(rpc, where, changes, function)                                                                \
  {                                                                                                          \
    .name = (rpc), .lane = (where), .mutating = (changes), .request = &csi_test__probe__descriptor,          \
    .request_wire = &probe_wire, .serve = (function)                                                         \
  }

static const struct csi_method methods[] = {
    METHOD("Read", CSI_LANE_INLINE, false, test_serve_echo),
    METHOD("Change", CSI_LANE_SHORT, true, test_serve_echo),
    METHOD("Fail", CSI_LANE_INLINE, true, serve_fail),
    METHOD("Wait", CSI_LANE_SHORT, true, serve_wait),
};
static const struct csi_service service = {
    .group = "probe", .version = "v1", .name = "v1.Probe", .methods = methods, .method_count = 4};
static const struct csi_method beside_methods[] = {METHOD("Fail", CSI_LANE_INLINE, false, serve_fail)};
static const struct csi_service beside = {.group = "beside",
                                          .version = "v1",
                                          .name = "beside.Probe",
                                          .methods = beside_methods,
                                          .method_count = 1,
                                          .precise_codes = true};
static const struct csi_service *const services[] = {&service};
static const char *const secrets[] = {"csi_test.Probe.blob", NULL};
static const struct csi_service_list service_list = {
    .services = services, .service_count = 1, .secret_fields = secrets};

/* -- Fixture --------------------------------------------------------------------------------------- */

struct fixture {
  struct test_server test;
  struct group group;
};

static void call_started(void *context, const struct csi_call_info *call) {
  struct group *group = context;
  pthread_mutex_lock(&group->lock);
  if (group->started_count < MOST_TOLD) group->started[group->started_count++] = call->id;
  pthread_mutex_unlock(&group->lock);
}

static bool has_started(const struct group *group, uint64_t id) {
  for (size_t i = 0; i < group->started_count; i++)
    if (group->started[i] == id) return true;
  return false;
}

static void call_ended(void *context, const struct csi_call_info *call) {
  struct group *group = context;
  pthread_mutex_lock(&group->lock);
  if (group->told_count < MOST_TOLD) {
    struct told *told = &group->told[group->told_count++];
    *told = (struct told){
        .id = call->id,
        .started = has_started(group, call->id),
        .rejection = call->rejection,
        .code = call->status->code,
        .wire_code = call->wire_code,
        .process_id = call->peer->process_id,
        .queued_ns = call->queued_ns,
        .duration_ns = call->ended_ns - call->arrived_ns,
    };
    snprintf(told->service, sizeof told->service, "%s", call->service->name);
    snprintf(told->method, sizeof told->method, "%s", call->method ? call->method->name : "-");
    snprintf(told->object, sizeof told->object, "%s", call->object);
    snprintf(told->text, sizeof told->text, "%.100s", call->status->text);
  }
  pthread_mutex_unlock(&group->lock);
  sem_post(&group->ended);
}

static void start(struct fixture *fixture) {
  const struct csi_call_observer observer = {&fixture->group, call_started, call_ended};
  test_server_start(&fixture->test, &service_list, &fixture->group, &observer);
}

static int set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  sem_init(&fixture->group.entered, 0, 0);
  sem_init(&fixture->group.go_on, 0, 0);
  sem_init(&fixture->group.ended, 0, 0);
  pthread_mutex_init(&fixture->group.lock, NULL);
  test_server_prepare(&fixture->test);
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  test_server_remove(&fixture->test);
  sem_destroy(&fixture->group.entered);
  sem_destroy(&fixture->group.go_on);
  sem_destroy(&fixture->group.ended);
  pthread_mutex_destroy(&fixture->group.lock);
  free(fixture);
  return 0;
}

static const uint8_t hello[] = {0x0a, 5, 'h', 'e', 'l', 'l', 'o'};

static struct test_call call_of(const struct fixture *fixture, const char *path) {
  return (struct test_call){
      .channel = fixture->test.channel, .path = path, .request = hello, .request_length = sizeof hello};
}

static size_t count_told(struct group *group) {
  pthread_mutex_lock(&group->lock);
  size_t count = group->told_count;
  pthread_mutex_unlock(&group->lock);
  return count;
}

/* Makes a call; returns what was told of it. */
static const struct told *tell_of(struct fixture *fixture, const struct test_call *call) {
  size_t before = count_told(&fixture->group);
  struct test_reply reply;
  test_make_call(call, &reply);
  sem_wait(&fixture->group.ended);
  assert_int_equal(count_told(&fixture->group), before + 1);
  return &fixture->group.told[before];
}

static const struct csi_method_totals *totals_of(struct fixture *fixture, struct csi_arena *arena,
                                                 const char *method) {
  const struct csi_method_totals *totals;
  size_t count;
  assert_true(csi_server_list_methods(fixture->test.server, arena, &totals, &count));
  for (size_t i = 0; i < count; i++)
    if (strcmp(totals[i].method->name, method) == 0) return &totals[i];
  fail();
  return NULL;
}

/* -- Tests ----------------------------------------------------------------------------------------- */

static void test_every_call_is_told_with_its_outcome(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/Read");
  const struct told *told = tell_of(fixture, &call);
  assert_int_equal(told->id, 1);
  assert_true(told->started);
  assert_string_equal(told->service, "v1.Probe");
  assert_string_equal(told->method, "Read");
  assert_string_equal(told->object, "");
  assert_int_equal(told->rejection, CSI_NOT_REJECTED);
  assert_int_equal(told->code, CSI_OK);
  assert_int_equal(told->wire_code, CSI_OK);
  assert_int_equal(told->process_id, getpid());
  assert_int_equal(told->queued_ns, 0);
  assert_true(told->duration_ns > 0);

  call.path = "/v1.Probe/Change";
  told = tell_of(fixture, &call);
  assert_int_equal(told->id, 2);
  assert_string_equal(told->object, "name=\"hello\" " NUMBERS);
  assert_true(told->queued_ns > 0 && told->queued_ns < told->duration_ns);

  call.path = "/v1.Probe/Fail";
  told = tell_of(fixture, &call);
  assert_true(told->started);
  assert_string_equal(told->object, "name=\"hello\" " NUMBERS);
  assert_int_equal(told->rejection, CSI_NOT_REJECTED);
  assert_int_equal(told->code, CSI_NOT_FOUND);
  assert_int_equal(told->wire_code, CSI_UNKNOWN);
  assert_string_equal(told->text, "no such thing");
}

static void test_secrets_do_not_reach_observers(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  static const uint8_t secret[] = {0x0a, 1, 'x', 0x12, 4, 'p', 'a', 's', 's'};
  struct test_call call = call_of(fixture, "/v1.Probe/Change");
  call.request = secret;
  call.request_length = sizeof secret;
  assert_string_equal(tell_of(fixture, &call)->object, "name=\"x\" blob=*** " NUMBERS);
}

static void assert_rejected(struct fixture *fixture, const struct test_call *call,
                            enum csi_rejection rejection, const char *method) {
  const struct told *told = tell_of(fixture, call);
  assert_int_equal(told->rejection, rejection);
  assert_string_equal(told->method, method);
  assert_false(told->started);
  assert_int_not_equal(told->wire_code, CSI_OK);
}

static void test_rejections_have_their_reason(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  static const uint8_t truncated[] = {0x0a, 200, 'x'};
  static const uint8_t too_long[] = {0x0a, 9, '1', '2', '3', '4', '5', '6', '7', '8', '9'};
  struct test_call call = call_of(fixture, "/v1.Probe/Nothing");
  assert_rejected(fixture, &call, CSI_REJECTED_UNKNOWN_METHOD, "-");
  call.path = "/v9.Probe/Read";
  assert_rejected(fixture, &call, CSI_REJECTED_UNKNOWN_METHOD, "-");
  call.path = "/v1.Probe/Change";
  call.request = truncated;
  call.request_length = sizeof truncated;
  assert_rejected(fixture, &call, CSI_REJECTED_BAD_MESSAGE, "Change");
  call.request = too_long;
  call.request_length = sizeof too_long;
  assert_rejected(fixture, &call, CSI_REJECTED_BAD_MESSAGE, "Change");
  assert_string_equal(fixture->group.told[3].object, "name=\"123456789\" " NUMBERS);
  struct csi_call_counts counts;
  csi_server_count_calls(fixture->test.server, &counts);
  assert_int_equal(counts.started, 0);
  assert_int_equal(counts.rejected[CSI_REJECTED_UNKNOWN_METHOD], 2);
  assert_int_equal(counts.rejected[CSI_REJECTED_BAD_MESSAGE], 2);
}

/* A message that gRPC keeps from us looks like a client that sent none, or went away; which of the two
 * depends on which of its notices comes first. */
static void test_messages_that_do_not_come_are_rejections(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  size_t length = 4 * 1024 * 1024 + 1;
  uint8_t *bytes = calloc(1, length);
  assert_non_null(bytes);
  struct test_call call = call_of(fixture, "/v1.Probe/Change");
  call.request = bytes;
  call.request_length = length;
  const struct told *told = tell_of(fixture, &call);
  free(bytes);
  assert_false(told->started);
  assert_true(told->rejection == CSI_REJECTED_NO_MESSAGE || told->rejection == CSI_REJECTED_TOO_LATE);
}

static void wait_until_running(struct fixture *fixture, uint64_t count) {
  struct csi_call_counts counts;
  do {
    usleep(200);
    csi_server_count_calls(fixture->test.server, &counts);
  } while (counts.running != count);
}

/* Whichever of gRPC's notices comes first. */
static void test_a_call_that_is_cancelled_before_its_message_is_cancelled(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  struct test_reply reply;
  for (int i = 0; i < MOST_TOLD; i++) {
    struct test_stream *call = test_open_stream(fixture->test.channel, "/v1.Probe/Change");
    wait_until_running(fixture, 1);
    test_cancel_stream(call);
    test_end_stream(call, &reply);
    assert_int_equal(reply.code, GRPC_STATUS_CANCELLED);
    sem_wait(&fixture->group.ended);
    const struct told *told = &fixture->group.told[i];
    assert_int_equal(told->rejection, CSI_REJECTED_TOO_LATE);
    assert_int_equal(told->code, CSI_CANCELLED);
    assert_int_equal(told->wire_code, CSI_CANCELLED);
    wait_until_running(fixture, 0);
  }
}

static void test_a_call_without_a_message_is_told_so(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  struct test_reply reply;
  struct test_stream *call = test_open_stream(fixture->test.channel, "/v1.Probe/Change");
  test_send_no_more(call);
  test_end_stream(call, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_INTERNAL);
  sem_wait(&fixture->group.ended);
  const struct told *told = &fixture->group.told[0];
  assert_int_equal(told->rejection, CSI_REJECTED_NO_MESSAGE);
  assert_int_equal(told->wire_code, CSI_INTERNAL);
  assert_int_equal(told->process_id, getpid());
}

static void test_calls_that_wait_too_long_or_for_too_many_are_rejections(void **state) {
  struct fixture *fixture = *state;
  fixture->test.options.short_threads = fixture->test.options.max_threads = 1;
  fixture->test.options.max_queued_calls = 1;
  start(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/Wait");
  struct test_pending *running = test_start_call(&call);
  sem_wait(&fixture->group.entered);
  call.timeout_ms = 200;
  struct test_pending *late = test_start_call(&call);
  struct csi_lane_stats lanes[CSI_LANES];
  do {
    usleep(1000);
    csi_server_list_lanes(fixture->test.server, lanes);
  } while (lanes[0].queued == 0);
  assert_string_equal(lanes[0].name, "short");
  assert_int_equal(lanes[0].threads, 1);
  call.timeout_ms = 0;
  const struct told *full = tell_of(fixture, &call);
  assert_int_equal(full->rejection, CSI_REJECTED_QUEUE_FULL);
  assert_int_equal(full->wire_code, CSI_RESOURCE_EXHAUSTED);
  struct test_reply reply;
  test_finish(late, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_DEADLINE_EXCEEDED);
  sem_post(&fixture->group.go_on);
  test_finish(running, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_OK);
  sem_wait(&fixture->group.ended);
  sem_wait(&fixture->group.ended);
  assert_int_equal(fixture->group.told[1].rejection, CSI_NOT_REJECTED);
  assert_int_equal(fixture->group.told[2].rejection, CSI_REJECTED_TOO_LATE);
  assert_string_equal(fixture->group.told[2].object, "name=\"hello\" " NUMBERS);
}

static void test_running_calls_are_listed(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/Wait");
  struct test_pending *pending = test_start_call(&call);
  sem_wait(&fixture->group.entered);
  struct csi_arena *arena = csi_arena_new(1 << 20);
  assert_non_null(arena);
  const struct csi_running_call *calls;
  size_t count;
  assert_true(csi_server_list_calls(fixture->test.server, arena, &calls, &count));
  assert_int_equal(count, 1);
  assert_int_equal(calls->id, 1);
  assert_ptr_equal(calls->service, &service);
  assert_string_equal(calls->method->name, "Wait");
  assert_int_equal(calls->process_id, getpid());
  assert_int_equal(calls->image_path[0], '/');
  assert_string_equal(calls->object, "name=\"hello\" " NUMBERS);
  assert_int_equal(calls->state, CSI_CALL_RUNNING);
  assert_true(calls->arrived_ns > 0 && calls->arrived_ns <= csi_now_ns());
  struct csi_call_counts counts;
  csi_server_count_calls(fixture->test.server, &counts);
  assert_int_equal(counts.running, 1);
  assert_int_equal(counts.started, 1);
  assert_int_equal(counts.succeeded + counts.failed, 0);
  sem_post(&fixture->group.go_on);
  struct test_reply reply;
  test_finish(pending, &reply);
  do {
    usleep(1000);
    assert_true(csi_server_list_calls(fixture->test.server, arena, &calls, &count));
  } while (count > 0);
  csi_arena_free(arena);
}

static void test_totals_of_methods(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/Read");
  tell_of(fixture, &call);
  tell_of(fixture, &call);
  call.path = "/v1.Probe/Fail";
  tell_of(fixture, &call);
  struct csi_arena *arena = csi_arena_new(1 << 20);
  assert_non_null(arena);
  const struct csi_method_totals *read = totals_of(fixture, arena, "Read");
  assert_int_equal(read->started, 2);
  assert_int_equal(read->succeeded, 2);
  assert_int_equal(read->failed, 0);
  assert_true(read->longest_ns > 0 && read->duration_ns > read->longest_ns);
  const struct csi_method_totals *failed = totals_of(fixture, arena, "Fail");
  assert_int_equal(failed->started, 1);
  assert_int_equal(failed->failed, 1);
  assert_int_equal(totals_of(fixture, arena, "Change")->started, 0);
  csi_arena_free(arena);
}

static struct csi_endpoint_stats endpoint_stats(struct fixture *fixture) {
  struct csi_arena *arena = csi_arena_new(1 << 16);
  assert_non_null(arena);
  const struct csi_endpoint_stats *endpoints;
  size_t count;
  assert_true(csi_server_list_endpoints(fixture->test.server, arena, &endpoints, &count));
  assert_int_equal(count, 1);
  assert_string_equal(endpoints->path, fixture->test.endpoint);
  assert_ptr_equal(endpoints->service, &service);
  struct csi_endpoint_stats stats = *endpoints;
  csi_arena_free(arena);
  return stats;
}

static void test_connections_are_counted_and_limited(void **state) {
  struct fixture *fixture = *state;
  fixture->test.options.max_connections = 2;
  start(fixture);
  struct test_call call = call_of(fixture, "/v1.Probe/Read");
  tell_of(fixture, &call);
  grpc_channel *second = test_connect(fixture->test.endpoint, false);
  call.channel = second;
  tell_of(fixture, &call);
  assert_int_equal(endpoint_stats(fixture).connections, 2);
  grpc_channel *third = test_connect(fixture->test.endpoint, false);
  call.channel = third;
  struct test_reply reply;
  test_make_call(&call, &reply);
  assert_int_equal(reply.code, GRPC_STATUS_UNAVAILABLE);
  grpc_channel_destroy(third);
  struct csi_endpoint_stats stats = endpoint_stats(fixture);
  assert_int_equal(stats.opened, 2);
  assert_int_equal(stats.rejected, 1);
  grpc_channel_destroy(second);
  while (endpoint_stats(fixture).connections != 1)
    usleep(1000);
  assert_int_equal(endpoint_stats(fixture).opened, 2);
}

static void test_services_share_an_endpoint(void **state) {
  struct fixture *fixture = *state;
  struct csi_status status = {0};
  fixture->test.server = csi_server_new(&fixture->test.options, &status);
  assert_non_null(fixture->test.server);
  const struct csi_call_observer observer = {&fixture->group, call_started, call_ended};
  for (int i = 0; i < CSI_CALL_OBSERVERS; i++)
    assert_true(csi_server_add_observer(fixture->test.server,
                                        i == 0 ? &observer : &(struct csi_call_observer){.context = NULL}));
  assert_false(csi_server_add_observer(fixture->test.server, &observer));
  const struct csi_extra_service extra = {&service_list, &beside, &fixture->group};
  assert_true(
      csi_server_add_group_with(fixture->test.server, &service_list, &fixture->group, &extra, 1, &status));
  fixture->test.channel = test_connect(fixture->test.endpoint, false);
  struct test_call call = call_of(fixture, "/beside.Probe/Fail");
  const struct told *told = tell_of(fixture, &call);
  assert_string_equal(told->service, "beside.Probe");
  assert_int_equal(told->wire_code, CSI_NOT_FOUND); /* its clients go by the code */
  call.path = "/v1.Probe/Fail";
  told = tell_of(fixture, &call);
  assert_string_equal(told->service, "v1.Probe");
  assert_int_equal(told->wire_code, CSI_UNKNOWN);
  call.path = "/beside.Probe/Read";
  assert_int_equal(tell_of(fixture, &call)->rejection, CSI_REJECTED_UNKNOWN_METHOD);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_every_call_is_told_with_its_outcome),
      TEST(test_secrets_do_not_reach_observers),
      TEST(test_rejections_have_their_reason),
      TEST(test_messages_that_do_not_come_are_rejections),
      TEST(test_a_call_that_is_cancelled_before_its_message_is_cancelled),
      TEST(test_a_call_without_a_message_is_told_so),
      TEST(test_calls_that_wait_too_long_or_for_too_many_are_rejections),
      TEST(test_running_calls_are_listed),
      TEST(test_totals_of_methods),
      TEST(test_connections_are_counted_and_limited),
      TEST(test_services_share_an_endpoint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
