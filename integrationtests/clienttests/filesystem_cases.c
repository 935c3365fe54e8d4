/* SPDX-License-Identifier: Apache-2.0
 *
 * What every version of the filesystem group must do, RPC by RPC.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"

/* Win32 error numbers; this file also runs where there is no winerror.h. */
enum {
  FILE_NOT_FOUND = 2,
  PATH_NOT_FOUND = 3,
  DIR_NOT_EMPTY = 145,
  ALREADY_EXISTS = 183,
};

static const char *in(struct run *run, const char *name) {
  return path(run, "%s\\%s", run->directory, name);
}

/* ---- PathExists ---- */

static void finds_a_directory(struct run *run) {
  check_exists(run, run->directory, true);
}

static void is_blind_to_case(struct run *run) {
  check_made(run, in(run, "MixedCase"));
  check_exists(run, in(run, "mIXEDcASE"), true);
}

static void says_no_to_a_missing_name(struct run *run) {
  check_exists(run, in(run, "missing"), false);
  check_exists(run, in(run, "missing\\below\\missing"), false);
}

static void finds_a_file(struct run *run) {
  make_file(run, in(run, "file"));
  check_exists(run, in(run, "file"), true);
}

static void finds_a_dangling_link(struct run *run) {
  const char *link = in(run, "dangling");
  check(run, link_at(run, in(run, "nothing"), link) == CSI_OK, "%s", run->error.text);
  check_exists(run, link, true);
}

/* ---- Mkdir ---- */

static void makes_missing_parents(struct run *run) {
  check_made(run, in(run, "a\\b\\c"));
  check_exists(run, in(run, "a\\b\\c"), true);
}

static void is_content_with_what_is_there(struct run *run) {
  check_made(run, in(run, "a"));
  check_made(run, in(run, "a"));
}

static void keeps_names_of_all_languages(struct run *run) {
  check_made(run, in(run, "\xC3\xA4 \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x90\xA7"));
  check_exists(run, in(run, "\xC3\xA4 \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x90\xA7"), true);
}

static void will_not_stand_on_a_file(struct run *run) {
  const char *file = in(run, "file");
  make_file(run, file);
  check(run, mkdir_at(run, file) != CSI_OK, "a directory was made where a file is");
  check_refusal(run, CSI_UNKNOWN, CSI_NOT_FOUND, PATH_NOT_FOUND,
                path(run, "mkdir %s: The system cannot find the path specified.", file));
}

/* ---- Rmdir ---- */

static void removes_an_empty_directory(struct run *run) {
  check_made(run, in(run, "a"));
  check(run, rmdir_at(run, in(run, "a"), false) == CSI_OK, "%s", run->error.text);
  check_exists(run, in(run, "a"), false);
}

static void removes_a_tree_by_force(struct run *run) {
  check_made(run, in(run, "a\\b\\c"));
  check_made(run, in(run, "a\\d"));
  check(run, rmdir_at(run, in(run, "a"), true) == CSI_OK, "%s", run->error.text);
  check_exists(run, in(run, "a"), false);
}

static void by_force_is_content_with_nothing(struct run *run) {
  check(run, rmdir_at(run, in(run, "missing"), true) == CSI_OK, "%s", run->error.text);
  check(run, rmdir_at(run, in(run, "missing\\below"), true) == CSI_OK, "%s", run->error.text);
}

static void removes_a_file(struct run *run) {
  make_file(run, in(run, "file"));
  check(run, rmdir_at(run, in(run, "file"), false) == CSI_OK, "%s", run->error.text);
  check_exists(run, in(run, "file"), false);
}

static void removes_a_tree_with_files_by_force(struct run *run) {
  check_made(run, in(run, "a\\b"));
  make_file(run, in(run, "a\\b\\file"));
  check(run, rmdir_at(run, in(run, "a"), true) == CSI_OK, "%s", run->error.text);
  check_exists(run, in(run, "a"), false);
}

static void removes_the_link_not_its_target(struct run *run) {
  const char *kept = in(run, "target\\kept");
  check_made(run, kept);
  for (int force = 0; force <= 1; force++) {
    check(run, link_at(run, in(run, "target"), in(run, "link")) == CSI_OK, "%s", run->error.text);
    check(run, rmdir_at(run, in(run, "link"), force) == CSI_OK, "%s", run->error.text);
    check_exists(run, in(run, "link"), false);
    check_exists(run, kept, true);
  }
}

static void refuses_what_is_not_there(struct run *run) {
  const char *missing = in(run, "missing");
  check(run, rmdir_at(run, missing, false) != CSI_OK, "a missing directory was removed");
  check_refusal(run, CSI_UNKNOWN, CSI_NOT_FOUND, FILE_NOT_FOUND,
                path(run, "remove %s: The system cannot find the file specified.", missing));
}

static void refuses_what_is_not_empty(struct run *run) {
  const char *full = in(run, "a");
  check_made(run, in(run, "a\\b"));
  check(run, rmdir_at(run, full, false) != CSI_OK, "a directory that is not empty was removed");
  check_refusal(run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, DIR_NOT_EMPTY,
                path(run, "remove %s: The directory is not empty.", full));
  check_exists(run, in(run, "a\\b"), true);
}

static void keeps_the_working_directory(struct run *run) {
  const char *root = run->settings->working_directory;
  check(run, rmdir_at(run, root, true) != CSI_OK, "the working directory was removed");
  check_refusal(run, CSI_UNKNOWN, CSI_PERMISSION_DENIED, 0, path(run, "remove %s: ", root));
  check_exists(run, run->directory, true);
}

/* ---- RmdirContents ---- */

static bool has_rmdir_contents(const struct run *run) {
  return strcmp(run->version, "v2alpha1") == 0;
}

/* What the library itself must say where the version has no such RPC. */
static void check_not_in_version(struct run *run, enum csi_code code) {
  check(run, code == CSI_UNIMPLEMENTED, "%s", run->error.text);
  check(run, strstr(run->error.text, run->version) != NULL && strstr(run->error.text, "v2alpha1") != NULL,
        "the text does not name the versions: %s", run->error.text);
}

static void empties_a_directory(struct run *run) {
  check_made(run, in(run, "a\\b\\c"));
  check_made(run, in(run, "a\\d"));
  enum csi_code code = rmdir_contents_at(run, in(run, "a"));
  if (!has_rmdir_contents(run)) {
    check_not_in_version(run, code);
    return;
  }
  check(run, code == CSI_OK, "%s", run->error.text);
  check_exists(run, in(run, "a"), true);
  check_exists(run, in(run, "a\\b"), false);
  check_exists(run, in(run, "a\\d"), false);
  check(run, rmdir_contents_at(run, in(run, "a")) == CSI_OK, "of an empty directory: %s", run->error.text);
}

static void does_not_follow_links_it_removes(struct run *run) {
  if (!has_rmdir_contents(run)) {
    check_not_in_version(run, rmdir_contents_at(run, run->directory));
    return;
  }
  check_made(run, in(run, "target\\kept"));
  check_made(run, in(run, "a"));
  check(run, link_at(run, in(run, "target"), in(run, "a\\link")) == CSI_OK, "%s", run->error.text);
  check(run, rmdir_contents_at(run, in(run, "a")) == CSI_OK, "%s", run->error.text);
  check_exists(run, in(run, "a\\link"), false);
  check_exists(run, in(run, "target\\kept"), true);
}

static void refuses_to_empty_what_is_not_there(struct run *run) {
  const char *missing = in(run, "missing");
  enum csi_code code = rmdir_contents_at(run, missing);
  if (!has_rmdir_contents(run)) {
    check_not_in_version(run, code);
    return;
  }
  check(run, code != CSI_OK, "a missing directory was emptied");
  check_refusal(run, CSI_UNKNOWN, CSI_NOT_FOUND, FILE_NOT_FOUND,
                path(run, "open %s: The system cannot find the file specified.", missing));
}

/* ---- CreateSymlink ---- */

static void links_to_a_directory(struct run *run) {
  check_made(run, in(run, "target\\inside"));
  check(run, link_at(run, in(run, "target"), in(run, "link")) == CSI_OK, "%s", run->error.text);
  check_is_link(run, in(run, "link"), true);
  check_is_link(run, in(run, "target"), false);
}

static void refuses_a_name_that_is_taken(struct run *run) {
  const char *source = in(run, "source"), *taken = in(run, "taken");
  check_made(run, source);
  check_made(run, taken);
  check(run, link_at(run, source, taken) != CSI_OK, "a link was made where a directory is");
  check_refusal(
      run, CSI_UNKNOWN, CSI_ALREADY_EXISTS, ALREADY_EXISTS,
      path(run, "symlink %s %s: Cannot create a file when that file already exists.", source, taken));
}

static void refuses_a_missing_parent(struct run *run) {
  const char *source = in(run, "source"), *target = in(run, "missing\\link");
  check_made(run, source);
  check(run, link_at(run, source, target) != CSI_OK, "a link was made in a directory that is not there");
  check_refusal(run, CSI_UNKNOWN, CSI_NOT_FOUND, PATH_NOT_FOUND,
                path(run, "symlink %s %s: ", source, target));
}

static void says_so_when_it_cannot_link(struct run *run) {
  check_made(run, in(run, "target"));
  check(run, link_at(run, in(run, "target"), in(run, "link")) != CSI_OK,
        "success, on a node that makes no links; is there one? Then drop --no-links");
  check(run, run->error.text[0] != '\0' && run->error.number != 0, "the error tells nothing: %s",
        run->error.text);
  check_exists(run, in(run, "link"), false);
}

/* ---- IsSymlink ---- */

static void says_no_to_a_directory(struct run *run) {
  check_is_link(run, run->directory, false);
}

static void takes_paths_as_kubelet_spells_them(struct run *run) {
  char *spelled = (char *)path(run, "%s", run->directory);
  for (char *at = spelled; *at != '\0'; at++) {
    if (*at == '\\') *at = '/';
  }
  check_is_link(run, spelled, false);
  if (spelled[0] == 'C' || spelled[0] == 'c') check_is_link(run, spelled + 2, false);
}

static void says_no_to_a_dangling_link(struct run *run) {
  check(run, link_at(run, in(run, "nothing"), in(run, "link")) == CSI_OK, "%s", run->error.text);
  check_is_link(run, in(run, "link"), false);
}

static void refuses_to_judge_what_is_not_there(struct run *run) {
  bool is_link;
  check(run, is_link_at(run, in(run, "missing"), &is_link) != CSI_OK, "an answer about a missing path");
  check(run,
        run->error.code == CSI_UNKNOWN && run->error.precise_code == CSI_NOT_FOUND &&
            run->error.number == FILE_NOT_FOUND,
        "%s, precisely %s, error %u: %s", csi_code_name(run->error.code),
        csi_code_name(run->error.precise_code), (unsigned)run->error.number, run->error.text);
}

/* ---- Paths that no RPC may touch: the rules and texts are the same for all of them. ---- */

static enum csi_code path_exists_of(struct run *run, const char *where) {
  bool ignored;
  return exists_at(run, where, &ignored);
}

static enum csi_code rmdir_of(struct run *run, const char *where) {
  return rmdir_at(run, where, true);
}

static enum csi_code link_to(struct run *run, const char *where) {
  return link_at(run, run->directory, where);
}

static enum csi_code link_from(struct run *run, const char *where) {
  return link_at(run, where, path(run, "%s\\link", run->directory));
}

typedef enum csi_code one_path_rpc(struct run *run, const char *where);

static void check_path_refused(struct run *run, one_path_rpc *call, const char *where,
                               const char *beginning) {
  enum csi_code code = call(run, where);
  if (call == rmdir_contents_at && !has_rmdir_contents(run)) {
    check_not_in_version(run, code);
    return;
  }
  check(run, code != CSI_OK, "the path \"%.300s\" was let through", where);
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, beginning);
}

static void refuse_malformed(struct run *run, one_path_rpc *call) {
  static const char *const flawed[] = {"a*b", "a?b",   "a:b",      "a|b", "a\"b",
                                       "a/b", "..\\a", "a\\..\\b", "a..b"};
  for (size_t i = 0; i < sizeof flawed / sizeof flawed[0]; i++) {
    char where[PATH_TEXT_BYTES], text[PATH_TEXT_BYTES + 64];
    snprintf(where, sizeof where, "%.500s\\%s", run->directory, flawed[i]);
    snprintf(text, sizeof text, "path contains invalid characters: %s", where);
    check_path_refused(run, call, where, text);
  }
  check_path_refused(run, call, "", "not an absolute Windows path: ");
  check_path_refused(run, call, "relative\\a", "not an absolute Windows path: relative\\a");
  check_path_refused(run, call, "\\a", "invalid character \\ at beginning of path: \\a");
  check_path_refused(run, call, "\\\\server\\share\\a",
                     "invalid character \\ at beginning of path: \\\\server");
}

static void refuse_long(struct run *run, one_path_rpc *call) {
  char where[PATH_TEXT_BYTES];
  int length = snprintf(where, sizeof where, "%.200s\\", run->directory);
  memset(where + length, 'x', 261 - (size_t)length);
  where[261] = '\0';
  check_path_refused(run, call, where, "path length 261 exceeds maximum characters: 260");
}

static void refuse_outside(struct run *run, one_path_rpc *call) {
  const char *outside[] = {"C:\\csi-client-tests-outside",
                           path(run, "%s-evil\\a", run->settings->working_directory)};
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    enum csi_code code = call(run, outside[i]);
    if (call == rmdir_contents_at && !has_rmdir_contents(run)) {
      check_not_in_version(run, code);
      continue;
    }
    check(run, code != CSI_OK, "%s was let through", outside[i]);
    char text[PATH_TEXT_BYTES + 64];
    snprintf(text, sizeof text, "path: %s is not within the working directories: [", outside[i]);
    check_refusal(run, CSI_UNKNOWN, CSI_PERMISSION_DENIED, 0, text);
  }
}

#define PATH_RULES(function, call)                                                                           \
  static void function##_refuses_malformed_paths(struct run *run) {                                          \
    refuse_malformed(run, call);                                                                             \
  }                                                                                                          \
  static void function##_refuses_long_paths(struct run *run) {                                               \
    refuse_long(run, call);                                                                                  \
  }                                                                                                          \
  static void function##_refuses_paths_outside(struct run *run) {                                            \
    refuse_outside(run, call);                                                                               \
  }
PATH_RULES(path_exists, path_exists_of)
PATH_RULES(mkdir, mkdir_at)
PATH_RULES(rmdir, rmdir_of)
PATH_RULES(rmdir_contents, rmdir_contents_at)
PATH_RULES(link_target, link_to)
PATH_RULES(link_source, link_from)

static void is_symlink_stays_inside(struct run *run) {
  bool is_link;
  check(run, is_link_at(run, "C:\\csi-client-tests-outside", &is_link) != CSI_OK,
        "an answer about a path outside");
  check(run, is_link_at(run, "\\\\server\\share\\a", &is_link) != CSI_OK, "an answer about another machine");
}

/* ---- Messages ---- */

static void refuses_text_that_is_not_utf8(struct run *run) {
  check(run, mkdir_at(run, path(run, "%s\\\xC3(", run->directory)) != CSI_OK,
        "a name that is no UTF-8 was made");
  check_refusal(run, CSI_INTERNAL, CSI_INTERNAL, 0, "grpc: error unmarshalling request: ");
}

#define BAD_PATHS(rpc_name, function)                                                                        \
  BAD(rpc_name, NEEDS_NOTHING, function##_refuses_malformed_paths),                                          \
      BAD(rpc_name, NEEDS_NOTHING, function##_refuses_long_paths),                                           \
      BAD(rpc_name, NEEDS_NOTHING, function##_refuses_paths_outside)

static const struct test_case filesystem_cases[] = {
    GOOD("PathExists", NEEDS_NOTHING, finds_a_directory),
    GOOD("PathExists", NEEDS_NOTHING, is_blind_to_case),
    GOOD("PathExists", NEEDS_NOTHING, says_no_to_a_missing_name),
    GOOD("PathExists", NEEDS_FILES, finds_a_file),
    GOOD("PathExists", NEEDS_LINKS, finds_a_dangling_link),
    BAD_PATHS("PathExists", path_exists),
    GOOD("Mkdir", NEEDS_NOTHING, makes_missing_parents),
    GOOD("Mkdir", NEEDS_NOTHING, is_content_with_what_is_there),
    GOOD("Mkdir", NEEDS_NOTHING, keeps_names_of_all_languages),
    BAD("Mkdir", NEEDS_FILES, will_not_stand_on_a_file),
    BAD("Mkdir", NEEDS_NOTHING, refuses_text_that_is_not_utf8),
    BAD_PATHS("Mkdir", mkdir),
    GOOD("Rmdir", NEEDS_NOTHING, removes_an_empty_directory),
    GOOD("Rmdir", NEEDS_NOTHING, removes_a_tree_by_force),
    GOOD("Rmdir", NEEDS_NOTHING, by_force_is_content_with_nothing),
    GOOD("Rmdir", NEEDS_FILES, removes_a_file),
    GOOD("Rmdir", NEEDS_FILES, removes_a_tree_with_files_by_force),
    GOOD("Rmdir", NEEDS_LINKS, removes_the_link_not_its_target),
    BAD("Rmdir", NEEDS_NOTHING, refuses_what_is_not_there),
    BAD("Rmdir", NEEDS_NOTHING, refuses_what_is_not_empty),
    BAD("Rmdir", NEEDS_NOTHING, keeps_the_working_directory),
    BAD_PATHS("Rmdir", rmdir),
    GOOD("RmdirContents", NEEDS_NOTHING, empties_a_directory),
    GOOD("RmdirContents", NEEDS_LINKS, does_not_follow_links_it_removes),
    BAD("RmdirContents", NEEDS_NOTHING, refuses_to_empty_what_is_not_there),
    BAD_PATHS("RmdirContents", rmdir_contents),
    GOOD("CreateSymlink", NEEDS_LINKS, links_to_a_directory),
    BAD("CreateSymlink", NEEDS_NO_LINKS, says_so_when_it_cannot_link),
    BAD("CreateSymlink", NEEDS_NOTHING, refuses_a_name_that_is_taken),
    BAD("CreateSymlink", NEEDS_NOTHING, refuses_a_missing_parent),
    BAD_PATHS("CreateSymlink", link_target),
    BAD_PATHS("CreateSymlink", link_source),
    GOOD("IsSymlink", NEEDS_NOTHING, says_no_to_a_directory),
    GOOD("IsSymlink", NEEDS_NOTHING, takes_paths_as_kubelet_spells_them),
    GOOD("IsSymlink", NEEDS_LINKS, says_no_to_a_dangling_link),
    BAD("IsSymlink", NEEDS_NOTHING, refuses_to_judge_what_is_not_there),
    BAD("IsSymlink", NEEDS_NOTHING, is_symlink_stays_inside),
};

static const char *const versions[] = {"v1alpha1", "v1beta1", "v1beta2", "v1", "v2alpha1", NULL};
static const char *const rpcs[] = {"PathExists",    "Mkdir",     "Rmdir", "RmdirContents",
                                   "CreateSymlink", "IsSymlink", NULL};

const struct suite filesystem_suite = {
    .group = "filesystem",
    .versions = versions,
    .rpcs = rpcs,
    .cases = filesystem_cases,
    .case_count = sizeof filesystem_cases / sizeof filesystem_cases[0],
    .prepare = make_case_directory,
    .clean_up = remove_case_directory,
};
