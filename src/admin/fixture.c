/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "volume/volume_id.h"

enum {
  ARENA_BYTES = 8 << 20,
  WAITING_MAX = 8,
};
#define NS_PER_MS INT64_C(1000000)

static const char *const roots[] = {K};

void use_guard(struct fixture *fixture, bool guarded) {
  static const char *const capabilities[] = {"health"};
  static const char *const flags[] = {"-max-connections=7"};
  const struct csi_admin_options options = {.version = "v9 (test)",
                                            .grpc_version = "1.2.3",
                                            .architecture = "amd64",
                                            .capabilities = capabilities,
                                            .capability_count = 1,
                                            .flags = flags,
                                            .flag_count = 1,
                                            .working_dirs = roots,
                                            .working_dir_count = 1,
                                            .change_system_disks = !guarded};
  const struct csi_admin_hosts hosts = {.disks = csi_fake_disk_host(fixture->storage),
                                        .volumes = csi_fake_volume_host(fixture->storage),
                                        .initiator = csi_fake_iscsi_host(fixture->targets),
                                        .system = csi_fake_system_host(fixture->system),
                                        .parts = csi_fake_parts_host(fixture->parts),
                                        .shares = fixture->smb};
  csi_admin_free(fixture->group);
  fixture->group = csi_admin_new(&options, &hosts, &fixture->status);
  assert_non_null(fixture->group);
}

int fixture_set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  fixture->files = csi_fake_filesystem_new();
  csi_fake_add_directory(fixture->files, K);
  fixture->storage = csi_fake_storage_new(fixture->files);
  fixture->network = csi_fake_network_new();
  fixture->shares = csi_fake_shares_new(fixture->network);
  fixture->targets = csi_fake_iscsi_new(fixture->network, fixture->storage);
  fixture->system = csi_fake_system_new(fixture->network);
  fixture->parts = csi_fake_parts_new();
  fixture->locks = csi_keyed_locks_new(WAITING_MAX);
  assert_non_null(fixture->locks);
  const struct csi_smb_options smb = {.working_dirs = roots, .working_dir_count = 1};
  const struct csi_smb_hosts hosts = {.shares = csi_fake_smb_host(fixture->shares),
                                      .files = csi_fake_filesystem_host(fixture->files)};
  fixture->smb = csi_smb_new(&smb, &hosts, fixture->locks, &fixture->status);
  assert_non_null(fixture->smb);
  use_guard(fixture, true);
  *state = fixture;
  return 0;
}

int fixture_tear_down(void **state) {
  struct fixture *fixture = *state;
  csi_arena_free(fixture->arena);
  csi_admin_free(fixture->group);
  csi_smb_free(fixture->smb);
  csi_keyed_locks_free(fixture->locks);
  csi_fake_parts_free(fixture->parts);
  csi_fake_system_free(fixture->system);
  csi_fake_iscsi_free(fixture->targets);
  csi_fake_shares_free(fixture->shares);
  csi_fake_network_free(fixture->network);
  csi_fake_storage_free(fixture->storage);
  csi_fake_filesystem_free(fixture->files);
  free(fixture);
  return 0;
}

/* ---- Calls. ---- */

static struct csi_ctx begin(struct fixture *fixture) {
  csi_arena_free(fixture->arena);
  fixture->arena = csi_arena_new(ARENA_BYTES);
  assert_non_null(fixture->arena);
  int64_t deadline_ns =
      fixture->limit_ms == 0 ? CSI_NO_DEADLINE : csi_now_ns() + fixture->limit_ms * NS_PER_MS;
  csi_arena_fail_after(fixture->fail_allocation);
  return (struct csi_ctx){.arena = fixture->arena, .deadline_ns = deadline_ns};
}

static bool end(struct fixture *fixture, struct csi_ctx *ctx, bool result) {
  fixture->allocation_failed = fixture->fail_allocation > 0 && csi_arena_fail_after(0) == 0;
  fixture->status = ctx->status;
  assert_int_equal(csi_fake_storage_open_handles(fixture->storage), 0);
  if (result != csi_status_ok(&fixture->status)) fail_msg("result %d: %s", result, fixture->status.text);
  return result;
}

#define DEFINE_CALL(name, rpc)                                                                               \
  bool name(struct fixture *fixture, struct csi_admin_##rpc##_response *response_out) {                      \
    const struct csi_admin_##rpc##_request request = {0};                                                    \
    struct csi_ctx ctx = begin(fixture);                                                                     \
    memset(response_out, 0, sizeof *response_out);                                                           \
    return end(fixture, &ctx, csi_admin_serve_##rpc(&ctx, fixture->group, &request, response_out));          \
  }

DEFINE_CALL(call_get_version, get_version)
DEFINE_CALL(call_get_status, get_status)
DEFINE_CALL(call_list_calls, list_calls)
DEFINE_CALL(call_list_disks, list_disks)
DEFINE_CALL(call_list_volumes, list_volumes)
DEFINE_CALL(call_list_smb, list_smb_mappings)
DEFINE_CALL(call_list_iscsi, list_iscsi_sessions)

bool call_explain_disk(struct fixture *fixture, uint32_t number,
                       struct csi_admin_explain_disk_response *response_out) {
  const struct csi_admin_explain_disk_request request = {.disk_number = number};
  struct csi_ctx ctx = begin(fixture);
  memset(response_out, 0, sizeof *response_out);
  return end(fixture, &ctx, csi_admin_serve_explain_disk(&ctx, fixture->group, &request, response_out));
}

/* ---- Assertions. ---- */

void assert_ok(struct fixture *fixture, bool result) {
  if (!result) fail_msg("%s", fixture->status.text);
}

void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) fail_msg("\"%s\" has no \"%s\"", text, part);
}

void assert_some_has(const char *const *texts, size_t count, const char *part) {
  for (size_t i = 0; i < count; i++)
    if (strstr(texts[i], part) != NULL) return;
  fail_msg("none of %zu texts has \"%s\"%s%s", count, part, count > 0 ? "; the first is " : "",
           count > 0 ? texts[0] : "");
}

/* ---- Scenes. ---- */

void add_disk(struct fixture *fixture, uint32_t number) {
  csi_fake_storage_add_disk(fixture->storage, &(struct csi_fake_disk){.number = number, .size_bytes = GIB});
}

void add_named_disk(struct fixture *fixture, uint32_t number, const char *bus, const char *vendor,
                    const char *page83, const char *serial) {
  add_disk(fixture, number);
  csi_fake_storage_set_identity(fixture->storage, number, page83, NULL);
  csi_fake_storage_set_descriptor(fixture->storage, number, vendor, serial, bus);
}

void mount_volume(struct fixture *fixture, const char *path, const struct csi_guid *guid) {
  char substitute[CSI_VOLUME_ID_BYTES];
  const struct csi_volume_host *host = csi_fake_volume_host(fixture->storage);
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 16), .deadline_ns = CSI_NO_DEADLINE};
  csi_volume_id_format(guid, substitute);
  memcpy(substitute, "\\??\\", 4);
  csi_fake_add_junction(fixture->files, path, substitute);
  assert_true(host->announce_mount(host->self, &ctx, path, guid));
  csi_arena_free(ctx.arena);
}
