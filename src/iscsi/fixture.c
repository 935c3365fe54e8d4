/* SPDX-License-Identifier: Apache-2.0 */
#include "iscsi/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iscsi/handlers.h"
#include "storage_command.h"

enum {
  ARENA_BYTES = 4 << 20,
  WAITING_MAX = 16,
};

int iscsi_fixture_set_up(void **state) {
  struct iscsi_fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  fixture->deadline_ns = CSI_NO_DEADLINE;
  fixture->files = csi_fake_filesystem_new();
  fixture->storage = csi_fake_storage_new(fixture->files);
  fixture->network = csi_fake_network_new();
  fixture->iscsi = csi_fake_iscsi_new(fixture->network, fixture->storage);
  csi_fake_iscsi_do(fixture->iscsi, "target add iqn=" IQN " portal=" ADDRESS ":3260");
  csi_fake_iscsi_do(fixture->iscsi, "target lun iqn=" IQN " number=5 size=16M file=disk1");
  csi_fake_iscsi_do(fixture->iscsi, "target add iqn=" OTHER_IQN " portal=" ADDRESS ":3260");
  csi_fake_iscsi_do(fixture->iscsi, "target add iqn=" CHAP_IQN " portal=" ADDRESS ":3260 chap-user=" CHAP_USER
                                    " chap-secret=" CHAP_SECRET " mutual-secret=" MUTUAL_SECRET);
  fixture->locks = csi_keyed_locks_new(WAITING_MAX);
  assert_non_null(fixture->locks);
  fixture->group = csi_iscsi_new(csi_fake_iscsi_host(fixture->iscsi), fixture->locks, &fixture->status);
  assert_non_null(fixture->group);
  *state = fixture;
  return 0;
}

int iscsi_fixture_tear_down(void **state) {
  struct iscsi_fixture *fixture = *state;
  csi_iscsi_free(fixture->group);
  csi_keyed_locks_free(fixture->locks);
  csi_fake_iscsi_free(fixture->iscsi);
  csi_fake_network_free(fixture->network);
  csi_fake_storage_free(fixture->storage);
  csi_fake_filesystem_free(fixture->files);
  free(fixture);
  return 0;
}

/* ---- Calls. ---- */

static struct csi_ctx begin(struct iscsi_fixture *fixture) {
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES),
                        .deadline_ns = fixture->deadline_ns,
                        .cancelled = &fixture->cancelled,
                        .stopping = &fixture->stopping};
  assert_non_null(ctx.arena);
  fixture->item_count = 0;
  csi_arena_fail_after(fixture->fail_allocation);
  return ctx;
}

/* Takes every lock that a call could have left behind. */
static void assert_unlocked(struct iscsi_fixture *fixture) {
  static const char *const keys[] = {"iSCSI portal " ADDRESS ":3260", "iSCSI target " IQN};
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = csi_now_ns() + 10000000000};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (!csi_keyed_lock(fixture->locks, &ctx, keys[i], "test")) fail_msg("%s", ctx.status.text);
    csi_keyed_unlock(fixture->locks, keys[i]);
  }
  csi_arena_free(ctx.arena);
}

static bool end(struct iscsi_fixture *fixture, struct csi_ctx *ctx, bool result) {
  fixture->allocation_failed = fixture->fail_allocation > 0 && csi_arena_fail_after(0) == 0;
  fixture->status = ctx->status;
  csi_arena_free(ctx->arena);
  assert_unlocked(fixture);
  if (result != csi_status_ok(&fixture->status)) fail_msg("result %d: %s", result, fixture->status.text);
  assert_null(strstr(fixture->status.text, CHAP_SECRET));
  assert_null(strstr(fixture->status.text, MUTUAL_SECRET));
  return result;
}

static void take_item(struct iscsi_fixture *fixture, const char *text) {
  assert_true(fixture->item_count < FIXTURE_ITEMS_MAX && strlen(text) < FIXTURE_ITEM_BYTES);
  snprintf(fixture->items[fixture->item_count++], FIXTURE_ITEM_BYTES, "%s", text);
}

/* The portal of a request, in *portal; NULL without an address. */
static const struct csi_iscsi_target_portal *to_portal(struct csi_iscsi_target_portal *portal,
                                                       const char *address, uint32_t port) {
  *portal = (struct csi_iscsi_target_portal){.target_address = address, .target_port = port};
  return address == NULL ? NULL : portal;
}

bool call_add(struct iscsi_fixture *fixture, const char *address, uint32_t port) {
  struct csi_iscsi_target_portal portal;
  struct csi_iscsi_add_target_portal_request request = {.target_portal = to_portal(&portal, address, port)};
  struct csi_iscsi_add_target_portal_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_iscsi_serve_add_target_portal(&ctx, fixture->group, &request, &response));
}

bool call_discover(struct iscsi_fixture *fixture, const char *address, uint32_t port) {
  struct csi_iscsi_target_portal portal;
  struct csi_iscsi_discover_target_portal_request request = {.target_portal =
                                                                 to_portal(&portal, address, port)};
  struct csi_iscsi_discover_target_portal_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_iscsi_serve_discover_target_portal(&ctx, fixture->group, &request, &response);
  for (size_t i = 0; result && i < response.iqns_count; i++)
    take_item(fixture, response.iqns[i]);
  return end(fixture, &ctx, result);
}

bool call_remove(struct iscsi_fixture *fixture, const char *address, uint32_t port) {
  struct csi_iscsi_target_portal portal;
  struct csi_iscsi_remove_target_portal_request request = {.target_portal =
                                                               to_portal(&portal, address, port)};
  struct csi_iscsi_remove_target_portal_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_iscsi_serve_remove_target_portal(&ctx, fixture->group, &request, &response));
}

bool call_list(struct iscsi_fixture *fixture) {
  struct csi_iscsi_list_target_portals_request request = {0};
  struct csi_iscsi_list_target_portals_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_iscsi_serve_list_target_portals(&ctx, fixture->group, &request, &response);
  for (size_t i = 0; result && i < response.target_portals_count; i++) {
    char text[FIXTURE_ITEM_BYTES];
    snprintf(text, sizeof text, "%s %u", response.target_portals[i].target_address,
             (unsigned)response.target_portals[i].target_port);
    take_item(fixture, text);
  }
  return end(fixture, &ctx, result);
}

bool call_connect_with(struct iscsi_fixture *fixture,
                       const struct csi_iscsi_connect_target_request *request) {
  struct csi_iscsi_connect_target_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_iscsi_serve_connect_target(&ctx, fixture->group, request, &response));
}

bool call_connect(struct iscsi_fixture *fixture, const char *iqn) {
  struct csi_iscsi_target_portal portal;
  struct csi_iscsi_connect_target_request request = {.target_portal = to_portal(&portal, ADDRESS, 0),
                                                     .iqn = iqn,
                                                     .auth_type = CSI_ISCSI_AUTHENTICATION_TYPE_NONE,
                                                     .chap_username = "",
                                                     .chap_secret = ""};
  return call_connect_with(fixture, &request);
}

bool call_disconnect(struct iscsi_fixture *fixture, const char *address, const char *iqn) {
  struct csi_iscsi_target_portal portal;
  struct csi_iscsi_disconnect_target_request request = {.target_portal = to_portal(&portal, address, 0),
                                                        .iqn = iqn};
  struct csi_iscsi_disconnect_target_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_iscsi_serve_disconnect_target(&ctx, fixture->group, &request, &response));
}

bool call_disks(struct iscsi_fixture *fixture, const char *address, const char *iqn) {
  struct csi_iscsi_target_portal portal;
  struct csi_iscsi_get_target_disks_request request = {.target_portal = to_portal(&portal, address, 0),
                                                       .iqn = iqn};
  struct csi_iscsi_get_target_disks_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_iscsi_serve_get_target_disks(&ctx, fixture->group, &request, &response);
  for (size_t i = 0; result && i < response.disk_ids_count; i++)
    take_item(fixture, response.disk_ids[i]);
  return end(fixture, &ctx, result);
}

bool call_set_secret(struct iscsi_fixture *fixture, const char *secret) {
  struct csi_iscsi_set_mutual_chap_secret_request request = {.mutual_chap_secret = secret};
  struct csi_iscsi_set_mutual_chap_secret_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx,
             csi_iscsi_serve_set_mutual_chap_secret(&ctx, fixture->group, &request, &response));
}

/* ---- Faults, checks. ---- */

void fail_call(struct iscsi_fixture *fixture, const char *call, unsigned nth, unsigned count,
               uint32_t error) {
  csi_fake_network_add_fault(fixture->network, &(struct csi_fake_network_fault){
                                                   .call = call, .nth = nth, .count = count, .error = error});
}

size_t count_calls(struct iscsi_fixture *fixture, const char *call) {
  return csi_fake_network_count(fixture->network, call);
}

void assert_ok(struct iscsi_fixture *fixture, bool result) {
  if (!result) fail_msg("%s", fixture->status.text);
}

void assert_failed(struct iscsi_fixture *fixture, bool result, enum csi_code code, const char *text) {
  assert_false(result);
  if (strncmp(fixture->status.text, text, strlen(text)) != 0)
    fail_msg("text is \"%s\", not \"%s...\"", fixture->status.text, text);
  if (fixture->status.code != code)
    fail_msg("%s: code is %s", fixture->status.text, csi_code_name(fixture->status.code));
}

void assert_says(struct iscsi_fixture *fixture, const char *text) {
  if (strstr(fixture->status.text, text) == NULL)
    fail_msg("text is \"%s\", without \"%s\"", fixture->status.text, text);
}

void assert_items(struct iscsi_fixture *fixture, ...) {
  va_list args;
  size_t count = 0;
  va_start(args, fixture);
  for (const char *item; (item = va_arg(args, const char *)) != NULL; count++) {
    if (count == fixture->item_count) fail_msg("%s is missing", item);
    assert_string_equal(fixture->items[count], item);
  }
  va_end(args);
  if (count < fixture->item_count) fail_msg("%s is too much", fixture->items[count]);
}

void assert_sessions(struct iscsi_fixture *fixture, const char *iqn, size_t count) {
  assert_int_equal(csi_fake_iscsi_count(fixture->iscsi, "session", iqn), count);
}

void assert_disk_present(struct iscsi_fixture *fixture, bool present) {
  char reply[1024];
  assert_true(csi_fake_storage_command(fixture->storage, "disk list", reply, sizeof reply));
  bool found = strstr(reply, "number=5 ") != NULL;
  if (found != present) fail_msg("disks: %s", reply);
}
