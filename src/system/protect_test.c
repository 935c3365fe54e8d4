/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of protected services: how it is read, and what the built-in one has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "system/group.h"
#include "system/protect.h"

static bool has(const char *list, const char *name) {
  struct csi_status status = {.code = CSI_OK};
  struct csi_protected_services *services = csi_protected_services_new(list, &status);
  assert_non_null(services);
  bool found = csi_protected_services_have(services, name);
  csi_protected_services_free(services);
  return found;
}

static void test_names(void **state) {
  (void)state;
  assert_true(has("a", "A"));
  assert_true(has("x,Kubelet,y", "kubeLET"));
  assert_true(has(" x , kubelet\t,y z ", "kubelet"));
  assert_true(has(" x , kubelet\t,y z ", "y z"));
  assert_true(has(",,,a,", "a"));
  assert_true(has("\xC3\x84rger", "\xC3\xA4rger"));
}

static void test_other_names(void **state) {
  (void)state;
  static const char *const lists[] = {"",         ",",        " , ,",   "kubelet2",
                                      "kube let", "xkubelet", "kubele", "kubelet;x"};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    assert_false(has(lists[i], "kubelet"));
    assert_false(has(lists[i], ""));
  }
}

static void test_built_in(void **state) {
  (void)state;
  static const char *const names[] = {"csiproxy", "csi-proxy",         "kubelet",     "containerd",
                                      "RpcSs",    "EventLog",          "WinDefend",   "PlugPlay",
                                      "Dnscache", "LanmanWorkstation", "Netlogon",    "CalicoNode",
                                      "flanneld", "antrea-agent",      "ovs-vswitchd"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    assert_true(has(CSI_SYSTEM_PROTECTED_SERVICES, names[i]));
  assert_false(has(CSI_SYSTEM_PROTECTED_SERVICES, "MSiSCSI"));
  assert_false(has(CSI_SYSTEM_PROTECTED_SERVICES, "Spooler"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_other_names),
      cmocka_unit_test(test_built_in),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
