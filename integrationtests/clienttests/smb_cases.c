/* SPDX-License-Identifier: Apache-2.0
 *
 * What every version of the SMB group must do, on shares that come, change and go.
 */
#include <stdio.h>
#include <string.h>

#include "network_calls.h"
#include "scene.h"

/* Win32 error numbers; this file also runs where there is no winerror.h. */
enum {
  FILE_NOT_FOUND = 2,
  ACCESS_DENIED = 5,
  BAD_NETPATH = 53,
  NETWORK_ACCESS_DENIED = 65,
  BAD_NET_NAME = 67,
  INVALID_PASSWORD = 86,
  SESSION_CREDENTIAL_CONFLICT = 1219,
  LOGON_FAILURE = 1326,
};

enum {
  CLIENTS = 6, /* no more than wait for one share */
  ROUNDS = 5,
};

#define SHARE "\\\\fileserver\\share"
#define OTHER "\\\\fileserver\\other"
#define USER "DOMAIN\\worker"
#define PASSWORD "first-Secret-1"
#define NEW_PASSWORD "second-Secret-2"
#define ADD "WNetAddConnection4W"
#define CANCEL "WNetCancelConnection2W"

static const char failed_new[] = "NewSmbGlobalMapping failed. err: ";
static const char failed_remove[] = "error remove smb mapping '" SHARE "'. err: ";

/* ---- The scene. ---- */

static void add_share(struct run *run, const char *root) {
  scene(run, "share add root=%s user=%s password=%s", root, USER, PASSWORD);
}

static void check_word(struct run *run, const char *root, const char *key, const char *expected) {
  const char *value = scene_word(run, "share list", path(run, "root=%s", root), key);
  check(run, strcmp(value, expected) == 0, "%s of %s is \"%s\", not \"%s\"", key, root, value, expected);
}

static void check_mapped(struct run *run, const char *root, bool expected) {
  check_word(run, root, "mapped", expected ? "1" : "0");
}

/* ---- The calls, with everything right. ---- */

static enum csi_code map(struct run *run, const char *remote, const char *password) {
  return map_share(run, &(struct csi_smb_new_smb_global_mapping_request){
                            .remote_path = remote, .username = USER, .password = password});
}

static enum csi_code map_linked(struct run *run, const char *remote, const char *local) {
  return map_share(run,
                   &(struct csi_smb_new_smb_global_mapping_request){
                       .remote_path = remote, .local_path = local, .username = USER, .password = PASSWORD});
}

static void check_maps(struct run *run, const char *remote, const char *password) {
  check(run, map(run, remote, password) == CSI_OK, "NewSmbGlobalMapping %s: %s", remote, run->error.text);
}

/* By the server; which of the two numbers comes depends on what asked it. */
static void check_refused_login(struct run *run) {
  uint32_t number = run->error.number == INVALID_PASSWORD ? INVALID_PASSWORD : LOGON_FAILURE;
  check_refusal(run, CSI_UNKNOWN, CSI_PERMISSION_DENIED, number, failed_new);
}

/* Wine looks for shares in a way of its own, and does not know of networks. */
static void check_unreachable(struct run *run) {
  bool is_wine = run->error.number == FILE_NOT_FOUND;
  check_refusal(run, CSI_UNKNOWN, is_wine ? CSI_NOT_FOUND : CSI_UNAVAILABLE,
                is_wine ? FILE_NOT_FOUND : BAD_NETPATH, failed_new);
}

static void check_unmaps(struct run *run, const char *remote) {
  check(run, unmap_share(run, remote) == CSI_OK, "RemoveSmbGlobalMapping %s: %s", remote, run->error.text);
}

static const char *in(struct run *run, const char *name) {
  return path(run, "%s\\%s", run->directory, name);
}

/* ---- NewSmbGlobalMapping: mappings ---- */

static void maps_a_share(struct run *run) {
  add_share(run, SHARE);
  check_maps(run, SHARE, PASSWORD);
  check_mapped(run, SHARE, true);
  check_word(run, SHARE, "user", USER);
}

static void maps_a_share_for_everybody(struct run *run) {
  scene(run, "share add root=%s", SHARE);
  enum csi_code code = map_share(run, &(struct csi_smb_new_smb_global_mapping_request){.remote_path = SHARE});
  check_ok(run, "NewSmbGlobalMapping without credentials", code);
  check_mapped(run, SHARE, true);
}

/* As drivers and people spell a share; the mapping is one. */
static const char *const spellings[] = {SHARE,
                                        SHARE "\\",
                                        "\\\\FILESERVER\\Share",
                                        "//fileserver/share",
                                        "//FileServer/Share/",
                                        SHARE "\\one\\two",
                                        "//fileserver/share/one/two/"};
enum { SPELLINGS = sizeof spellings / sizeof spellings[0] };

static void takes_every_spelling(struct run *run) {
  add_share(run, SHARE);
  for (size_t i = 0; i < SPELLINGS && !run->failed; i++) {
    check_maps(run, spellings[i], PASSWORD);
    check_mapped(run, SHARE, true);
    check_unmaps(run, SHARE);
    check_mapped(run, SHARE, false);
  }
}

static void mapping_twice_is_mapping_once(struct run *run) {
  add_share(run, SHARE);
  for (size_t i = 0; i < SPELLINGS && !run->failed; i++)
    check_maps(run, spellings[i], PASSWORD);
  check_mapped(run, SHARE, true);
  check_not_called(run, CANCEL);
}

static void takes_new_credentials(struct run *run) {
  add_share(run, SHARE);
  check_maps(run, SHARE, PASSWORD);
  scene(run, "share set root=%s password=%s", SHARE, NEW_PASSWORD);
  check_maps(run, SHARE, NEW_PASSWORD);
  check_mapped(run, SHARE, true);
  check_maps(run, SHARE, NEW_PASSWORD);
  scene(run, "share set root=%s user=%s password=%s", SHARE, "DOMAIN\\successor", PASSWORD);
  enum csi_code code =
      map_share(run, &(struct csi_smb_new_smb_global_mapping_request){
                         .remote_path = SHARE, .username = "DOMAIN\\successor", .password = PASSWORD});
  check_ok(run, "NewSmbGlobalMapping as another user", code);
  check_word(run, SHARE, "user", "DOMAIN\\successor");
}

/* What was right before the rotation is wrong now, and must not cost the others their mapping. */
static void keeps_the_mapping_from_old_credentials(struct run *run) {
  add_share(run, SHARE);
  check_maps(run, SHARE, PASSWORD);
  scene(run, "share set root=%s password=%s", SHARE, NEW_PASSWORD);
  check_maps(run, SHARE, NEW_PASSWORD);
  check(run, map(run, SHARE, PASSWORD) != CSI_OK, "success with the password of yesterday");
  check_refused_login(run);
  check_does_not_say(run, PASSWORD);
  check_mapped(run, SHARE, true);
  check_maps(run, SHARE, NEW_PASSWORD);
}

static void takes_over_the_mapping_of_another(struct run *run) {
  add_share(run, SHARE);
  scene(run, "share map root=%s user=DOMAIN\\other password=%s", SHARE, NEW_PASSWORD);
  check(run, map(run, SHARE, "wrong-Secret-3") != CSI_OK, "success with a wrong password");
  check_word(run, SHARE, "user", "DOMAIN\\other");
  check_maps(run, SHARE, PASSWORD);
  check_word(run, SHARE, "user", USER);
}

static void renews_a_broken_mapping(struct run *run) {
  add_share(run, SHARE);
  check_maps(run, SHARE, PASSWORD);
  scene(run, "share set root=%s state=disconnected", SHARE);
  check_maps(run, SHARE, PASSWORD);
  check_mapped(run, SHARE, true);
}

static void a_network_that_fails_ends_no_mapping(struct run *run) {
  add_share(run, SHARE);
  check_maps(run, SHARE, PASSWORD);
  scene(run, "share set root=%s state=down", SHARE);
  check(run, map(run, SHARE, PASSWORD) != CSI_OK, "success while the server does not answer");
  check_unreachable(run);
  check_mapped(run, SHARE, true);
  check_not_called(run, CANCEL);
  scene(run, "share set root=%s state=up", SHARE);
  check_maps(run, SHARE, PASSWORD);
  check_not_called(run, CANCEL);
}

/* ---- NewSmbGlobalMapping: links ---- */

static void makes_a_link(struct run *run) {
  add_share(run, SHARE);
  check_ok(run, "NewSmbGlobalMapping", map_linked(run, SHARE, in(run, "link")));
  check_mapped(run, SHARE, true);
  check_exists(run, in(run, "link"), true);
  check(run, rmdir_at(run, in(run, "link"), true) == CSI_OK, "Rmdir: %s", run->error.text);
  check_exists(run, in(run, "link"), false);
  check_mapped(run, SHARE, true);
}

static void linking_twice_is_linking_once(struct run *run) {
  static const char *const same[] = {SHARE "\\sub\\directory", "//fileserver/share/sub/directory",
                                     "//fileserver/share/sub/directory/"};
  add_share(run, SHARE);
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
    check_ok(run, same[i], map_linked(run, same[i], in(run, "link")));
  check_exists(run, in(run, "link"), true);
}

static void makes_many_links_to_one_share(struct run *run) {
  add_share(run, SHARE);
  for (int i = 0; i < 3; i++)
    check_ok(run, "NewSmbGlobalMapping", map_linked(run, SHARE, path(run, "%s\\%d", run->directory, i)));
  check_not_called(run, CANCEL);
  for (int i = 0; i < 3; i++)
    check_exists(run, path(run, "%s\\%d", run->directory, i), true);
}

static void does_not_replace_another_link(struct run *run) {
  add_share(run, SHARE);
  add_share(run, OTHER);
  check_ok(run, "NewSmbGlobalMapping", map_linked(run, SHARE, in(run, "link")));
  check(run, map_linked(run, OTHER, in(run, "link")) != CSI_OK, "the link was given another target");
  check_says(run, "creating link ");
  check_mapped(run, OTHER, false);
  check_mapped(run, SHARE, true);
  check_ok(run, "NewSmbGlobalMapping of the link that is there", map_linked(run, SHARE, in(run, "link")));
}

static void a_taken_name_costs_no_mapping(struct run *run) {
  add_share(run, SHARE);
  check_made(run, in(run, "folder"));
  check(run, map_linked(run, SHARE, in(run, "folder")) != CSI_OK, "a folder became a link");
  check_says(run, path(run, "creating link %s to %s failed with error: ", in(run, "folder"), SHARE));
  check_mapped(run, SHARE, false);
  check_maps(run, SHARE, PASSWORD);
  check(run, map_linked(run, SHARE, in(run, "folder")) != CSI_OK, "a folder became a link");
  check_mapped(run, SHARE, true); /* it was there before */
}

static void a_missing_parent_makes_no_mapping(struct run *run) {
  add_share(run, SHARE);
  check(run, map_linked(run, SHARE, in(run, "missing\\link")) != CSI_OK,
        "a link in a folder that is not there");
  check_says(run, "creating link ");
  check_mapped(run, SHARE, false);
}

static void no_link_no_mapping(struct run *run) {
  add_share(run, SHARE);
  check(run, map_linked(run, SHARE, in(run, "link")) != CSI_OK, "a link where there are none");
  check_says(run, path(run, "creating link %s to %s failed with error: ", in(run, "link"), SHARE));
  check_mapped(run, SHARE, false);
  check_exists(run, in(run, "link"), false);
}

static void refuses_bad_local_paths(struct run *run) {
  const struct {
    const char *local, *text;
    enum csi_code code;
  } bad[] = {
      {"C:\\elsewhere\\link",
       "path: C:\\elsewhere\\link is not within the working directories: ", CSI_PERMISSION_DENIED},
      {"link", "not an absolute Windows path: link", CSI_INVALID_ARGUMENT},
      {"\\\\fileserver\\share\\link", "invalid character \\ at beginning of path: ", CSI_INVALID_ARGUMENT},
      {in(run, "a|b"), "path contains invalid characters: ", CSI_INVALID_ARGUMENT},
      {in(run, "..\\..\\link"), "path contains invalid characters: ", CSI_INVALID_ARGUMENT}};
  add_share(run, SHARE);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0] && !run->failed; i++) {
    check(run, map_linked(run, SHARE, bad[i].local) != CSI_OK, "success with the local path %s",
          bad[i].local);
    check_refusal(run, CSI_UNKNOWN, bad[i].code, 0, bad[i].text);
  }
  check_mapped(run, SHARE, false);
  check_not_called(run, ADD);
}

/* ---- NewSmbGlobalMapping: what is refused ---- */

static const struct {
  const char *remote, *text;
} bad_remotes[] = {{"", "remote path is empty"},
                   {"fileserver", "remote path (fileserver) is invalid"},
                   {"\\\\fileserver", "remote path (\\\\fileserver) is invalid"},
                   {"\\\\fileserver\\", "remote path (\\\\fileserver\\) is invalid"},
                   {"\\\\\\", "remote path (\\\\\\) is invalid"},
                   {"//", "remote path (\\\\) is invalid"},
                   {SHARE "\\..\\secret", "remote path (" SHARE "\\..\\secret) is invalid"},
                   {"\\\\?\\C:\\data", "remote path (\\\\?\\C:\\data) is invalid"},
                   {"\\\\.\\pipe\\x", "remote path (\\\\.\\pipe\\x) is invalid"}};
enum { BAD_REMOTES = sizeof bad_remotes / sizeof bad_remotes[0] };

static void new_refuses_bad_remote_paths(struct run *run) {
  for (size_t i = 0; i < BAD_REMOTES && !run->failed; i++) {
    check(run, map(run, bad_remotes[i].remote, PASSWORD) != CSI_OK, "success with the remote path \"%s\"",
          bad_remotes[i].remote);
    check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, bad_remotes[i].text);
  }
  check_not_called(run, ADD);
}

static void check_too_long(struct run *run, const struct csi_smb_new_smb_global_mapping_request *request,
                           const char *field) {
  check(run, map_share(run, request) != CSI_OK, "%s was not too long", field);
  check(run, run->error.code == CSI_UNKNOWN && run->error.precise_code == CSI_INVALID_ARGUMENT, "%s: %s, %s",
        field, csi_code_name(run->error.precise_code), run->error.text);
  check_says(run, path(run, "%s is longer than", field));
}

static void new_refuses_what_is_too_long(struct run *run) {
  struct csi_smb_new_smb_global_mapping_request request = {.remote_path = text_of_bytes(4097)};
  check_too_long(run, &request, "remote_path");
  request = (struct csi_smb_new_smb_global_mapping_request){.remote_path = SHARE,
                                                            .local_path = text_of_bytes(98302)};
  check_too_long(run, &request, "local_path");
  request =
      (struct csi_smb_new_smb_global_mapping_request){.remote_path = SHARE, .username = text_of_bytes(1025)};
  check_too_long(run, &request, "username");
  request =
      (struct csi_smb_new_smb_global_mapping_request){.remote_path = SHARE, .password = text_of_bytes(1025)};
  check_too_long(run, &request, "password");
  check_does_not_say(run, "xxxx");
  check_not_called(run, ADD);
}

static void new_refuses_text_that_is_not_utf8(struct run *run) {
  check(run, map(run, SHARE "\\\xC3(", PASSWORD) != CSI_OK, "success with a path that is no UTF-8");
  check_refusal(run, CSI_INTERNAL, CSI_INTERNAL, 0, "grpc: error unmarshalling request: ");
}

static void refuses_credentials_that_are_none(struct run *run) {
  add_share(run, SHARE);
  struct csi_smb_new_smb_global_mapping_request request = {.remote_path = SHARE, .password = PASSWORD};
  check(run, map_share(run, &request) != CSI_OK, "success with a password of nobody");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, "a password is given, and no username");
  check_does_not_say(run, PASSWORD);
  request = (struct csi_smb_new_smb_global_mapping_request){
      .remote_path = SHARE, .username = "a\nb", .password = PASSWORD};
  check(run, map_share(run, &request) != CSI_OK, "success with a user of two lines");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, "username has a control character");
  request = (struct csi_smb_new_smb_global_mapping_request){.remote_path = "\\\\fileserver\\C$"};
  check(run, map_share(run, &request) != CSI_OK, "success with an administrative share for the node itself");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0,
                "remote path (\\\\fileserver\\C$) is an administrative share");
  check_not_called(run, ADD);
}

static void refuses_wrong_credentials(struct run *run) {
  add_share(run, SHARE);
  check(run, map(run, SHARE, NEW_PASSWORD) != CSI_OK, "success with a wrong password");
  check_refused_login(run);
  check_does_not_say(run, NEW_PASSWORD);
  check_mapped(run, SHARE, false);
  struct csi_smb_new_smb_global_mapping_request request = {
      .remote_path = SHARE, .username = "nobody", .password = PASSWORD};
  check(run, map_share(run, &request) != CSI_OK, "success with a wrong user");
  check_refused_login(run);
  request = (struct csi_smb_new_smb_global_mapping_request){.remote_path = SHARE};
  check(run, map_share(run, &request) != CSI_OK, "success without credentials");
  check(run, run->error.precise_code == CSI_PERMISSION_DENIED, "%s: %s",
        csi_code_name(run->error.precise_code), run->error.text);
  check_mapped(run, SHARE, false);
}

static void knows_no_such_share(struct run *run) {
  check(run, map(run, SHARE, PASSWORD) != CSI_OK, "success with a share that is not there");
  check(run, run->error.number == BAD_NETPATH || run->error.number == BAD_NET_NAME, "error %u: %s",
        (unsigned)run->error.number, run->error.text);
  add_share(run, SHARE);
  scene(run, "share set root=%s state=gone", SHARE);
  check(run, map(run, SHARE, PASSWORD) != CSI_OK, "success with a share that is gone");
  check_refusal(run, CSI_UNKNOWN, CSI_NOT_FOUND, BAD_NET_NAME, failed_new);
  scene(run, "share set root=%s state=down", SHARE);
  check(run, map(run, SHARE, PASSWORD) != CSI_OK, "success with a server that does not answer");
  check_refusal(run, CSI_UNKNOWN, CSI_UNAVAILABLE, BAD_NETPATH, failed_new);
  scene(run, "share set root=%s state=up", SHARE);
  check_maps(run, SHARE, PASSWORD);
}

static void maps_nothing_in_the_clear(struct run *run) {
  scene(run, "share add root=%s user=%s password=%s privacy=unsupported", SHARE, USER, PASSWORD);
  check(run, map(run, SHARE, PASSWORD) != CSI_OK, "success with a server that does not encrypt");
  check(run, run->error.number != 0, "the server's error is missing: %s", run->error.text);
  check_mapped(run, SHARE, false);
}

static void check_explains(struct run *run, unsigned number, enum csi_code code) {
  scene(run, "network fault add call=%s error=%u count=0", ADD, number);
  check(run, map(run, SHARE, PASSWORD) != CSI_OK, "success, and %s says %u", ADD, number);
  check_refusal(run, CSI_UNKNOWN, code, number, failed_new);
  check_says(run, ADD);
  check_says(run, SHARE);
  check_does_not_say(run, PASSWORD);
  scene(run, "network fault clear");
  check_mapped(run, SHARE, false);
}

static void explains_what_windows_says(struct run *run) {
  add_share(run, SHARE);
  check_explains(run, ACCESS_DENIED, CSI_PERMISSION_DENIED);
  check_explains(run, BAD_NETPATH, CSI_UNAVAILABLE);
  check_explains(run, NETWORK_ACCESS_DENIED, CSI_PERMISSION_DENIED);
  check_explains(run, BAD_NET_NAME, CSI_NOT_FOUND);
  check_explains(run, INVALID_PASSWORD, CSI_PERMISSION_DENIED);
  check_explains(run, LOGON_FAILURE, CSI_PERMISSION_DENIED);
  check_maps(run, SHARE, PASSWORD);
}

static void explains_a_conflict_of_credentials(struct run *run) {
  add_share(run, SHARE);
  check_explains(run, SESSION_CREDENTIAL_CONFLICT, CSI_FAILED_PRECONDITION);
  check_maps(run, SHARE, PASSWORD);
}

static enum csi_code map_the_share(struct run *run) {
  return map(run, SHARE, PASSWORD);
}

static void a_server_that_hangs_is_given_up(struct run *run) {
  add_share(run, SHARE);
  add_share(run, OTHER);
  hang_in(run, ADD, map_the_share);
  check_maps(run, OTHER, PASSWORD); /* it holds up no other */
  check_mapped(run, OTHER, true);
  scene(run, "network fault clear");
  check_works_again(run, "NewSmbGlobalMapping", map_the_share);
  check_mapped(run, SHARE, true);
}

/* ---- RemoveSmbGlobalMapping ---- */

static void unmaps_a_share(struct run *run) {
  add_share(run, SHARE);
  add_share(run, OTHER);
  for (size_t i = 0; i < SPELLINGS && !run->failed; i++) {
    check_maps(run, SHARE, PASSWORD);
    check_maps(run, OTHER, PASSWORD);
    check_unmaps(run, spellings[i]);
    check_mapped(run, SHARE, false);
    check_mapped(run, OTHER, true);
  }
}

static void unmapping_nothing_is_done_at_once(struct run *run) {
  add_share(run, SHARE);
  check_unmaps(run, SHARE);
  check_unmaps(run, "\\\\nobody\\nothing");
  check_maps(run, SHARE, PASSWORD);
  check_unmaps(run, SHARE);
  check_unmaps(run, SHARE);
}

static void unmaps_what_others_have_mapped(struct run *run) {
  add_share(run, SHARE);
  scene(run, "share map root=%s user=DOMAIN\\other password=%s", SHARE, NEW_PASSWORD);
  check_unmaps(run, SHARE);
  check_mapped(run, SHARE, false);
}

static void unmapping_keeps_the_links(struct run *run) {
  add_share(run, SHARE);
  check_ok(run, "NewSmbGlobalMapping", map_linked(run, SHARE, in(run, "link")));
  check_unmaps(run, SHARE);
  check_exists(run, in(run, "link"), true);
  check_ok(run, "NewSmbGlobalMapping, again", map_linked(run, SHARE, in(run, "link")));
}

static void remove_refuses_bad_remote_paths(struct run *run) {
  for (size_t i = 0; i < BAD_REMOTES && !run->failed; i++) {
    check(run, unmap_share(run, bad_remotes[i].remote) != CSI_OK, "success with the remote path \"%s\"",
          bad_remotes[i].remote);
    check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, bad_remotes[i].text);
  }
  check(run, unmap_share(run, text_of_bytes(4097)) != CSI_OK, "4097 bytes were not too long");
  check_says(run, "remote_path is longer than");
}

static enum csi_code unmap_the_share(struct run *run) {
  return unmap_share(run, SHARE);
}

static void tells_that_a_mapping_stays(struct run *run) {
  add_share(run, SHARE);
  check_maps(run, SHARE, PASSWORD);
  scene(run, "network fault add call=%s error=%d count=0", CANCEL, ACCESS_DENIED);
  check(run, unmap_share(run, SHARE) != CSI_OK, "success, and the mapping stays");
  check_refusal(run, CSI_UNKNOWN, CSI_PERMISSION_DENIED, ACCESS_DENIED, failed_remove);
  check_mapped(run, SHARE, true);
  scene(run, "network fault clear");
  check_unmaps(run, SHARE);
  check_mapped(run, SHARE, false);
}

static void a_removal_that_hangs_is_given_up(struct run *run) {
  add_share(run, SHARE);
  check_maps(run, SHARE, PASSWORD);
  hang_in(run, CANCEL, unmap_the_share);
  scene(run, "network fault clear");
  check_works_again(run, "RemoveSmbGlobalMapping", unmap_the_share);
  check_mapped(run, SHARE, false);
}

/* ---- Many ---- */

static void map_and_unmap(struct run *own, unsigned number) {
  const char *share = path(own, "\\\\fileserver\\share%u", number);
  for (int i = 0; i < ROUNDS && !own->failed; i++) {
    check_maps(own, share, PASSWORD);
    check_maps(own, SHARE, PASSWORD);
    check_unmaps(own, share);
  }
}

static void many_clients_at_once(struct run *run) {
  add_share(run, SHARE);
  for (unsigned i = 0; i < CLIENTS; i++)
    add_share(run, path(run, "\\\\fileserver\\share%u", i));
  run_together(run, CLIENTS, map_and_unmap);
  check_mapped(run, SHARE, true);
  for (unsigned i = 0; i < CLIENTS; i++)
    check_mapped(run, path(run, "\\\\fileserver\\share%u", i), false);
}

static const struct test_case cases[] = {
    GOOD("NewSmbGlobalMapping", NEEDS_NOTHING, maps_a_share),
    GOOD("NewSmbGlobalMapping", NEEDS_NOTHING, maps_a_share_for_everybody),
    GOOD("NewSmbGlobalMapping", NEEDS_NOTHING, takes_every_spelling),
    GOOD("NewSmbGlobalMapping", NEEDS_NOTHING, mapping_twice_is_mapping_once),
    GOOD("NewSmbGlobalMapping", NEEDS_WINDOWS, takes_new_credentials),
    GOOD("NewSmbGlobalMapping", NEEDS_WINDOWS, takes_over_the_mapping_of_another),
    GOOD("NewSmbGlobalMapping", NEEDS_NOTHING, renews_a_broken_mapping),
    GOOD("NewSmbGlobalMapping", NEEDS_LINKS, makes_a_link),
    GOOD("NewSmbGlobalMapping", NEEDS_LINKS, linking_twice_is_linking_once),
    GOOD("NewSmbGlobalMapping", NEEDS_LINKS, makes_many_links_to_one_share),
    GOOD("NewSmbGlobalMapping", NEEDS_NOTHING, many_clients_at_once),
    BAD("NewSmbGlobalMapping", NEEDS_WINDOWS, keeps_the_mapping_from_old_credentials),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, a_network_that_fails_ends_no_mapping),
    BAD("NewSmbGlobalMapping", NEEDS_LINKS, does_not_replace_another_link),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, a_taken_name_costs_no_mapping),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, a_missing_parent_makes_no_mapping),
    BAD("NewSmbGlobalMapping", NEEDS_NO_LINKS, no_link_no_mapping),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, refuses_bad_local_paths),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, new_refuses_bad_remote_paths),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, new_refuses_what_is_too_long),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, new_refuses_text_that_is_not_utf8),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, refuses_credentials_that_are_none),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, refuses_wrong_credentials),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, knows_no_such_share),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, maps_nothing_in_the_clear),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, explains_what_windows_says),
    BAD("NewSmbGlobalMapping", NEEDS_WINDOWS, explains_a_conflict_of_credentials),
    BAD("NewSmbGlobalMapping", NEEDS_NOTHING, a_server_that_hangs_is_given_up),
    GOOD("RemoveSmbGlobalMapping", NEEDS_NOTHING, unmaps_a_share),
    GOOD("RemoveSmbGlobalMapping", NEEDS_NOTHING, unmapping_nothing_is_done_at_once),
    GOOD("RemoveSmbGlobalMapping", NEEDS_NOTHING, unmaps_what_others_have_mapped),
    GOOD("RemoveSmbGlobalMapping", NEEDS_LINKS, unmapping_keeps_the_links),
    BAD("RemoveSmbGlobalMapping", NEEDS_NOTHING, remove_refuses_bad_remote_paths),
    BAD("RemoveSmbGlobalMapping", NEEDS_NOTHING, tells_that_a_mapping_stays),
    BAD("RemoveSmbGlobalMapping", NEEDS_NOTHING, a_removal_that_hangs_is_given_up),
};

static const char *const versions[] = {"v1alpha1", "v1beta1", "v1beta2", "v1", NULL};
static const char *const rpcs[] = {"NewSmbGlobalMapping", "RemoveSmbGlobalMapping", NULL};
static const char *const other_groups[] = {"filesystem", NULL};

const struct suite smb_suite = {
    .group = "smb",
    .versions = versions,
    .rpcs = rpcs,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
    .other_groups = other_groups,
    .prepare = prepare_scene,
    .clean_up = clean_up_scene,
};
