/* SPDX-License-Identifier: Apache-2.0
 *
 * GetVersion, GetStatus, ListCalls without a server; ListSmbMappings, ListIscsiSessions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "admin/fixture.h"
#include "iscsi_command.h"
#include "smb/handlers.h"

#define IQN "iqn.2026-01.test:one"
#define ROOT "\\\\server\\share"

static void test_version(void **state) {
  struct fixture *f = *state;
  struct csi_admin_get_version_response response;
  assert_ok(f, call_get_version(f, &response));
  assert_string_equal(response.version, "v9 (test)");
  assert_string_equal(response.grpc_version, "1.2.3");
  assert_string_equal(response.os_version, "");
  assert_string_equal(response.architecture, "amd64");
  assert_int_equal(response.capabilities_count, 1);
  assert_string_equal(response.capabilities[0], "health");
}

static void test_status(void **state) {
  struct fixture *f = *state;
  struct csi_admin_get_status_response response;
  assert_ok(f, call_get_status(f, &response));
  assert_string_equal(response.version, "v9 (test)");
  assert_int_equal(response.process_id, getpid());
  assert_int_equal(response.flags_count, 1);
  assert_string_equal(response.flags[0], "-max-connections=7");
  assert_false(response.stopping);
  assert_int_equal(response.groups_count, 6);
  assert_true(response.threads >= 1);
  assert_true(response.resident_bytes > 0);
  assert_true(response.started_unix_ms > INT64_C(1500000000000));
}

static void test_calls_without_a_server(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_calls_response response;
  assert_ok(f, call_list_calls(f, &response));
  assert_int_equal(response.calls_count, 0);
  assert_int_equal(response.methods_count, 0);
}

/* ---- SMB. ---- */

static void map(struct fixture *f, const char *local_path) {
  const struct csi_smb_new_smb_global_mapping_request request = {
      .remote_path = ROOT, .local_path = local_path, .username = "user", .password = "pw-1"};
  struct csi_smb_new_smb_global_mapping_response response = {0};
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE};
  bool mapped = csi_smb_serve_new_smb_global_mapping(&ctx, f->smb, &request, &response);
  if (!mapped) fail_msg("%s", ctx.status.text);
  csi_arena_free(ctx.arena);
}

static void test_smb(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_smb_mappings_response response;
  assert_ok(f, call_list_smb(f, &response));
  assert_int_equal(response.mappings_count, 0);
  assert_has(response.scope, "since this service started");
  csi_fake_shares_do(f->shares, "add root=" ROOT " user=user password=pw-1");
  map(f, K "\\one");
  map(f, K "\\two");
  csi_fake_move(f->files, K "\\one", K "\\gone");
  assert_ok(f, call_list_smb(f, &response));
  assert_int_equal(response.mappings_count, 1);
  assert_string_equal(response.mappings[0].remote_path, ROOT);
  assert_string_equal(response.mappings[0].state, "mapped");
  assert_string_equal(response.mappings[0].error, "");
  assert_int_equal(response.mappings[0].links_count, 1);
  assert_string_equal(response.mappings[0].links[0], K "\\two");
}

/* Something else in the place of a link, a link to elsewhere, a link that cannot be looked at. */
static void test_smb_links(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_smb_mappings_response response;
  csi_fake_shares_do(f->shares, "add root=" ROOT " user=user password=pw-1");
  map(f, K "\\one");
  map(f, K "\\two");
  map(f, K "\\three");
  csi_fake_move(f->files, K "\\one", K "\\gone");
  csi_fake_add_directory(f->files, K "\\one");
  csi_fake_move(f->files, K "\\two", K "\\gone too");
  csi_fake_add_symlink(f->files, K "\\two", "\\??\\UNC\\other\\share\\", false, true);
  assert_ok(f, call_list_smb(f, &response));
  assert_int_equal(response.mappings[0].links_count, 1);
  assert_string_equal(response.mappings[0].links[0], K "\\three");
  assert_string_equal(response.mappings[0].error, "");
  csi_fake_deny(f->files, K "\\two", 5);
  assert_ok(f, call_list_smb(f, &response));
  assert_string_equal(response.mappings[0].state, "mapped");
  assert_int_equal(response.mappings[0].links_count, 2);
  assert_has(response.mappings[0].error, "1 of the links could not be looked at: ");
}

static void test_smb_states(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_smb_mappings_response response;
  csi_fake_shares_do(f->shares, "add root=" ROOT " user=user password=pw-1");
  map(f, "");
  csi_fake_shares_do(f->shares, "set root=" ROOT " state=disconnected");
  assert_ok(f, call_list_smb(f, &response));
  assert_string_equal(response.mappings[0].state, "disconnected");
  csi_fake_network_add_fault(
      f->network, &(struct csi_fake_network_fault){.call = "any", .error = 1450 /* no system resources */});
  assert_ok(f, call_list_smb(f, &response));
  assert_string_equal(response.mappings[0].state, "unknown");
  assert_has(response.mappings[0].error, "1450");
  csi_fake_network_clear_faults(f->network);
  csi_fake_shares_do(f->shares, "unmap root=" ROOT);
  assert_ok(f, call_list_smb(f, &response));
  assert_string_equal(response.mappings[0].state, "not mapped");
}

/* Those that somebody else has mapped, as far as Windows lists them. */
static void test_smb_of_others(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_smb_mappings_response response;
  csi_fake_shares_do(f->shares, "add root=" ROOT " user=user password=pw-1");
  csi_fake_shares_do(f->shares, "add root=\\\\other\\share");
  csi_fake_shares_do(f->shares, "map root=\\\\other\\share");
  map(f, "");
  assert_ok(f, call_list_smb(f, &response));
  assert_int_equal(response.mappings_count, 2);
  assert_string_equal(response.mappings[0].remote_path, "\\\\other\\share");
  assert_string_equal(response.mappings[0].state, "mapped");
  assert_string_equal(response.mappings[1].remote_path, ROOT);
  assert_has(response.scope, "whoever mapped them");
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.hides_state = true});
  assert_ok(f, call_list_smb(f, &response));
  assert_int_equal(response.mappings_count, 1);
  assert_string_equal(response.mappings[0].state, "unknown");
  assert_has(response.scope, "not listed (this Windows does not list global mappings)");
}

static void test_smb_memory(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_smb_mappings_response response;
  csi_fake_shares_do(f->shares, "add root=" ROOT " user=user password=pw-1");
  map(f, K "\\one");
  do {
    f->fail_allocation++;
    if (!call_list_smb(f, &response)) assert_int_equal(f->status.code, CSI_RESOURCE_EXHAUSTED);
  } while (f->allocation_failed);
}

/* ---- iSCSI. ---- */

static void test_iscsi(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_iscsi_sessions_response response;
  csi_fake_iscsi_do(f->targets, "target add iqn=" IQN " portal=192.0.2.1:3260");
  csi_fake_iscsi_do(f->targets, "target lun iqn=" IQN " number=5 size=64M file=lun5");
  csi_fake_iscsi_register(f->targets, "192.0.2.1", 3260);
  csi_fake_iscsi_do(f->targets, "session add iqn=" IQN);
  assert_ok(f, call_list_iscsi(f, &response));
  assert_int_equal(response.errors_count, 0);
  assert_int_equal(response.portals_count, 1);
  assert_string_equal(response.portals[0].address, "192.0.2.1");
  assert_int_equal(response.portals[0].port, 3260);
  assert_int_equal(response.sessions_count, 1);
  assert_string_equal(response.sessions[0].target, IQN);
  assert_true(response.sessions[0].connected);
  assert_int_equal(strlen(response.sessions[0].session_id), 33);
  assert_int_equal(response.sessions[0].disk_numbers_count, 1);
  assert_int_equal(response.sessions[0].disk_numbers[0], 5);
}

static void test_iscsi_without_service(void **state) {
  struct fixture *f = *state;
  struct csi_admin_list_iscsi_sessions_response response;
  csi_fake_iscsi_do(f->targets, "initiator set running=0");
  assert_false(call_list_iscsi(f, &response));
  assert_int_equal(f->status.code, CSI_FAILED_PRECONDITION);
  assert_has(f->status.text, "The service MSiSCSI is not running; start it");
}

static void test_iscsi_errors(void **state) {
  static const char *const calls[] = {"ReportIScsiTargetsW", "GetIScsiSessionListW",
                                      "GetDevicesForIScsiSessionW"};
  struct fixture *f = *state;
  csi_fake_iscsi_do(f->targets, "target add iqn=" IQN " portal=192.0.2.1:3260");
  csi_fake_iscsi_register(f->targets, "192.0.2.1", 3260);
  csi_fake_iscsi_do(f->targets, "session add iqn=" IQN);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    struct csi_admin_list_iscsi_sessions_response response;
    csi_fake_network_add_fault(f->network,
                               &(struct csi_fake_network_fault){.call = calls[i], .error = 1450, .count = 1});
    assert_ok(f, call_list_iscsi(f, &response));
    assert_int_equal(response.portals_count, 1);
    assert_int_equal(response.errors_count, 1);
    assert_has(response.errors[0], calls[i]);
    csi_fake_network_clear_faults(f->network);
  }
}

int main(void) {
#define ADMIN_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
  const struct CMUnitTest tests[] = {
      ADMIN_TEST(test_version),
      ADMIN_TEST(test_status),
      ADMIN_TEST(test_calls_without_a_server),
      ADMIN_TEST(test_smb),
      ADMIN_TEST(test_smb_links),
      ADMIN_TEST(test_smb_states),
      ADMIN_TEST(test_smb_of_others),
      ADMIN_TEST(test_smb_memory),
      ADMIN_TEST(test_iscsi),
      ADMIN_TEST(test_iscsi_without_service),
      ADMIN_TEST(test_iscsi_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
