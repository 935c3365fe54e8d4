/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/library_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/call_timing.h"

#define OBJECT "share \\\\host\\share"

struct scene {
  struct csi_ctx ctx;
  HANDLE go_on;        /* lets calls return */
  atomic_int clean_up; /* how often */
};

/* What a library's function might need. */
struct probe {
  struct csi_library_call call;
  struct scene *scene;
  bool waits;
};

static void run_probe(struct csi_library_call *call) {
  struct probe *probe = (struct probe *)call;
  if (probe->waits) WaitForSingleObject(probe->scene->go_on, INFINITE);
  call->error = 1326;
}

static void clean_up_probe(struct csi_library_call *call) {
  atomic_fetch_add(&((struct probe *)call)->scene->clean_up, 1);
}

static struct probe *new_probe(struct scene *scene, bool waits) {
  struct probe *probe = csi_library_call_new(&scene->ctx, sizeof *probe, run_probe, "WNetAddConnection4W");
  assert_non_null(probe);
  probe->call.clean_up = clean_up_probe;
  probe->scene = scene;
  probe->waits = waits;
  return probe;
}

static int set_up(void **state) {
  struct scene *scene = calloc(1, sizeof *scene);
  scene->ctx = (struct csi_ctx){.arena = csi_arena_new(1 << 16), .deadline_ns = CSI_NO_DEADLINE};
  scene->go_on = CreateEventW(NULL, TRUE, FALSE, NULL);
  *state = scene;
  return 0;
}

static int tear_down(void **state) {
  struct scene *scene = *state;
  csi_arena_free(scene->ctx.arena);
  CloseHandle(scene->go_on);
  free(scene);
  return 0;
}

static void await_clean_up(struct scene *scene, int count) {
  for (int tries = 0; tries < 1000 && atomic_load(&scene->clean_up) < count; tries++)
    Sleep(10);
  assert_int_equal(atomic_load(&scene->clean_up), count);
}

static void test_result_comes_back(void **state) {
  struct scene *scene = *state;
  struct probe *probe = new_probe(scene, false);
  assert_true(csi_library_call(&scene->ctx, &probe->call, CSI_LIBRARY_CALL_MS, OBJECT));
  assert_int_equal(probe->call.error, 1326);
  csi_library_call_free(&probe->call);
  assert_int_equal(atomic_load(&scene->clean_up), 1);
}

static char told[64]; /* of the last call */

static void keep_told(void *context, const char *call, int64_t duration_ns, bool succeeded) {
  (void)context;
  snprintf(told, sizeof told, "%s%s", call, duration_ns < 0 ? "?" : succeeded ? "+" : "-");
}

static void succeed(struct csi_library_call *call) {
  call->error = 0;
}

/* How long it took is told of calls that succeed, that fail, and that are given up. */
static void test_timing_is_told(void **state) {
  struct scene *scene = *state;
  csi_call_timing_listen(keep_told, NULL);
  struct probe *good = csi_library_call_new(&scene->ctx, sizeof *good, succeed, "WNetOpenEnumW");
  assert_non_null(good);
  assert_true(csi_library_call(&scene->ctx, &good->call, CSI_LIBRARY_CALL_MS, OBJECT));
  csi_library_call_free(&good->call);
  assert_string_equal(told, "WNetOpenEnumW+");
  struct probe *bad = new_probe(scene, false);
  assert_true(csi_library_call(&scene->ctx, &bad->call, CSI_LIBRARY_CALL_MS, OBJECT));
  csi_library_call_free(&bad->call);
  assert_string_equal(told, "WNetAddConnection4W-");

  told[0] = '\0';
  assert_int_equal(csi_library_count_given_up(), 0);
  assert_false(csi_library_call(&scene->ctx, &new_probe(scene, true)->call, 100, OBJECT));
  assert_string_equal(told, "WNetAddConnection4W-");
  assert_int_equal(csi_library_count_given_up(), 1);
  SetEvent(scene->go_on);
  await_clean_up(scene, 2);
  assert_int_equal(csi_library_count_given_up(), 0);
  csi_call_timing_listen(NULL, NULL);
}

/* The call is given up; others on the object are refused until it returns, on another one they are not. */
static void test_giving_up(void **state) {
  struct scene *scene = *state;
  struct probe *probe = new_probe(scene, true);
  assert_false(csi_library_call(&scene->ctx, &probe->call, 100, OBJECT));
  assert_int_equal(scene->ctx.status.code, CSI_DEADLINE_EXCEEDED);
  assert_non_null(strstr(scene->ctx.status.text, OBJECT ": WNetAddConnection4W did not return within"));

  csi_status_clear(&scene->ctx.status);
  assert_false(csi_library_call(&scene->ctx, &new_probe(scene, false)->call, 1000, OBJECT));
  assert_int_equal(scene->ctx.status.code, CSI_UNAVAILABLE);
  assert_non_null(strstr(scene->ctx.status.text, "WNetAddConnection4W has not returned for"));
  assert_int_equal(atomic_load(&scene->clean_up), 0);

  csi_status_clear(&scene->ctx.status);
  assert_false(csi_library_object_is_free(&scene->ctx, OBJECT));
  assert_int_equal(scene->ctx.status.code, CSI_UNAVAILABLE);
  assert_non_null(strstr(scene->ctx.status.text, OBJECT ": WNetAddConnection4W has not returned for"));
  csi_status_clear(&scene->ctx.status);
  assert_true(csi_library_object_is_free(&scene->ctx, "share \\\\host\\other"));
  struct probe *other = new_probe(scene, false);
  assert_true(csi_library_call(&scene->ctx, &other->call, CSI_LIBRARY_CALL_MS, "share \\\\host\\other"));
  csi_library_call_free(&other->call);
  assert_int_equal(atomic_load(&scene->clean_up), 1);

  SetEvent(scene->go_on);
  await_clean_up(scene, 2);
  assert_true(csi_library_object_is_free(&scene->ctx, OBJECT));
  struct probe *again = new_probe(scene, false);
  assert_true(csi_library_call(&scene->ctx, &again->call, CSI_LIBRARY_CALL_MS, OBJECT));
  csi_library_call_free(&again->call);
}

/* Has a call on the object given up. */
static void leave_alone(struct scene *scene, const char *object, unsigned tolerated) {
  struct probe *probe = new_probe(scene, true);
  probe->call.tolerated = tolerated;
  assert_false(csi_library_call(&scene->ctx, &probe->call, 1, object));
  assert_int_equal(scene->ctx.status.code, CSI_DEADLINE_EXCEEDED);
  csi_status_clear(&scene->ctx.status);
}

static void assert_refused(struct scene *scene, const char *object, unsigned tolerated) {
  struct probe *probe = new_probe(scene, false);
  probe->call.tolerated = tolerated;
  assert_false(csi_library_call(&scene->ctx, &probe->call, CSI_LIBRARY_CALL_MS, object));
  assert_int_equal(scene->ctx.status.code, CSI_UNAVAILABLE);
  csi_status_clear(&scene->ctx.status);
}

/* Calls that only read are refused when several of them hang. */
static void test_tolerated_calls(void **state) {
  struct scene *scene = *state;
  leave_alone(scene, OBJECT, 0);
  leave_alone(scene, OBJECT, 2);
  leave_alone(scene, OBJECT, 2);
  assert_refused(scene, OBJECT, 2);
  SetEvent(scene->go_on);
  await_clean_up(scene, 3);
}

/* Too many on one kind of objects keep no other kind from its calls. */
static void test_too_many(void **state) {
  struct scene *scene = *state;
  enum { MAX = 16 };
  char object[32];
  for (int i = 0; i < MAX; i++) {
    (void)snprintf(object, sizeof object, "share %d", i);
    leave_alone(scene, object, 0);
  }
  assert_refused(scene, "share 16", 0);
  struct probe *other = new_probe(scene, false);
  assert_true(csi_library_call(&scene->ctx, &other->call, CSI_LIBRARY_CALL_MS, "shares"));
  csi_library_call_free(&other->call);
  SetEvent(scene->go_on);
  await_clean_up(scene, MAX + 1);
}

/* A look that was given up keeps other looks from the object, and nobody else. */
static void test_looks_stand_in_nobodys_way(void **state) {
  struct scene *scene = *state;
  scene->ctx.only_looks = true;
  leave_alone(scene, OBJECT, 0);
  assert_refused(scene, OBJECT, 0);
  scene->ctx.only_looks = false;
  assert_true(csi_library_object_is_free(&scene->ctx, OBJECT));
  struct probe *probe = new_probe(scene, false);
  assert_true(csi_library_call(&scene->ctx, &probe->call, CSI_LIBRARY_CALL_MS, OBJECT));
  csi_library_call_free(&probe->call);
  SetEvent(scene->go_on);
  await_clean_up(scene, 2);
}

static DWORD WINAPI let_go_later(void *context) {
  struct scene *scene = context;
  Sleep(100);
  SetEvent(scene->go_on);
  return 0;
}

/* The asker's time was over in the middle of the call: the next one need not suffer for it. */
static void test_a_call_that_returns_soon_is_waited_for(void **state) {
  struct scene *scene = *state;
  struct probe *probe = new_probe(scene, true);
  assert_false(csi_library_call(&scene->ctx, &probe->call, 50, OBJECT));
  csi_status_clear(&scene->ctx.status);
  HANDLE thread = CreateThread(NULL, 0, let_go_later, scene, 0, NULL);
  struct probe *next = new_probe(scene, false);
  assert_true(csi_library_call(&scene->ctx, &next->call, CSI_LIBRARY_CALL_MS, OBJECT));
  csi_library_call_free(&next->call);
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
  await_clean_up(scene, 2);
}

static void test_client_goes_away(void **state) {
  struct scene *scene = *state;
  atomic_bool gone;
  atomic_init(&gone, true);
  scene->ctx.cancelled = &gone;
  assert_false(csi_library_call(&scene->ctx, &new_probe(scene, false)->call, CSI_LIBRARY_CALL_MS, OBJECT));
  assert_int_equal(scene->ctx.status.code, CSI_CANCELLED);
  assert_int_equal(atomic_load(&scene->clean_up), 0); /* it was never run */
}

static void test_deadline_of_the_request(void **state) {
  struct scene *scene = *state;
  scene->ctx.deadline_ns = csi_now_ns() + 50 * 1000000;
  assert_false(csi_library_call(&scene->ctx, &new_probe(scene, true)->call, CSI_LIBRARY_CALL_MS, OBJECT));
  assert_int_equal(scene->ctx.status.code, CSI_DEADLINE_EXCEEDED);
  SetEvent(scene->go_on);
  await_clean_up(scene, 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_looks_stand_in_nobodys_way),
      TEST(test_result_comes_back),
      TEST(test_giving_up),
      TEST(test_tolerated_calls),
      TEST(test_too_many),
      TEST(test_client_goes_away),
      TEST(test_a_call_that_returns_soon_is_waited_for),
      TEST(test_deadline_of_the_request),
      TEST(test_timing_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
