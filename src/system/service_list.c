/* SPDX-License-Identifier: Apache-2.0 */
#include "system/service_list.h"

#include "base/little_endian.h"
#include "base/text.h"
#include "system/service.h"

/* ENUM_SERVICE_STATUSW: pointer to the key name u64, pointer to the display name u64, SERVICE_STATUS. */
enum {
  NAME_AT = 0,
};

/* Finds the name an entry points to: copied, since it may stand at any address. False when it is none. */
static bool copy_name(const struct csi_bytes *bytes, uint64_t address, uint64_t pointer,
                      uint16_t name_out_w[CSI_SERVICE_NAME_UNITS], size_t *units_out) {
  if (pointer < address || pointer - address >= bytes->size_bytes) return false;
  size_t offset = (size_t)(pointer - address), units = 0;
  for (;; offset += 2, units++) {
    if (bytes->size_bytes - offset < 2) return false;
    uint16_t unit = csi_get_u16(bytes->data + offset);
    if (unit == 0) break;
    if (units == CSI_SERVICE_NAME_UNITS) return false;
    name_out_w[units] = unit;
  }
  *units_out = units;
  return units > 0;
}

bool csi_service_list_parse(struct csi_arena *arena, const struct csi_bytes *bytes, uint64_t address,
                            size_t count, const char ***names_out, struct csi_status *status) {
  if (count > bytes->size_bytes / CSI_SERVICE_ENTRY_BYTES)
    return csi_fail(status, CSI_DATA_LOSS, "%zu services do not fit in the %zu bytes of the list", count,
                    bytes->size_bytes);
  const char **names = csi_arena_alloc_array(arena, count > 0 ? count : 1, sizeof *names);
  if (names == NULL) return csi_fail_out_of_memory(status);
  for (size_t i = 0; i < count; i++) {
    uint16_t name_w[CSI_SERVICE_NAME_UNITS];
    size_t units;
    uint64_t pointer = csi_get_u64(bytes->data + i * CSI_SERVICE_ENTRY_BYTES + NAME_AT);
    if (!copy_name(bytes, address, pointer, name_w, &units))
      return csi_fail(status, CSI_DATA_LOSS, "service %zu of %zu in the list has no proper name", i + 1,
                      count);
    names[i] = csi_utf8_from_utf16(arena, name_w, units);
    if (names[i] == NULL) return csi_fail_out_of_memory(status);
  }
  *names_out = names;
  return true;
}
