/* SPDX-License-Identifier: Apache-2.0
 *
 * Disk numbers and identifiers as versions up to v1beta2 spell them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "disk/convert_v1alpha1.h"
#include "disk/convert_v1beta1.h"
#include "disk/convert_v1beta2.h"

enum {
  ARENA_BYTES = 1 << 20,
};

static int set_up(void **state) {
  *state = csi_arena_new(ARENA_BYTES);
  return *state == NULL;
}

static int tear_down(void **state) {
  csi_arena_free(*state);
  return 0;
}

static bool partition(struct csi_arena *arena, char *disk_id, struct csi_status *status,
                      uint32_t *number_out) {
  V1beta2__PartitionDiskRequest wire = V1BETA2__PARTITION_DISK_REQUEST__INIT;
  struct csi_disk_partition_disk_request request = {0};
  wire.diskid = disk_id;
  csi_status_clear(status);
  bool converted = csi_disk_v1beta2_partition_disk_request_from_wire(arena, status, &wire, &request);
  *number_out = request.disk_number;
  return converted;
}

static void test_numbers(void **state) {
  static const struct {
    const char *text;
    uint32_t number;
  } good[] = {{"0", 0}, {"3", 3}, {"007", 7}, {"4294967295", UINT32_MAX}};
  static const struct {
    const char *text;
    const char *error;
  } bad[] = {
      {"", "parsing \"\": invalid syntax"},
      {"-1", "parsing \"-1\": invalid syntax"},
      {"+1", "parsing \"+1\": invalid syntax"},
      {" 1", "parsing \" 1\": invalid syntax"},
      {"1 ", "parsing \"1 \": invalid syntax"},
      {"0x1", "parsing \"0x1\": invalid syntax"},
      {"1_0", "parsing \"1_0\": invalid syntax"},
      {"disk", "parsing \"disk\": invalid syntax"},
      {"4294967296", "parsing \"4294967296\": value out of range"}, /* not disk 0 */
      {"18446744073709551616", "parsing \"18446744073709551616\": value out of range"},
      {"99999999999999999999999999999999999", "value out of range"},
  };
  struct csi_status status;
  uint32_t number;
  char text[64];
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    snprintf(text, sizeof text, "%s", good[i].text);
    assert_true(partition(*state, text, &status, &number));
    assert_int_equal(number, good[i].number);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    snprintf(text, sizeof text, "%s", bad[i].text);
    assert_false(partition(*state, text, &status, &number));
    assert_non_null(strstr(status.text, bad[i].error));
    assert_memory_equal(status.text,
                        "Failed to convert v1beta2.PartitionDiskRequest.DiskID to uint32: strconv.", 72);
  }
}

static void test_error_texts(void **state) {
  struct csi_arena *arena = *state;
  char text[] = "x";
  V1alpha1__PartitionDiskRequest alpha = V1ALPHA1__PARTITION_DISK_REQUEST__INIT;
  V1beta1__DiskStatsRequest stats = V1BETA1__DISK_STATS_REQUEST__INIT;
  V1beta2__SetAttachStateRequest set = V1BETA2__SET_ATTACH_STATE_REQUEST__INIT;
  V1beta2__GetAttachStateRequest get = V1BETA2__GET_ATTACH_STATE_REQUEST__INIT;
  alpha.diskid = stats.diskid = set.diskid = get.diskid = text;
  struct csi_disk_partition_disk_request partition_request;
  struct csi_disk_get_disk_stats_request stats_request;
  struct csi_disk_set_disk_state_request set_request;
  struct csi_disk_get_disk_state_request get_request;
  struct csi_status status = {0};
#define ASSERT_REFUSED(call, expected)                                                                       \
  do {                                                                                                       \
    csi_status_clear(&status);                                                                               \
    assert_false(call);                                                                                      \
    assert_string_equal(status.text, expected "strconv.ParseUint: parsing \"x\": invalid syntax");           \
  } while (0)
  ASSERT_REFUSED(
      csi_disk_v1alpha1_partition_disk_request_from_wire(arena, &status, &alpha, &partition_request),
      "Failed to convert v1alpha1.PartitionDiskRequest.DiskID to uint32: ");
  ASSERT_REFUSED(csi_disk_v1beta1_disk_stats_request_from_wire(arena, &status, &stats, &stats_request),
                 "Failed to format DiskStatsRequest.DiskID with err: ");
  ASSERT_REFUSED(csi_disk_v1beta2_set_attach_state_request_from_wire(arena, &status, &set, &set_request),
                 "Failed to format SetAttachStateRequest.DiskID with err: ");
  ASSERT_REFUSED(csi_disk_v1beta2_get_attach_state_request_from_wire(arena, &status, &get, &get_request),
                 "Failed to format GetAttachStateRequest.DiskID with err: ");
#undef ASSERT_REFUSED
}

static void test_locations(void **state) {
  struct csi_arena *arena = *state;
  struct csi_status status = {0};
  const struct csi_disk_list_disk_locations_response_disk_locations_entry entries[] = {
      {10, {"0", "1", "2", "3"}}, {2, {"4", "5", "6", "7"}}};
  struct csi_disk_list_disk_locations_response from = {.disk_locations = entries, .disk_locations_count = 2};
  V1alpha1__ListDiskLocationsResponse wire = V1ALPHA1__LIST_DISK_LOCATIONS_RESPONSE__INIT;
  assert_true(csi_disk_v1alpha1_list_disk_locations_response_to_wire(arena, &status, &from, &wire));
  assert_int_equal(wire.n_disk_locations, 2);
  assert_string_equal(wire.disk_locations[0]->key, "10");
  assert_string_equal(wire.disk_locations[0]->value->lunid, "3");
  struct csi_disk_list_disk_locations_response to = {0};
  assert_true(csi_disk_v1alpha1_list_disk_locations_response_from_wire(arena, &status, &wire, &to));
  assert_int_equal(to.disk_locations_count, 2);
  assert_int_equal(to.disk_locations[0].key, 2); /* sorted */
  assert_string_equal(to.disk_locations[0].value.adapter, "4");
  assert_string_equal(to.disk_locations[1].value.bus, "1");
  assert_string_equal(to.disk_locations[1].value.target, "2");
}

static void test_identifiers(void **state) {
  struct csi_arena *arena = *state;
  struct csi_status status = {0};
  const struct csi_disk_list_disk_ids_response_disk_ids_entry entries[] = {{7, {"6000c29", ""}}};
  struct csi_disk_list_disk_ids_response from = {.disk_ids = entries, .disk_ids_count = 1};
  V1beta1__ListDiskIDsResponse wire = V1BETA1__LIST_DISK_IDS_RESPONSE__INIT;
  assert_true(csi_disk_v1beta1_list_disk_ids_response_to_wire(arena, &status, &from, &wire));
  assert_int_equal(wire.n_diskids, 1);
  assert_string_equal(wire.diskids[0]->key, "7");
  const V1beta1__DiskIDs *ids = wire.diskids[0]->value;
  assert_int_equal(ids->n_identifiers, 2); /* both, also when empty */
  assert_string_equal(ids->identifiers[0]->key, "page83");
  assert_string_equal(ids->identifiers[0]->value, "6000c29");
  assert_string_equal(ids->identifiers[1]->key, "serialNumber");
  assert_string_equal(ids->identifiers[1]->value, "");
  struct csi_disk_list_disk_ids_response to = {0};
  assert_true(csi_disk_v1beta1_list_disk_ids_response_from_wire(arena, &status, &wire, &to));
  assert_int_equal(to.disk_ids[0].key, 7);
  assert_string_equal(to.disk_ids[0].value.page83, "6000c29");
  assert_string_equal(to.disk_ids[0].value.serial_number, "");
}

static void test_state_and_name(void **state) {
  struct csi_arena *arena = *state;
  struct csi_status status = {0};
  struct csi_disk_set_disk_state_request set = {.disk_number = 12, .is_online = true}, set_back = {0};
  V1beta2__SetAttachStateRequest set_wire = V1BETA2__SET_ATTACH_STATE_REQUEST__INIT;
  assert_true(csi_disk_v1beta2_set_attach_state_request_to_wire(arena, &status, &set, &set_wire));
  assert_string_equal(set_wire.diskid, "12");
  assert_true(csi_disk_v1beta2_set_attach_state_request_from_wire(arena, &status, &set_wire, &set_back));
  assert_int_equal(set_back.disk_number, 12);
  assert_true(set_back.is_online);

  struct csi_disk_get_disk_number_by_name_response name = {.disk_number = UINT32_MAX}, name_back = {0};
  V1alpha1__GetDiskNumberByNameResponse name_wire = V1ALPHA1__GET_DISK_NUMBER_BY_NAME_RESPONSE__INIT;
  assert_true(csi_disk_v1alpha1_get_disk_number_by_name_response_to_wire(arena, &status, &name, &name_wire));
  assert_string_equal(name_wire.disk_number, "4294967295");
  assert_true(
      csi_disk_v1alpha1_get_disk_number_by_name_response_from_wire(arena, &status, &name_wire, &name_back));
  assert_int_equal(name_back.disk_number, UINT32_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_error_texts, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_locations, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_identifiers, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_state_and_name, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
