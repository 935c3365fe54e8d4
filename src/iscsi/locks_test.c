/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls on one target or portal follow one another, calls on others do not wait.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <time.h>

#include "iscsi/fixture.h"
#include "iscsi/handlers.h"

enum {
  ARENA_BYTES = 1 << 20,
  MS = 1000 * 1000,
  SHORT_MS = 500, /* a busy machine may need more; then the call is made again */
  LONG_MS = 60 * 1000,
  CALLERS = 8,
};

static const struct csi_iscsi_target_portal portal = {.target_address = ADDRESS, .target_port = 0};

/* One RPC, with what the fixture's calls cannot have: several at a time. */
struct call {
  struct iscsi_fixture *f;
  enum { ADD, CONNECT, DISCONNECT } rpc;
  const char *iqn;
  int64_t timeout_ms;
  pthread_t thread;
  struct csi_status status;
};

static void serve(struct csi_ctx *ctx, const struct call *call) {
  if (call->rpc == ADD) {
    struct csi_iscsi_add_target_portal_request request = {.target_portal = &portal};
    struct csi_iscsi_add_target_portal_response response = {0};
    (void)csi_iscsi_serve_add_target_portal(ctx, call->f->group, &request, &response);
  } else if (call->rpc == CONNECT) {
    struct csi_iscsi_connect_target_request request = {
        .target_portal = &portal, .iqn = call->iqn, .chap_username = "", .chap_secret = ""};
    struct csi_iscsi_connect_target_response response = {0};
    (void)csi_iscsi_serve_connect_target(ctx, call->f->group, &request, &response);
  } else {
    struct csi_iscsi_disconnect_target_request request = {.target_portal = &portal, .iqn = call->iqn};
    struct csi_iscsi_disconnect_target_response response = {0};
    (void)csi_iscsi_serve_disconnect_target(ctx, call->f->group, &request, &response);
  }
}

static void *run(void *data) {
  struct call *call = data;
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES),
                        .deadline_ns = csi_now_ns() + call->timeout_ms * MS};
  if (ctx.arena == NULL) abort();
  serve(&ctx, call);
  call->status = ctx.status;
  csi_arena_free(ctx.arena);
  return NULL;
}

static void start(struct call *call) {
  assert_int_equal(pthread_create(&call->thread, NULL, run, call), 0);
}

static void assert_done(struct call *call) {
  pthread_join(call->thread, NULL);
  if (!csi_status_ok(&call->status)) fail_msg("%s", call->status.text);
}

/* Returns when the call hangs in the middle of that step. */
static void start_hanging(struct call *call, const char *step) {
  csi_fake_network_add_fault(call->f->network,
                             &(struct csi_fake_network_fault){.call = step, .count = 1, .hang = true});
  start(call);
  while (csi_fake_network_struck(call->f->network) == 0)
    nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
}

static void assert_waits(struct call *call, const char *holder) {
  for (call->timeout_ms = SHORT_MS; call->timeout_ms < LONG_MS; call->timeout_ms *= 2) {
    run(call);
    assert_int_equal(call->status.code, CSI_DEADLINE_EXCEEDED);
    if (strstr(call->status.text, holder) != NULL) return;
  }
  fail_msg("%s", call->status.text);
}

static void test_calls_on_one_target_follow_one_another(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  struct call first = {.f = f, .rpc = CONNECT, .iqn = IQN, .timeout_ms = LONG_MS};
  struct call second = {.f = f, .rpc = CONNECT, .iqn = "IQN.2004-10.com.example:DISK1"};
  struct call third = {.f = f, .rpc = DISCONNECT, .iqn = IQN};
  struct call other = {.f = f, .rpc = CONNECT, .iqn = OTHER_IQN, .timeout_ms = LONG_MS};
  start_hanging(&first, CSI_FAKE_ISCSI_LOGIN);
  assert_waits(&second, "busy with ConnectTarget");
  assert_int_equal(strncmp(second.status.text, "error connecting to target portal. err: ", 40), 0);
  assert_waits(&third, "busy with ConnectTarget");
  assert_int_equal(strncmp(third.status.text, "error disconnecting target ", 27), 0);
  start(&other);
  assert_done(&other);
  csi_fake_network_clear_faults(f->network);
  assert_done(&first);
  assert_sessions(f, IQN, 1);
}

static void test_many_connect_one_target(void **state) {
  struct iscsi_fixture *f = *state;
  struct call calls[CALLERS];
  assert_ok(f, call_add(f, ADDRESS, 0));
  for (size_t i = 0; i < CALLERS; i++) {
    calls[i] = (struct call){.f = f, .rpc = CONNECT, .iqn = IQN, .timeout_ms = LONG_MS};
    start(&calls[i]);
  }
  for (size_t i = 0; i < CALLERS; i++)
    assert_done(&calls[i]);
  assert_sessions(f, IQN, 1);
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_LOGIN), 1);
}

static void test_many_add_one_portal(void **state) {
  struct iscsi_fixture *f = *state;
  struct call calls[CALLERS];
  for (size_t i = 0; i < CALLERS; i++) {
    calls[i] = (struct call){.f = f, .rpc = ADD, .timeout_ms = LONG_MS};
    start(&calls[i]);
  }
  for (size_t i = 0; i < CALLERS; i++)
    assert_done(&calls[i]);
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_ADD_PORTAL), 1);
  assert_int_equal(csi_fake_iscsi_count(f->iscsi, "send-targets", NULL), 1);
}

/* Whoever is last, the target is either connected or not, and nobody fails. */
static void test_connect_and_disconnect_in_turns(void **state) {
  struct iscsi_fixture *f = *state;
  struct call calls[CALLERS];
  assert_ok(f, call_add(f, ADDRESS, 0));
  for (size_t i = 0; i < CALLERS; i++) {
    calls[i] =
        (struct call){.f = f, .rpc = i % 2 == 0 ? CONNECT : DISCONNECT, .iqn = IQN, .timeout_ms = LONG_MS};
    start(&calls[i]);
  }
  for (size_t i = 0; i < CALLERS; i++)
    assert_done(&calls[i]);
  assert_disk_present(f, csi_fake_iscsi_count(f->iscsi, "session", IQN) > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, iscsi_fixture_set_up, iscsi_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_calls_on_one_target_follow_one_another),
      TEST(test_many_connect_one_target),
      TEST(test_many_add_one_portal),
      TEST(test_connect_and_disconnect_in_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
