/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
  ARENA_BYTES = 8 << 20,
  MAX_WAITING = 8,
};
#define NS_PER_MS INT64_C(1000000)

void use_guard(struct fixture *fixture, bool guarded) {
  struct csi_disk_options options = {.change_system_disks = !guarded};
  csi_disk_free(fixture->group);
  fixture->group =
      csi_disk_new(&options, csi_fake_disk_host(fixture->storage), fixture->locks, &fixture->status);
  assert_non_null(fixture->group);
}

int fixture_set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  fixture->files = csi_fake_filesystem_new();
  fixture->storage = csi_fake_storage_new(fixture->files);
  fixture->locks = csi_keyed_locks_new(MAX_WAITING);
  assert_non_null(fixture->locks);
  use_guard(fixture, true);
  *state = fixture;
  return 0;
}

int fixture_tear_down(void **state) {
  struct fixture *fixture = *state;
  csi_arena_free(fixture->arena);
  csi_disk_free(fixture->group);
  csi_keyed_locks_free(fixture->locks);
  csi_fake_storage_free(fixture->storage);
  csi_fake_filesystem_free(fixture->files);
  free(fixture);
  return 0;
}

static struct csi_ctx begin(struct fixture *fixture) {
  csi_arena_free(fixture->arena);
  fixture->arena = csi_arena_new(ARENA_BYTES);
  assert_non_null(fixture->arena);
  int64_t deadline_ns =
      fixture->limit_ms == 0 ? CSI_NO_DEADLINE : csi_now_ns() + fixture->limit_ms * NS_PER_MS;
  csi_arena_fail_after(fixture->fail_allocation);
  return (struct csi_ctx){
      .arena = fixture->arena, .deadline_ns = deadline_ns, .cancelled = &fixture->cancelled};
}

static bool end(struct fixture *fixture, struct csi_ctx *ctx, bool result) {
  fixture->allocation_failed = fixture->fail_allocation > 0 && csi_arena_fail_after(0) == 0;
  fixture->status = ctx->status;
  assert_int_equal(csi_fake_storage_open_handles(fixture->storage), 0);
  if (result != csi_status_ok(&fixture->status)) fail_msg("result %d: %s", result, fixture->status.text);
  return result;
}

bool call_list_locations(struct fixture *fixture,
                         struct csi_disk_list_disk_locations_response *response_out) {
  struct csi_disk_list_disk_locations_request request = {0};
  struct csi_ctx ctx = begin(fixture);
  memset(response_out, 0, sizeof *response_out);
  return end(fixture, &ctx, csi_disk_serve_list_disk_locations(&ctx, fixture->group, &request, response_out));
}

bool call_list_ids(struct fixture *fixture, struct csi_disk_list_disk_ids_response *response_out) {
  struct csi_disk_list_disk_ids_request request = {0};
  struct csi_ctx ctx = begin(fixture);
  memset(response_out, 0, sizeof *response_out);
  return end(fixture, &ctx, csi_disk_serve_list_disk_ids(&ctx, fixture->group, &request, response_out));
}

bool call_find(struct fixture *fixture, const char *name, uint32_t *number_out) {
  struct csi_disk_get_disk_number_by_name_request request = {.disk_name = name};
  struct csi_disk_get_disk_number_by_name_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_disk_serve_get_disk_number_by_name(&ctx, fixture->group, &request, &response);
  *number_out = response.disk_number;
  return end(fixture, &ctx, result);
}

bool call_partition(struct fixture *fixture, uint32_t number) {
  struct csi_disk_partition_disk_request request = {.disk_number = number};
  struct csi_disk_partition_disk_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_disk_serve_partition_disk(&ctx, fixture->group, &request, &response));
}

bool call_rescan(struct fixture *fixture) {
  struct csi_disk_rescan_request request = {0};
  struct csi_disk_rescan_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_disk_serve_rescan(&ctx, fixture->group, &request, &response));
}

bool call_get_size(struct fixture *fixture, uint32_t number, int64_t *size_out) {
  struct csi_disk_get_disk_stats_request request = {.disk_number = number};
  struct csi_disk_get_disk_stats_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_disk_serve_get_disk_stats(&ctx, fixture->group, &request, &response);
  *size_out = response.total_bytes;
  return end(fixture, &ctx, result);
}

bool call_set_online(struct fixture *fixture, uint32_t number, bool online) {
  struct csi_disk_set_disk_state_request request = {.disk_number = number, .is_online = online};
  struct csi_disk_set_disk_state_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_disk_serve_set_disk_state(&ctx, fixture->group, &request, &response));
}

bool call_is_online(struct fixture *fixture, uint32_t number, bool *online_out) {
  struct csi_disk_get_disk_state_request request = {.disk_number = number};
  struct csi_disk_get_disk_state_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_disk_serve_get_disk_state(&ctx, fixture->group, &request, &response);
  *online_out = response.is_online;
  return end(fixture, &ctx, result);
}

void assert_ok(struct fixture *fixture, bool result) {
  if (!result) fail_msg("%s", fixture->status.text);
}

void assert_failed(struct fixture *fixture, bool result, enum csi_code code, const char *text) {
  assert_false(result);
  if (strncmp(fixture->status.text, text, strlen(text)) != 0)
    fail_msg("text is \"%s\", not \"%s...\"", fixture->status.text, text);
  if (fixture->status.code != code)
    fail_msg("%s: code is %s", fixture->status.text, csi_code_name(fixture->status.code));
}

void add_raw_disk(struct fixture *fixture, uint32_t number) {
  csi_fake_storage_add_disk(fixture->storage, &(struct csi_fake_disk){.number = number, .size_bytes = GIB});
}

struct csi_layout layout_of(struct fixture *fixture, uint32_t number) {
  if (fixture->arena == NULL) fixture->arena = csi_arena_new(ARENA_BYTES);
  assert_non_null(fixture->arena);
  struct csi_layout layout;
  csi_fake_storage_get_layout(fixture->storage, number, fixture->arena, &layout);
  return layout;
}
