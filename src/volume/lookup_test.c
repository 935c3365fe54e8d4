/* SPDX-License-Identifier: Apache-2.0
 *
 * GetVolumeIDFromTargetPath and GetClosestVolumeIDFromTargetPath.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#ifndef _WIN32
#include <regex.h>
#endif

#include "volume/volume_fixture.h"

#define PV K "\\pv"
#define OTHER "Volume{01234567-0000-0000-0000-00000000000d}"

/* What a driver takes for "nothing is mounted there"; all other texts fail its call. */
static bool says_not_mounted(const char *text) {
#ifdef _WIN32
  return strstr(text, "(Get-Item -Path $Env:mountpath).Target, output: , error: <nil>") != NULL ||
         strstr(text, "because it does not exist") != NULL;
#else
  regex_t pattern;
  assert_int_equal(regcomp(&pattern,
                           "(Get-Item -Path [^[:space:]]+).Target, output: , error: <nil>"
                           "|because it does not exist",
                           REG_EXTENDED | REG_NOSUB),
                   0);
  bool matches = regexec(&pattern, text, 0, NULL, 0) == 0;
  regfree(&pattern);
  return matches;
#endif
}

static void assert_not_mounted(struct volume_fixture *f, const char *path, enum csi_code code) {
  if (call_lookup(f, path)) fail_msg("%s is mounted", path);
  if (!says_not_mounted(f->status.text)) fail_msg("%s: %s", path, f->status.text);
  assert_int_equal(f->status.code, code);
}

static void test_mounted_folder(void **state) {
  struct volume_fixture *f = *state;
  assert_ok(f, call_mount(f, f->id, PV));
  csi_fake_storage_reset_counts(f->storage);
  assert_ok(f, call_lookup(f, PV));
  assert_string_equal(f->ids[0], f->id);
  /* The volume itself was left alone. */
  assert_int_equal(csi_fake_storage_count_steps(f->storage, CSI_FAKE_ANY_STEP, CSI_FAKE_ANY_DISK), 0);
}

/* A pod's directory is a link to the staging directory, which is mounted. */
static void test_through_links(void **state) {
  struct volume_fixture *f = *state;
  assert_ok(f, call_mount(f, f->id, PV));
  csi_fake_add_symlink(f->files, K "\\absolute", "\\??\\C:\\var\\lib\\kubelet\\pv", false, true);
  csi_fake_add_symlink(f->files, K "\\relative", "pods\\..\\pv", true, true);
  csi_fake_add_directory(f->files, K "\\pods");
  csi_fake_add_symlink(f->files, K "\\pods\\chain", "..\\relative", true, true);
  csi_fake_add_junction(f->files, K "\\pods\\junction", "\\??\\C:\\var\\lib\\kubelet\\pods\\chain\\");
  csi_fake_add_symlink(f->files, K "\\pods\\rooted", "\\var\\lib\\kubelet\\pv", true, true);
  csi_fake_add_symlink(f->files, K "\\up", "\\??\\C:\\var\\lib\\kubelet", false, true);
  static const char *const paths[] = {
      K "\\absolute",     K "\\relative",        K "\\pods\\chain",          K "\\pods\\junction",
      K "\\pods\\rooted", K "\\up\\pods\\chain", "/var/lib/kubelet/up/up/pv"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    assert_ok(f, call_lookup(f, paths[i]));
    assert_string_equal(f->ids[0], f->id);
    assert_ok(f, call_closest(f, paths[i]));
    assert_string_equal(f->ids[0], f->id);
  }
}

static void test_gone_volume_is_not_touched(void **state) {
  struct volume_fixture *f = *state;
  assert_ok(f, call_mount(f, f->id, PV));
  csi_fake_add_symlink(f->files, K "\\link", "\\??\\C:\\var\\lib\\kubelet\\pv", false, true);
  csi_fake_storage_unplug(f->storage, DATA_DISK);
  assert_ok(f, call_lookup(f, K "\\link"));
  assert_string_equal(f->ids[0], f->id);
  assert_ok(f, call_closest(f, PV));
  assert_string_equal(f->ids[0], f->id);
}

static void test_not_mounted(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_add_file(f->files, K "\\file");
  csi_fake_add_directory(f->files, K "\\a directory with blanks");
  csi_fake_add_symlink(f->files, K "\\link", "\\??\\C:\\var\\lib\\kubelet\\pv", false, true);
  csi_fake_add_symlink(f->files, K "\\dangling", "\\??\\C:\\gone", false, true);
  csi_fake_add_symlink(f->files, K "\\circle", "circle", true, true);
  csi_fake_add_symlink(f->files, K "\\drive", "\\??\\C:\\", false, true);
  csi_fake_add_reparse_point(f->files, K "\\cloud", 0x9000001A, true);
  assert_not_mounted(f, PV, CSI_FAILED_PRECONDITION);
  assert_not_mounted(f, "C:\\", CSI_FAILED_PRECONDITION);
  assert_not_mounted(f, K "\\file", CSI_FAILED_PRECONDITION);
  assert_not_mounted(f, K "\\a directory with blanks", CSI_FAILED_PRECONDITION);
  assert_not_mounted(f, K "\\link", CSI_FAILED_PRECONDITION);
  assert_not_mounted(f, K "\\drive", CSI_FAILED_PRECONDITION);
  assert_not_mounted(f, K "\\cloud", CSI_FAILED_PRECONDITION);
  assert_not_mounted(f, K "\\missing", CSI_NOT_FOUND);
  assert_not_mounted(f, K "\\missing\\deeper\\still", CSI_NOT_FOUND);
  assert_not_mounted(f, K "\\file\\below", CSI_NOT_FOUND);
  assert_not_mounted(f, "Q:\\no\\such\\drive", CSI_NOT_FOUND);
  assert_not_mounted(f, K "\\dangling", CSI_NOT_FOUND);
  assert_not_mounted(f, K "\\circle", CSI_NOT_FOUND);
}

static void test_not_mounted_with_a_long_path(void **state) {
  struct volume_fixture *f = *state;
  char path[20000] = K;
  for (size_t length = strlen(path); length + 202 < sizeof path; length += 201) {
    path[length] = '\\';
    memset(path + length + 1, 'x', 200);
    path[length + 201] = '\0';
  }
  assert_not_mounted(f, path, CSI_NOT_FOUND);
  csi_fake_add_directory(f->files, path);
  assert_not_mounted(f, path, CSI_FAILED_PRECONDITION);
}

static void test_inside_of_a_volume(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_storage_sign(f->storage, DATA_DISK, DATA, CSI_FAKE_NTFS);
  assert_ok(f, call_mount(f, f->id, PV));
  char path[CSI_VOLUME_ID_BYTES + 16];
  snprintf(path, sizeof path, "%sdeep\\er", f->id);
  csi_fake_add_directory(f->files, path);
  assert_not_mounted(f, PV "\\deep\\er", CSI_FAILED_PRECONDITION);
  assert_ok(f, call_closest(f, PV "\\deep\\er"));
  assert_string_equal(f->ids[0], f->id);
  assert_not_mounted(f, PV "\\missing", CSI_NOT_FOUND);
  csi_fake_add_volume(f->files, OTHER, 0, 77);
  snprintf(path, sizeof path, "%sdeep\\pv", f->id);
  csi_fake_add_junction(f->files, path, "\\??\\" OTHER "\\");
  assert_ok(f, call_lookup(f, PV "\\deep\\pv")); /* a volume in a volume */
  assert_string_equal(f->ids[0], "\\\\?\\" OTHER "\\");
}

static void test_closest_is_the_drive(void **state) {
  struct volume_fixture *f = *state;
  char system_id[CSI_VOLUME_ID_BYTES];
  csi_fake_storage_set_letter(f->storage, &f->data, 'D');
  csi_fake_add_symlink(f->files, K "\\link", "\\??\\C:\\var", false, true);
  csi_fake_add_file(f->files, K "\\file");
  assert_ok(f, call_closest(f, "c:\\"));
  snprintf(system_id, sizeof system_id, "%s", f->ids[0]);
  assert_memory_equal(system_id, "\\\\?\\Volume{", 11);
  static const char *const paths[] = {K, "/var/lib/kubelet/pv", K "\\link\\lib", K "\\file"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    assert_ok(f, call_closest(f, paths[i]));
    assert_string_equal(f->ids[0], system_id);
  }
}

static void test_closest_of_nothing(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_add_symlink(f->files, K "\\dangling", "\\??\\C:\\gone", false, true);
  assert_failed(f, call_closest(f, ""), CSI_INVALID_ARGUMENT, "target path is empty");
  assert_failed(f, call_closest(f, K "\\missing"), CSI_NOT_FOUND,
                "error getting the closest volume for the path=" K "\\missing, err=");
  assert_says(f, "The system cannot find the file specified.");
  assert_failed(f, call_closest(f, K "\\dangling"), CSI_NOT_FOUND,
                "error getting the closest volume for the path=" K "\\dangling, err=");
  assert_failed(f, call_closest(f, "\\\\server\\share"), CSI_INVALID_ARGUMENT,
                "error getting the closest volume for the path=\\\\server\\share, err=unsupported UNC path");
  assert_failed(f, call_closest(f, "relative"), CSI_INVALID_ARGUMENT,
                "error getting the closest volume for the path=relative, err=not an absolute Windows path");
}

/* A planted link must not make the node log on elsewhere. */
static void test_links_to_other_machines(void **state) {
  struct volume_fixture *f = *state;
  csi_fake_add_symlink(f->files, K "\\unc", "\\??\\UNC\\evil\\share", false, true);
  csi_fake_add_symlink(f->files, K "\\unc2", "unc\\x", true, true);
  assert_not_mounted(f, K "\\unc", CSI_FAILED_PRECONDITION);
  assert_not_mounted(f, K "\\unc2", CSI_FAILED_PRECONDITION);
  assert_failed(f, call_closest(f, K "\\unc\\x"), CSI_FAILED_PRECONDITION,
                "error getting the closest volume for the path=" K "\\unc\\x, err=");
  assert_int_equal(csi_fake_network_touches(f->files), 0);
}

static void test_lookup_reports_what_it_cannot_know(void **state) {
  struct volume_fixture *f = *state;
  assert_failed(f, call_lookup(f, ""), CSI_INVALID_ARGUMENT, "target path is empty");
  assert_failed(f, call_lookup(f, "\\\\server\\share"), CSI_INVALID_ARGUMENT,
                "unsupported UNC path prefix: ");
  csi_fake_deny(f->files, PV, CSI_WIN32_ACCESS_DENIED);
  assert_failed(f, call_lookup(f, PV), CSI_PERMISSION_DENIED,
                "GetFileAttributesEx " PV ": Access is denied.");
  assert_false(says_not_mounted(f->status.text));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, volume_fixture_set_up, volume_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_mounted_folder),
      TEST(test_through_links),
      TEST(test_gone_volume_is_not_touched),
      TEST(test_not_mounted),
      TEST(test_not_mounted_with_a_long_path),
      TEST(test_inside_of_a_volume),
      TEST(test_closest_is_the_drive),
      TEST(test_closest_of_nothing),
      TEST(test_links_to_other_machines),
      TEST(test_lookup_reports_what_it_cannot_know),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
