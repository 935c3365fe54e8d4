/* SPDX-License-Identifier: Apache-2.0 */
#include "shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command_fixture.h"
#include "secret.h"

#define ROOT "\\\\host\\share"

static int set_up(void **context) {
  return make_scene(context, network_share_command);
}

static uint32_t map_with(struct scene *scene, const char *root, const char *user, const char *password,
                         bool privacy) {
  char digest[NETWORK_DIGEST_BYTES];
  network_secret_digest(password, strlen(password), digest);
  struct network_credentials credentials = {.user = user, .digest = digest};
  return network_share_map(&scene->state, root, &credentials, privacy);
}

static uint32_t map(struct scene *scene, const char *user, const char *password) {
  return map_with(scene, ROOT, user, password, false);
}

static bool is_reachable(const struct scene *scene) {
  return network_share_is_reachable(&scene->state, network_find(&scene->state, "share", "root", ROOT));
}

static void assert_listed(struct scene *scene, const char *expected) {
  command(scene, "list");
  assert_string_equal(scene->reply, expected);
}

static void test_roots(void **context) {
  (void)context;
  char root[NETWORK_ROOT_BYTES];
  static const char *const good[] = {"\\\\host\\share", "\\\\HOST\\Share\\", "//host/share/",
                                     "\\/Host\\share"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_true(network_share_root(good[i], root));
    assert_string_equal(root, ROOT);
  }
  static const char *const bad[] = {
      "",
      "\\",
      "\\\\",
      "\\\\host",
      "\\\\host\\",
      "\\\\\\share",
      "host\\share",
      "\\\\host\\share\\more",
      "\\\\host\\..",
      "\\\\.\\pipe",
      "\\\\ho st\\share",
      "\\\\host\\sh*re",
      "C:\\host\\share",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    if (network_share_root(bad[i], root)) fail_msg("\"%s\" is no root", bad[i]);
  char longer[NETWORK_ROOT_BYTES + 8];
  memset(longer, 'x', sizeof longer);
  memcpy(longer, "\\\\host\\", 7);
  longer[sizeof longer - 1] = '\0';
  assert_false(network_share_root(longer, root));
}

static void test_a_share_is_mapped_once(void **context) {
  struct scene *scene = *context;
  command(scene, "add root=\\\\HOST\\Share user=u password=p%20q");
  assert_listed(scene, "root=" ROOT " mapped=0 user= privacy=0\n");
  assert_false(is_reachable(scene));
  assert_int_equal(map(scene, "U", "p q"), 0);
  assert_true(is_reachable(scene));
  assert_int_equal(map(scene, "u", "p q"), 0);
  assert_listed(scene, "root=" ROOT " mapped=1 user=U privacy=0\n");
  assert_int_equal(map(scene, "u", "other"), 1219);
  assert_int_equal(map(scene, "v", "p q"), 1219);
  assert_int_equal(network_share_unmap(&scene->state, ROOT), 0);
  assert_int_equal(network_share_unmap(&scene->state, ROOT), 2250);
  assert_false(is_reachable(scene));
}

static void test_credentials(void **context) {
  struct scene *scene = *context;
  command(scene, "add root=\\\\host\\share user=u password=p");
  command(scene, "add root=\\\\host\\open");
  assert_int_equal(map(scene, "u", "q"), 86);
  assert_int_equal(map(scene, "v", "p"), 1326);
  assert_int_equal(map(scene, "", ""), 5);
  assert_null(network_share_mapping(&scene->state, ROOT));
  assert_int_equal(map_with(scene, "\\\\host\\open", "", "", false), 0);
  command(scene, "set root=\\\\host\\share password=q");
  assert_int_equal(map(scene, "u", "q"), 0);
}

static void test_a_server_has_one_user(void **context) {
  struct scene *scene = *context;
  command(scene, "add root=\\\\host\\share user=u password=p");
  command(scene, "add root=\\\\host\\two user=v password=p");
  command(scene, "add root=\\\\host\\open");
  command(scene, "add root=\\\\host2\\two user=v password=p");
  assert_int_equal(map_with(scene, "\\\\host\\open", "", "", false), 0);
  assert_int_equal(map(scene, "u", "p"), 0);
  assert_int_equal(map_with(scene, "\\\\host\\two", "v", "p", false), 1219);
  assert_int_equal(map_with(scene, "\\\\host2\\two", "v", "p", false), 0);
  assert_int_equal(network_share_unmap(&scene->state, ROOT), 0);
  assert_int_equal(map_with(scene, "\\\\host\\two", "v", "p", false), 0);
}

static void test_a_rotated_password_leaves_the_mapping(void **context) {
  struct scene *scene = *context;
  command(scene, "add root=\\\\host\\share user=u password=p");
  assert_int_equal(map(scene, "u", "p"), 0);
  command(scene, "set root=\\\\host\\share password=new");
  assert_true(is_reachable(scene));
  assert_int_equal(map(scene, "u", "p"), 0);
  assert_int_equal(map(scene, "u", "new"), 1219);
  char digest[NETWORK_DIGEST_BYTES];
  network_secret_digest("new", 3, digest);
  struct network_credentials credentials = {.user = "u", .digest = digest};
  assert_int_equal(network_share_try(&scene->state, ROOT, &credentials, false), 0);
  assert_int_equal(network_share_unmap(&scene->state, ROOT), 0);
  assert_int_equal(map(scene, "u", "p"), 86);
  assert_int_equal(map(scene, "u", "new"), 0);
}

static void test_privacy(void **context) {
  struct scene *scene = *context;
  command(scene, "add root=\\\\host\\share privacy=unsupported");
  assert_int_equal(map_with(scene, ROOT, "u", "p", true), 65);
  assert_int_equal(map_with(scene, ROOT, "u", "p", false), 0);
  command(scene, "unmap root=\\\\host\\share");
  command(scene, "set root=\\\\host\\share privacy=supported");
  assert_int_equal(map_with(scene, ROOT, "u", "p", true), 0);
  assert_listed(scene, "root=" ROOT " mapped=1 user=u privacy=1\n");
}

static void test_what_is_not_there(void **context) {
  struct scene *scene = *context;
  assert_int_equal(map(scene, "u", "p"), 53);
  command(scene, "add root=\\\\host\\other");
  assert_int_equal(map(scene, "u", "p"), 67);
  command(scene, "add root=\\\\host\\share");
  command(scene, "set root=\\\\host\\share state=gone");
  assert_int_equal(map(scene, "u", "p"), 67);
  command(scene, "set root=\\\\host\\share state=down");
  assert_int_equal(map(scene, "u", "p"), 53);
  command(scene, "set root=\\\\host\\share state=up");
  assert_int_equal(map(scene, "u", "p"), 0);
  command(scene, "set root=\\\\host\\share state=down");
  assert_false(is_reachable(scene));
  assert_int_equal(map(scene, "u", "p"), 53);
  command(scene, "set root=\\\\host\\share state=up");
  assert_true(is_reachable(scene));
}

static void test_a_mapping_is_disconnected_until_it_is_made_again(void **context) {
  struct scene *scene = *context;
  command(scene, "add root=\\\\host\\share");
  command(scene, "map root=\\\\host\\share user=u password=p");
  command(scene, "set root=\\\\host\\share state=disconnected");
  assert_true(network_share_is_broken(network_share_mapping(&scene->state, ROOT)));
  assert_int_equal(network_share_unmap(&scene->state, ROOT), 0);
  assert_int_equal(map(scene, "u", "p"), 0);
  assert_false(network_share_is_broken(network_share_mapping(&scene->state, ROOT)));
  command(scene, "set root=\\\\host\\share state=disconnected");
  assert_int_equal(map(scene, "u", "p"), 0);
  assert_false(network_share_is_broken(network_share_mapping(&scene->state, ROOT)));
}

static void test_a_mapping_outlives_its_share(void **context) {
  struct scene *scene = *context;
  command(scene, "add root=\\\\host\\share");
  command(scene, "map root=\\\\host\\share user=u%20v");
  command(scene, "remove root=\\\\host\\share");
  assert_listed(scene, "root=" ROOT " mapped=1 user=u%20v privacy=0\n");
  assert_int_equal(network_share_unmap(&scene->state, ROOT), 0);
  assert_listed(scene, "");
}

static void test_whether_mappings_are_listed(void **context) {
  struct scene *scene = *context;
  assert_true(network_shares_are_listed(&scene->state));
  command(scene, "enumerate=0");
  assert_false(network_shares_are_listed(&scene->state));
  command(scene, "enumerate=1");
  assert_true(network_shares_are_listed(&scene->state));
}

static void test_bad_commands_do_nothing(void **context) {
  static const char *const bad[] = {
      "",
      "nonsense",
      "enumerate",
      "enumerate=2",
      "enumerate=1 more",
      "add",
      "add root",
      "add root=host",
      "add root=\\\\host\\share",
      "add root=\\\\host\\x user",
      "add root=\\\\host\\x user=%2",
      "add root=\\\\host\\x privacy=maybe",
      "add root=\\\\host\\x more",
      "set root=\\\\host\\x state=up",
      "set root=\\\\host\\share state=odd",
      "remove root=\\\\host\\x",
      "map root=\\\\host\\x",
      "unmap root=\\\\host\\share",
      "list all",
  };
  struct scene *scene = *context;
  command(scene, "add root=\\\\host\\share");
  assert_refused(scene, bad, sizeof bad / sizeof bad[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, free_scene)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_roots),
      TEST(test_a_share_is_mapped_once),
      TEST(test_credentials),
      TEST(test_a_server_has_one_user),
      TEST(test_a_rotated_password_leaves_the_mapping),
      TEST(test_privacy),
      TEST(test_what_is_not_there),
      TEST(test_a_mapping_is_disconnected_until_it_is_made_again),
      TEST(test_a_mapping_outlives_its_share),
      TEST(test_whether_mappings_are_listed),
      TEST(test_bad_commands_do_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
