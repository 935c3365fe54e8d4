/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/handlers_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filesystem/handlers.h"
#include "filesystem/link.h"

void use_working_directories(struct handlers_fixture *fixture, const char *const *roots, size_t count) {
  struct csi_filesystem_options options = {
      .working_dirs = roots, .working_dir_count = count, .max_path_bytes = 8000};
  csi_filesystem_free(fixture->group);
  fixture->group = csi_filesystem_new(&options, csi_fake_filesystem_host(fixture->fake), &fixture->status);
  assert_non_null(fixture->group);
}

int handlers_fixture_set_up(void **state) {
  struct handlers_fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  static const char *const roots[] = {K};
  fixture->fake = csi_fake_filesystem_new();
  fixture->arena_cap_bytes = 4 << 20;
  fixture->deadline_ns = CSI_NO_DEADLINE;
  csi_fake_add_directory(fixture->fake, K);
  csi_fake_add_volume(fixture->fake, VOLUME, 0, 77);
  use_working_directories(fixture, roots, 1);
  *state = fixture;
  return 0;
}

int handlers_fixture_tear_down(void **state) {
  struct handlers_fixture *fixture = *state;
  csi_filesystem_free(fixture->group);
  csi_fake_filesystem_free(fixture->fake);
  free(fixture);
  return 0;
}

static struct csi_ctx begin(struct handlers_fixture *fixture) {
  struct csi_ctx ctx = {.arena = csi_arena_new(fixture->arena_cap_bytes),
                        .deadline_ns = fixture->deadline_ns,
                        .cancelled = &fixture->cancelled};
  assert_non_null(ctx.arena);
  csi_arena_fail_after(fixture->fail_allocation);
  return ctx;
}

static bool end(struct handlers_fixture *fixture, struct csi_ctx *ctx, bool result) {
  fixture->allocation_failed = fixture->fail_allocation > 0 && csi_arena_fail_after(0) == 0;
  fixture->status = ctx->status;
  fixture->arena_bytes = csi_arena_used_bytes(ctx->arena);
  csi_arena_free(ctx->arena);
  assert_int_equal(csi_fake_open_handles(fixture->fake), 0);
  if (result != csi_status_ok(&fixture->status)) fail_msg("result %d: %s", result, fixture->status.text);
  return result;
}

bool call_path_exists(struct handlers_fixture *fixture, const char *path, bool *exists_out) {
  struct csi_filesystem_path_exists_request request = {.path = path};
  struct csi_filesystem_path_exists_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_filesystem_serve_path_exists(&ctx, fixture->group, &request, &response);
  *exists_out = response.exists;
  return end(fixture, &ctx, result);
}

bool call_mkdir(struct handlers_fixture *fixture, const char *path) {
  struct csi_filesystem_mkdir_request request = {.path = path};
  struct csi_filesystem_mkdir_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_filesystem_serve_mkdir(&ctx, fixture->group, &request, &response));
}

bool call_rmdir(struct handlers_fixture *fixture, const char *path, bool force) {
  struct csi_filesystem_rmdir_request request = {.path = path, .force = force};
  struct csi_filesystem_rmdir_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_filesystem_serve_rmdir(&ctx, fixture->group, &request, &response));
}

bool call_rmdir_contents(struct handlers_fixture *fixture, const char *path) {
  struct csi_filesystem_rmdir_contents_request request = {.path = path};
  struct csi_filesystem_rmdir_contents_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_filesystem_serve_rmdir_contents(&ctx, fixture->group, &request, &response));
}

bool call_create_symlink(struct handlers_fixture *fixture, const char *source, const char *target) {
  struct csi_filesystem_create_symlink_request request = {.source_path = source, .target_path = target};
  struct csi_filesystem_create_symlink_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_filesystem_serve_create_symlink(&ctx, fixture->group, &request, &response));
}

bool call_share_link(struct handlers_fixture *fixture, const char *share, const char *target) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static const char *const roots[] = {K};
  struct csi_path_policy *policy = csi_path_policy_new(roots, 1, CSI_PATH_BYTES_DEFAULT, &fixture->status);
  assert_non_null(policy);
  struct csi_ctx ctx = begin(fixture);
  struct csi_confined_path path;
  struct csi_walk walk = {.ctx = &ctx,
                          .host = csi_fake_filesystem_host(fixture->fake),
                          .verb = "symlink",
                          .policy = policy,
                          .path = &path};
  bool result = csi_path_confine(policy, &ctx, target, &path) && csi_make_share_link(&walk, share, &lock);
  result = end(fixture, &ctx, result);
  csi_path_policy_free(policy);
  return result;
}

bool call_is_symlink(struct handlers_fixture *fixture, const char *path, bool *is_symlink_out) {
  struct csi_filesystem_is_symlink_request request = {.path = path};
  struct csi_filesystem_is_symlink_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_filesystem_serve_is_symlink(&ctx, fixture->group, &request, &response);
  *is_symlink_out = response.is_symlink;
  return end(fixture, &ctx, result);
}

void assert_ok(struct handlers_fixture *fixture, bool result) {
  if (!result) fail_msg("%s", fixture->status.text);
}

void assert_exists(struct handlers_fixture *fixture, const char *path, bool exists) {
  bool answer = !exists;
  assert_ok(fixture, call_path_exists(fixture, path, &answer));
  if (answer != exists) fail_msg("PathExists(%s) is %d", path, answer);
}

void assert_is_symlink(struct handlers_fixture *fixture, const char *path, bool is_symlink) {
  bool answer = !is_symlink;
  assert_ok(fixture, call_is_symlink(fixture, path, &answer));
  if (answer != is_symlink) fail_msg("IsSymlink(%s) is %d", path, answer);
}

void assert_failed(struct handlers_fixture *fixture, bool result, enum csi_code code, const char *text) {
  assert_false(result);
  if (strncmp(fixture->status.text, text, strlen(text)) != 0)
    fail_msg("text is \"%s\", not \"%s...\"", fixture->status.text, text);
  if (fixture->status.code != code)
    fail_msg("%s: code is %s", fixture->status.text, csi_code_name(fixture->status.code));
}
