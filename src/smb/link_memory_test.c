/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/link_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
  CAPACITY = 3,
};

struct scene {
  struct csi_link_memory *memory;
  struct csi_ctx ctx;
};

static int set_up(void **state) {
  static struct scene scene;
  scene.memory = csi_link_memory_new(CAPACITY);
  scene.ctx = (struct csi_ctx){.arena = csi_arena_new(1 << 16), .deadline_ns = CSI_NO_DEADLINE};
  *state = &scene;
  return scene.memory == NULL || scene.ctx.arena == NULL;
}

static int tear_down(void **state) {
  struct scene *scene = *state;
  csi_link_memory_free(scene->memory);
  csi_link_memory_free(NULL);
  csi_arena_free(scene->ctx.arena);
  return 0;
}

/* The links to the root are these, up to NULL. */
static void assert_links(struct scene *scene, const char *root, const char *const *expected) {
  const char **paths;
  size_t count;
  assert_true(csi_link_memory_list(scene->memory, &scene->ctx, root, &paths, &count));
  for (size_t i = 0; i < count; i++) {
    assert_non_null(expected[i]);
    assert_string_equal(paths[i], expected[i]);
  }
  assert_null(expected[count]);
}

static void test_the_newest_is_first(void **state) {
  struct scene *scene = *state;
  csi_link_memory_add(scene->memory, "a", "1");
  csi_link_memory_add(scene->memory, "b", "2");
  csi_link_memory_add(scene->memory, "a", "3");
  assert_links(scene, "a", (const char *const[]){"3", "1", NULL});
  assert_links(scene, "b", (const char *const[]){"2", NULL});
  assert_links(scene, "c", (const char *const[]){NULL});
}

static void test_a_path_leads_to_one_share(void **state) {
  struct scene *scene = *state;
  csi_link_memory_add(scene->memory, "a", "1");
  csi_link_memory_add(scene->memory, "b", "1");
  assert_links(scene, "a", (const char *const[]){NULL});
  assert_links(scene, "b", (const char *const[]){"1", NULL});
}

static void test_it_is_bounded(void **state) {
  struct scene *scene = *state;
  static const char *const paths[] = {"1", "2", "3", "4"};
  for (size_t i = 0; i < 4; i++)
    csi_link_memory_add(scene->memory, "a", paths[i]);
  assert_links(scene, "a", (const char *const[]){"4", "3", "2", NULL});
}

static void test_memory(void **state) {
  struct scene *scene = *state;
  const char **paths;
  size_t count;
  csi_link_memory_add(scene->memory, "a", "1");
  for (unsigned nth = 1; nth <= 2; nth++) {
    csi_arena_fail_after(nth);
    assert_false(csi_link_memory_list(scene->memory, &scene->ctx, "a", &paths, &count));
    csi_arena_fail_after(0);
    assert_int_equal(scene->ctx.status.code, CSI_RESOURCE_EXHAUSTED);
    csi_status_clear(&scene->ctx.status);
  }
}

int main(void) {
#define LINK_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      LINK_TEST(test_the_newest_is_first),
      LINK_TEST(test_a_path_leads_to_one_share),
      LINK_TEST(test_it_is_bounded),
      LINK_TEST(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
