/* SPDX-License-Identifier: Apache-2.0
 *
 * The handlers on the real host. Under Wine this is Wine's file system: no reparse points, no deletion
 * with POSIX semantics. A Unix symbolic link in the tree, which Wine shows as a directory with the
 * reparse bit and always follows, stands in for a planted link.
 *
 * The same tests also run with the emulated reparse points of integrationtests/testbed/links. Those are
 * there for the host only: to calls of the test's own they are empty directories.
 */
#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/text.h"
#include "filesystem/group.h"
#include "filesystem/handlers.h"
#include "filesystem/host_win32.h"
#include "filesystem/link.h"
#include "filesystem/reparse.h"
#include "win32/nt_calls.h"

enum {
  ARENA_BYTES = 4 << 20,
  PATH_UNITS = 4096,
};

struct fixture {
  char root[512];
  struct csi_filesystem *group;
  struct csi_status status;
  struct csi_arena *texts; /* for paths that tests make up */
};

/* `root`\name, as UTF-8. */
static const char *below(struct fixture *f, const char *name) {
  const char *path = csi_arena_printf(f->texts, "%s\\%s", f->root, name);
  assert_non_null(path);
  return path;
}

/* The same for Win32 calls of the test's own. */
static const wchar_t *wide(struct fixture *f, const char *path) {
  const char *verbatim = csi_arena_printf(f->texts, "\\\\?\\%s", path);
  assert_non_null(verbatim);
  const wchar_t *path_w = csi_utf16_from_utf8(f->texts, verbatim, strlen(verbatim), NULL, &f->status);
  assert_non_null(path_w);
  return path_w;
}

static bool is_there(struct fixture *f, const char *path) {
  return GetFileAttributesW(wide(f, path)) != INVALID_FILE_ATTRIBUTES;
}

static void make_file(struct fixture *f, const char *path) {
  HANDLE file = CreateFileW(wide(f, path), GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
  assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
  CloseHandle(file);
}

static int set_up(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->texts = csi_arena_new(ARENA_BYTES);
  assert_non_null(f->texts);
  wchar_t temp_w[MAX_PATH + 1];
  DWORD units = GetTempPathW(MAX_PATH, temp_w);
  assert_true(units > 0 && units < MAX_PATH);
  const char *temp = csi_utf8_from_utf16(f->texts, temp_w, units);
  assert_non_null(temp);
  snprintf(f->root, sizeof f->root, "%scsi-proxy-%lu", temp, GetCurrentProcessId());
  const char *const roots[] = {f->root};
  struct csi_filesystem_options options = {
      .working_dirs = roots, .working_dir_count = 1, .max_path_bytes = 32000};
  f->group = csi_filesystem_new(&options, csi_filesystem_host_win32(), &f->status);
  assert_non_null(f->group);
  *state = f;
  return 0;
}

static struct csi_ctx begin(void) {
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE};
  assert_non_null(ctx.arena);
  return ctx;
}

static bool end(struct fixture *f, struct csi_ctx *ctx, bool result) {
  f->status = ctx->status;
  csi_arena_free(ctx->arena);
  assert_int_equal(result, csi_status_ok(&f->status));
  return result;
}

static bool call_mkdir(struct fixture *f, const char *path) {
  struct csi_filesystem_mkdir_request request = {.path = path};
  struct csi_filesystem_mkdir_response response = {0};
  struct csi_ctx ctx = begin();
  return end(f, &ctx, csi_filesystem_serve_mkdir(&ctx, f->group, &request, &response));
}

static bool call_rmdir(struct fixture *f, const char *path, bool force) {
  struct csi_filesystem_rmdir_request request = {.path = path, .force = force};
  struct csi_filesystem_rmdir_response response = {0};
  struct csi_ctx ctx = begin();
  return end(f, &ctx, csi_filesystem_serve_rmdir(&ctx, f->group, &request, &response));
}

static bool call_rmdir_contents(struct fixture *f, const char *path) {
  struct csi_filesystem_rmdir_contents_request request = {.path = path};
  struct csi_filesystem_rmdir_contents_response response = {0};
  struct csi_ctx ctx = begin();
  return end(f, &ctx, csi_filesystem_serve_rmdir_contents(&ctx, f->group, &request, &response));
}

static bool call_create_symlink(struct fixture *f, const char *source, const char *target) {
  struct csi_filesystem_create_symlink_request request = {.source_path = source, .target_path = target};
  struct csi_filesystem_create_symlink_response response = {0};
  struct csi_ctx ctx = begin();
  return end(f, &ctx, csi_filesystem_serve_create_symlink(&ctx, f->group, &request, &response));
}

static bool call_path_exists(struct fixture *f, const char *path, bool *exists_out) {
  struct csi_filesystem_path_exists_request request = {.path = path};
  struct csi_filesystem_path_exists_response response = {0};
  struct csi_ctx ctx = begin();
  bool result = csi_filesystem_serve_path_exists(&ctx, f->group, &request, &response);
  *exists_out = response.exists;
  return end(f, &ctx, result);
}

static bool call_is_symlink(struct fixture *f, const char *path, bool *is_symlink_out) {
  struct csi_filesystem_is_symlink_request request = {.path = path};
  struct csi_filesystem_is_symlink_response response = {0};
  struct csi_ctx ctx = begin();
  bool result = csi_filesystem_serve_is_symlink(&ctx, f->group, &request, &response);
  *is_symlink_out = response.is_symlink;
  return end(f, &ctx, result);
}

static void assert_ok(struct fixture *f, bool result) {
  if (!result) fail_msg("%s", f->status.text);
}

static void assert_failed(struct fixture *f, bool result, const char *verb, const char *path,
                          const char *text) {
  char expected[2048];
  snprintf(expected, sizeof expected, "%s %s: %s", verb, path, text);
  assert_false(result);
  if (strncmp(f->status.text, expected, strlen(expected)) != 0)
    fail_msg("text is \"%s\", not \"%s...\"", f->status.text, expected);
}

static void assert_exists(struct fixture *f, const char *path, bool exists) {
  bool answer = !exists;
  assert_ok(f, call_path_exists(f, path, &answer));
  if (answer != exists) fail_msg("PathExists(%s) is %d", path, answer);
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  if (is_there(f, f->root)) {
    assert_ok(f, call_rmdir(f, below(f, "t"), true));
    assert_int_not_equal(RemoveDirectoryW(wide(f, f->root)), 0);
  }
  csi_filesystem_free(f->group);
  csi_arena_free(f->texts);
  free(f);
  return 0;
}

static void test_making_and_removing(void **state) {
  struct fixture *f = *state;
  assert_exists(f, f->root, false);
  assert_exists(f, below(f, "t\\a"), false);
  assert_ok(f, call_mkdir(f, below(f, "t\\a\\b")));
  assert_ok(f, call_mkdir(f, below(f, "T\\A\\B\\")));
  assert_exists(f, f->root, true);
  assert_exists(f, below(f, "t\\A"), true);
  assert_true(is_there(f, below(f, "t\\a\\b")));
  make_file(f, below(f, "t\\a\\file"));
  assert_exists(f, below(f, "t\\a\\file"), true);
  assert_exists(f, below(f, "t\\a\\file\\x"), false);
  assert_failed(f, call_mkdir(f, below(f, "t\\a\\file")), "mkdir", below(f, "t\\a\\file"),
                "The system cannot find the path specified.");
  assert_failed(f, call_rmdir(f, below(f, "t\\a"), false), "remove", below(f, "t\\a"),
                "The directory is not empty.");
  assert_ok(f, call_rmdir(f, below(f, "t\\a\\file"), false));
  assert_ok(f, call_rmdir(f, below(f, "t\\a\\b"), false));
  assert_failed(f, call_rmdir(f, below(f, "t\\a\\b"), false), "remove", below(f, "t\\a\\b"),
                "The system cannot find the file specified.");
  assert_failed(f, call_rmdir(f, below(f, "t\\no\\where"), false), "remove", below(f, "t\\no\\where"),
                "The system cannot find the path specified.");
  assert_ok(f, call_rmdir(f, below(f, "t\\no\\where"), true));
}

static void test_removing_read_only_things(void **state) {
  struct fixture *f = *state;
  assert_ok(f, call_mkdir(f, below(f, "t\\d\\e")));
  make_file(f, below(f, "t\\single"));
  make_file(f, below(f, "t\\d\\e\\file"));
  assert_int_not_equal(SetFileAttributesW(wide(f, below(f, "t\\single")), FILE_ATTRIBUTE_READONLY), 0);
  assert_int_not_equal(SetFileAttributesW(wide(f, below(f, "t\\d\\e\\file")), FILE_ATTRIBUTE_READONLY), 0);
  assert_ok(f, call_rmdir(f, below(f, "t\\single"), false));
  assert_ok(f, call_rmdir(f, below(f, "t\\d"), true));
  assert_false(is_there(f, below(f, "t\\single")));
  assert_false(is_there(f, below(f, "t\\d")));
}

static void test_removing_trees(void **state) {
  struct fixture *f = *state;
  char name[256];
  for (int i = 0; i < 300; i++) {
    snprintf(name, sizeof name, "t\\tree\\%d", i);
    assert_ok(f, call_mkdir(f, below(f, name)));
    snprintf(name, sizeof name, "t\\tree\\%d\\file", i);
    make_file(f, below(f, name));
  }
  assert_ok(f, call_rmdir_contents(f, below(f, "t\\tree")));
  assert_true(is_there(f, below(f, "t\\tree")));
  assert_ok(f, call_rmdir(f, below(f, "t\\tree"), false)); /* fails unless it is empty */
  assert_failed(f, call_rmdir_contents(f, below(f, "t\\tree")), "open", below(f, "t\\tree"),
                "The system cannot find the file specified.");
}

static void test_paths_longer_than_260(void **state) {
  struct fixture *f = *state;
  char path[PATH_UNITS];
  snprintf(path, sizeof path, "%s\\t", f->root);
  for (int i = 0; i < 10; i++)
    snprintf(path + strlen(path), sizeof path - strlen(path), "\\%0200d", i);
  assert_ok(f, call_mkdir(f, path));
  assert_exists(f, path, true);
  bool answer;
  assert_ok(f, call_is_symlink(f, path, &answer));
  assert_false(answer);
  path[strlen(f->root) + 2 + 201] = '\0';
  assert_ok(f, call_rmdir(f, path, true));
  assert_exists(f, path, false);
}

static void test_names_in_all_languages(void **state) {
  struct fixture *f = *state;
  static const char *const names[] = {"t\\\u00e4\u00d6\u00df", "t\\\u4e2d\u6587", "t\\\U0001F4BE disk"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_ok(f, call_mkdir(f, below(f, names[i])));
    assert_exists(f, below(f, names[i]), true);
    assert_true(is_there(f, below(f, names[i])));
  }
  assert_exists(f, below(f, "t\\\u00c4\u00f6\u00df"), true);
  assert_ok(f, call_rmdir(f, below(f, "t"), true));
  assert_exists(f, below(f, "t"), false);
}

static void test_open_files_are_named(void **state) {
  struct fixture *f = *state;
  assert_ok(f, call_mkdir(f, below(f, "t\\tree\\a")));
  make_file(f, below(f, "t\\tree\\a\\held"));
  make_file(f, below(f, "t\\tree\\z"));
  HANDLE held = CreateFileW(wide(f, below(f, "t\\tree\\a\\held")), GENERIC_READ, FILE_SHARE_READ, NULL,
                            OPEN_EXISTING, 0, NULL);
  assert_ptr_not_equal(held, INVALID_HANDLE_VALUE);
  assert_failed(f, call_rmdir(f, below(f, "t\\tree"), true), "unlinkat", below(f, "t\\tree\\a\\held"),
                "The process cannot access the file because it is being used by another process.");
  assert_false(is_there(f, below(f, "t\\tree\\z")));
  CloseHandle(held);
  assert_ok(f, call_rmdir(f, below(f, "t\\tree"), true));
}

static void test_foreign_handles_do_not_keep_calls_out(void **state) {
  struct fixture *f = *state;
  assert_ok(f, call_mkdir(f, below(f, "t\\mount")));
  static const struct {
    DWORD access, share;
  } rows[] = {{DELETE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE},
              {DELETE | FILE_LIST_DIRECTORY, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE},
              {FILE_LIST_DIRECTORY, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    HANDLE foreign = CreateFileW(wide(f, f->root), rows[i].access, rows[i].share, NULL, OPEN_EXISTING,
                                 FILE_FLAG_BACKUP_SEMANTICS, NULL);
    assert_ptr_not_equal(foreign, INVALID_HANDLE_VALUE);
    assert_ok(f, call_mkdir(f, below(f, "t\\a\\b")));
    assert_exists(f, below(f, "t\\a\\b"), true);
    assert_exists(f, f->root, true);
    assert_ok(f, call_rmdir(f, below(f, "t\\a"), true));
    CloseHandle(foreign);
  }
}

static void assert_identity(const char *path, const struct csi_identity *expected, bool same) {
  const struct csi_filesystem_host *host = csi_filesystem_host_win32();
  void *handle = NULL;
  assert_int_equal(host->open_path(host->self, path, CSI_ACCESS_LOOK, &handle), 0);
  struct csi_identity identity = {0};
  assert_int_equal(host->get_identity(host->self, handle, &identity), 0);
  host->close(host->self, handle);
  bool equal = identity.volume_serial == expected->volume_serial &&
               memcmp(identity.file_id, expected->file_id, sizeof identity.file_id) == 0;
  if (equal != same) fail_msg("%s: %d", path, equal);
}

static void test_identities(void **state) {
  struct fixture *f = *state;
  assert_ok(f, call_mkdir(f, below(f, "t\\first directory with a long name")));
  assert_ok(f, call_mkdir(f, below(f, "t\\second")));
  const char *path = below(f, "t\\first directory with a long name");
  const struct csi_filesystem_host *host = csi_filesystem_host_win32();
  void *handle = NULL;
  assert_int_equal(host->open_path(host->self, path, CSI_ACCESS_LOOK, &handle), 0);
  struct csi_identity identity = {0};
  assert_int_equal(host->get_identity(host->self, handle, &identity), 0);
  assert_identity(below(f, "T\\FIRST directory with a long name"), &identity, true);
  assert_identity(below(f, "t\\second"), &identity, false);
  assert_identity(below(f, "t"), &identity, false);
  wchar_t short_w[PATH_UNITS];
  DWORD units = GetShortPathNameW(wide(f, path), short_w, PATH_UNITS);
  assert_true(units > 4 && units < PATH_UNITS); /* the long name, where there are no short ones */
  const char *short_path = csi_utf8_from_utf16(f->texts, short_w + 4, units - 4);
  assert_non_null(short_path);
  assert_identity(short_path, &identity, true);
  host->close(host->self, handle);
}

static void test_names_that_are_no_component(void **state) {
  struct fixture *f = *state;
  assert_ok(f, call_mkdir(f, below(f, "t\\a")));
  const struct csi_filesystem_host *host = csi_filesystem_host_win32();
  void *handle = NULL, *child = NULL;
  assert_int_equal(host->open_path(host->self, f->root, CSI_ACCESS_LOOK, &handle), 0);
  static const wchar_t *const names_w[] = {L"", L".", L"..", L"t\\a", L"t/a", L"\\??\\C:\\"};
  struct csi_entry entry;
  for (size_t i = 0; i < sizeof names_w / sizeof names_w[0]; i++) {
    struct csi_name name = {.units = names_w[i], .count = wcslen(names_w[i])};
    assert_int_equal(host->open_child(host->self, handle, name, CSI_ACCESS_LOOK, &child, &entry),
                     ERROR_INVALID_NAME);
    assert_int_equal(host->create_child(host->self, handle, name, true, CSI_ACCESS_LOOK, &child),
                     ERROR_INVALID_NAME);
  }
  host->close(host->self, handle);
}

static void test_volume_of_the_system(void **state) {
  struct fixture *f = *state;
  assert_ok(f, call_mkdir(f, below(f, "t")));
  const struct csi_filesystem_host *host = csi_filesystem_host_win32();
  void *handle = NULL;
  assert_int_equal(host->open_path(host->self, "C:\\", CSI_ACCESS_LOOK, &handle), 0);
  struct csi_file_volume volume = {0};
  assert_int_equal(host->get_volume(host->self, handle, &volume), 0);
  assert_true(volume.is_system);
  host->close(host->self, handle);
}

static bool is_wine(void) {
  return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != NULL;
}

/* The test is built a second time, with other NT calls (integrationtests/testbed/links). */
static bool links_are_emulated(void) {
#if defined(CSI_LINKS_ARE_EMULATED)
  return true;
#else
  return false;
#endif
}

static uint32_t open_existing(const char *path) {
  const struct csi_filesystem_host *host = csi_filesystem_host_win32();
  void *handle = NULL;
  uint32_t error = host->open_path(host->self, path, CSI_ACCESS_LOOK, &handle);
  if (error == 0) host->close(host->self, handle);
  return error;
}

/* Opens path, of which name is the last component, as itself. */
static void *open_itself(struct fixture *f, const char *path, struct csi_entry *entry_out) {
  const struct csi_filesystem_host *host = csi_filesystem_host_win32();
  const char *last = strrchr(path, '\\') + 1;
  const char *parent_path = csi_arena_strndup(f->texts, path, (size_t)(last - 1 - path));
  size_t units;
  const wchar_t *name_w = csi_utf16_from_utf8(f->texts, last, strlen(last), &units, &f->status);
  assert_non_null(name_w);
  void *parent = NULL, *handle = NULL;
  assert_int_equal(host->open_path(host->self, parent_path, CSI_ACCESS_LOOK, &parent), 0);
  struct csi_name name = {.units = name_w, .count = units};
  assert_int_equal(host->open_child(host->self, parent, name, CSI_ACCESS_REMOVE, &handle, entry_out), 0);
  host->close(host->self, parent);
  return handle;
}

static uint32_t tag_of(struct fixture *f, const char *path) {
  struct csi_entry entry;
  csi_filesystem_host_win32()->close(NULL, open_itself(f, path, &entry));
  return entry.tag;
}

static void test_links(void **state) {
  struct fixture *f = *state;
  assert_ok(f, call_mkdir(f, below(f, "t\\source\\inner")));
  assert_ok(f, call_mkdir(f, below(f, "t\\tree")));
  const char *source = below(f, "t\\source"), *target = below(f, "t\\link");
  bool made = call_create_symlink(f, source, target), answer;
  if (is_wine() && !links_are_emulated()) {
    char verb[1024];
    snprintf(verb, sizeof verb, "symlink %s", source);
    assert_failed(f, made, verb, target, "The request is not supported.");
    assert_false(is_there(f, target));
    return;
  }
  assert_ok(f, made);
  assert_ok(f, call_create_symlink(f, source, target));
  assert_ok(f, call_is_symlink(f, target, &answer));
  assert_true(answer);
  make_file(f, below(f, "t\\source\\inner\\precious"));
  assert_int_equal(open_existing(below(f, "t\\link\\inner")), 0);
  assert_failed(f, call_rmdir(f, below(f, "t\\link\\inner"), true), "remove", below(f, "t\\link\\inner"), "");
  assert_ok(f, call_rmdir(f, target, true));
  assert_false(is_there(f, target));
  assert_ok(f, call_create_symlink(f, source, below(f, "t\\tree\\link")));
  assert_ok(f, call_rmdir_contents(f, below(f, "t\\tree")));
  assert_false(is_there(f, below(f, "t\\tree\\link")));
  assert_ok(f, call_create_symlink(f, source, below(f, "t\\tree\\link")));
  assert_ok(f, call_rmdir(f, below(f, "t\\tree"), true));
  assert_false(is_there(f, below(f, "t\\tree")));
  assert_true(is_there(f, below(f, "t\\source\\inner\\precious")));
}

static bool call_share_link(struct fixture *f, const char *share, const char *target) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const char *const roots[] = {f->root};
  struct csi_path_policy *policy = csi_path_policy_new(roots, 1, PATH_UNITS, &f->status);
  assert_non_null(policy);
  struct csi_ctx ctx = begin();
  struct csi_confined_path path;
  struct csi_walk walk = {
      .ctx = &ctx, .host = csi_filesystem_host_win32(), .verb = "symlink", .policy = policy, .path = &path};
  bool made = csi_path_confine(policy, &ctx, target, &path) && csi_make_share_link(&walk, share, &lock);
  made = end(f, &ctx, made);
  csi_path_policy_free(policy);
  return made;
}

static void test_links_to_shares(void **state) {
  struct fixture *f = *state;
  const char *link = below(f, "t\\share");
  assert_ok(f, call_mkdir(f, below(f, "t")));
  bool made = call_share_link(f, "\\\\host\\share\\Sub\\", link), answer = false;
  if (is_wine() && !links_are_emulated()) {
    assert_failed(f, made, "symlink", link, "The request is not supported.");
    assert_false(is_there(f, link));
    return;
  }
  assert_ok(f, made);
  assert_int_equal(tag_of(f, link), CSI_REPARSE_TAG_SYMLINK);
  assert_ok(f, call_is_symlink(f, link, &answer)); /* without asking anybody */
  assert_true(answer);
  assert_ok(f, call_share_link(f, "\\\\HOST\\Share\\Sub\\", link));
  assert_failed(f, call_share_link(f, "\\\\host\\share\\sub\\", link), "symlink", link,
                "Cannot create a file when that file already exists.");
  assert_failed(f, call_share_link(f, "\\\\host\\share\\", link), "symlink", link,
                "Cannot create a file when that file already exists.");
  assert_ok(f, call_rmdir(f, link, true));
  assert_false(is_there(f, link));
}

struct reparse_bytes {
  uint8_t bytes[CSI_REPARSE_BYTES_MAX];
  size_t count;
};

static struct reparse_bytes symlink_to(const char *target) {
  struct reparse_bytes link;
  struct csi_ctx ctx = begin();
  assert_true(csi_reparse_build_symlink(&ctx, target, link.bytes, &link.count));
  csi_arena_free(ctx.arena);
  return link;
}

static struct reparse_bytes mount_of(const char *volume) {
  struct reparse_bytes link;
  struct csi_ctx ctx = begin();
  assert_true(csi_reparse_build_mounted_folder(&ctx, volume, link.bytes, &link.count));
  csi_arena_free(ctx.arena);
  return link;
}

static uint32_t write_link(void *handle, const struct reparse_bytes *link) {
  const struct csi_filesystem_host *host = csi_filesystem_host_win32();
  return host->write_reparse(host->self, handle, link->bytes, link->count);
}

static uint32_t delete_link(void *handle, uint32_t tag) {
  const struct csi_filesystem_host *host = csi_filesystem_host_win32();
  return host->delete_reparse(host->self, handle, tag);
}

static void test_making_and_deleting_reparse_points(void **state) {
  struct fixture *f = *state;
  const struct csi_filesystem_host *host = csi_filesystem_host_win32();
  const char *path = below(f, "t\\a");
  assert_ok(f, call_mkdir(f, path));
  struct reparse_bytes symlink = symlink_to("C:\\windows");
  struct reparse_bytes folder = mount_of("\\\\?\\Volume{5ce7a91b-0000-4000-8000-0000000000f2}\\");
  struct csi_entry entry;
  void *handle = open_itself(f, path, &entry);
  if (is_wine() && !links_are_emulated()) {
    assert_int_equal(write_link(handle, &symlink), CSI_WIN32_NOT_SUPPORTED);
    assert_int_equal(delete_link(handle, CSI_REPARSE_TAG_SYMLINK), CSI_WIN32_NOT_SUPPORTED);
    host->close(host->self, handle);
    return;
  }
  assert_int_equal(delete_link(handle, CSI_REPARSE_TAG_SYMLINK), CSI_WIN32_NOT_A_REPARSE_POINT);
  assert_int_equal(write_link(handle, &symlink), 0);
  assert_int_equal(write_link(handle, &folder), CSI_WIN32_REPARSE_TAG_MISMATCH);
  assert_int_equal(delete_link(handle, CSI_REPARSE_TAG_MOUNT_POINT), CSI_WIN32_REPARSE_TAG_MISMATCH);
  assert_int_equal(tag_of(f, path), CSI_REPARSE_TAG_SYMLINK);
  assert_int_equal(delete_link(handle, CSI_REPARSE_TAG_SYMLINK), 0);
  assert_int_equal(tag_of(f, path), 0);

  assert_int_equal(write_link(handle, &folder), 0);
  assert_int_equal(tag_of(f, path), CSI_REPARSE_TAG_MOUNT_POINT);
  assert_int_equal(delete_link(handle, CSI_REPARSE_TAG_MOUNT_POINT), 0);
  assert_int_equal(tag_of(f, path), 0);
  host->close(host->self, handle);
  make_file(f, below(f, "t\\a\\file"));
  handle = open_itself(f, path, &entry);
  assert_int_equal(write_link(handle, &folder), CSI_WIN32_DIR_NOT_EMPTY);
  host->close(host->self, handle);
}

/* What follows a mounted folder by mistake removes these files: they are real. */
#define VOLUME "Volume{5ce7a91b-0000-4000-8000-0000000000f3}"
#define VOLUME_DIRECTORY "C:\\testbed\\volumes\\{5ce7a91b-0000-4000-8000-0000000000f3}"

static void mount(struct fixture *f, const char *path) {
  struct reparse_bytes folder = mount_of("\\\\?\\" VOLUME "\\");
  struct csi_entry entry;
  assert_ok(f, call_mkdir(f, path));
  void *handle = open_itself(f, path, &entry);
  assert_int_equal(write_link(handle, &folder), 0);
  csi_filesystem_host_win32()->close(NULL, handle);
}

static void test_mounted_folders(void **state) {
  struct fixture *f = *state;
  if (is_wine() && !links_are_emulated()) return; /* no folder can be mounted, as seen above */
  wchar_t device_w[64];
  /* Elsewhere this would take a real volume; and one of the testbed's driver. */
  if (!links_are_emulated() || QueryDosDeviceW(L"VdiskControl", device_w, 64) != 0) skip();
  CreateDirectoryW(L"C:\\testbed", NULL);
  CreateDirectoryW(L"C:\\testbed\\volumes", NULL);
  CreateDirectoryW(wide(f, VOLUME_DIRECTORY), NULL);
  CreateDirectoryW(wide(f, VOLUME_DIRECTORY "\\inner"), NULL);
  make_file(f, VOLUME_DIRECTORY "\\inner\\precious");
  bool answer;
  mount(f, below(f, "t\\tree\\mount"));
  assert_int_equal(open_existing(below(f, "t\\tree\\mount\\inner")), 0);
  assert_int_equal(open_existing("\\\\?\\" VOLUME "\\inner"), 0);
  assert_ok(f, call_is_symlink(f, below(f, "t\\tree\\mount"), &answer));
  assert_true(answer);
  assert_ok(f, call_rmdir(f, below(f, "t\\tree"), true));
  assert_true(is_there(f, VOLUME_DIRECTORY "\\inner\\precious"));
  mount(f, below(f, "t\\mount"));
  assert_ok(f, call_rmdir(f, below(f, "t\\mount"), false));
  assert_true(is_there(f, VOLUME_DIRECTORY "\\inner\\precious"));

  mount(f, below(f, "t\\mount"));
  assert_ok(f, call_rmdir_contents(f, below(f, "t\\mount")));
  assert_int_equal(tag_of(f, below(f, "t\\mount")), CSI_REPARSE_TAG_MOUNT_POINT);
  assert_false(is_there(f, VOLUME_DIRECTORY "\\inner"));
  assert_int_not_equal(RemoveDirectoryW(wide(f, VOLUME_DIRECTORY)), 0);
  assert_ok(f, call_is_symlink(f, below(f, "t\\mount"), &answer));
  assert_false(answer); /* it leads nowhere any more */
  assert_ok(f, call_rmdir(f, below(f, "t\\mount"), false));
}

/* The Unix name of a file, in memory that Wine's heap keeps. */
static const char *unix_name(struct fixture *f, const char *path) {
  char *(CDECL * convert)(const WCHAR *) = NULL;
  FARPROC function = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "wine_get_unix_file_name");
  assert_non_null(function);
  memcpy(&convert, &function, sizeof convert);
  const char *name = convert(wide(f, path));
  assert_non_null(name);
  return name;
}

/* Runs a Unix program, and waits until path exists or does not. Wine starts it, and reports failure. */
static bool run_unix(struct fixture *f, const char *command, const char *path, bool exists) {
  wchar_t *command_w = csi_utf16_from_utf8(f->texts, command, strlen(command), NULL, &f->status);
  assert_non_null(command_w);
  STARTUPINFOW start = {.cb = sizeof start};
  PROCESS_INFORMATION process = {0};
  CreateProcessW(NULL, command_w, NULL, NULL, FALSE, 0, NULL, NULL, &start, &process);
  for (int i = 0; i < 250 && is_there(f, path) != exists; i++)
    Sleep(20);
  return is_there(f, path) == exists;
}

static bool plant_unix_link(struct fixture *f, const char *target, const char *parent, const char *name) {
  const char *command = csi_arena_printf(f->texts, "\\\\?\\unix\\bin\\ln -s \"%s\" \"%s/%s\"",
                                         unix_name(f, target), unix_name(f, parent), name);
  assert_non_null(command);
  return run_unix(f, command, csi_arena_printf(f->texts, "%s\\%s", parent, name), true);
}

static bool remove_unix_link(struct fixture *f, const char *parent, const char *name) {
  const char *command =
      csi_arena_printf(f->texts, "\\\\?\\unix\\bin\\rm \"%s/%s\"", unix_name(f, parent), name);
  assert_non_null(command);
  return run_unix(f, command, csi_arena_printf(f->texts, "%s\\%s", parent, name), false);
}

/* Wine follows the link whatever it is asked for. Listing shows that it is one, the handle that it is
 * none: the removal must leave it alone, and say so. */
static void check_planted_link(struct fixture *f, const char *target) {
  const char *parent = below(f, "t\\tree");
  assert_true(plant_unix_link(f, target, parent, "link"));
  bool removed = call_rmdir(f, parent, true);
  struct csi_status status = f->status;
  bool kept = is_there(f, target);
  assert_true(remove_unix_link(f, parent, "link"));
  assert_true(kept);
  f->status = status;
  assert_failed(f, removed, "unlinkat", below(f, "t\\tree\\link"), "The directory is not empty.");
}

static void test_planted_unix_link_is_not_followed(void **state) {
  struct fixture *f = *state;
  if (!is_wine()) skip();
  assert_ok(f, call_mkdir(f, below(f, "t\\empty")));
  assert_ok(f, call_mkdir(f, below(f, "t\\keep\\deep")));
  assert_ok(f, call_mkdir(f, below(f, "t\\tree\\a")));
  make_file(f, below(f, "t\\keep\\deep\\precious"));
  make_file(f, below(f, "t\\tree\\z"));
  check_planted_link(f, below(f, "t\\keep"));
  assert_true(is_there(f, below(f, "t\\keep\\deep\\precious")));
  assert_false(is_there(f, below(f, "t\\tree\\a")));
  assert_false(is_there(f, below(f, "t\\tree\\z")));
  check_planted_link(f, below(f, "t\\empty"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_making_and_removing),
      TEST(test_removing_read_only_things),
      TEST(test_removing_trees),
      TEST(test_paths_longer_than_260),
      TEST(test_names_in_all_languages),
      TEST(test_open_files_are_named),
      TEST(test_foreign_handles_do_not_keep_calls_out),
      TEST(test_identities),
      TEST(test_names_that_are_no_component),
      TEST(test_volume_of_the_system),
      TEST(test_links),
      TEST(test_links_to_shares),
      TEST(test_making_and_deleting_reparse_points),
      TEST(test_mounted_folders),
      TEST(test_planted_unix_link_is_not_followed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
