/* SPDX-License-Identifier: Apache-2.0
 *
 * GetService and GetBIOSSerialNumber: answers, names that can be none, and what the service manager may say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "system/fixture.h"

static void test_service(void **state) {
  struct fixture *f = *state;
  csi_fake_system_add(f->system,
                      &(struct csi_fake_service){.name = "MSiSCSI",
                                                 .display_name = "Microsoft iSCSI-Initiator-Dienst",
                                                 .start_type = CSI_FAKE_SERVICE_MANUAL,
                                                 .state = CSI_SERVICE_RUNNING});
  struct service_answer answer;
  assert_ok(f, call_get(f, "msiscsi", &answer));
  assert_string_equal(answer.display_name, "Microsoft iSCSI-Initiator-Dienst");
  assert_int_equal(answer.start_type, 3);
  assert_int_equal(answer.status, 4);
}

static void test_all_numbers(void **state) {
  struct fixture *f = *state;
  struct service_answer answer;
  csi_fake_system_add(f->system, &(struct csi_fake_service){.name = "a", .silent = true});
  for (uint32_t service_state = 1; service_state <= 7; service_state++) {
    csi_fake_system_set_state(f->system, "a", service_state);
    assert_ok(f, call_get(f, "a", &answer));
    assert_int_equal(answer.status, service_state);
  }
  for (uint32_t start_type = 0; start_type <= 4; start_type++) {
    csi_fake_system_set_start_type(f->system, "a", start_type);
    assert_ok(f, call_get(f, "a", &answer));
    assert_int_equal(answer.start_type, start_type);
  }
}

static void test_unknown_numbers(void **state) {
  struct fixture *f = *state;
  struct service_answer answer;
  add_service(f, "a", CSI_SERVICE_RUNNING, NULL);
  csi_fake_system_set_start_type(f->system, "a", 5);
  assert_failed(f, call_get(f, "a", &answer), CSI_INTERNAL,
                "failed to get startMode property of service a: 5 is no start type");
  csi_fake_system_set_start_type(f->system, "a", 2);
  csi_fake_system_set_state(f->system, "a", 8);
  assert_failed(f, call_get(f, "a", &answer), CSI_INTERNAL,
                "failed to get state property of service a: 8 is no state");
  assert_failed(f, call_start(f, "a"), CSI_INTERNAL, "failed to wait for service a state change. error: ");
  assert_says(f, "its state is 8, which is none");
}

#define MISSING "failed to get service nobody. error: failed to query service nobody: not found: "

static void test_missing(void **state) {
  struct fixture *f = *state;
  struct service_answer answer;
  assert_failed(f, call_get(f, "nobody", &answer), CSI_NOT_FOUND, MISSING);
  assert_says(f, "Win32 error 1060 in OpenServiceW");
  assert_failed(f, call_start(f, "nobody"), CSI_NOT_FOUND, MISSING);
  assert_failed(f, call_stop(f, "nobody", true), CSI_NOT_FOUND, MISSING);
}

static void test_bad_names(void **state) {
  struct fixture *f = *state;
  struct service_answer answer;
  static const struct {
    const char *name, *text;
  } bad[] = {
      {NULL, "failed to get service . error: failed to query service : not found: the name of the service"},
      {"", "failed to get service . error: failed to query service : not found: the name of the service"},
      {"a/b",
       "failed to get service a/b. error: failed to query service a/b: not found: a name has no slash"},
      {"a\\b", "failed to get service a\\b. error: failed to query service a\\b: not found: a name has no s"},
      {"a\nb",
       "failed to get service a\\nb. error: failed to query service a\\nb: not found: a name has no c"},
      {"\x7F", "failed to get service \\x7f. error: failed to query service \\x7f: not found: a name has no"},
      {"\xFF", "failed to get service \\xff. error: failed to query service \\xff: "},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_failed(f, call_get(f, bad[i].name, &answer), CSI_INVALID_ARGUMENT, bad[i].text);
    assert_failed(f, call_start(f, bad[i].name), CSI_INVALID_ARGUMENT, bad[i].text);
    assert_failed(f, call_stop(f, bad[i].name, true), CSI_INVALID_ARGUMENT, bad[i].text);
  }
  assert_int_equal(csi_fake_network_count(f->network, NULL), 0);
}

/* 256 characters are a name, 257 are none. */
static void test_long_names(void **state) {
  struct fixture *f = *state;
  struct service_answer answer;
  char name[2 * 257 + 1] = "";
  for (int i = 0; i < 256; i++)
    memcpy(name + 2 * i, "\xC3\xA4", 3);
  add_service(f, name, CSI_SERVICE_RUNNING, NULL);
  assert_ok(f, call_get(f, name, &answer));
  assert_ok(f, call_start(f, name));
  assert_ok(f, call_stop(f, name, true));
  memcpy(name + 512, "\xC3\xA4", 3);
  assert_failed(f, call_get(f, name, &answer), CSI_INVALID_ARGUMENT, "failed to get service \xC3\xA4");
  assert_says(f, "at most 256 characters");
}

static void test_serial(void **state) {
  struct fixture *f = *state;
  char serial[FIXTURE_TEXT_BYTES];
  assert_ok(f, call_get_serial(f, serial));
  assert_string_equal(serial, "VMware-42 29 ab 5e 1c d4 30 1f-8e 72 9b 04 6d 55 c3 f0");
  csi_fake_system_set_serial(f->system, " 1234-5678 ");
  assert_ok(f, call_get_serial(f, serial));
  assert_string_equal(serial, " 1234-5678");
  csi_fake_system_set_serial(f->system, "");
  assert_ok(f, call_get_serial(f, serial));
  assert_string_equal(serial, "");
}

static void test_no_serial(void **state) {
  struct fixture *f = *state;
  char serial[FIXTURE_TEXT_BYTES];
  csi_fake_system_set_smbios(f->system, "\0\2\7\0", 4);
  assert_failed(f, call_get_serial(f, serial), CSI_DATA_LOSS,
                "failed to get BIOS element: failed to query BIOS element: the firmware's table has 4 bytes");
  fail_step(f, "GetSystemFirmwareTable", 1, 1);
  assert_failed(f, call_get_serial(f, serial), CSI_UNIMPLEMENTED,
                "failed to get BIOS element: failed to query BIOS element: ");
  assert_says(f, "Win32 error 1 in GetSystemFirmwareTable");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_service),   TEST(test_all_numbers), TEST(test_unknown_numbers), TEST(test_missing),
      TEST(test_bad_names), TEST(test_long_names),  TEST(test_serial),          TEST(test_no_serial),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
