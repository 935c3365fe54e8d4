/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "iscsi/portal.h"

static struct csi_iscsi_portal read_ok(const char *address, uint32_t port) {
  struct csi_iscsi_portal portal;
  const char *problem = csi_iscsi_portal_read(address, port, &portal);
  if (problem != NULL) fail_msg("%s:%u: %s", address, (unsigned)port, problem);
  return portal;
}

static void test_accepted(void **state) {
  static const struct {
    const char *given, *address;
  } rows[] = {
      {"192.0.2.1", "192.0.2.1"},
      {"storage.example.com", "storage.example.com"},
      {"Storage", "Storage"},
      {"FD00::1", "FD00::1"},
      {"[fd00::1]", "fd00::1"},
      {"[fe80::1%12]", "fe80::1%12"},
      {"::", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7::"},
      {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
      {"1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:192.0.2.1"},
      {"host_with_underscore", "host_with_underscore"},
      {"bücher.example", "bücher.example"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct csi_iscsi_portal portal = read_ok(rows[i].given, 3261);
    assert_string_equal(portal.address, rows[i].address);
    assert_int_equal(portal.port, 3261);
  }
  assert_int_equal(read_ok("192.0.2.1", 0).port, 3260);
  assert_int_equal(read_ok("192.0.2.1", 1).port, 1);
  assert_int_equal(read_ok("192.0.2.1", 65535).port, 65535);
}

static void test_refused(void **state) {
  static const struct {
    const char *address;
    uint32_t port;
  } rows[] = {
      {"", 0},
      {"192.0.2.1", 65536},
      {"192.0.2.1", 68796},
      {"192.0.2.1", UINT32_MAX},
      {"192.0.2.1:1", 0},
      {"host:3260", 0},
      {"[192.0.2.1]", 0},
      {"[fd00::1", 0},
      {"fd00::1]", 0},
      {"[]", 0},
      {"[fd00::1]:3260", 0},
      {" 192.0.2.1", 0},
      {"192.0.2.1 ", 0},
      {"192.0.2.1\n", 0},
      {"a\tb", 0},
      {"a\x01", 0},
      {"a\x7F", 0},
      {"a\xFF", 0},
      {"a\xE2\x80\xAE", 0},
      {"\\\\host", 0},
      {"iscsi://host", 0},
      {"a/b", 0},
      {":::", 0},
      {"1:2", 0},
      {"1::2::3", 0},
      {"12345::", 0},
      {"1:2:3:4:5:6:7:8:9", 0},
      {"1:2:3:4:5:6:7:8::", 0},
      {"::1:2:3:4:5:6:7:8", 0},
      {"g::", 0},
      {"::192.0.2.256", 0},
      {"::192.0.2", 0},
      {"::192.0.2.1.1", 0},
      {"1:2:3:4:5:6:7:192.0.2.1", 0},
      {"fe80::1%", 0},
      {":", 0},
      {"1:", 0},
      {"::1:", 0},
      {":1", 0},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct csi_iscsi_portal portal;
    if (csi_iscsi_portal_read(rows[i].address, rows[i].port, &portal) == NULL)
      fail_msg("accepted: %s:%u", rows[i].address, (unsigned)rows[i].port);
  }
}

static void test_longest(void **state) {
  (void)state;
  char address[CSI_ISCSI_ADDRESS_BYTES + 1];
  struct csi_iscsi_portal portal;
  memset(address, 'a', sizeof address);
  address[CSI_ISCSI_ADDRESS_BYTES] = '\0';
  assert_non_null(csi_iscsi_portal_read(address, 0, &portal));
  address[CSI_ISCSI_ADDRESS_BYTES - 1] = '\0';
  assert_null(csi_iscsi_portal_read(address, 65535, &portal));
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(&portal, key);
  assert_int_equal(strlen(key), CSI_ISCSI_ADDRESS_BYTES - 1 + strlen(":65535"));
  /* An IPv6 address with the longest zone there is room for. */
  memcpy(address, "::%", 3);
  assert_null(csi_iscsi_portal_read(address, 65535, &portal));
  csi_iscsi_portal_key(&portal, key);
  assert_int_equal(strlen(key), strlen("0:0:0:0:0:0:0:0") + CSI_ISCSI_ADDRESS_BYTES - 3 + strlen(":65535"));
}

static void test_equal(void **state) {
  static const struct {
    const char *a, *b;
    bool equal;
  } rows[] = {
      {"192.0.2.1", "192.0.2.1", true},
      {"192.0.2.1", "192.0.2.10", false},
      {"Storage.Example.COM", "storage.example.com", true},
      {"storage.example.com.", "storage.example.com", true},
      {"storage.example.com", "storage", false},
      {"fd00::1", "FD00:0:0:0:0:0:0:0001", true},
      {"fd00::1", "[fd00::1]", true},
      {"fd00::1", "fd00::10", false},
      {"fd00::1", "fd00:1::", false},
      {"::", "0:0:0:0:0:0:0:0", true},
      {"::ffff:192.0.2.1", "::ffff:c000:201", true},
      {"::ffff:192.0.2.1", "192.0.2.1", false},
      {"fe80::1%12", "fe80:0::1%12", true},
      {"fe80::1%Ethernet", "fe80::1%ethernet", true},
      {"fe80::1%12", "fe80::1%13", false},
      {"fe80::1%12", "fe80::1", false},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct csi_iscsi_portal a = read_ok(rows[i].a, 0), b = read_ok(rows[i].b, 3260);
    if (csi_iscsi_portal_is_equal(&a, &b) != rows[i].equal) fail_msg("%s, %s", rows[i].a, rows[i].b);
    b.port = 3261;
    assert_false(csi_iscsi_portal_is_equal(&a, &b));
  }
}

/* What the initiator has registered need not be what a request may have. */
static void test_portals_of_others(void **state) {
  (void)state;
  struct csi_iscsi_portal bracketed = {.address = "[FD00::1]", .port = 3260}, plain = read_ok("fd00::1", 0);
  struct csi_iscsi_portal odd = {.address = "a b:c", .port = 3260}, empty = {.address = "", .port = 0};
  assert_true(csi_iscsi_portal_is_equal(&bracketed, &plain));
  assert_false(csi_iscsi_portal_is_equal(&odd, &plain));
  assert_false(csi_iscsi_portal_is_equal(&empty, &plain));
  assert_true(csi_iscsi_portal_is_equal(&odd, &odd));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accepted),          cmocka_unit_test(test_refused),
      cmocka_unit_test(test_longest),           cmocka_unit_test(test_equal),
      cmocka_unit_test(test_portals_of_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
