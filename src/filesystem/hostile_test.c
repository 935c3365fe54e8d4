/* SPDX-License-Identifier: Apache-2.0
 *
 * What somebody who can write below the working directory may try, and what a failing system may do.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "filesystem/handlers.h"
#include "filesystem/handlers_fixture.h"

#define TARGET "C:\\Windows"

/* One call of each kind on the same path. */
enum operation {
  PATH_EXISTS,
  MKDIR,
  RMDIR,
  RMDIR_FORCE,
  RMDIR_CONTENTS,
  SYMLINK_TARGET, /* the path is the link to make */
  SYMLINK_SOURCE, /* the path is what it points to */
  SHARE_LINK,     /* the path is the link to make */
  IS_SYMLINK,
  OPERATIONS,
};

static const char *const verbs[OPERATIONS] = {
    "GetFileAttributesEx " K,
    "mkdir " K,
    "remove " K,
    "remove " K,
    "open " K,
    "symlink " K,
    "symlink " K,
    "symlink " K,
    "GetFileAttributesEx " K,
};

static bool call(struct handlers_fixture *f, enum operation operation, const char *path) {
  bool answer;
  switch (operation) {
  case PATH_EXISTS:
    return call_path_exists(f, path, &answer);
  case MKDIR:
    return call_mkdir(f, path);
  case RMDIR:
    return call_rmdir(f, path, false);
  case RMDIR_FORCE:
    return call_rmdir(f, path, true);
  case RMDIR_CONTENTS:
    return call_rmdir_contents(f, path);
  case SYMLINK_TARGET:
    return call_create_symlink(f, K "\\source", path);
  case SYMLINK_SOURCE:
    return call_create_symlink(f, path, K "\\new_link");
  case SHARE_LINK:
    return call_share_link(f, "\\\\host\\share\\", path);
  case IS_SYMLINK:
  case OPERATIONS:
    break;
  }
  return call_is_symlink(f, path, &answer);
}

/* A tree outside of the working directory that looks like the one inside. */
static void add_bait(struct handlers_fixture *f) {
  csi_fake_add_file(f->fake, TARGET "\\b\\c\\precious");
}

static void assert_bait_is_untouched(struct handlers_fixture *f) {
  assert_true(csi_fake_exists(f->fake, TARGET "\\b\\c\\precious"));
  assert_int_equal(csi_fake_count_children(f->fake, TARGET), 1);
  assert_int_equal(csi_fake_count_children(f->fake, TARGET "\\b"), 1);
  assert_int_equal(csi_fake_count_children(f->fake, TARGET "\\b\\c"), 1);
  assert_int_equal(csi_fake_network_touches(f->fake), 0);
}

typedef void plant(struct csi_fake_filesystem *fake, const char *path);

static void plant_symlink(struct csi_fake_filesystem *fake, const char *path) {
  csi_fake_add_symlink(fake, path, "\\??\\" TARGET, false, true);
}

static void plant_relative(struct csi_fake_filesystem *fake, const char *path) {
  csi_fake_add_symlink(fake, path, "\\Windows", true, true);
}

static void plant_junction(struct csi_fake_filesystem *fake, const char *path) {
  csi_fake_add_junction(fake, path, "\\??\\" TARGET);
}

static void plant_mount(struct csi_fake_filesystem *fake, const char *path) {
  csi_fake_add_junction(fake, path, "\\??\\" VOLUME "\\");
}

static void plant_share(struct csi_fake_filesystem *fake, const char *path) {
  csi_fake_add_symlink(fake, path, "\\??\\UNC\\evil\\share", false, true);
}

static void plant_unknown(struct csi_fake_filesystem *fake, const char *path) {
  csi_fake_add_reparse_point(fake, path, 0x80000018, true);
}

static plant *const plants[] = {plant_symlink, plant_relative, plant_junction,
                                plant_mount,   plant_share,    plant_unknown};
enum {
  PLANTS = sizeof plants / sizeof plants[0],
};

static void test_links_on_the_way_are_refused_at_every_position(void **state) {
  struct handlers_fixture *f = *state;
  add_bait(f);
  csi_fake_add_directory(f->fake, K "\\source");
  static const char *const places[] = {K "\\x", K "\\1\\x", K "\\1\\2\\x"};
  static const char *const paths[] = {K "\\x\\b\\c", K "\\1\\x\\b", K "\\1\\2\\x\\b\\c\\precious"};
  for (size_t p = 0; p < PLANTS; p++) {
    for (size_t i = 0; i < 3; i++) {
      plants[p](f->fake, places[i]);
      for (int operation = 0; operation < OPERATIONS; operation++) {
        assert_failed(f, call(f, (enum operation)operation, paths[i]), CSI_FAILED_PRECONDITION,
                      verbs[operation]);
        char text[256];
        snprintf(text, sizeof text, ": %s is a link, and links below a working directory are not followed",
                 places[i]);
        assert_non_null(strstr(f->status.text, text));
      }
      assert_ok(f, call_rmdir(f, places[i], false));
    }
    assert_bait_is_untouched(f);
  }
  assert_false(csi_fake_exists(f->fake, K "\\new_link"));
}

/* Exchanges a directory for a link right before the nth step of a call. */
struct swap {
  plant *plant;
  const char *place;
  unsigned countdown;
  bool done;
};

static void swap_in(struct csi_fake_filesystem *fake, enum csi_fake_call step, const char *name, void *data) {
  (void)step;
  (void)name;
  struct swap *swap = data;
  if (swap->countdown == 0 || --swap->countdown > 0 || !csi_fake_exists(fake, swap->place)) return;
  csi_fake_move(fake, swap->place, K "\\moved_away");
  swap->plant(fake, swap->place);
  swap->done = true;
}

/* Every operation, with a directory on its way exchanged before each of its steps: whatever it says, it
 * acts on what is below the working directory or not at all. */
static void test_exchanges_in_the_middle_of_a_call(void **state) {
  struct handlers_fixture *f = *state;
  add_bait(f);
  csi_fake_add_directory(f->fake, K "\\source");
  static const char *const places[] = {K "\\a", K "\\a\\b", K "\\a\\b\\c"};
  unsigned exchanges = 0;
  for (int operation = 0; operation < OPERATIONS; operation++)
    for (size_t p = 0; p < PLANTS; p++)
      for (size_t place = 0; place < 3; place++)
        for (unsigned nth = 1;; nth++) {
          csi_fake_add_file(f->fake, K "\\a\\b\\c\\precious");
          struct swap swap = {.plant = plants[p], .place = places[place], .countdown = nth};
          csi_fake_set_hook(f->fake, swap_in, &swap);
          (void)call(f, (enum operation)operation, K "\\a\\b\\c");
          csi_fake_set_hook(f->fake, NULL, NULL);
          assert_bait_is_untouched(f);
          exchanges += swap.done;
          assert_ok(f, call_rmdir(f, K "\\a", true));
          assert_ok(f, call_rmdir(f, K "\\moved_away", true));
          assert_ok(f, call_rmdir(f, K "\\new_link", true));
          if (swap.countdown > 0) break;
        }
  assert_true(exchanges > 500);
}

static void test_planted_mounts_do_not_redirect_recursive_removal(void **state) {
  struct handlers_fixture *f = *state;
  add_bait(f);
  for (size_t p = 0; p < PLANTS; p++) {
    csi_fake_add_file(f->fake, K "\\tree\\1\\file");
    plants[p](f->fake, K "\\tree\\1\\x");
    plants[p](f->fake, K "\\tree\\y");
    if (p % 2 == 0)
      assert_ok(f, call_rmdir(f, K "\\tree", true));
    else
      assert_ok(f, call_rmdir_contents(f, K "\\tree"));
    assert_true(!csi_fake_exists(f->fake, K "\\tree") || csi_fake_count_children(f->fake, K "\\tree") == 0);
    assert_bait_is_untouched(f);
  }
}

/* Exchanges `place` right before it is opened for the nth time. */
static void swap_before_open(struct csi_fake_filesystem *fake, enum csi_fake_call step, const char *name,
                             void *data) {
  struct swap *swap = data;
  if (step == CSI_FAKE_OPEN_CHILD && strcmp(name, strrchr(swap->place, '\\') + 1) == 0)
    swap_in(fake, step, name, data);
}

static void plant_directory(struct csi_fake_filesystem *fake, const char *path) {
  csi_fake_add_directory(fake, path);
}

/* What is not any more what it was seen to be a moment ago is left alone, and named. */
static void test_entries_exchanged_before_they_are_opened(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\tree\\dir\\file");
  struct swap swap = {.plant = plant_symlink, .place = K "\\tree", .countdown = 2};
  csi_fake_set_hook(f->fake, swap_before_open, &swap);
  assert_failed(f, call_rmdir(f, K "\\tree", true), CSI_FAILED_PRECONDITION,
                "remove " K "\\tree: The directory name is invalid.");
  assert_true(swap.done && csi_fake_is_reparse_point(f->fake, K "\\tree"));

  plant_symlink(f->fake, K "\\other\\link");
  swap = (struct swap){.plant = plant_directory, .place = K "\\other\\link", .countdown = 1};
  assert_ok(f, call_rmdir(f, K "\\moved_away", true));
  assert_failed(f, call_rmdir(f, K "\\other", true), CSI_FAILED_PRECONDITION,
                "unlinkat " K "\\other\\link: The directory is not empty.");
  assert_true(swap.done && csi_fake_is_directory(f->fake, K "\\other\\link"));
}

/* Adds entries behind the back of a removal for as long as it lasts. */
static void refill(struct csi_fake_filesystem *fake, enum csi_fake_call step, const char *name, void *data) {
  (void)name;
  unsigned *count = data;
  if (step != CSI_FAKE_REMOVE) return;
  char path[64];
  snprintf(path, sizeof path, K "\\tree\\%06u", --*count);
  csi_fake_add_file(fake, path);
}

static void test_refilled_directories_do_not_hold_a_call_forever(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\tree\\999999");
  unsigned count = 999999;
  csi_fake_set_hook(f->fake, refill, &count);
  assert_failed(f, call_rmdir(f, K "\\tree", true), CSI_FAILED_PRECONDITION,
                "unlinkat " K "\\tree: The directory is not empty.");
  csi_fake_set_hook(f->fake, NULL, NULL);
}

static void prepare(struct handlers_fixture *f) {
  csi_fake_add_directory(f->fake, K "\\source");
  csi_fake_add_file(f->fake, K "\\a\\b\\c\\1\\2");
  csi_fake_add_file(f->fake, K "\\a\\b\\c\\3");
  csi_fake_add_symlink(f->fake, K "\\a\\b\\link", "\\??\\" K "\\a\\b", false, true);
  csi_fake_add_junction(f->fake, K "\\a\\b\\mount", "\\??\\" VOLUME "\\");
}

static const struct {
  enum operation operation;
  const char *path;
} calls_that_work[] = {
    {PATH_EXISTS, K "\\a\\b"},           {MKDIR, K "\\a\\b\\new"},        {MKDIR, K "\\a\\b\\link"},
    {RMDIR, K "\\a\\b\\c\\1\\2"},        {RMDIR_FORCE, K "\\a\\b"},       {RMDIR_CONTENTS, K "\\a\\b"},
    {RMDIR_CONTENTS, K "\\a\\b\\mount"}, {SYMLINK_TARGET, K "\\a\\new"},  {SYMLINK_SOURCE, K "\\a\\b"},
    {IS_SYMLINK, K "\\a\\b\\link"},      {IS_SYMLINK, K "\\a\\b\\mount"},
};

/* Leaves K as empty as it was. */
static void clean_up(struct handlers_fixture *f) {
  assert_ok(f, call_rmdir_contents(f, K "\\a"));
  assert_ok(f, call_rmdir(f, K "\\a", false));
  assert_ok(f, call_rmdir(f, K "\\source", false));
  assert_ok(f, call_rmdir(f, K "\\new_link", true));
  assert_int_equal(csi_fake_count_children(f->fake, K), 0);
}

static void fail_every_step(struct handlers_fixture *f) {
  for (size_t i = 0; i < sizeof calls_that_work / sizeof calls_that_work[0]; i++) {
    enum operation operation = calls_that_work[i].operation;
    for (unsigned nth = 1;; nth++) {
      prepare(f);
      csi_fake_fail(f->fake, CSI_FAKE_ANY_CALL, nth, CSI_WIN32_ACCESS_DENIED);
      bool result = call(f, operation, calls_that_work[i].path);
      bool failed = csi_fake_has_failed(f->fake);
      csi_fake_fail(f->fake, 0, 0, 0);
      if (result == failed) fail_msg("operation %d, step %u: %s", operation, nth, f->status.text);
      if (failed) {
        assert_int_equal(f->status.code, CSI_PERMISSION_DENIED);
        assert_int_equal(f->status.number, CSI_WIN32_ACCESS_DENIED);
        assert_non_null(f->status.call);
        assert_non_null(strstr(f->status.text, ": Access is denied."));
      }
      if (operation == SYMLINK_SOURCE) assert_int_equal(csi_fake_exists(f->fake, K "\\new_link"), result);
      if (operation == SYMLINK_TARGET) assert_int_equal(csi_fake_exists(f->fake, K "\\a\\new"), result);
      clean_up(f);
      if (!failed) break;
    }
  }
}

static void test_every_step_may_fail(void **state) {
  struct handlers_fixture *f = *state;
  fail_every_step(f);
}

static const char *const roots[] = {K, "C:\\other", "C:\\other\\nested"};

/* What is spared cannot be recognised then, so nothing is removed. */
static void test_every_step_may_fail_with_several_working_directories(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_directory(f->fake, roots[2]);
  use_working_directories(f, roots, 3);
  fail_every_step(f);
  assert_true(csi_fake_count_calls(f->fake, CSI_FAKE_GET_IDENTITY) > 0);
}

static void fail_every_allocation(struct handlers_fixture *f) {
  for (size_t i = 0; i < sizeof calls_that_work / sizeof calls_that_work[0]; i++) {
    for (f->fail_allocation = 1;; f->fail_allocation++) {
      unsigned nth = f->fail_allocation;
      prepare(f);
      bool result = call(f, calls_that_work[i].operation, calls_that_work[i].path);
      bool failed = f->allocation_failed;
      f->fail_allocation = 0;
      if (result == failed) fail_msg("call %zu, allocation %u: %s", i, nth, f->status.text);
      if (failed) assert_int_equal(f->status.code, CSI_RESOURCE_EXHAUSTED);
      clean_up(f);
      f->fail_allocation = nth;
      if (!failed) break;
    }
    f->fail_allocation = 0;
  }
}

static void test_every_allocation_may_fail(void **state) {
  struct handlers_fixture *f = *state;
  fail_every_allocation(f);
  use_working_directories(f, roots, 3);
  fail_every_allocation(f);
}

static void test_roll_back_that_fails_is_told(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_lose_reparse_points(f->fake);
  csi_fake_fail(f->fake, CSI_FAKE_REMOVE, 1, CSI_WIN32_ACCESS_DENIED);
  assert_failed(f, call_create_symlink(f, K "\\source", K "\\link"), CSI_FAILED_PRECONDITION,
                "symlink " K "\\source " K "\\link: ");
  assert_non_null(strstr(f->status.text, "(and the unfinished link could not be removed: error 5)"));
}

/* Another caller makes the same link while the first has made the entry, but not yet the link. */
struct rival {
  struct csi_filesystem *group;
  pthread_t thread;
  bool started;
  bool succeeded;
};

static bool link_once(struct csi_ctx *ctx, struct csi_filesystem *group) {
  struct csi_filesystem_create_symlink_request request = {.source_path = K "\\source",
                                                          .target_path = K "\\link"};
  struct csi_filesystem_create_symlink_response response = {0};
  return csi_filesystem_serve_create_symlink(ctx, group, &request, &response);
}

static void *make_same_link(void *data) {
  struct rival *rival = data;
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE};
  rival->succeeded = ctx.arena != NULL && link_once(&ctx, rival->group);
  csi_arena_free(ctx.arena);
  return NULL;
}

static void start_rival(struct csi_fake_filesystem *fake, enum csi_fake_call step, const char *name,
                        void *data) {
  (void)fake;
  (void)name;
  struct rival *rival = data;
  if (step != CSI_FAKE_WRITE_REPARSE || rival->started) return;
  rival->started = true;
  assert_int_equal(pthread_create(&rival->thread, NULL, make_same_link, rival), 0);
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* long enough to meet the unfinished link */
}

static void test_two_callers_making_the_same_link(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_directory(f->fake, K "\\source");
  struct rival rival = {.group = f->group};
  csi_fake_set_hook(f->fake, start_rival, &rival);
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE};
  assert_non_null(ctx.arena);
  assert_true(link_once(&ctx, f->group));
  csi_arena_free(ctx.arena);
  assert_true(rival.started);
  pthread_join(rival.thread, NULL);
  csi_fake_set_hook(f->fake, NULL, NULL);
  assert_true(rival.succeeded);
}

enum {
  THREADS = 4,
  ROUNDS = 300,
};

struct worker {
  struct csi_filesystem *group;
  pthread_t thread;
  unsigned failures;
};

static bool mkdir_once(struct csi_ctx *ctx, struct csi_filesystem *group) {
  struct csi_filesystem_mkdir_request request = {.path = K "\\shared\\a\\b"};
  struct csi_filesystem_mkdir_response response = {0};
  return csi_filesystem_serve_mkdir(ctx, group, &request, &response);
}

static bool rmdir_once(struct csi_ctx *ctx, struct csi_filesystem *group) {
  struct csi_filesystem_rmdir_request request = {.path = K "\\mine", .force = true};
  struct csi_filesystem_rmdir_response response = {0};
  return csi_filesystem_serve_rmdir(ctx, group, &request, &response);
}

/* Not through the fixture, whose count of open handles is for one thread. */
static void *work(void *data) {
  struct worker *worker = data;
  bool (*const calls[])(struct csi_ctx *, struct csi_filesystem *) = {mkdir_once, link_once, rmdir_once};
  for (unsigned round = 0; round < ROUNDS; round++) {
    struct csi_ctx ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE};
    if (ctx.arena == NULL || !calls[round % 3](&ctx, worker->group)) worker->failures++;
    csi_arena_free(ctx.arena);
  }
  return NULL;
}

static void test_same_calls_from_many_threads_all_succeed(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_directory(f->fake, K "\\source");
  struct worker workers[THREADS] = {0};
  for (int i = 0; i < THREADS; i++) {
    workers[i].group = f->group;
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    assert_int_equal(workers[i].failures, 0);
  }
  assert_int_equal(csi_fake_open_handles(f->fake), 0);
  assert_is_symlink(f, K "\\link", true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handlers_fixture_set_up, handlers_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_links_on_the_way_are_refused_at_every_position),
      TEST(test_exchanges_in_the_middle_of_a_call),
      TEST(test_planted_mounts_do_not_redirect_recursive_removal),
      TEST(test_entries_exchanged_before_they_are_opened),
      TEST(test_refilled_directories_do_not_hold_a_call_forever),
      TEST(test_every_step_may_fail),
      TEST(test_every_step_may_fail_with_several_working_directories),
      TEST(test_every_allocation_may_fail),
      TEST(test_roll_back_that_fails_is_told),
      TEST(test_two_callers_making_the_same_link),
      TEST(test_same_calls_from_many_threads_all_succeed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
