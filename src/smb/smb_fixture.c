/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/smb_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "filesystem/reparse.h"
#include "filesystem/resolve.h"
#include "filesystem/walk.h"
#include "smb/handlers.h"

enum {
  ARENA_BYTES = 1 << 20,
  WAITING_MAX = 16,
  COMMAND_BYTES = 512,
};

static void read_line(void *data, enum csi_severity severity, const char *line, size_t length_bytes) {
  (void)severity;
  (void)length_bytes;
  struct smb_fixture *fixture = data;
  if (strstr(line, "pw-") != NULL) atomic_store(&fixture->password_was_logged, true);
}

static void open_group(struct smb_fixture *fixture) {
  static const char *const roots[] = {K};
  const struct csi_smb_options options = {.require_privacy = true,
                                          .working_dirs = roots,
                                          .working_dir_count = 1,
                                          .patience_ms = fixture->patience_ms};
  const struct csi_smb_hosts hosts = {.shares = csi_fake_smb_host(fixture->shares),
                                      .files = csi_fake_filesystem_host(fixture->files)};
  fixture->group = csi_smb_new(&options, &hosts, fixture->locks, &fixture->status);
  assert_non_null(fixture->group);
}

int smb_fixture_set_up(void **state) {
  struct smb_fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  csi_log_set_sink(read_line, fixture);
  fixture->deadline_ns = CSI_NO_DEADLINE;
  fixture->files = csi_fake_filesystem_new();
  csi_fake_add_directory(fixture->files, K);
  fixture->network = csi_fake_network_new();
  fixture->shares = csi_fake_shares_new(fixture->network);
  csi_fake_shares_do(fixture->shares, "add root=" ROOT " user=" USER " password=" PASSWORD);
  fixture->locks = csi_keyed_locks_new(WAITING_MAX);
  assert_non_null(fixture->locks);
  open_group(fixture);
  *state = fixture;
  return 0;
}

int smb_fixture_tear_down(void **state) {
  struct smb_fixture *fixture = *state;
  csi_smb_free(fixture->group);
  csi_keyed_locks_free(fixture->locks);
  csi_fake_shares_free(fixture->shares);
  csi_fake_network_free(fixture->network);
  csi_fake_filesystem_free(fixture->files);
  csi_log_set_sink(NULL, NULL);
  free(fixture);
  return 0;
}

void restart_service(struct smb_fixture *fixture) {
  csi_smb_free(fixture->group);
  open_group(fixture);
}

static struct csi_ctx begin(struct smb_fixture *fixture) {
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES),
                        .deadline_ns = fixture->deadline_ns,
                        .cancelled = &fixture->cancelled,
                        .stopping = &fixture->stopping};
  assert_non_null(ctx.arena);
  csi_arena_fail_after(fixture->fail_allocation);
  return ctx;
}

static void assert_unlocked(struct smb_fixture *fixture) {
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = csi_now_ns() + 1000000000};
  if (!csi_keyed_lock(fixture->locks, &ctx, "share " ROOT, "test")) fail_msg("%s", ctx.status.text);
  csi_keyed_unlock(fixture->locks, "share " ROOT);
  csi_arena_free(ctx.arena);
}

static bool end(struct smb_fixture *fixture, struct csi_ctx *ctx, bool result) {
  fixture->allocation_failed = fixture->fail_allocation > 0 && csi_arena_fail_after(0) == 0;
  fixture->status = ctx->status;
  csi_arena_free(ctx->arena);
  assert_int_equal(csi_fake_open_handles(fixture->files), 0);
  assert_int_equal(csi_fake_network_touches(fixture->files), 0);
  assert_unlocked(fixture);
  if (result != csi_status_ok(&fixture->status)) fail_msg("result %d: %s", result, fixture->status.text);
  if (strstr(fixture->status.text, "pw-") != NULL) fail_msg("a password: %s", fixture->status.text);
  assert_false(atomic_load(&fixture->password_was_logged));
  return result;
}

bool call_new(struct smb_fixture *fixture, const char *remote_path, const char *local_path,
              const char *username, const char *password) {
  struct csi_smb_new_smb_global_mapping_request request = {
      .remote_path = remote_path, .local_path = local_path, .username = username, .password = password};
  struct csi_smb_new_smb_global_mapping_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_smb_serve_new_smb_global_mapping(&ctx, fixture->group, &request, &response));
}

bool call_remove(struct smb_fixture *fixture, const char *remote_path) {
  struct csi_smb_remove_smb_global_mapping_request request = {.remote_path = remote_path};
  struct csi_smb_remove_smb_global_mapping_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx,
             csi_smb_serve_remove_smb_global_mapping(&ctx, fixture->group, &request, &response));
}

void rotate_password(struct smb_fixture *fixture, const char *password) {
  char words[COMMAND_BYTES];
  snprintf(words, sizeof words, "set root=" ROOT " password=%s", password);
  csi_fake_shares_do(fixture->shares, words);
}

void fail_call(struct smb_fixture *fixture, const char *call, uint32_t error) {
  csi_fake_network_add_fault(fixture->network,
                             &(struct csi_fake_network_fault){.call = call, .error = error});
}

void assert_ok(struct smb_fixture *fixture, bool result) {
  if (!result) fail_msg("%s", fixture->status.text);
}

void assert_failed(struct smb_fixture *fixture, bool result, enum csi_code code, const char *text) {
  assert_false(result);
  if (strncmp(fixture->status.text, text, strlen(text)) != 0)
    fail_msg("text is \"%s\", not \"%s...\"", fixture->status.text, text);
  if (fixture->status.code != code)
    fail_msg("%s: code is %s", fixture->status.text, csi_code_name(fixture->status.code));
}

void assert_says(struct smb_fixture *fixture, const char *text) {
  if (strstr(fixture->status.text, text) == NULL)
    fail_msg("text is \"%s\", without \"%s\"", fixture->status.text, text);
}

void assert_mapped(struct smb_fixture *fixture, const char *user, const char *password) {
  if (!csi_fake_shares_is_mapped(fixture->shares, ROOT))
    fail_msg("it is not mapped: %s", fixture->status.text);
  if (!csi_fake_shares_is_mapped_with(fixture->shares, ROOT, user, password))
    fail_msg("it is mapped with other credentials: %s", fixture->status.text);
}

void assert_steps(struct smb_fixture *fixture, size_t adds, size_t removes) {
  assert_int_equal(csi_fake_network_count(fixture->network, CSI_FAKE_SMB_ADD), adds);
  assert_int_equal(csi_fake_network_count(fixture->network, CSI_FAKE_SMB_REMOVE), removes);
}

void assert_link(struct smb_fixture *fixture, const char *path, const char *target) {
  assert_int_equal(csi_fake_exists(fixture->files, path), target != NULL);
  if (target == NULL) return;
  assert_true(csi_fake_is_directory(fixture->files, path));
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE};
  static const char *const roots[] = {K};
  struct csi_path_policy *policy = csi_path_policy_new(roots, 1, CSI_PATH_BYTES_DEFAULT, &ctx.status);
  struct csi_confined_path confined;
  assert_true(csi_path_confine(policy, &ctx, path, &confined));
  const struct csi_walk walk = {.ctx = &ctx,
                                .host = csi_fake_filesystem_host(fixture->files),
                                .verb = "readlink",
                                .policy = policy,
                                .path = &confined};
  struct csi_node node = {0};
  struct csi_entry entry;
  struct csi_reparse link;
  assert_true(csi_walk_to_entry(&walk, CSI_ACCESS_LOOK, &node, &entry, NULL));
  assert_true(csi_read_link(&ctx, &node, "readlink", path, &link));
  assert_int_equal(link.tag, CSI_REPARSE_TAG_SYMLINK);
  assert_int_equal(link.kind, CSI_LINK_UNC);
  assert_string_equal(link.target, target);
  assert_string_equal(link.print, target);
  csi_node_close(&node);
  csi_path_policy_free(policy);
  csi_arena_free(ctx.arena);
}
