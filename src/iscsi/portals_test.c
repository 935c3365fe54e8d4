/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract of AddTargetPortal, DiscoverTargetPortal, RemoveTargetPortal and ListTargetPortals, row by
 * row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "iscsi/fixture.h"

static void test_add(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_list(f));
  assert_items(f, NULL);
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, call_list(f));
  assert_items(f, ADDRESS " 3260", NULL);
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_REFRESH_PORTAL), 0);
}

static void test_add_again_asks_the_portal_again(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, PORT));
  csi_fake_iscsi_do(f->iscsi, "target add iqn=iqn.2004-10.com.example:new portal=" ADDRESS ":3260");
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_ADD_PORTAL), 1);
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_REFRESH_PORTAL), 1);
  assert_int_equal(csi_fake_iscsi_count(f->iscsi, "discovered", "iqn.2004-10.com.example:new"), 1);
  assert_ok(f, call_list(f));
  assert_items(f, ADDRESS " 3260", NULL);
}

static void test_add_other_spellings(void **state) {
  static const struct {
    const char *registered, *given;
  } rows[] = {
      {"fd00::1", "[FD00:0:0::0001]"},
      {"Storage.Example.com", "storage.example.COM."},
      {"fe80::1%12", "FE80:0:0:0:0:0:0:1%12"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    iscsi_fixture_tear_down(state);
    iscsi_fixture_set_up(state);
    struct iscsi_fixture *f = *state;
    csi_fake_iscsi_register(f->iscsi, rows[i].registered, PORT);
    assert_ok(f, call_add(f, rows[i].given, PORT));
    assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_ADD_PORTAL), 0);
    assert_ok(f, call_list(f));
    assert_int_equal(f->item_count, 1);
    assert_ok(f, call_remove(f, rows[i].given, PORT));
    assert_ok(f, call_list(f));
    assert_items(f, NULL);
  }
}

/* A driver that repeats its calls is not stopped by a portal that is away for a moment. */
static void test_add_registered_portal_that_does_not_answer(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_register(f->iscsi, DEAD_ADDRESS, PORT);
  assert_ok(f, call_add(f, DEAD_ADDRESS, PORT));
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_REFRESH_PORTAL), 1);
}

static void test_add_portal_that_does_not_answer(void **state) {
  struct iscsi_fixture *f = *state;
  assert_failed(f, call_add(f, DEAD_ADDRESS, 3261), CSI_UNAVAILABLE,
                "error adding target portal at (" DEAD_ADDRESS ":3261). err: ");
  assert_says(f, "Connection Failed. (ISDSC error 0xefff0003 in AddIScsiSendTargetPortalW)");
  assert_says(f, "firewall");
  assert_ok(f, call_list(f));
  assert_items(f, NULL);
}

static void test_add_when_somebody_else_is_faster(void **state) {
  struct iscsi_fixture *f = *state;
  fail_call(f, CSI_FAKE_ISCSI_ADD_PORTAL, 1, 1, CSI_ISDSC_TARGET_PORTAL_ALREADY_EXISTS);
  assert_ok(f, call_add(f, ADDRESS, PORT));
}

static void add_for_one_adapter(struct csi_fake_network *network, const char *call, void *data) {
  (void)network;
  struct iscsi_fixture *f = data;
  if (strcmp(call, CSI_FAKE_ISCSI_ADD_PORTAL) == 0) csi_fake_iscsi_register(f->iscsi, ADDRESS, PORT);
}

static void test_add_with_one_adapter_of_several(void **state) {
  struct iscsi_fixture *f = *state;
  fail_call(f, CSI_FAKE_ISCSI_ADD_PORTAL, 1, 2, CSI_ISDSC_OPERATION_NOT_ALL_SUCCESS);
  assert_failed(f, call_add(f, ADDRESS, PORT), CSI_UNAVAILABLE,
                "error adding target portal at " PLACE ". err: ");
  assert_int_equal(f->status.number, CSI_ISDSC_OPERATION_NOT_ALL_SUCCESS);
  csi_fake_network_set_hook(f->network, add_for_one_adapter, f);
  assert_ok(f, call_add(f, ADDRESS, PORT));
  csi_fake_network_set_hook(f->network, NULL, NULL);
}

/* What the portal will be when a call has returned that was given up, nobody knows. */
static void test_a_call_that_was_given_up(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_register(f->iscsi, "fd00::1", PORT);
  csi_fake_iscsi_begin_late_call(f->iscsi, ADDRESS ":3260");
  csi_fake_iscsi_begin_late_call(f->iscsi, "fd00:0:0:0:0:0:0:1:3260");
  assert_failed(f, call_add(f, ADDRESS, PORT), CSI_UNAVAILABLE,
                "error adding target portal at " PLACE ". err: ");
  assert_failed(f, call_remove(f, ADDRESS, 0), CSI_UNAVAILABLE,
                "error removing target portal at " PLACE ". err: ");
  assert_failed(f, call_discover(f, ADDRESS, 0), CSI_UNAVAILABLE, "error list targets by target portal at ");
  assert_failed(f, call_remove(f, "[FD00::1]", 0), CSI_UNAVAILABLE,
                "error removing target portal at (FD00::1:3260)");
  assert_ok(f, call_remove(f, DEAD_ADDRESS, 0));
  csi_fake_iscsi_end_late_calls(f->iscsi);
  assert_ok(f, call_add(f, ADDRESS, PORT));
}

static void test_bad_portals(void **state) {
  static const struct {
    const char *address;
    uint32_t port;
    const char *text;
  } rows[] = {
      {NULL, 0, "target_portal is missing"},
      {"", 0, "invalid target portal (:0): the address is empty"},
      {ADDRESS, 65536, "invalid target portal (" ADDRESS ":65536): the port"},
      {ADDRESS, 68796, "invalid target portal (" ADDRESS ":68796): the port"}, /* 3260 in 16 bits */
      {ADDRESS ":3260", 0, "invalid target portal (" ADDRESS ":3260:0): an address with a colon"},
      {"a b", 0, "invalid target portal (a b:0): the address has a blank"},
      {"a\nb", 0, "invalid target portal (a\\nb:0): the address has a blank"},
  };
  struct iscsi_fixture *f = *state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *address = rows[i].address, *text = rows[i].text;
    uint32_t port = rows[i].port;
    assert_failed(f, call_add(f, address, port), CSI_INVALID_ARGUMENT, text);
    assert_failed(f, call_discover(f, address, port), CSI_INVALID_ARGUMENT, text);
    assert_failed(f, call_remove(f, address, port), CSI_INVALID_ARGUMENT, text);
    if (port != 0) continue;
    assert_failed(f, call_disconnect(f, address, IQN), CSI_INVALID_ARGUMENT, text);
    assert_failed(f, call_disks(f, address, IQN), CSI_INVALID_ARGUMENT, text);
  }
  assert_int_equal(count_calls(f, NULL), 0);
}

static void test_discover(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, call_discover(f, ADDRESS, 0));
  assert_items(f, IQN, OTHER_IQN, CHAP_IQN, NULL);
  csi_fake_iscsi_do(f->iscsi, "target remove iqn=" OTHER_IQN);
  assert_ok(f, call_discover(f, ADDRESS, PORT));
  assert_items(f, IQN, CHAP_IQN, NULL);
}

static void test_discover_unregistered(void **state) {
  struct iscsi_fixture *f = *state;
  assert_failed(f, call_discover(f, ADDRESS, 0), CSI_NOT_FOUND,
                "error list targets by target portal at " PLACE
                ". err: failed to query iSCSI target portal at " PLACE ". error: not found");
  assert_int_equal(csi_fake_iscsi_count(f->iscsi, "send-targets", NULL), 0);
}

static void test_discover_portal_that_does_not_answer(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_register(f->iscsi, DEAD_ADDRESS, PORT);
  assert_failed(f, call_discover(f, DEAD_ADDRESS, 0), CSI_UNAVAILABLE,
                "error list targets by target portal at (" DEAD_ADDRESS ":3260). err: ");
  assert_says(f, "Connection Failed.");
}

static void test_discover_with_one_adapter_of_several(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  fail_call(f, CSI_FAKE_ISCSI_REFRESH_PORTAL, 1, 1, CSI_ISDSC_OPERATION_NOT_ALL_SUCCESS);
  assert_ok(f, call_discover(f, ADDRESS, 0));
  assert_items(f, IQN, OTHER_IQN, CHAP_IQN, NULL);
}

static void test_remove(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_remove(f, ADDRESS, PORT));
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_REMOVE_PORTAL), 0);
  assert_ok(f, call_add(f, ADDRESS, PORT));
  assert_ok(f, call_connect(f, IQN));
  assert_ok(f, call_remove(f, ADDRESS, 0));
  assert_ok(f, call_list(f));
  assert_items(f, NULL);
  assert_sessions(f, IQN, 1); /* sessions stay */
}

static void test_remove_removes_every_spelling(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_register(f->iscsi, "fd00::1", PORT);
  csi_fake_iscsi_register(f->iscsi, "FD00:0::1", PORT);
  csi_fake_iscsi_register(f->iscsi, "fd00::2", PORT);
  assert_ok(f, call_remove(f, "fd00::1", PORT));
  assert_ok(f, call_list(f));
  assert_items(f, "fd00::2 3260", NULL);
}

static void test_remove_when_somebody_else_is_faster(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, PORT));
  fail_call(f, CSI_FAKE_ISCSI_REMOVE_PORTAL, 1, 1, CSI_ISDSC_PORTAL_NOT_FOUND);
  assert_ok(f, call_remove(f, ADDRESS, PORT));
}

static void test_remove_fails(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, PORT));
  fail_call(f, CSI_FAKE_ISCSI_REMOVE_PORTAL, 1, 1, 5);
  assert_failed(f, call_remove(f, ADDRESS, PORT), CSI_PERMISSION_DENIED,
                "error removing target portal at " PLACE ". err: ");
  assert_says(f, "Access is denied.");
}

/* Whatever number the library gives for it, the caller reads what is to be done. */
static void test_service_is_stopped(void **state) {
  static const uint32_t numbers[] = {CSI_ISDSC_SERVICE_NOT_RUNNING, 1062, 1717, 1722, 1753};
  struct iscsi_fixture *f = *state;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    fail_call(f, NULL, 1, 1, numbers[i]);
    assert_failed(f, call_list(f), CSI_FAILED_PRECONDITION, "error list target portals. err: ");
    assert_says(f, "The service MSiSCSI is not running; start it (StartService of the system group, or "
                   "Start-Service MSiSCSI)");
    assert_int_equal(f->status.number, numbers[i]);
  }
  csi_fake_iscsi_do(f->iscsi, "initiator set running=0");
  bool results[] = {call_add(f, ADDRESS, 0),          call_discover(f, ADDRESS, 0),
                    call_remove(f, ADDRESS, 0),       call_connect(f, IQN),
                    call_disconnect(f, ADDRESS, IQN), call_disks(f, ADDRESS, IQN),
                    call_set_secret(f, MUTUAL_SECRET)};
  for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
    assert_false(results[i]);
  assert_failed(f, call_add(f, ADDRESS, 0), CSI_FAILED_PRECONDITION, "error query target portal at " PLACE);
  assert_says(
      f, "The RPC server is unavailable. (Win32 error 1722 in ReportIScsiSendTargetPortalsExW). The service "
         "MSiSCSI is not running");
  csi_fake_iscsi_do(f->iscsi, "initiator set running=1");
  assert_ok(f, call_add(f, ADDRESS, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, iscsi_fixture_set_up, iscsi_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_add),
      TEST(test_add_again_asks_the_portal_again),
      TEST(test_add_other_spellings),
      TEST(test_add_registered_portal_that_does_not_answer),
      TEST(test_add_portal_that_does_not_answer),
      TEST(test_add_when_somebody_else_is_faster),
      TEST(test_add_with_one_adapter_of_several),
      TEST(test_a_call_that_was_given_up),
      TEST(test_bad_portals),
      TEST(test_discover),
      TEST(test_discover_unregistered),
      TEST(test_discover_portal_that_does_not_answer),
      TEST(test_discover_with_one_adapter_of_several),
      TEST(test_remove),
      TEST(test_remove_removes_every_spelling),
      TEST(test_remove_when_somebody_else_is_faster),
      TEST(test_remove_fails),
      TEST(test_service_is_stopped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
