/* SPDX-License-Identifier: Apache-2.0
 *
 * The conversions that are written by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "volume/convert_v1alpha1.h"
#include "volume/convert_v1beta1.h"
#include "volume/convert_v1beta2.h"

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

/* All three versions have the same rule. */
static bool parse(struct csi_arena *arena, unsigned version, const char *disk_id,
                  struct csi_volume_list_volumes_on_disk_request *to) {
  V1alpha1__ListVolumesOnDiskRequest alpha1 = V1ALPHA1__LIST_VOLUMES_ON_DISK_REQUEST__INIT;
  V1beta1__ListVolumesOnDiskRequest beta1 = V1BETA1__LIST_VOLUMES_ON_DISK_REQUEST__INIT;
  V1beta2__ListVolumesOnDiskRequest beta2 = V1BETA2__LIST_VOLUMES_ON_DISK_REQUEST__INIT;
  alpha1.disk_id = beta1.disk_id = beta2.disk_id = (char *)disk_id;
  csi_status_clear(&status);
  if (version == 0)
    return csi_volume_v1alpha1_list_volumes_on_disk_request_from_wire(arena, &status, &alpha1, to);
  if (version == 1)
    return csi_volume_v1beta1_list_volumes_on_disk_request_from_wire(arena, &status, &beta1, to);
  return csi_volume_v1beta2_list_volumes_on_disk_request_from_wire(arena, &status, &beta2, to);
}

static void test_disk_id(void **state) {
  for (unsigned version = 0; version < 3; version++) {
    struct csi_volume_list_volumes_on_disk_request request = {.partition_number = 7};
    assert_true(parse(*state, version, "0", &request));
    assert_int_equal(request.disk_number, 0);
    assert_int_equal(request.partition_number, 0);
    assert_true(parse(*state, version, "0012", &request));
    assert_int_equal(request.disk_number, 12);
    assert_true(parse(*state, version, "4294967295", &request));
    assert_int_equal(request.disk_number, UINT32_MAX);
  }
}

static void test_bad_disk_id(void **state) {
  static const struct {
    const char *disk_id, *text;
  } rows[] = {
#define PREFIX "Failed to parse diskId: err=strconv.ParseUint: parsing "
      {"", PREFIX "\"\": invalid syntax"},
      {"x", PREFIX "\"x\": invalid syntax"},
      {"-1", PREFIX "\"-1\": invalid syntax"},
      {"+1", PREFIX "\"+1\": invalid syntax"},
      {" 1", PREFIX "\" 1\": invalid syntax"},
      {"0x1", PREFIX "\"0x1\": invalid syntax"},
      {"1_0", PREFIX "\"1_0\": invalid syntax"},
      {"a\"b", PREFIX "\"a\\\"b\": invalid syntax"},
      {"4294967296", PREFIX "\"4294967296\": value out of range"},
      {"99999999999999999999999", PREFIX "\"99999999999999999999999\": value out of range"},
#undef PREFIX
  };
  for (unsigned version = 0; version < 3; version++)
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      struct csi_volume_list_volumes_on_disk_request request = {0};
      assert_false(parse(*state, version, rows[i].disk_id, &request));
      assert_string_equal(status.text, rows[i].text);
      assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
    }
}

static void test_disk_id_to_wire(void **state) {
  struct csi_volume_list_volumes_on_disk_request request = {.disk_number = UINT32_MAX};
  V1beta1__ListVolumesOnDiskRequest wire = V1BETA1__LIST_VOLUMES_ON_DISK_REQUEST__INIT;
  assert_true(csi_volume_v1beta1_list_volumes_on_disk_request_to_wire(*state, &status, &request, &wire));
  assert_string_equal(wire.disk_id, "4294967295");
  request.partition_number = 2;
  assert_false(csi_volume_v1beta1_list_volumes_on_disk_request_to_wire(*state, &status, &request, &wire));
  assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
}

static void test_disk_number(void **state) {
  struct csi_volume_get_disk_number_from_volume_id_response response = {.disk_number = UINT32_MAX};
  V1beta2__VolumeDiskNumberResponse wire = V1BETA2__VOLUME_DISK_NUMBER_RESPONSE__INIT;
  assert_true(csi_volume_v1beta2_volume_disk_number_response_to_wire(*state, &status, &response, &wire));
  assert_true(wire.disknumber == UINT32_MAX);
  wire.disknumber = 9;
  assert_true(csi_volume_v1beta2_volume_disk_number_response_from_wire(*state, &status, &wire, &response));
  assert_int_equal(response.disk_number, 9);
  wire.disknumber = -1;
  assert_false(csi_volume_v1beta2_volume_disk_number_response_from_wire(*state, &status, &wire, &response));
  assert_int_equal(status.code, CSI_OUT_OF_RANGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_disk_id),
      TEST(test_bad_disk_id),
      TEST(test_disk_id_to_wire),
      TEST(test_disk_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
