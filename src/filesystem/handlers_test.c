/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract of the filesystem group, row by row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "filesystem/handlers_fixture.h"

#define NOT_FOUND_TEXT "The system cannot find the file specified."
#define NO_PATH_TEXT "The system cannot find the path specified."
#define EXISTS_TEXT "Cannot create a file when that file already exists."
#define NOT_EMPTY_TEXT "The directory is not empty."
#define SPARED ": this is a working directory or holds one, and must not be removed or emptied"

static void test_path_exists(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\file");
  csi_fake_add_directory(f->fake, K "\\pods\\Pv1");
  csi_fake_add_symlink(f->fake, K "\\dangling", "\\??\\C:\\gone", false, true);
  csi_fake_add_junction(f->fake, K "\\mount", "\\??\\" VOLUME "\\");
  assert_exists(f, K, true);
  assert_exists(f, K "\\file", true);
  assert_exists(f, K "\\pods", true);
  assert_exists(f, "c:\\VAR\\lib\\KUBELET\\PODS\\pv1\\", true);
  assert_exists(f, K "\\dangling", true);
  assert_exists(f, K "\\mount", true);
  assert_exists(f, K "\\pods\\other", false);
  assert_exists(f, K "\\nothing\\here\\at\\all", false);
  assert_exists(f, K "\\file\\below", false);
}

/* A watch costs time: only what may be a device that does not answer has one. */
static void test_only_what_is_beyond_a_link_is_watched(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\file");
  csi_fake_add_junction(f->fake, K "\\mount", "\\??\\" VOLUME "\\");
  assert_exists(f, K "\\file", true);
  assert_ok(f, call_mkdir(f, K "\\dir"));
  assert_int_equal(csi_fake_count_far_opens(f->fake), 0);
  assert_is_symlink(f, K "\\mount", true);
  assert_int_equal(csi_fake_count_far_opens(f->fake), 1);
}

static void test_path_exists_reports_what_it_cannot_know(void **state) {
  struct handlers_fixture *f = *state;
  bool exists;
  csi_fake_add_directory(f->fake, K "\\secret");
  csi_fake_deny(f->fake, K "\\secret", CSI_WIN32_ACCESS_DENIED);
  assert_failed(f, call_path_exists(f, K "\\secret", &exists), CSI_PERMISSION_DENIED,
                "GetFileAttributesEx " K "\\secret: Access is denied.");
  assert_int_equal(f->status.number, CSI_WIN32_ACCESS_DENIED);
  assert_failed(f, call_path_exists(f, EVIL "\\x", &exists), CSI_PERMISSION_DENIED,
                "path: " EVIL "\\x is not within the working directories: [" K "]");
  assert_failed(f, call_path_exists(f, "", &exists), CSI_INVALID_ARGUMENT, "not an absolute Windows path: ");
}

static void test_missing_working_directory(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_move(f->fake, K, "C:\\elsewhere");
  assert_exists(f, K, false);
  assert_exists(f, K "\\x", false);
  assert_failed(f, call_rmdir(f, K "\\x", false), CSI_NOT_FOUND, "remove " K "\\x: " NO_PATH_TEXT);
  assert_ok(f, call_rmdir(f, K "\\x", true));
  assert_ok(f, call_mkdir(f, K "\\a\\b"));
  assert_true(csi_fake_is_directory(f->fake, K "\\a\\b"));
}

static void test_working_directory_may_be_a_link(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_volume(f->fake, "Volume{01234567-0000-0000-0000-00000000000d}", 'D', 4);
  csi_fake_move(f->fake, K, "C:\\old");
  csi_fake_add_directory(f->fake, "D:\\kubelet");
  csi_fake_add_symlink(f->fake, K, "\\??\\D:\\kubelet", false, true);
  assert_ok(f, call_mkdir(f, K "\\pods\\x"));
  assert_true(csi_fake_is_directory(f->fake, "D:\\kubelet\\pods\\x"));
  assert_ok(f, call_rmdir(f, K "\\pods", true));
  assert_int_equal(csi_fake_count_children(f->fake, "D:\\kubelet"), 0);
}

static void test_mkdir(void **state) {
  struct handlers_fixture *f = *state;
  assert_ok(f, call_mkdir(f, K "\\a\\b\\c"));
  assert_true(csi_fake_is_directory(f->fake, K "\\a\\b\\c"));
  assert_ok(f, call_mkdir(f, K "\\a\\b\\c"));
  assert_ok(f, call_mkdir(f, K "\\A\\B"));
  assert_ok(f, call_mkdir(f, K));
  assert_int_equal(csi_fake_count_children(f->fake, K), 1);
}

static void test_mkdir_with_something_in_the_way(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\file");
  assert_failed(f, call_mkdir(f, K "\\file"), CSI_NOT_FOUND, "mkdir " K "\\file: " NO_PATH_TEXT);
  assert_failed(f, call_mkdir(f, K "\\file\\x"), CSI_NOT_FOUND, "mkdir " K "\\file\\x: " NO_PATH_TEXT);
  csi_fake_add_symlink(f->fake, K "\\dangling", "\\??\\C:\\gone", false, true);
  assert_failed(f, call_mkdir(f, K "\\dangling"), CSI_ALREADY_EXISTS, "mkdir " K "\\dangling: " EXISTS_TEXT);
  csi_fake_add_symlink(f->fake, K "\\to_file", "file", true, false);
  assert_failed(f, call_mkdir(f, K "\\to_file"), CSI_NOT_FOUND, "mkdir " K "\\to_file: " NO_PATH_TEXT);
}

static void test_mkdir_of_a_link_to_a_directory(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_directory(f->fake, K "\\dir\\deep");
  csi_fake_add_symlink(f->fake, K "\\link", "\\??\\" K "\\dir", false, true);
  csi_fake_add_symlink(f->fake, K "\\again", "link\\deep", true, true);
  csi_fake_add_symlink(f->fake, K "\\share", "\\??\\UNC\\host\\share\\", false, true);
  csi_fake_add_junction(f->fake, K "\\mount", "\\??\\" VOLUME "\\");
  assert_ok(f, call_mkdir(f, K "\\link"));
  assert_ok(f, call_mkdir(f, K "\\again"));
  assert_ok(f, call_mkdir(f, K "\\mount"));
  assert_ok(f, call_mkdir(f, K "\\share"));
  assert_int_equal(csi_fake_network_touches(f->fake), 0);
}

static void test_rmdir(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_directory(f->fake, K "\\empty");
  csi_fake_add_file(f->fake, K "\\full\\file");
  csi_fake_add_file(f->fake, K "\\read_only");
  csi_fake_set_read_only(f->fake, K "\\read_only");
  assert_ok(f, call_rmdir(f, K "\\empty", false));
  assert_false(csi_fake_exists(f->fake, K "\\empty"));
  assert_failed(f, call_rmdir(f, K "\\empty", false), CSI_NOT_FOUND, "remove " K "\\empty: " NOT_FOUND_TEXT);
  assert_failed(f, call_rmdir(f, K "\\full", false), CSI_FAILED_PRECONDITION,
                "remove " K "\\full: " NOT_EMPTY_TEXT);
  assert_true(csi_fake_exists(f->fake, K "\\full\\file"));
  assert_failed(f, call_rmdir(f, K "\\no\\where", false), CSI_NOT_FOUND,
                "remove " K "\\no\\where: " NO_PATH_TEXT);
  assert_ok(f, call_rmdir(f, K "\\full\\file", false));
  assert_ok(f, call_rmdir(f, K "\\read_only", false));
  assert_false(csi_fake_exists(f->fake, K "\\read_only"));
}

static void test_rmdir_takes_links_as_such(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\data\\precious");
  csi_fake_add_file(f->fake, "\\\\?\\" VOLUME "\\precious");
  for (int force = 0; force < 2; force++) {
    csi_fake_add_symlink(f->fake, K "\\symlink", "\\??\\" K "\\data", false, true);
    csi_fake_add_symlink(f->fake, K "\\relative", "data\\precious", true, false);
    csi_fake_add_junction(f->fake, K "\\junction", "\\??\\" K "\\data");
    csi_fake_add_junction(f->fake, K "\\mount", "\\??\\" VOLUME "\\");
    csi_fake_add_symlink(f->fake, K "\\share", "\\??\\UNC\\host\\share\\", false, true);
    assert_ok(f, call_rmdir(f, K "\\symlink", force));
    assert_ok(f, call_rmdir(f, K "\\relative", force));
    assert_ok(f, call_rmdir(f, K "\\junction", force));
    assert_ok(f, call_rmdir(f, K "\\mount", force));
    assert_ok(f, call_rmdir(f, K "\\share", force));
    assert_int_equal(csi_fake_count_children(f->fake, K), 1);
  }
  assert_true(csi_fake_exists(f->fake, K "\\data\\precious"));
  assert_true(csi_fake_exists(f->fake, "\\\\?\\" VOLUME "\\precious"));
  assert_int_equal(csi_fake_network_touches(f->fake), 0);
}

static void test_rmdir_force(void **state) {
  struct handlers_fixture *f = *state;
  assert_ok(f, call_rmdir(f, K "\\missing", true));
  assert_ok(f, call_rmdir(f, K "\\missing\\parent", true));
  csi_fake_add_file(f->fake, K "\\file");
  assert_ok(f, call_rmdir(f, K "\\file\\below", true));
  assert_ok(f, call_rmdir(f, K "\\file", true));

  csi_fake_add_file(f->fake, K "\\keep\\precious");
  csi_fake_add_file(f->fake, K "\\tree\\a\\b\\file");
  csi_fake_add_file(f->fake, K "\\tree\\a\\read_only");
  csi_fake_set_read_only(f->fake, K "\\tree\\a\\read_only");
  csi_fake_set_read_only(f->fake, K "\\tree\\a\\b");
  csi_fake_add_directory(f->fake, K "\\tree\\z");
  csi_fake_add_lone_surrogate(f->fake, K "\\tree");
  csi_fake_add_symlink(f->fake, K "\\tree\\link", "\\??\\" K "\\keep", false, true);
  csi_fake_add_junction(f->fake, K "\\tree\\a\\mount", "\\??\\" VOLUME "\\");
  csi_fake_add_reparse_point(f->fake, K "\\tree\\cloud", 0x9000301A, false);
  csi_fake_add_file(f->fake, "\\\\?\\" VOLUME "\\precious");
  assert_ok(f, call_rmdir(f, K "\\tree", true));
  assert_false(csi_fake_exists(f->fake, K "\\tree"));
  assert_true(csi_fake_exists(f->fake, K "\\keep\\precious"));
  assert_true(csi_fake_exists(f->fake, "\\\\?\\" VOLUME "\\precious"));
}

static void test_rmdir_force_goes_on_past_failures(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\tree\\a\\1");
  csi_fake_add_file(f->fake, K "\\tree\\b\\c\\locked");
  csi_fake_add_file(f->fake, K "\\tree\\b\\d");
  csi_fake_add_file(f->fake, K "\\tree\\z");
  csi_fake_add_file(f->fake, K "\\tree\\zz");
  csi_fake_lock(f->fake, K "\\tree\\b\\c\\locked");
  csi_fake_lock(f->fake, K "\\tree\\zz");
  assert_failed(f, call_rmdir(f, K "\\tree", true), CSI_FAILED_PRECONDITION,
                "unlinkat " K "\\tree\\b\\c\\locked: The process cannot access the file");
  assert_int_equal(f->status.number, CSI_WIN32_SHARING_VIOLATION);
  assert_int_equal(csi_fake_count_children(f->fake, K "\\tree"), 2);
  assert_int_equal(csi_fake_count_children(f->fake, K "\\tree\\b"), 1);
  assert_true(csi_fake_exists(f->fake, K "\\tree\\b\\c\\locked"));
}

static void test_rmdir_contents(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\keep\\precious");
  csi_fake_add_directory(f->fake, K "\\dir");
  assert_ok(f, call_rmdir_contents(f, K "\\dir"));
  csi_fake_add_file(f->fake, K "\\dir\\a\\b\\c");
  csi_fake_add_symlink(f->fake, K "\\dir\\link", "\\??\\" K "\\keep", false, true);
  csi_fake_add_file(f->fake, K "\\dir\\file");
  assert_ok(f, call_rmdir_contents(f, K "\\dir"));
  assert_true(csi_fake_is_directory(f->fake, K "\\dir"));
  assert_int_equal(csi_fake_count_children(f->fake, K "\\dir"), 0);
  assert_true(csi_fake_exists(f->fake, K "\\keep\\precious"));

  assert_failed(f, call_rmdir_contents(f, K "\\missing"), CSI_NOT_FOUND,
                "open " K "\\missing: " NOT_FOUND_TEXT);
  assert_failed(f, call_rmdir_contents(f, K "\\keep\\precious"), CSI_FAILED_PRECONDITION,
                "open " K "\\keep\\precious: The directory name is invalid.");
}

static void test_rmdir_contents_of_a_mounted_folder(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_junction(f->fake, K "\\mount", "\\??\\" VOLUME "\\");
  csi_fake_add_file(f->fake, "\\\\?\\" VOLUME "\\a\\b");
  csi_fake_add_file(f->fake, "\\\\?\\" VOLUME "\\c");
  csi_fake_add_file(f->fake, "\\\\?\\" VOLUME "\\System Volume Information\\tracking.log");
  csi_fake_add_file(f->fake, "\\\\?\\" VOLUME "\\d\\System Volume Information");
  assert_ok(f, call_rmdir_contents(f, K "\\mount"));
  assert_int_equal(csi_fake_count_children(f->fake, "\\\\?\\" VOLUME "\\"), 1);
  assert_true(csi_fake_exists(f->fake, "\\\\?\\" VOLUME "\\System Volume Information\\tracking.log"));
  assert_true(csi_fake_is_reparse_point(f->fake, K "\\mount"));
}

static void test_rmdir_contents_refuses_other_links(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\keep\\precious");
  csi_fake_add_file(f->fake, "\\\\?\\" VOLUME "\\below\\precious");
  csi_fake_add_symlink(f->fake, K "\\symlink", "\\??\\" K "\\keep", false, true);
  csi_fake_add_junction(f->fake, K "\\junction", "\\??\\" K "\\keep");
  csi_fake_add_symlink(f->fake, K "\\volume_symlink", "\\??\\" VOLUME "\\", false, true);
  csi_fake_add_junction(f->fake, K "\\below_root", "\\??\\" VOLUME "\\below");
  static const char *const links[] = {K "\\symlink", K "\\junction", K "\\volume_symlink", K "\\below_root"};
  for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
    char text[256];
    snprintf(text, sizeof text, "open %s: %s is a link, and links below a working directory are not followed",
             links[i], links[i]);
    assert_failed(f, call_rmdir_contents(f, links[i]), CSI_FAILED_PRECONDITION, text);
  }
  assert_true(csi_fake_exists(f->fake, K "\\keep\\precious"));
  assert_true(csi_fake_exists(f->fake, "\\\\?\\" VOLUME "\\below\\precious"));
}

#define SYSTEM_VOLUME "Volume{00000000-0000-0000-0000-00000000000c}"
#define D_VOLUME "Volume{00000000-0000-0000-0000-00000000000d}"
#define E_VOLUME "Volume{00000000-0000-0000-0000-00000000000e}"

static void test_rmdir_contents_spares_the_volumes_of_the_node(void **state) {
  struct handlers_fixture *f = *state;
  static const char *const roots[] = {"D:\\kubelet"};
  use_working_directories(f, roots, 1);
  csi_fake_add_volume(f->fake, D_VOLUME, 'D', 4);
  csi_fake_add_file(f->fake, "C:\\Windows\\precious");
  csi_fake_add_junction(f->fake, "D:\\kubelet\\system", "\\??\\" SYSTEM_VOLUME "\\");
  csi_fake_add_junction(f->fake, "D:\\kubelet\\own", "\\??\\" D_VOLUME "\\");
  static const char *const paths[] = {"D:\\kubelet\\system", "D:\\kubelet\\own"};
  for (size_t i = 0; i < 2; i++) {
    char text[256];
    snprintf(text, sizeof text, "open %s: the volume mounted there holds Windows or a working directory",
             paths[i]);
    assert_failed(f, call_rmdir_contents(f, paths[i]), CSI_PERMISSION_DENIED, text);
  }
  assert_true(csi_fake_exists(f->fake, "C:\\Windows\\precious"));
  assert_true(csi_fake_exists(f->fake, "D:\\kubelet\\own"));
}

static void test_rmdir_contents_spares_the_volumes_of_all_working_directories(void **state) {
  struct handlers_fixture *f = *state;
  static const char *const roots[] = {"D:\\kubelet", "X:\\detached", "E:\\plugins", "E:\\missing"};
  use_working_directories(f, roots, 4);
  csi_fake_add_volume(f->fake, D_VOLUME, 'D', 4);
  csi_fake_add_volume(f->fake, E_VOLUME, 'E', 5);
  csi_fake_add_file(f->fake, "E:\\plugins\\precious");
  csi_fake_add_junction(f->fake, "D:\\kubelet\\other", "\\??\\" E_VOLUME "\\");
  csi_fake_add_junction(f->fake, "D:\\kubelet\\data", "\\??\\" VOLUME "\\");
  csi_fake_add_file(f->fake, "\\\\?\\" VOLUME "\\file");
  assert_failed(f, call_rmdir_contents(f, "D:\\kubelet\\other"), CSI_PERMISSION_DENIED,
                "open D:\\kubelet\\other: the volume mounted there holds Windows or a working directory");
  assert_true(csi_fake_exists(f->fake, "E:\\plugins\\precious"));
  assert_ok(f, call_rmdir_contents(f, "D:\\kubelet\\data"));
  assert_int_equal(csi_fake_count_children(f->fake, "\\\\?\\" VOLUME "\\"), 0);
}

static void test_working_directories_survive(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\pods\\x");
  assert_failed(f, call_rmdir(f, K, true), CSI_PERMISSION_DENIED, "remove " K SPARED);
  assert_failed(f, call_rmdir(f, K "\\", false), CSI_PERMISSION_DENIED, "remove " K "\\" SPARED);
  assert_failed(f, call_rmdir_contents(f, "c:\\VAR\\lib\\kubelet"), CSI_PERMISSION_DENIED,
                "open c:\\VAR\\lib\\kubelet" SPARED);
  assert_true(csi_fake_exists(f->fake, K "\\pods\\x"));
}

/* What a path does not show: short names, and links of the administrator's above. */
static void test_working_directories_survive_under_other_names(void **state) {
  struct handlers_fixture *f = *state;
  static const char *const roots[] = {K, K "\\plugins_registry\\drivers", "D:\\data", K "\\nothing\\here"};
  use_working_directories(f, roots, 4);
  csi_fake_add_volume(f->fake, D_VOLUME, 'D', 4);
  csi_fake_add_file(f->fake, K "\\plugins_registry\\drivers\\precious");
  csi_fake_set_short_name(f->fake, K "\\plugins_registry", "PLUGIN~1");
  csi_fake_set_short_name(f->fake, K "\\plugins_registry\\drivers", "DRIVER~1");
  csi_fake_add_file(f->fake, K "\\target\\data\\precious");
  csi_fake_add_junction(f->fake, "D:\\data", "\\??\\" K "\\target\\data");
  static const char *const paths[] = {K "\\PLUGIN~1", K "\\plugin~1\\drivers", K "\\PLUGIN~1\\DRIVER~1",
                                      K "\\target\\data"};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    char text[256];
    snprintf(text, sizeof text, "remove %s" SPARED, paths[i]);
    assert_failed(f, call_rmdir(f, paths[i], true), CSI_PERMISSION_DENIED, text);
    assert_failed(f, call_rmdir(f, paths[i], false), CSI_PERMISSION_DENIED, text);
    snprintf(text, sizeof text, "open %s" SPARED, paths[i]);
    assert_failed(f, call_rmdir_contents(f, paths[i]), CSI_PERMISSION_DENIED, text);
  }
  assert_true(csi_fake_exists(f->fake, K "\\plugins_registry\\drivers\\precious"));
  assert_true(csi_fake_exists(f->fake, K "\\target\\data\\precious"));
  assert_ok(f, call_rmdir(f, K "\\PLUGIN~1\\DRIVER~1\\precious", true));
}

/* The mounted folder on the way to one is recognised, although nothing behind it is looked at. */
static void test_working_directory_in_a_mounted_volume_survives(void **state) {
  struct handlers_fixture *f = *state;
  static const char *const roots[] = {K, K "\\mounted_volume\\sub"};
  use_working_directories(f, roots, 2);
  csi_fake_add_junction(f->fake, K "\\mounted_volume", "\\??\\" VOLUME "\\");
  csi_fake_set_short_name(f->fake, K "\\mounted_volume", "MOUNTE~1");
  csi_fake_add_file(f->fake, "\\\\?\\" VOLUME "\\sub\\precious");
  assert_failed(f, call_rmdir_contents(f, K "\\MOUNTE~1"), CSI_PERMISSION_DENIED,
                "open " K "\\MOUNTE~1" SPARED);
  assert_failed(f, call_rmdir(f, K "\\MOUNTE~1", true), CSI_PERMISSION_DENIED,
                "remove " K "\\MOUNTE~1" SPARED);
  assert_true(csi_fake_exists(f->fake, "\\\\?\\" VOLUME "\\sub\\precious"));
}

/* Comparing must not do what walks refuse to do. */
static void test_link_in_place_of_a_working_directory_is_not_followed(void **state) {
  struct handlers_fixture *f = *state;
  static const char *const roots[] = {K, K "\\inner\\deep"};
  use_working_directories(f, roots, 2);
  csi_fake_add_symlink(f->fake, K "\\inner", "\\??\\UNC\\evil\\share", false, true);
  csi_fake_add_directory(f->fake, K "\\tree\\a");
  csi_fake_add_junction(f->fake, K "\\data", "\\??\\" VOLUME "\\");
  assert_ok(f, call_rmdir_contents(f, K "\\data"));
  assert_ok(f, call_rmdir_contents(f, K "\\tree"));
  assert_ok(f, call_rmdir(f, K "\\tree", true));
  assert_int_equal(csi_fake_network_touches(f->fake), 0);
}

/* A link below the outer one would otherwise be followed for whoever can plant it. */
static void test_nested_working_directory_may_not_be_a_link(void **state) {
  struct handlers_fixture *f = *state;
  static const char *const roots[] = {K "\\a\\inner", K};
  use_working_directories(f, roots, 2);
  csi_fake_add_file(f->fake, "C:\\Windows\\precious");
  csi_fake_add_directory(f->fake, K "\\a\\inner\\x");
  assert_exists(f, K "\\a\\inner\\x", true);
  csi_fake_move(f->fake, K "\\a\\inner", K "\\moved");
  csi_fake_add_symlink(f->fake, K "\\a\\inner", "\\??\\C:\\Windows", false, true);
  bool exists;
  assert_failed(f, call_path_exists(f, K "\\a\\inner\\precious", &exists), CSI_FAILED_PRECONDITION,
                "GetFileAttributesEx " K "\\a\\inner\\precious: " K "\\a\\inner is a link");
  assert_failed(f, call_rmdir(f, K "\\a\\inner\\precious", true), CSI_FAILED_PRECONDITION, "remove ");
  assert_failed(f, call_mkdir(f, K "\\a\\inner\\new"), CSI_FAILED_PRECONDITION, "mkdir ");
  assert_int_equal(csi_fake_count_children(f->fake, "C:\\Windows"), 1);
}

/* Moves the working directory away as soon as something in it is opened. */
static void move_root(struct csi_fake_filesystem *fake, enum csi_fake_call call, const char *name,
                      void *data) {
  (void)name;
  bool *moved = data;
  if (call != CSI_FAKE_OPEN_CHILD || *moved) return;
  *moved = true;
  csi_fake_move(fake, K, "C:\\elsewhere");
  csi_fake_add_file(fake, K "\\tree\\a\\precious");
}

static void test_working_directory_moved_in_the_middle_of_a_call(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\tree\\a\\b");
  bool moved = false;
  csi_fake_set_hook(f->fake, move_root, &moved);
  assert_ok(f, call_rmdir(f, K "\\tree", true));
  csi_fake_set_hook(f->fake, NULL, NULL);
  assert_true(moved);
  assert_int_equal(csi_fake_count_children(f->fake, "C:\\elsewhere"), 0);
  assert_true(csi_fake_exists(f->fake, K "\\tree\\a\\precious"));
}

static void test_create_symlink(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_directory(f->fake, K "\\source");
  csi_fake_add_file(f->fake, K "\\file");
  csi_fake_add_directory(f->fake, K "\\pod");
  assert_ok(f, call_create_symlink(f, K "\\source", K "\\pod\\mount"));
  assert_true(csi_fake_is_reparse_point(f->fake, K "\\pod\\mount"));
  assert_true(csi_fake_is_directory(f->fake, K "\\pod\\mount"));
  assert_is_symlink(f, K "\\pod\\mount", true);
  assert_ok(f, call_create_symlink(f, K "\\file", K "\\pod\\file"));
  assert_false(csi_fake_is_directory(f->fake, K "\\pod\\file"));
  assert_is_symlink(f, K "\\pod\\file", true);
  assert_ok(f, call_create_symlink(f, K "\\later", K "\\pod\\later"));
  assert_true(csi_fake_is_directory(f->fake, K "\\pod\\later"));
  assert_is_symlink(f, K "\\pod\\later", false);
  csi_fake_add_directory(f->fake, K "\\later");
  assert_is_symlink(f, K "\\pod\\later", true);
}

static void test_create_symlink_to_links_and_mounts(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_junction(f->fake, K "\\mount", "\\??\\" VOLUME "\\");
  csi_fake_add_symlink(f->fake, K "\\share", "\\??\\UNC\\host\\share\\", false, true);
  csi_fake_break_volume(f->fake, VOLUME, CSI_WIN32_NOT_READY);
  assert_ok(f, call_create_symlink(f, K "\\mount", K "\\a"));
  assert_ok(f, call_create_symlink(f, K "\\share", K "\\b"));
  assert_true(csi_fake_is_directory(f->fake, K "\\a"));
  assert_true(csi_fake_is_directory(f->fake, K "\\b"));
  assert_int_equal(csi_fake_network_touches(f->fake), 0);
}

static void test_create_symlink_twice(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_directory(f->fake, K "\\source");
  csi_fake_add_directory(f->fake, K "\\other");
  assert_ok(f, call_create_symlink(f, K "\\source", K "\\link"));
  assert_ok(f, call_create_symlink(f, K "\\source", K "\\link"));
  assert_ok(f, call_create_symlink(f, "c:\\var\\lib\\kubelet\\SOURCE\\", K "\\link"));
  assert_failed(f, call_create_symlink(f, K "\\other", K "\\link"), CSI_ALREADY_EXISTS,
                "symlink " K "\\other " K "\\link: " EXISTS_TEXT);
  csi_fake_add_symlink(f->fake, K "\\wrong_kind", "\\??\\" K "\\source", false, false);
  csi_fake_add_junction(f->fake, K "\\junction", "\\??\\" K "\\source");
  csi_fake_add_symlink(f->fake, K "\\relative", "source", true, true);
  static const char *const taken[] = {K "\\wrong_kind", K "\\junction", K "\\relative", K "\\other", K};
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
    char text[256];
    snprintf(text, sizeof text, "symlink %s %s: %s", K "\\source", taken[i], EXISTS_TEXT);
    assert_failed(f, call_create_symlink(f, K "\\source", taken[i]), CSI_ALREADY_EXISTS, text);
  }
}

static void test_link_to_a_share(void **state) {
  struct handlers_fixture *f = *state;
  assert_ok(f, call_share_link(f, "\\\\Host\\Share\\sub\\", K "\\link"));
  assert_true(csi_fake_is_directory(f->fake, K "\\link"));
  assert_is_symlink(f, K "\\link", true);
  assert_exists(f, K "\\link", true);
  assert_ok(f, call_share_link(f, "\\\\Host\\Share\\sub\\", K "\\link"));
  assert_ok(f, call_share_link(f, "\\\\hOST\\share\\sub\\", K "\\link"));
  static const char *const others[] = {"\\\\Host\\Share\\sub", "\\\\Host\\Share\\", "\\\\Host\\Share\\SUB\\",
                                       "\\\\Host\\Share\\sub\\x\\", "\\\\?\\Host\\Share\\sub\\"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    assert_failed(f, call_share_link(f, others[i], K "\\link"), CSI_ALREADY_EXISTS,
                  "symlink " K "\\link: " EXISTS_TEXT);
  assert_failed(f, call_share_link(f, "\\\\h\\s\\", K), CSI_ALREADY_EXISTS, "symlink " K ": " EXISTS_TEXT);
  csi_fake_add_directory(f->fake, K "\\source");
  assert_failed(f, call_create_symlink(f, K "\\source", K "\\link"), CSI_ALREADY_EXISTS, "symlink ");
  assert_ok(f, call_rmdir(f, K "\\link", true)); /* of it, and nothing on the share */
  assert_exists(f, K "\\link", false);
  assert_int_equal(csi_fake_network_touches(f->fake), 0);
}

static void test_link_to_a_share_does_not_believe_the_file_system(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_lose_reparse_points(f->fake);
  assert_failed(f, call_share_link(f, "\\\\h\\s\\", K "\\link"), CSI_FAILED_PRECONDITION,
                "symlink " K "\\link: The file or directory is not a reparse point.");
  assert_exists(f, K "\\link", false);
}

static void test_create_symlink_checks_target_before_source(void **state) {
  struct handlers_fixture *f = *state;
  assert_failed(f, call_create_symlink(f, "C:\\s", "C:\\t"), CSI_PERMISSION_DENIED,
                "path: C:\\t is not within");
  assert_failed(f, call_create_symlink(f, "C:\\s", K "\\t"), CSI_PERMISSION_DENIED,
                "path: C:\\s is not within");
  assert_failed(f, call_create_symlink(f, K "\\s", K "\\no\\where"), CSI_NOT_FOUND,
                "symlink " K "\\s " K "\\no\\where: " NO_PATH_TEXT);
}

static void test_create_symlink_does_not_believe_the_file_system(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_lose_reparse_points(f->fake);
  csi_fake_add_directory(f->fake, K "\\source");
  assert_failed(f, call_create_symlink(f, K "\\source", K "\\link"), CSI_FAILED_PRECONDITION,
                "symlink " K "\\source " K "\\link: The file or directory is not a reparse point.");
  assert_false(csi_fake_exists(f->fake, K "\\link"));
}

static void test_is_symlink(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_directory(f->fake, K "\\dir");
  csi_fake_add_file(f->fake, K "\\file");
  csi_fake_add_symlink(f->fake, K "\\good", "\\??\\" K "\\dir", false, true);
  csi_fake_add_symlink(f->fake, K "\\dangling", "\\??\\" K "\\gone", false, true);
  csi_fake_add_junction(f->fake, K "\\junction", "\\??\\" K "\\dir\\");
  csi_fake_add_junction(f->fake, K "\\mount", "\\??\\" VOLUME "\\");
  csi_fake_add_symlink(f->fake, K "\\share", "\\??\\UNC\\host\\share\\", false, true);
  csi_fake_add_symlink(f->fake, K "\\device", "\\??\\GLOBALROOT\\Device\\Mup\\host\\share", false, true);
  csi_fake_add_reparse_point(f->fake, K "\\layer", 0x80000018, true);
  csi_fake_add_symlink(f->fake, K "\\chain", "\\??\\" K "\\good", false, true);
  csi_fake_add_symlink(f->fake, K "\\to_dangling", "\\??\\" K "\\dangling", false, true);
  assert_is_symlink(f, K, false);
  assert_is_symlink(f, K "\\dir", false);
  assert_is_symlink(f, K "\\file", false);
  assert_is_symlink(f, K "\\good", true);
  assert_is_symlink(f, K "\\chain", true);
  assert_is_symlink(f, K "\\dangling", false);
  assert_is_symlink(f, K "\\to_dangling", true); /* its target is there: the other link */
  assert_is_symlink(f, K "\\junction", true);
  assert_is_symlink(f, K "\\mount", true);
  assert_is_symlink(f, K "\\share", true);
  assert_is_symlink(f, K "\\device", false);
  assert_is_symlink(f, K "\\layer", false);
  assert_int_equal(csi_fake_network_touches(f->fake), 0);
  bool answer;
  assert_failed(f, call_is_symlink(f, K "\\missing", &answer), CSI_NOT_FOUND,
                "GetFileAttributesEx " K "\\missing: " NOT_FOUND_TEXT);
  assert_failed(f, call_is_symlink(f, K "\\no\\where", &answer), CSI_NOT_FOUND,
                "GetFileAttributesEx " K "\\no\\where: " NO_PATH_TEXT);
}

static void test_is_symlink_takes_paths_as_the_kubelet_spells_them(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_directory(f->fake, K "\\dir");
  csi_fake_add_symlink(f->fake, K "\\good", "\\??\\" K "\\dir", false, true);
  assert_is_symlink(f, "/var/lib/kubelet/good", true);
  assert_is_symlink(f, "\\var\\lib\\kubelet\\good", true);
  assert_is_symlink(f, "c:/var/lib/kubelet/./good/", true);
  bool answer;
  assert_failed(f, call_is_symlink(f, "//host/share", &answer), CSI_INVALID_ARGUMENT,
                "unsupported UNC path prefix: //host/share");
  assert_failed(f, call_is_symlink(f, "/etc", &answer), CSI_PERMISSION_DENIED,
                "path: /etc is not within the working directories: [" K "]");
}

static void test_relative_links_count_from_the_link(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_directory(f->fake, K "\\a\\b");
  csi_fake_add_directory(f->fake, "C:\\other");
  csi_fake_add_symlink(f->fake, K "\\a\\up", "..\\a\\.\\b", true, true);
  csi_fake_add_symlink(f->fake, K "\\a\\here", "b", true, true);
  csi_fake_add_symlink(f->fake, K "\\a\\wrong", "a\\b", true, true);
  csi_fake_add_symlink(f->fake, K "\\a\\rooted", "\\other", true, true);
  csi_fake_add_symlink(f->fake, K "\\a\\above_all", "..\\..\\..\\..\\..\\..\\..\\other", true, true);
  assert_is_symlink(f, K "\\a\\up", true);
  assert_is_symlink(f, K "\\a\\here", true);
  assert_is_symlink(f, K "\\a\\wrong", false);
  assert_is_symlink(f, K "\\a\\rooted", true);
  assert_is_symlink(f, K "\\a\\above_all", true);
}

static void test_is_symlink_when_the_volume_is_gone(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_junction(f->fake, K "\\mount", "\\??\\" VOLUME "\\");
  csi_fake_add_junction(f->fake, K "\\unknown", "\\??\\Volume{fffffff0-0000-0000-0000-000000000001}\\");
  assert_is_symlink(f, K "\\unknown", false);
  static const uint32_t gone[] = {CSI_WIN32_FILE_NOT_FOUND, CSI_WIN32_NOT_READY,
                                  CSI_WIN32_UNRECOGNIZED_VOLUME, CSI_WIN32_DEVICE_NOT_CONNECTED,
                                  CSI_WIN32_NO_SUCH_DEVICE};
  for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
    csi_fake_break_volume(f->fake, VOLUME, gone[i]);
    assert_is_symlink(f, K "\\mount", false);
  }
  csi_fake_break_volume(f->fake, VOLUME, CSI_WIN32_ACCESS_DENIED);
  bool answer;
  assert_failed(f, call_is_symlink(f, K "\\mount", &answer), CSI_PERMISSION_DENIED, "GetFileAttributesEx ");
}

static void test_circles_of_links(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_symlink(f->fake, K "\\a", "b\\x", true, true);
  csi_fake_add_symlink(f->fake, K "\\b", "a\\x", true, true);
  assert_is_symlink(f, K "\\a", false);
  assert_failed(f, call_mkdir(f, K "\\a"), CSI_ALREADY_EXISTS, "mkdir " K "\\a: " EXISTS_TEXT);
}

static void test_length_is_no_limit_of_ours(void **state) {
  struct handlers_fixture *f = *state;
  char path[4096] = K;
  for (int i = 0; i < 15; i++) {
    strcat(path, "\\");
    memset(path + strlen(path), 'a' + i, 200);
  }
  assert_ok(f, call_mkdir(f, path));
  assert_exists(f, path, true);
  assert_is_symlink(f, path, false);
  path[strlen(K) + 1 + 200] = '\0'; /* the first of them */
  assert_ok(f, call_rmdir(f, path, true));
  assert_int_equal(csi_fake_count_children(f->fake, K), 0);
}

static void test_deep_and_wide_trees_take_little_memory(void **state) {
  struct handlers_fixture *f = *state;
  char path[256];
  for (int i = 0; i < 20000; i++) {
    snprintf(path, sizeof path, K "\\wide\\%05d", i);
    csi_fake_add_file(f->fake, path);
  }
  assert_ok(f, call_rmdir(f, K "\\wide", true));
  assert_true(f->arena_bytes < 16384);

  /* Deeper than any path can say: moved into each other from the innermost outwards. */
  csi_fake_add_directory(f->fake, "C:\\tmp\\d\\d");
  for (int i = 0; i < 20000; i++) {
    csi_fake_add_directory(f->fake, "C:\\tmp2");
    csi_fake_move(f->fake, "C:\\tmp\\d", "C:\\tmp2\\d");
    csi_fake_move(f->fake, "C:\\tmp2", "C:\\tmp\\d");
  }
  csi_fake_move(f->fake, "C:\\tmp", K "\\deep");
  f->arena_cap_bytes = 3 << 20;
  assert_ok(f, call_rmdir(f, K "\\deep", true));
  assert_int_equal(csi_fake_count_children(f->fake, K), 0);
}

static void test_cancelled_and_late_calls_stop(void **state) {
  struct handlers_fixture *f = *state;
  csi_fake_add_file(f->fake, K "\\tree\\a\\b");
  csi_fake_add_symlink(f->fake, K "\\link", "tree", true, true);
  atomic_store(&f->cancelled, true);
  bool answer;
  assert_false(call_is_symlink(f, K "\\link", &answer));
  assert_int_equal(f->status.code, CSI_CANCELLED);
  assert_false(call_create_symlink(f, K "\\tree", K "\\new"));
  assert_int_equal(f->status.code, CSI_CANCELLED);
  assert_false(call_rmdir(f, K "\\tree", true));
  assert_int_equal(f->status.code, CSI_CANCELLED);
  atomic_store(&f->cancelled, false);
  f->deadline_ns = csi_now_ns() - 1;
  assert_false(call_rmdir_contents(f, K "\\tree"));
  assert_int_equal(f->status.code, CSI_DEADLINE_EXCEEDED);
  assert_true(csi_fake_exists(f->fake, K "\\tree\\a\\b"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handlers_fixture_set_up, handlers_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_path_exists),
      TEST(test_only_what_is_beyond_a_link_is_watched),
      TEST(test_path_exists_reports_what_it_cannot_know),
      TEST(test_missing_working_directory),
      TEST(test_working_directory_may_be_a_link),
      TEST(test_mkdir),
      TEST(test_mkdir_with_something_in_the_way),
      TEST(test_mkdir_of_a_link_to_a_directory),
      TEST(test_rmdir),
      TEST(test_rmdir_takes_links_as_such),
      TEST(test_rmdir_force),
      TEST(test_rmdir_force_goes_on_past_failures),
      TEST(test_rmdir_contents),
      TEST(test_rmdir_contents_of_a_mounted_folder),
      TEST(test_rmdir_contents_refuses_other_links),
      TEST(test_rmdir_contents_spares_the_volumes_of_the_node),
      TEST(test_rmdir_contents_spares_the_volumes_of_all_working_directories),
      TEST(test_working_directories_survive),
      TEST(test_working_directories_survive_under_other_names),
      TEST(test_working_directory_in_a_mounted_volume_survives),
      TEST(test_link_in_place_of_a_working_directory_is_not_followed),
      TEST(test_nested_working_directory_may_not_be_a_link),
      TEST(test_working_directory_moved_in_the_middle_of_a_call),
      TEST(test_create_symlink),
      TEST(test_create_symlink_to_links_and_mounts),
      TEST(test_create_symlink_twice),
      TEST(test_link_to_a_share),
      TEST(test_link_to_a_share_does_not_believe_the_file_system),
      TEST(test_create_symlink_checks_target_before_source),
      TEST(test_create_symlink_does_not_believe_the_file_system),
      TEST(test_is_symlink),
      TEST(test_is_symlink_takes_paths_as_the_kubelet_spells_them),
      TEST(test_relative_links_count_from_the_link),
      TEST(test_is_symlink_when_the_volume_is_gone),
      TEST(test_circles_of_links),
      TEST(test_length_is_no_limit_of_ours),
      TEST(test_deep_and_wide_trees_take_little_memory),
      TEST(test_cancelled_and_late_calls_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
