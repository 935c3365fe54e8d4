/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "metrics/address.h"

static void assert_is(const char *text, const char *host, unsigned port) {
  struct csi_address address;
  struct csi_status status = {0};
  if (!csi_address_parse(text, &address, &status)) fail_msg("%s: %s", text, status.text);
  assert_string_equal(address.host, host);
  assert_int_equal(address.port, port);
}

static void assert_refused(const char *text, const char *why) {
  struct csi_address address;
  struct csi_status status = {0};
  if (csi_address_parse(text, &address, &status)) fail_msg("%s was accepted", text);
  assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
  if (strstr(status.text, why) == NULL) fail_msg("%s: \"%s\" is not in \"%s\"", text, why, status.text);
  assert_non_null(strstr(status.text, "give host:port"));
}

static void addresses_are_taken_apart(void **unused) {
  (void)unused;
  assert_is("localhost:8888", "localhost", 8888);
  assert_is(":8888", "", 8888);
  assert_is("0.0.0.0:1", "0.0.0.0", 1);
  assert_is("127.0.0.1:0", "127.0.0.1", 0);
  assert_is("[::1]:65535", "::1", 65535);
  assert_is("[::]:80", "::", 80);
  assert_is("[fe80::1%eth0]:80", "fe80::1%eth0", 80);
  assert_is("node-1.example_x.org:9432", "node-1.example_x.org", 9432);
}

static void nonsense_is_refused_with_its_reason(void **unused) {
  (void)unused;
  assert_refused("", "it has no port");
  assert_refused("localhost", "it has no port");
  assert_refused("8888", "it has no port");
  assert_refused("[::1]", "it has no port");
  assert_refused("::1", "an IPv6 address stands in brackets");
  assert_refused("1:2:3", "an IPv6 address stands in brackets");
  assert_refused("[::1:80", "the bracket is not closed");
  assert_refused("[]:80", "nothing between the brackets");
  assert_refused("[::1]80", "only a colon");
  assert_refused("[::1]]:80", "only a colon");
  assert_refused("localhost:", "the port is no number");
  assert_refused("localhost:http", "the port is no number");
  assert_refused("localhost:+80", "the port is no number");
  assert_refused("localhost:65536", "the port is no number");
  assert_refused("localhost:4294967376", "the port is no number");
  assert_refused("http://localhost:80", "too many colons");
  assert_refused("local host:80", "the host has a character");
  assert_refused("local\nhost:80", "the host has a character");
  assert_refused("h\xc3\xb6st:80", "the host has a character");
}

static void a_long_host_is_refused(void **unused) {
  (void)unused;
  char text[CSI_ADDRESS_HOST_BYTES + 8];
  memset(text, 'a', sizeof text);
  strcpy(text + CSI_ADDRESS_HOST_BYTES - 1, ":80");
  struct csi_address address;
  struct csi_status status = {0};
  assert_true(csi_address_parse(text, &address, &status));
  assert_int_equal(strlen(address.host), CSI_ADDRESS_HOST_BYTES - 1);
  memset(text, 'a', sizeof text);
  strcpy(text + CSI_ADDRESS_HOST_BYTES, ":80");
  assert_refused(text, "the host is too long");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_are_taken_apart),
      cmocka_unit_test(nonsense_is_refused_with_its_reason),
      cmocka_unit_test(a_long_host_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
