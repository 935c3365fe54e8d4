/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "iscsi/name.h"

static void test_accepted(void **state) {
  static const char *const names[] = {
      "iqn.2004-10.com.example:disk1",
      "IQN.2004-10.com.example",
      "eui.02004567A425678D",
      "naa.52004567BA64678D",
      "iqn.1991-05.com.microsoft:host_1-target",
      "disk1",
      "iqn.2004-10.com.example:größe",
  };
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (csi_iscsi_name_problem(names[i]) != NULL)
      fail_msg("%s: %s", names[i], csi_iscsi_name_problem(names[i]));
}

static void test_refused(void **state) {
  static const char *const names[] = {"",
                                      " ",
                                      "iqn.2004-10.com.example:a b",
                                      "iqn.\n",
                                      "iqn.\x7F",
                                      "iqn.\xFF",
                                      "iqn.a\xC2\x85",
                                      "iqn.a\xE2\x80\xAE"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (csi_iscsi_name_problem(names[i]) == NULL) fail_msg("%s", names[i]);
  char name[CSI_ISCSI_NAME_BYTES + 1];
  memset(name, 'a', sizeof name);
  name[CSI_ISCSI_NAME_BYTES - 1] = '\0';
  assert_null(csi_iscsi_name_problem(name));
  name[CSI_ISCSI_NAME_BYTES - 1] = 'a';
  name[CSI_ISCSI_NAME_BYTES] = '\0';
  assert_non_null(csi_iscsi_name_problem(name));
}

static void test_equal(void **state) {
  (void)state;
  assert_true(csi_iscsi_name_is_equal("iqn.2004-10.com.example:Disk", "IQN.2004-10.com.EXAMPLE:disk"));
  assert_false(csi_iscsi_name_is_equal("iqn.2004-10.com.example:disk", "iqn.2004-10.com.example:disk1"));
  assert_false(csi_iscsi_name_is_equal("iqn.2004-10.com.example:disk1", "iqn.2004-10.com.example:disk"));
  assert_false(csi_iscsi_name_is_equal("iqn.2004-10.com.example:a@", "iqn.2004-10.com.example:a`"));
  assert_true(csi_iscsi_name_is_equal("", ""));
  char key[CSI_ISCSI_NAME_BYTES];
  csi_iscsi_name_key("EUI.02004567A425678D", key);
  assert_string_equal(key, "eui.02004567a425678d");
}

static void test_usual(void **state) {
  (void)state;
  assert_true(csi_iscsi_name_is_usual("iqn.x") && csi_iscsi_name_is_usual("EUI.x") &&
              csi_iscsi_name_is_usual("naa.x"));
  assert_false(csi_iscsi_name_is_usual("disk1") || csi_iscsi_name_is_usual("") ||
               csi_iscsi_name_is_usual("iqn"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accepted),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_equal),
      cmocka_unit_test(test_usual),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
