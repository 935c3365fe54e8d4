/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/mount_points.h"

#include <string.h>

#include "base/little_endian.h"
#include "base/text.h"

/* MOUNTMGR_MOUNT_POINTS: Size u32, NumberOfMountPoints u32, then the points. MOUNTMGR_MOUNT_POINT: three
 * times an offset u32 from the beginning of the reply, a length u16 in bytes, and padding: symbolic link,
 * unique id, device. */
enum {
  COUNT_AT = 4,
  HEADER_BYTES = 8,
  LINK_AT = 0,
  DEVICE_AT = 16,
  LENGTH_AT = 4,
  POINT_BYTES = 24,
};

enum {
  PREFIX_UNITS = 11, /* `\??\Volume{` */
  GUID_UNITS = CSI_GUID_TEXT_BYTES - 1,
  LINK_UNITS = PREFIX_UNITS + GUID_UNITS + 1,
};

struct name {
  const uint8_t *bytes; /* UTF-16, at any address */
  size_t units;
};

static bool get_name(const uint8_t *bytes, size_t size_bytes, const uint8_t *fields, struct name *name_out) {
  size_t offset = csi_get_u32(fields);
  size_t length = csi_get_u16(fields + LENGTH_AT);
  if (offset > size_bytes || length > size_bytes - offset || length % 2 != 0) return false;
  *name_out = (struct name){.bytes = bytes + offset, .units = length / 2};
  return true;
}

static bool is_device(const struct name *name, const uint16_t *device_w, size_t device_units) {
  if (name->units != device_units) return false;
  for (size_t i = 0; i < device_units; i++)
    if (csi_utf16_upcase(csi_get_u16(name->bytes + 2 * i)) != csi_utf16_upcase(device_w[i])) return false;
  return true;
}

/* Reads `\??\Volume{guid}`. */
static bool parse_volume_name(const struct name *name, struct csi_guid *guid_out) {
  if (name->units != LINK_UNITS) return false;
  char text[LINK_UNITS];
  for (size_t i = 0; i < LINK_UNITS; i++) {
    uint16_t unit = csi_get_u16(name->bytes + 2 * i);
    if (unit > '~') return false;
    text[i] = (char)unit;
  }
  return csi_utf8_compare_ignore_case(text, PREFIX_UNITS, "\\??\\Volume{", PREFIX_UNITS) == 0 &&
         text[LINK_UNITS - 1] == '}' && csi_guid_parse(text + PREFIX_UNITS, GUID_UNITS, guid_out);
}

bool csi_mount_points_find_volume(const uint8_t *bytes, size_t size_bytes, const uint16_t *device_w,
                                  size_t device_units, struct csi_guid *guid_out) {
  if (size_bytes < HEADER_BYTES) return false;
  uint32_t count = csi_get_u32(bytes + COUNT_AT);
  if (count > (size_bytes - HEADER_BYTES) / POINT_BYTES) return false;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *point = bytes + HEADER_BYTES + (size_t)i * POINT_BYTES;
    struct name link, device;
    if (!get_name(bytes, size_bytes, point + LINK_AT, &link) ||
        !get_name(bytes, size_bytes, point + DEVICE_AT, &device))
      return false;
    if (is_device(&device, device_w, device_units) && parse_volume_name(&link, guid_out)) return true;
  }
  return false;
}
