/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/json_expected.h"

#include <stdint.h>

struct csi_json_expected csi_json_expect(const upb_FieldDef *field) {
  struct csi_json_expected expected = {0};
  if (upb_FieldDef_IsMap(field)) {
    const upb_MessageDef *entry = upb_FieldDef_MessageSubDef(field);
    expected.key = upb_MessageDef_FindFieldByNumber(entry, kUpb_MapEntry_KeyFieldNumber);
    field = upb_MessageDef_FindFieldByNumber(entry, kUpb_MapEntry_ValueFieldNumber);
  }
  expected.message = upb_FieldDef_MessageSubDef(field);
  if (expected.message == NULL) expected.scalar = field;
  return expected;
}

struct csi_json_expected csi_json_expect_inside(struct csi_json_expected outer) {
  return (struct csi_json_expected){.message = outer.message, .scalar = outer.scalar};
}

bool csi_json_is_integer(const upb_FieldDef *field) {
  if (field == NULL) return false;
  switch (upb_FieldDef_CType(field)) {
  case kUpb_CType_Int32:
  case kUpb_CType_UInt32:
  case kUpb_CType_Int64:
  case kUpb_CType_UInt64:
    return true;
  default:
    return false;
  }
}

static uint64_t most(const upb_FieldDef *field, bool negative) {
  switch (upb_FieldDef_CType(field)) {
  case kUpb_CType_Int32:
    return (uint64_t)INT32_MAX + negative;
  case kUpb_CType_UInt32:
    return negative ? 0 : UINT32_MAX;
  case kUpb_CType_Int64:
    return (uint64_t)INT64_MAX + negative;
  default:
    return negative ? 0 : UINT64_MAX;
  }
}

bool csi_json_is_in_range(const upb_FieldDef *field, const char *number, size_t length_bytes) {
  bool negative = length_bytes > 0 && number[0] == '-';
  uint64_t limit = most(field, negative), value = 0;
  for (size_t i = negative; i < length_bytes; i++) {
    uint64_t digit = (uint64_t)(number[i] - '0');
    if (digit > limit || value > (limit - digit) / 10) return false;
    value = value * 10 + digit;
  }
  return true;
}
