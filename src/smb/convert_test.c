/* SPDX-License-Identifier: Apache-2.0
 *
 * What the versions differ in: responses of v1alpha1 and v1beta1 have a field `error`, which is never set,
 * and not believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "smb/convert_v1.h"
#include "smb/convert_v1alpha1.h"
#include "smb/convert_v1beta1.h"
#include "smb/convert_v1beta2.h"

static struct csi_status status;

static int set_up(void **state) {
  csi_status_clear(&status);
  *state = csi_arena_new(1 << 16);
  return *state == NULL;
}

static int tear_down(void **state) {
  csi_arena_free(*state);
  return 0;
}

static void test_error_is_never_set(void **state) {
  const struct csi_smb_new_smb_global_mapping_response from = {0};
  V1alpha1__NewSmbGlobalMappingResponse alpha1 = V1ALPHA1__NEW_SMB_GLOBAL_MAPPING_RESPONSE__INIT;
  V1beta1__NewSmbGlobalMappingResponse beta1 = V1BETA1__NEW_SMB_GLOBAL_MAPPING_RESPONSE__INIT;
  assert_true(csi_smb_v1alpha1_new_smb_global_mapping_response_to_wire(*state, &status, &from, &alpha1));
  assert_string_equal(alpha1.error, "");
  assert_int_equal(v1alpha1__new_smb_global_mapping_response__get_packed_size(&alpha1), 0);
  assert_true(csi_smb_v1beta1_new_smb_global_mapping_response_to_wire(*state, &status, &from, &beta1));
  assert_int_equal(v1beta1__new_smb_global_mapping_response__get_packed_size(&beta1), 0);

  const struct csi_smb_remove_smb_global_mapping_response removed = {0};
  V1alpha1__RemoveSmbGlobalMappingResponse alpha1_removed =
      V1ALPHA1__REMOVE_SMB_GLOBAL_MAPPING_RESPONSE__INIT;
  assert_true(csi_smb_v1alpha1_remove_smb_global_mapping_response_to_wire(*state, &status, &removed,
                                                                          &alpha1_removed));
  assert_int_equal(v1alpha1__remove_smb_global_mapping_response__get_packed_size(&alpha1_removed), 0);
}

static void test_error_is_not_believed(void **state) {
  V1alpha1__NewSmbGlobalMappingResponse alpha1 = V1ALPHA1__NEW_SMB_GLOBAL_MAPPING_RESPONSE__INIT;
  alpha1.error = (char *)"0";
  struct csi_smb_new_smb_global_mapping_response to = {0};
  assert_true(csi_smb_v1alpha1_new_smb_global_mapping_response_from_wire(*state, &status, &alpha1, &to));
}

/* The same request in every version. */
static void test_requests(void **state) {
  struct csi_smb_new_smb_global_mapping_request to = {0};
#define ASSERT_REQUEST(Version, VERSION, version)                                                            \
  do {                                                                                                       \
    Version##__NewSmbGlobalMappingRequest wire = VERSION##__NEW_SMB_GLOBAL_MAPPING_REQUEST__INIT;            \
    wire.remote_path = (char *)"\\\\h\\s";                                                                   \
    wire.local_path = (char *)"C:\\l";                                                                       \
    wire.username = (char *)"u";                                                                             \
    wire.password = (char *)"p";                                                                             \
    memset(&to, 0, sizeof to);                                                                               \
    assert_true(csi_smb_##version##_new_smb_global_mapping_request_from_wire(*state, &status, &wire, &to));  \
    assert_string_equal(to.remote_path, "\\\\h\\s");                                                         \
    assert_string_equal(to.local_path, "C:\\l");                                                             \
    assert_string_equal(to.username, "u");                                                                   \
    assert_string_equal(to.password, "p");                                                                   \
  } while (0)
  ASSERT_REQUEST(V1alpha1, V1ALPHA1, v1alpha1);
  ASSERT_REQUEST(V1beta1, V1BETA1, v1beta1);
  ASSERT_REQUEST(V1beta2, V1BETA2, v1beta2);
  ASSERT_REQUEST(V1, V1, v1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_error_is_never_set, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_error_is_not_believed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_requests, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
