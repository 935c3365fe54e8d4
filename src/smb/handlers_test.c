/* SPDX-License-Identifier: Apache-2.0
 *
 * What NewSmbGlobalMapping and RemoveSmbGlobalMapping promise, row by row. What a failing step leaves is in
 * faults_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "smb/smb_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define NEW_FAILED "NewSmbGlobalMapping failed. err: "
#define ADD_FAILED NEW_FAILED "failed to create SMB global mapping: "
#define REMOVE_FAILED "error remove smb mapping '" ROOT "'. err: "
#define KEPT "; the mapping that is there is kept"
#define LINK_FAILED                                                                                          \
  "creating link " LINK " to " REMOTE " failed with error: error linking " REMOTE "\\ to " LINK ". err: "

static bool map(struct smb_fixture *f) {
  return call_new(f, REMOTE, "", USER, PASSWORD);
}

/* Mapped by this service; counts begin anew. */
static void given_mapped(struct smb_fixture *f) {
  assert_ok(f, map(f));
  assert_mapped(f, USER, PASSWORD);
  csi_fake_network_reset_counts(f->network);
}

/* ---- Making a mapping. ---- */

static void test_new(void **state) {
  struct smb_fixture *f = *state;
  assert_ok(f, map(f));
  assert_mapped(f, USER, PASSWORD);
  assert_true(csi_fake_shares_is_private(f->shares, ROOT));
  assert_int_equal(csi_fake_shares_count(f->shares), 1);
  assert_steps(f, 1, 0);
}

static void test_all_spellings_are_one_share(void **state) {
  struct smb_fixture *f = *state;
  static const char *const spellings[] = {REMOTE,
                                          REMOTE "\\",
                                          "//SERVER/share/",
                                          "server\\share",
                                          "\\\\server/Share",
                                          REMOTE "\\sub\\dir",
                                          "/server/share",
                                          "\\\\server\\\\share\\\\sub"};
  for (size_t i = 0; i < COUNT(spellings); i++)
    assert_ok(f, call_new(f, spellings[i], "", USER, PASSWORD));
  assert_steps(f, 1, 0);
  assert_ok(f, call_remove(f, "//Server/share/whatever/"));
  assert_int_equal(csi_fake_shares_count(f->shares), 0);
}

static void test_everybodys_share(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_do(f->shares, "add root=\\\\server\\public");
  assert_ok(f, call_new(f, "\\\\server\\public", "", "", ""));
  assert_true(csi_fake_shares_is_mapped_with(f->shares, "\\\\server\\public", "", ""));
  csi_fake_shares_do(f->shares, "add root=\\\\server\\guest user=guest password=");
  assert_ok(f, call_new(f, "\\\\server\\guest", "", "guest", ""));
}

static void test_bad_requests_change_nothing(void **state) {
  struct smb_fixture *f = *state;
  static const struct {
    const char *remote, *local, *user, *password;
    enum csi_code code;
    const char *text;
  } bad[] = {
      {"", "", USER, PASSWORD, CSI_INVALID_ARGUMENT, "remote path is empty"},
      {"hostname", "", USER, PASSWORD, CSI_INVALID_ARGUMENT, "remote path (hostname) is invalid"},
      {"C:/x/y", "", USER, PASSWORD, CSI_INVALID_ARGUMENT, "remote path (C:\\x\\y) is invalid"},
      {"\\\\server\\IPC$", "", USER, PASSWORD, CSI_INVALID_ARGUMENT,
       "remote path (\\\\server\\IPC$) is invalid"},
      {REMOTE, "C:\\Windows\\x", USER, PASSWORD, CSI_PERMISSION_DENIED,
       "path: C:\\Windows\\x is not within the working directories: [" K "]"},
      {REMOTE, "relative", USER, PASSWORD, CSI_INVALID_ARGUMENT, "not an absolute Windows path: relative"},
      {REMOTE, K "\\..\\x", USER, PASSWORD, CSI_INVALID_ARGUMENT, "path contains invalid characters: "},
      {REMOTE, "\\\\server\\share", USER, PASSWORD, CSI_INVALID_ARGUMENT,
       "invalid character \\ at beginning"},
      {REMOTE, "", "", PASSWORD, CSI_INVALID_ARGUMENT, "a password is given, and no username"},
      {REMOTE, "", "user\n", PASSWORD, CSI_INVALID_ARGUMENT, "username has a control character"},
      {"\\\\localhost\\C$", "", "", "", CSI_INVALID_ARGUMENT,
       "remote path (\\\\localhost\\C$) is an administrative share"},
      {"\\\\server\\data$", "", "", "", CSI_INVALID_ARGUMENT,
       "remote path (\\\\server\\data$) is an administrative share"},
      {"\\\\127.0.0.1\\data", "", "", "", CSI_INVALID_ARGUMENT,
       "remote path (\\\\127.0.0.1\\data) leads to this node itself"},
  };
  for (size_t i = 0; i < COUNT(bad); i++)
    assert_failed(f, call_new(f, bad[i].remote, bad[i].local, bad[i].user, bad[i].password), bad[i].code,
                  bad[i].text);
  assert_failed(f, call_remove(f, ""), CSI_INVALID_ARGUMENT, "remote path is empty");
  assert_failed(f, call_remove(f, "\\\\?\\UNC\\server\\share"), CSI_INVALID_ARGUMENT, "remote path (");
  assert_int_equal(csi_fake_network_count(f->network, NULL), 0);
  csi_fake_shares_do(f->shares, "add root=\\\\server\\d$ user=admin password=pw-3");
  assert_ok(f, call_new(f, "\\\\server\\D$", "", "admin", "pw-3"));
}

static void test_a_path_may_have_the_limit_of_the_flag(void **state) {
  struct smb_fixture *f = *state;
  char local[400] = K "\\";
  memset(local + strlen(local), 'a', 255);
  assert_failed(f, call_new(f, REMOTE, local, USER, PASSWORD), CSI_INVALID_ARGUMENT, "path length ");
}

static void test_errors_say_what_to_do(void **state) {
  struct smb_fixture *f = *state;
  static const struct {
    uint32_t error;
    enum csi_code code;
    const char *text, *advice;
  } errors[] = {
      {5, CSI_PERMISSION_DENIED, "Access is denied.", "check the permissions of the share"},
      {53, CSI_UNAVAILABLE, "The network path was not found.", "TCP port 445"},
      {65, CSI_PERMISSION_DENIED, "Network access is denied.", "-require-privacy=false"},
      {67, CSI_NOT_FOUND, "The network name cannot be found.", "DFS"},
      {85, CSI_ALREADY_EXISTS, "The local device name is already in use.", "RemoveSmbGlobalMapping"},
      {86, CSI_PERMISSION_DENIED, "The specified network password is not correct.",
       "check username and password"},
      {1219, CSI_FAILED_PRECONDITION, "Multiple connections to a server", "RemoveSmbGlobalMapping"},
      {2202, CSI_INVALID_ARGUMENT, "The specified username is invalid.", "check the username in the secret"},
      {1326, CSI_PERMISSION_DENIED, "The user name or password is incorrect.", "SERVER\\user"},
  };
  for (size_t i = 0; i < COUNT(errors); i++) {
    fail_call(f, CSI_FAKE_SMB_ADD, errors[i].error);
    assert_failed(f, map(f), errors[i].code, ADD_FAILED);
    assert_says(f, errors[i].text);
    assert_says(f, errors[i].advice);
    assert_int_equal(f->status.number, errors[i].error);
    csi_fake_network_clear_faults(f->network);
  }
  assert_int_equal(csi_fake_shares_count(f->shares), 0);
}

static void test_what_the_server_refuses(void **state) {
  struct smb_fixture *f = *state;
  assert_failed(f, call_new(f, REMOTE, LINK, USER, "pw-wrong"), CSI_PERMISSION_DENIED, ADD_FAILED);
  assert_failed(f, call_new(f, REMOTE, LINK, "nobody", PASSWORD), CSI_PERMISSION_DENIED, ADD_FAILED);
  assert_failed(f, call_new(f, REMOTE, LINK, "", ""), CSI_PERMISSION_DENIED, ADD_FAILED);
  assert_failed(f, call_new(f, "\\\\server\\none", LINK, USER, PASSWORD), CSI_NOT_FOUND, ADD_FAILED);
  assert_failed(f, call_new(f, "\\\\away\\share", LINK, USER, PASSWORD), CSI_UNAVAILABLE, ADD_FAILED);
  csi_fake_shares_do(f->shares, "set root=" ROOT " privacy=unsupported");
  assert_failed(f, map(f), CSI_PERMISSION_DENIED, ADD_FAILED);
  assert_int_equal(csi_fake_shares_count(f->shares), 0);
  assert_link(f, LINK, NULL);
}

/* ---- Links. ---- */

static void test_link(void **state) {
  struct smb_fixture *f = *state;
  assert_ok(f, call_new(f, "//Server/Share/Sub/dir//", LINK, USER, PASSWORD));
  assert_link(f, LINK, "\\\\Server\\Share\\Sub\\dir\\");
  assert_ok(f, call_new(f, "\\\\Server\\Share", K "\\root", USER, PASSWORD));
  assert_link(f, K "\\root", "\\\\Server\\Share\\");
  assert_steps(f, 1, 0);
}

static void test_link_is_there_already(void **state) {
  struct smb_fixture *f = *state;
  for (int i = 0; i < 2; i++)
    assert_ok(f, call_new(f, REMOTE, LINK, USER, PASSWORD));
  assert_ok(f, call_new(f, "\\\\SERVER\\SHARE\\", LINK, USER, PASSWORD));
  assert_link(f, LINK, REMOTE "\\");
  assert_ok(f, call_new(f, REMOTE "\\Sub", K "\\sub", USER, PASSWORD));
  assert_ok(f, call_new(f, "\\\\SERVER\\SHARE\\Sub", K "\\sub", USER, PASSWORD));
  assert_failed(f, call_new(f, REMOTE "\\SUB", K "\\sub", USER, PASSWORD), CSI_ALREADY_EXISTS,
                "creating link ");
  restart_service(f);
  csi_fake_shares_do(f->shares, "unmap root=" ROOT);
  assert_ok(f, call_new(f, REMOTE, LINK, USER, PASSWORD)); /* after the node was started again */
  assert_mapped(f, USER, PASSWORD);
}

static void add_other_link(struct csi_fake_filesystem *files) {
  csi_fake_add_symlink(files, LINK, "\\??\\UNC\\server\\share\\sub\\", false, true);
}
static void add_link_without_separator(struct csi_fake_filesystem *files) {
  csi_fake_add_symlink(files, LINK, "\\??\\UNC\\server\\share", false, true);
}
static void add_file_link(struct csi_fake_filesystem *files) {
  csi_fake_add_symlink(files, LINK, "\\??\\UNC\\server\\share\\", false, false);
}
static void add_broken_link(struct csi_fake_filesystem *files) {
  csi_fake_add_symlink(files, LINK, "\\??\\\\\\server\\share\\", false, true); /* of the original, 1.3 */
}
static void add_junction(struct csi_fake_filesystem *files) {
  csi_fake_add_junction(files, LINK, "\\??\\C:\\Windows");
}
static void add_directory(struct csi_fake_filesystem *files) {
  csi_fake_add_directory(files, LINK);
}
static void add_file(struct csi_fake_filesystem *files) {
  csi_fake_add_file(files, LINK);
}

static void (*const obstacles[])(struct csi_fake_filesystem *files) = {
    add_other_link, add_link_without_separator, add_file_link, add_broken_link, add_junction, add_directory,
    add_file};

static void test_something_else_is_in_the_place_of_the_link(void **state) {
  for (size_t i = 0; i < COUNT(obstacles); i++) {
    smb_fixture_tear_down(state);
    smb_fixture_set_up(state);
    struct smb_fixture *f = *state;
    obstacles[i](f->files);
    assert_failed(f, call_new(f, REMOTE, LINK, USER, PASSWORD), CSI_ALREADY_EXISTS, LINK_FAILED);
    assert_says(f, "Cannot create a file when that file already exists.");
    assert_true(csi_fake_exists(f->files, LINK));
    assert_int_equal(csi_fake_shares_count(f->shares), 0); /* taken back */
    assert_steps(f, 1, 1);
    given_mapped(f);
    assert_failed(f, call_new(f, REMOTE, LINK, USER, PASSWORD), CSI_ALREADY_EXISTS, LINK_FAILED);
    assert_mapped(f, USER, PASSWORD); /* it was there before */
    rotate_password(f, NEW_PASSWORD);
    assert_failed(f, call_new(f, REMOTE, LINK, USER, NEW_PASSWORD), CSI_ALREADY_EXISTS, LINK_FAILED);
    assert_mapped(f, USER, NEW_PASSWORD); /* made anew, and it was there before */
  }
}

static void test_link_cannot_be_made(void **state) {
  struct smb_fixture *f = *state;
  assert_failed(f, call_new(f, REMOTE, K "\\no\\where", USER, PASSWORD), CSI_NOT_FOUND, "creating link " K);
  assert_int_equal(csi_fake_shares_count(f->shares), 0);
  assert_failed(f, call_new(f, REMOTE, K, USER, PASSWORD), CSI_ALREADY_EXISTS, "creating link " K " to ");
  csi_fake_add_symlink(f->files, K "\\planted", "\\??\\C:\\Windows", false, true);
  csi_fake_add_directory(f->files, "C:\\Windows");
  assert_failed(f, call_new(f, REMOTE, K "\\planted\\x", USER, PASSWORD), CSI_FAILED_PRECONDITION,
                "creating link " K "\\planted\\x to " REMOTE);
  assert_int_equal(csi_fake_count_children(f->files, "C:\\Windows"), 0);
  assert_int_equal(csi_fake_shares_count(f->shares), 0);
}

static void test_mapping_cannot_be_taken_back(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_add_directory(f->files, LINK);
  fail_call(f, CSI_FAKE_SMB_REMOVE, 59);
  assert_failed(f, call_new(f, REMOTE, LINK, USER, PASSWORD), CSI_ALREADY_EXISTS, LINK_FAILED);
  assert_says(f, "(and " ROOT ", which this call has mapped, is left mapped: ");
  assert_says(f, "An unexpected network error occurred.");
  assert_mapped(f, USER, PASSWORD);
}

/* ---- A mapping with the same credentials. ---- */

static void test_repeated_calls_keep_the_mapping(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  for (int i = 0; i < 3; i++)
    assert_ok(f, map(f));
  assert_steps(f, 0, 0);
  assert_int_equal(csi_fake_network_count(f->network, CSI_FAKE_SMB_CHECK), 3);
}

static void test_a_network_that_fails_ends_no_mapping(void **state) {
  struct smb_fixture *f = *state;
  static const uint32_t errors[] = {2,  3,  21,  51,   53,   54,   58,   59,   64,
                                    67, 71, 121, 1117, 1203, 1222, 1225, 1231, 1311};
  given_mapped(f);
  for (size_t i = 0; i < COUNT(errors); i++) {
    fail_call(f, CSI_FAKE_SMB_CHECK, errors[i]);
    bool result = map(f);
    assert_failed(f, result, f->status.code, NEW_FAILED);
    assert_int_equal(f->status.number, errors[i]);
    assert_says(f, KEPT);
    csi_fake_network_clear_faults(f->network);
  }
  csi_fake_shares_do(f->shares, "set root=" ROOT " state=down");
  assert_failed(f, map(f), CSI_UNAVAILABLE, NEW_FAILED);
  assert_steps(f, 0, 0);
  assert_mapped(f, USER, PASSWORD);
  csi_fake_shares_do(f->shares, "set root=" ROOT " state=up");
  assert_ok(f, map(f));
  assert_steps(f, 0, 0);
}

static void test_a_session_that_is_refused_is_made_anew(void **state) {
  struct smb_fixture *f = *state;
  static const uint32_t errors[] = {5,    65,   86,   1219, 1244, 1312, 1326,
                                    1327, 1330, 1331, 1907, 1909, 2202, 2250};
  given_mapped(f);
  for (size_t i = 0; i < COUNT(errors); i++) {
    csi_fake_network_add_fault(f->network, &(struct csi_fake_network_fault){
                                               .call = CSI_FAKE_SMB_CHECK, .count = 1, .error = errors[i]});
    assert_ok(f, map(f));
    assert_mapped(f, USER, PASSWORD);
    assert_steps(f, i + 1, i + 1);
  }
  assert_ok(f, map(f));
  assert_steps(f, COUNT(errors), COUNT(errors));
}

static void test_a_refused_session_is_kept_when_the_server_refuses_the_caller_too(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  rotate_password(f, NEW_PASSWORD);
  csi_fake_shares_cut_sessions(f->shares);
  assert_failed(f, map(f), CSI_PERMISSION_DENIED, NEW_FAILED);
  assert_says(f, "The specified network password is not correct.");
  assert_says(f, "check username and password");
  assert_says(f, KEPT);
  assert_steps(f, 0, 0);
  assert_ok(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD));
  assert_mapped(f, USER, NEW_PASSWORD);
}

static void test_a_user_who_may_not_look_at_the_root(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_deny_root(f->shares, ROOT);
  given_mapped(f);
  for (int i = 0; i < 3; i++)
    assert_ok(f, map(f));
  assert_steps(f, 0, 0);
  assert_int_equal(csi_fake_network_count(f->network, CSI_FAKE_SMB_TRY), 1);
  assert_ok(f, call_remove(f, REMOTE));
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.cannot_try = true});
  given_mapped(f);
  for (int i = 0; i < 3; i++)
    assert_ok(f, map(f));
  assert_steps(f, 1, 1); /* nobody can say that it is the user */
}

/* ---- A mapping with other credentials. ---- */

static void test_rotated_password(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  rotate_password(f, NEW_PASSWORD);
  assert_ok(f, call_new(f, REMOTE, LINK, USER, NEW_PASSWORD));
  assert_mapped(f, USER, NEW_PASSWORD);
  assert_true(csi_fake_shares_is_private(f->shares, ROOT));
  assert_steps(f, 1, 1);
  assert_link(f, LINK, REMOTE "\\");
  csi_fake_network_reset_counts(f->network);
  assert_ok(f, call_new(f, REMOTE, LINK, USER, NEW_PASSWORD));
  assert_steps(f, 0, 0);
}

static void test_rotated_user(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  csi_fake_shares_do(f->shares, "set root=" ROOT " user=other password=pw-3");
  assert_ok(f, call_new(f, REMOTE, "", "other", "pw-3"));
  assert_mapped(f, "other", "pw-3");
}

static void test_a_wrong_password_neither_ends_a_mapping_nor_gets_in(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  assert_failed(f, call_new(f, REMOTE, LINK, USER, "pw-wrong"), CSI_PERMISSION_DENIED, NEW_FAILED);
  assert_says(f, KEPT);
  assert_failed(f, call_new(f, REMOTE, LINK, "", ""), CSI_FAILED_PRECONDITION, NEW_FAILED);
  assert_says(f, "end it with RemoveSmbGlobalMapping first");
  assert_says(f, KEPT);
  assert_failed(f, call_new(f, REMOTE, LINK, "nobody", ""), CSI_PERMISSION_DENIED, NEW_FAILED);
  assert_link(f, LINK, NULL);
  assert_mapped(f, USER, PASSWORD);
  assert_int_equal(csi_fake_network_count(f->network, CSI_FAKE_SMB_REMOVE), 0);
  csi_fake_network_reset_counts(f->network);
  assert_ok(f, map(f));
  assert_steps(f, 0, 0); /* its credentials are still known */
}

static void test_credentials_cannot_be_tried_for_the_network_is_away(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  rotate_password(f, NEW_PASSWORD);
  csi_fake_shares_do(f->shares, "set root=" ROOT " state=down");
  assert_failed(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD), CSI_UNAVAILABLE, NEW_FAILED);
  assert_says(f, KEPT);
  assert_mapped(f, USER, PASSWORD);
}

static void test_the_new_mapping_fails(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  rotate_password(f, NEW_PASSWORD);
  csi_fake_network_add_fault(f->network, &(struct csi_fake_network_fault){
                                             .call = CSI_FAKE_SMB_ADD, .nth = 1, .count = 1, .error = 59});
  assert_failed(f, call_new(f, REMOTE, LINK, USER, NEW_PASSWORD), CSI_UNAVAILABLE, ADD_FAILED);
  assert_says(f, "the mapping that was there has been ended for this: " ROOT " is not mapped now");
  assert_int_equal(csi_fake_shares_count(f->shares), 0);
  assert_link(f, LINK, NULL);
  assert_ok(f, call_new(f, REMOTE, LINK, USER, NEW_PASSWORD));
  assert_mapped(f, USER, NEW_PASSWORD);
}

static void test_the_old_mapping_cannot_be_ended(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  rotate_password(f, NEW_PASSWORD);
  fail_call(f, CSI_FAKE_SMB_REMOVE, 2404);
  assert_failed(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD), CSI_FAILED_PRECONDITION,
                REMOVE_FAILED "failed to remove SMB global mapping by remote path " ROOT ": ");
  assert_mapped(f, USER, PASSWORD);
  csi_fake_network_clear_faults(f->network);
  fail_call(f, CSI_FAKE_SMB_REMOVE, 2250); /* somebody else was faster; the fake keeps it all the same */
  assert_failed(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD), CSI_FAILED_PRECONDITION, ADD_FAILED);
}

/* ---- A mapping that somebody else has made, or the service before it was started again. ---- */

static void test_a_mapping_nobody_knows_with_the_same_credentials(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  restart_service(f);
  assert_ok(f, map(f));
  assert_steps(f, 1, 0);
  assert_ok(f, map(f));
  assert_steps(f, 1, 0); /* known now */
}

static void test_a_mapping_nobody_knows_with_other_credentials(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_do(f->shares, "map root=" ROOT " user=old password=pw-old");
  assert_failed(f, call_new(f, REMOTE, "", "old", "pw-wrong"), CSI_PERMISSION_DENIED, NEW_FAILED);
  assert_true(csi_fake_shares_is_mapped_with(f->shares, ROOT, "old", "pw-old"));
  assert_ok(f, map(f));
  assert_mapped(f, USER, PASSWORD);
}

static void given_no_comparison(struct smb_fixture *f) {
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.cannot_compare = true});
}

static void test_without_comparison_a_good_mapping_survives_a_restart(void **state) {
  struct smb_fixture *f = *state;
  given_no_comparison(f);
  given_mapped(f);
  restart_service(f);
  assert_failed(f, call_new(f, REMOTE, LINK, USER, "pw-wrong"), CSI_PERMISSION_DENIED, NEW_FAILED);
  assert_ok(f, call_new(f, REMOTE, LINK, USER, PASSWORD));
  assert_ok(f, map(f));
  assert_int_equal(csi_fake_network_count(f->network, CSI_FAKE_SMB_REMOVE), 0);
  assert_mapped(f, USER, PASSWORD);
}

static void test_without_comparison_a_stale_mapping_is_made_anew_when_it_fails(void **state) {
  struct smb_fixture *f = *state;
  given_no_comparison(f);
  given_mapped(f);
  restart_service(f);
  rotate_password(f, NEW_PASSWORD);
  assert_ok(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD));
  assert_mapped(f, USER, PASSWORD); /* its session lives on */
  csi_fake_shares_cut_sessions(f->shares);
  assert_ok(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD));
  assert_mapped(f, USER, NEW_PASSWORD);
}

static void test_without_comparison_a_root_that_is_denied_is_tried_once(void **state) {
  struct smb_fixture *f = *state;
  given_no_comparison(f);
  csi_fake_shares_deny_root(f->shares, ROOT);
  given_mapped(f);
  restart_service(f);
  for (int i = 0; i < 3; i++)
    assert_ok(f, map(f));
  assert_steps(f, 1, 0);
}

static void test_without_comparison_a_rotation_is_noticed(void **state) {
  struct smb_fixture *f = *state;
  given_no_comparison(f);
  given_mapped(f);
  rotate_password(f, NEW_PASSWORD);
  assert_ok(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD));
  assert_mapped(f, USER, NEW_PASSWORD);
}

/* ---- What a system cannot do. ---- */

static void test_a_system_that_cannot_try_credentials(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.cannot_try = true});
  given_mapped(f);
  rotate_password(f, NEW_PASSWORD);
  csi_fake_shares_do(f->shares, "set root=" ROOT " state=down");
  assert_failed(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD), CSI_UNAVAILABLE, NEW_FAILED);
  assert_mapped(f, USER, PASSWORD);
  csi_fake_shares_do(f->shares, "set root=" ROOT " state=up");
  assert_failed(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD), CSI_FAILED_PRECONDITION, NEW_FAILED);
  assert_says(f, "end it with RemoveSmbGlobalMapping first");
  assert_mapped(f, USER, PASSWORD);
  assert_steps(f, 0, 0);
  csi_fake_shares_cut_sessions(f->shares);
  assert_ok(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD));
  assert_mapped(f, USER, NEW_PASSWORD);
}

static void test_a_system_that_can_neither_try_nor_compare(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_set_abilities(f->shares,
                                &(struct csi_fake_smb_abilities){.cannot_try = true, .cannot_compare = true});
  given_mapped(f);
  restart_service(f);
  assert_ok(f, map(f));
  assert_failed(f, call_new(f, REMOTE, "", "", ""), CSI_FAILED_PRECONDITION, NEW_FAILED);
  assert_says(f, "is mapped with unknown credentials");
  csi_fake_shares_do(f->shares, "set root=" ROOT " state=down");
  assert_failed(f, map(f), CSI_UNAVAILABLE, NEW_FAILED);
  csi_fake_shares_do(f->shares, "set root=" ROOT " state=up");
  assert_mapped(f, USER, PASSWORD);
  assert_int_equal(csi_fake_network_count(f->network, CSI_FAKE_SMB_REMOVE), 0);
}

/* Whoever knows none of a share's credentials is not let in for that it is mapped. */
static void test_a_system_that_adds_anything(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.adds_anything = true});
  given_mapped(f);
  assert_failed(f, call_new(f, REMOTE, LINK, USER, "pw-wrong"), CSI_PERMISSION_DENIED, NEW_FAILED);
  restart_service(f);
  assert_failed(f, call_new(f, REMOTE, LINK, USER, "pw-wrong"), CSI_PERMISSION_DENIED, NEW_FAILED);
  assert_says(f, KEPT);
  assert_ok(f, map(f));
  rotate_password(f, NEW_PASSWORD);
  assert_ok(f, call_new(f, REMOTE, LINK, USER, NEW_PASSWORD));
  assert_mapped(f, USER, NEW_PASSWORD);
}

static void test_a_username_has_no_case(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  assert_ok(f, call_new(f, REMOTE, "", "azure\\USER", PASSWORD));
  assert_steps(f, 0, 0);
  assert_int_equal(csi_fake_network_count(f->network, CSI_FAKE_SMB_TRY), 0);
}

/* ---- Several shares of one server. ---- */

#define OTHER "\\\\server\\other"

static void rotate_both(struct smb_fixture *f) {
  rotate_password(f, NEW_PASSWORD);
  csi_fake_shares_do(f->shares, "set root=" OTHER " password=" NEW_PASSWORD);
}

static void test_shares_of_one_server_have_one_user(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_do(f->shares, "add root=" OTHER " user=" USER " password=" PASSWORD);
  assert_ok(f, call_new(f, OTHER, "", USER, PASSWORD));
  given_mapped(f);
  rotate_both(f);
  for (int i = 0; i < 2; i++)
    assert_ok(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD));
  assert_mapped(f, USER, PASSWORD);
  assert_steps(f, 0, 0);
  csi_fake_shares_cut_sessions(f->shares);
  assert_failed(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD), CSI_FAILED_PRECONDITION, NEW_FAILED);
  assert_says(f, "end these with RemoveSmbGlobalMapping first: " OTHER);
  assert_says(f, KEPT);
  assert_steps(f, 0, 0);
  assert_mapped(f, USER, PASSWORD);
  assert_ok(f, call_remove(f, OTHER));
  assert_ok(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD));
  assert_mapped(f, USER, NEW_PASSWORD);
  assert_ok(f, call_new(f, OTHER, "", USER, NEW_PASSWORD));
}

static void test_another_user_on_a_server(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  csi_fake_shares_do(f->shares, "add root=" OTHER " user=other password=pw-3");
  for (int hides = 0; hides < 2; hides++) {
    csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.hides_absence = hides});
    assert_failed(f, call_new(f, OTHER, LINK, "other", "pw-3"), CSI_FAILED_PRECONDITION, ADD_FAILED);
    assert_int_equal(f->status.number, 1219);
    assert_mapped(f, USER, PASSWORD);
    assert_int_equal(csi_fake_shares_count(f->shares), 1);
    assert_int_equal(csi_fake_network_count(f->network, CSI_FAKE_SMB_REMOVE), 0);
  }
  assert_says(f, "mapped as another user: " ROOT);
}

/* What somebody else has unmapped is no obstacle, whatever is remembered. */
static void test_a_share_that_has_gone_holds_up_no_other(void **state) {
  struct smb_fixture *f = *state;
  for (int hides = 0; hides < 2; hides++) {
    csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.hides_absence = hides});
    if (hides == 0) csi_fake_shares_do(f->shares, "add root=" OTHER " user=" USER " password=" PASSWORD);
    assert_ok(f, call_new(f, OTHER, "", USER, PASSWORD));
    given_mapped(f);
    csi_fake_shares_do(f->shares, "unmap root=" OTHER);
    rotate_password(f, NEW_PASSWORD);
    assert_ok(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD));
    assert_mapped(f, USER, NEW_PASSWORD);
    assert_ok(f, call_remove(f, REMOTE));
    rotate_password(f, PASSWORD);
  }
}

static void test_a_query_that_fails_is_a_hint_that_is_missing(void **state) {
  struct smb_fixture *f = *state;
  fail_call(f, CSI_FAKE_SMB_GET_STATE, 1722);
  for (int i = 0; i < 2; i++)
    assert_ok(f, map(f));
  assert_mapped(f, USER, PASSWORD);
  assert_ok(f, call_remove(f, REMOTE));
  csi_fake_network_clear_faults(f->network);
  csi_fake_add_directory(f->files, LINK);
  csi_fake_shares_do(f->shares, "map root=" ROOT " user=" USER " password=" PASSWORD);
  csi_fake_network_add_fault(f->network, &(struct csi_fake_network_fault){
                                             .call = CSI_FAKE_SMB_GET_STATE, .count = 1, .error = 1722});
  assert_failed(f, call_new(f, REMOTE, LINK, USER, PASSWORD), CSI_ALREADY_EXISTS, LINK_FAILED);
  assert_mapped(f, USER, PASSWORD); /* not taken for its own */
}

static struct {
  const struct csi_smb_host *host;
  int64_t remove_deadline_ns, add_deadline_ns;
} seen;

static bool see_remove(void *self, struct csi_ctx *ctx, const char *root) {
  seen.remove_deadline_ns = ctx->deadline_ns;
  return seen.host->remove(self, ctx, root);
}

static bool see_add(void *self, struct csi_ctx *ctx, const char *root,
                    const struct csi_smb_credentials *credentials, bool require_privacy) {
  seen.add_deadline_ns = ctx->deadline_ns;
  return seen.host->add(self, ctx, root, credentials, require_privacy);
}

/* However long the end of the old one has taken. */
static void test_the_new_mapping_has_a_time_of_its_own(void **state) {
  struct smb_fixture *f = *state;
  seen.host = csi_fake_smb_host(f->shares);
  struct csi_smb_host host = *seen.host;
  host.add = see_add;
  host.remove = see_remove;
  const char *const roots[] = {K};
  const struct csi_smb_options options = {.working_dirs = roots, .working_dir_count = 1};
  const struct csi_smb_hosts hosts = {.shares = &host, .files = csi_fake_filesystem_host(f->files)};
  csi_smb_free(f->group);
  f->group = csi_smb_new(&options, &hosts, f->locks, &f->status);
  f->deadline_ns = csi_now_ns() + INT64_C(5000000000);
  given_mapped(f);
  rotate_password(f, NEW_PASSWORD);
  assert_ok(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD));
  assert_true(seen.remove_deadline_ns > f->deadline_ns);
  assert_true(seen.add_deadline_ns > seen.remove_deadline_ns + INT64_C(40000000000));
}

static void test_a_system_that_does_not_tell_states(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.hides_state = true});
  for (int i = 0; i < 2; i++)
    assert_ok(f, call_new(f, REMOTE, LINK, USER, PASSWORD));
  assert_steps(f, 2, 0);
  csi_fake_shares_do(f->shares, "unmap root=" ROOT);
  assert_ok(f, map(f));
  assert_mapped(f, USER, PASSWORD);
  rotate_password(f, NEW_PASSWORD);
  assert_ok(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD));
  assert_mapped(f, USER, NEW_PASSWORD);
  assert_failed(f, call_new(f, REMOTE, "", USER, PASSWORD), CSI_PERMISSION_DENIED, NEW_FAILED);
  assert_failed(f, call_new(f, REMOTE "\\sub", LINK, USER, NEW_PASSWORD), CSI_ALREADY_EXISTS,
                "creating link ");
  assert_says(f, "(and " ROOT " stays mapped, for it is not known whether it was so before)");
  assert_mapped(f, USER, NEW_PASSWORD);
  for (int i = 0; i < 2; i++)
    assert_ok(f, call_remove(f, REMOTE));
  assert_int_equal(csi_fake_shares_count(f->shares), 0);
}

static void test_a_system_that_tells_only_what_is_mapped(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.hides_absence = true});
  csi_fake_add_directory(f->files, LINK);
  for (int i = 0; i < 2; i++) { /* whatever is remembered */
    assert_failed(f, call_new(f, REMOTE, LINK, USER, PASSWORD), CSI_ALREADY_EXISTS, LINK_FAILED);
    assert_int_equal(csi_fake_shares_count(f->shares), 0);
    assert_ok(f, map(f));
    assert_failed(f, call_new(f, REMOTE, LINK, USER, PASSWORD), CSI_ALREADY_EXISTS, LINK_FAILED);
    assert_mapped(f, USER, PASSWORD);
    restart_service(f);
    assert_failed(f, call_new(f, REMOTE, LINK, USER, PASSWORD), CSI_ALREADY_EXISTS, LINK_FAILED);
    assert_mapped(f, USER, PASSWORD);
    csi_fake_shares_do(f->shares, "unmap root=" ROOT);
  }
  for (int i = 0; i < 2; i++)
    assert_ok(f, call_remove(f, REMOTE));
}

/* Windows has one user for all shares of a server. */
static void test_a_conflict_with_another_share(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.hides_absence = true});
  fail_call(f, CSI_FAKE_SMB_ADD, 1219);
  assert_failed(f, map(f), CSI_FAILED_PRECONDITION, ADD_FAILED);
  assert_says(f, "end the other mappings with RemoveSmbGlobalMapping");
  assert_null(strstr(f->status.text, "has been ended")); /* there was none */
}

static void given_broken(struct smb_fixture *f) {
  csi_fake_shares_do(f->shares, "set root=" ROOT " state=disconnected");
  csi_fake_network_reset_counts(f->network);
}

static void test_a_broken_mapping(void **state) {
  struct smb_fixture *f = *state;
  assert_ok(f, map(f));
  for (int compares = 0; compares < 2; compares++) {
    csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.cannot_compare = !compares});
    given_broken(f);
    assert_ok(f, map(f));
    assert_mapped(f, USER, PASSWORD);
    if (compares)
      assert_steps(f, 1, 0); /* adding over it has mended it */
    else
      assert_steps(f, 2, 1);
    given_broken(f);
    rotate_password(f, NEW_PASSWORD);
    assert_ok(f, call_new(f, REMOTE, "", USER, NEW_PASSWORD));
    assert_mapped(f, USER, NEW_PASSWORD);
    rotate_password(f, PASSWORD);
    assert_ok(f, map(f));
  }
}

static void test_a_broken_mapping_is_not_given_up_for_a_network_that_fails(void **state) {
  struct smb_fixture *f = *state;
  assert_ok(f, map(f));
  for (int compares = 0; compares < 2; compares++) {
    csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.cannot_compare = !compares});
    given_broken(f);
    fail_call(f, CSI_FAKE_SMB_ADD, 53);
    assert_failed(f, map(f), CSI_UNAVAILABLE, ADD_FAILED);
    csi_fake_network_clear_faults(f->network);
    fail_call(f, CSI_FAKE_SMB_CHECK, 64);
    fail_call(f, CSI_FAKE_SMB_TRY, 53);
    assert_failed(f, map(f), CSI_UNAVAILABLE, NEW_FAILED);
    assert_says(f, KEPT);
    csi_fake_network_clear_faults(f->network);
    assert_int_equal(csi_fake_network_count(f->network, CSI_FAKE_SMB_REMOVE), 0);
    assert_mapped(f, USER, PASSWORD);
  }
}

/* ---- Ending a mapping. ---- */

static void test_remove(void **state) {
  struct smb_fixture *f = *state;
  assert_ok(f, call_new(f, REMOTE, LINK, USER, PASSWORD));
  assert_ok(f, call_remove(f, REMOTE));
  assert_int_equal(csi_fake_shares_count(f->shares), 0);
  assert_link(f, LINK, REMOTE "\\"); /* the driver's business */
  assert_ok(f, call_remove(f, REMOTE));
  assert_ok(f, call_remove(f, "\\\\no\\such"));
  assert_ok(f, call_new(f, REMOTE, LINK, USER, PASSWORD));
}

static void test_remove_reaches_only_one_share(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_do(f->shares, "add root=\\\\server\\share2");
  assert_ok(f, call_new(f, "\\\\server\\share2", "", "", ""));
  given_mapped(f);
  assert_ok(f, call_remove(f, "\\\\server\\share2"));
  assert_mapped(f, USER, PASSWORD);
}

static void test_remove_forgets_the_credentials(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  assert_ok(f, call_remove(f, REMOTE));
  csi_fake_shares_do(f->shares, "map root=" ROOT " user=" USER " password=pw-other");
  assert_ok(f, map(f)); /* not taken for the one it had made */
  assert_mapped(f, USER, PASSWORD);
}

static void test_remove_of_what_has_gone_meanwhile(void **state) {
  struct smb_fixture *f = *state;
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.hides_state = true});
  assert_ok(f, call_remove(f, REMOTE)); /* 2250 */
  assert_steps(f, 0, 1);
}

static void test_remove_fails(void **state) {
  struct smb_fixture *f = *state;
  given_mapped(f);
  fail_call(f, CSI_FAKE_SMB_REMOVE, 59);
  assert_failed(f, call_remove(f, REMOTE), CSI_UNAVAILABLE,
                REMOVE_FAILED "failed to remove SMB global mapping by remote path " ROOT ": ");
  csi_fake_network_clear_faults(f->network);
  fail_call(f, CSI_FAKE_SMB_GET_STATE, 1722);
  assert_ok(f, call_remove(f, REMOTE));
  csi_fake_network_clear_faults(f->network);
  assert_int_equal(csi_fake_shares_count(f->shares), 0);
  assert_ok(f, map(f));
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.keeps_what_it_ended = true});
  assert_failed(f, call_remove(f, REMOTE), CSI_INTERNAL, REMOVE_FAILED);
  assert_says(f, "still there");
}

/* ---- A client that has gone. ---- */

struct departure {
  struct smb_fixture *f;
  const char *call;
};

static void depart(struct csi_fake_network *network, const char *call, void *data) {
  (void)network;
  struct departure *departure = data;
  if (strcmp(call, departure->call) == 0) atomic_store(&departure->f->cancelled, true);
}

static void test_the_client_goes_between_the_end_of_the_old_mapping_and_the_new_one(void **state) {
  struct smb_fixture *f = *state;
  struct departure departure = {.f = f, .call = CSI_FAKE_SMB_REMOVE};
  given_mapped(f);
  rotate_password(f, NEW_PASSWORD);
  csi_fake_network_set_hook(f->network, depart, &departure);
  assert_failed(f, call_new(f, REMOTE, LINK, USER, NEW_PASSWORD), CSI_CANCELLED, LINK_FAILED);
  csi_fake_network_set_hook(f->network, NULL, NULL);
  assert_mapped(f, USER, NEW_PASSWORD);
  assert_link(f, LINK, NULL);
}

static void test_the_client_goes_before_the_link(void **state) {
  struct smb_fixture *f = *state;
  struct departure departure = {.f = f, .call = CSI_FAKE_SMB_ADD};
  csi_fake_network_set_hook(f->network, depart, &departure);
  assert_failed(f, call_new(f, REMOTE, LINK, USER, PASSWORD), CSI_CANCELLED, LINK_FAILED);
  csi_fake_network_set_hook(f->network, NULL, NULL);
  assert_int_equal(csi_fake_shares_count(f->shares), 0); /* taken back nevertheless */
}

static void test_the_client_goes_before_anything_is_ended(void **state) {
  struct smb_fixture *f = *state;
  struct departure departure = {.f = f, .call = CSI_FAKE_SMB_TRY};
  given_mapped(f);
  rotate_password(f, NEW_PASSWORD);
  csi_fake_network_set_hook(f->network, depart, &departure);
  assert_failed(f, call_new(f, REMOTE, LINK, USER, NEW_PASSWORD), CSI_CANCELLED, NEW_FAILED);
  csi_fake_network_set_hook(f->network, NULL, NULL);
  assert_mapped(f, USER, PASSWORD);
}

static void test_without_working_directories_there_is_no_group(void **state) {
  struct smb_fixture *f = *state;
  const struct csi_smb_options options = {.working_dir_count = 0};
  const struct csi_smb_hosts hosts = {.shares = csi_fake_smb_host(f->shares),
                                      .files = csi_fake_filesystem_host(f->files)};
  struct csi_status status = {0};
  assert_null(csi_smb_new(&options, &hosts, f->locks, &status));
  assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
  csi_smb_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, smb_fixture_set_up, smb_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_new),
      TEST(test_all_spellings_are_one_share),
      TEST(test_everybodys_share),
      TEST(test_bad_requests_change_nothing),
      TEST(test_a_path_may_have_the_limit_of_the_flag),
      TEST(test_errors_say_what_to_do),
      TEST(test_what_the_server_refuses),
      TEST(test_link),
      TEST(test_link_is_there_already),
      TEST(test_something_else_is_in_the_place_of_the_link),
      TEST(test_link_cannot_be_made),
      TEST(test_mapping_cannot_be_taken_back),
      TEST(test_repeated_calls_keep_the_mapping),
      TEST(test_a_network_that_fails_ends_no_mapping),
      TEST(test_a_session_that_is_refused_is_made_anew),
      TEST(test_a_refused_session_is_kept_when_the_server_refuses_the_caller_too),
      TEST(test_a_user_who_may_not_look_at_the_root),
      TEST(test_rotated_password),
      TEST(test_rotated_user),
      TEST(test_a_wrong_password_neither_ends_a_mapping_nor_gets_in),
      TEST(test_credentials_cannot_be_tried_for_the_network_is_away),
      TEST(test_the_new_mapping_fails),
      TEST(test_the_old_mapping_cannot_be_ended),
      TEST(test_a_mapping_nobody_knows_with_the_same_credentials),
      TEST(test_a_mapping_nobody_knows_with_other_credentials),
      TEST(test_without_comparison_a_good_mapping_survives_a_restart),
      TEST(test_without_comparison_a_stale_mapping_is_made_anew_when_it_fails),
      TEST(test_without_comparison_a_root_that_is_denied_is_tried_once),
      TEST(test_without_comparison_a_rotation_is_noticed),
      TEST(test_a_system_that_cannot_try_credentials),
      TEST(test_a_system_that_can_neither_try_nor_compare),
      TEST(test_a_system_that_adds_anything),
      TEST(test_a_username_has_no_case),
      TEST(test_shares_of_one_server_have_one_user),
      TEST(test_another_user_on_a_server),
      TEST(test_a_share_that_has_gone_holds_up_no_other),
      TEST(test_a_query_that_fails_is_a_hint_that_is_missing),
      TEST(test_the_new_mapping_has_a_time_of_its_own),
      TEST(test_a_system_that_does_not_tell_states),
      TEST(test_a_system_that_tells_only_what_is_mapped),
      TEST(test_a_conflict_with_another_share),
      TEST(test_a_broken_mapping),
      TEST(test_a_broken_mapping_is_not_given_up_for_a_network_that_fails),
      TEST(test_remove),
      TEST(test_remove_reaches_only_one_share),
      TEST(test_remove_forgets_the_credentials),
      TEST(test_remove_of_what_has_gone_meanwhile),
      TEST(test_remove_fails),
      TEST(test_the_client_goes_between_the_end_of_the_old_mapping_and_the_new_one),
      TEST(test_the_client_goes_before_the_link),
      TEST(test_the_client_goes_before_anything_is_ended),
      TEST(test_without_working_directories_there_is_no_group),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
