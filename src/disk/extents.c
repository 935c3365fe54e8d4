/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/extents.h"

#include <inttypes.h>
#include <string.h>

/* VOLUME_DISK_EXTENTS and DISK_EXTENT, with the padding that LONGLONG brings. */
struct header {
  uint32_t count;
  uint32_t padding;
};
struct raw_extent {
  uint32_t disk_number;
  uint32_t padding;
  int64_t offset_bytes;
  int64_t length_bytes;
};
_Static_assert(sizeof(struct header) == CSI_EXTENTS_BYTES(0), "layout of VOLUME_DISK_EXTENTS");
_Static_assert(sizeof(struct header) + 3 * sizeof(struct raw_extent) == CSI_EXTENTS_BYTES(3),
               "layout of VOLUME_DISK_EXTENTS");

static bool parse_one(const struct raw_extent *raw, struct csi_extent *extent_out,
                      struct csi_status *status) {
  if (raw->offset_bytes < 0 || raw->length_bytes <= 0 || raw->offset_bytes > INT64_MAX - raw->length_bytes)
    return csi_fail(status, CSI_DATA_LOSS,
                    "the volume is said to lie at %" PRId64 ", %" PRId64 " bytes long, on disk %" PRIu32,
                    raw->offset_bytes, raw->length_bytes, raw->disk_number);
  *extent_out = (struct csi_extent){
      .disk_number = raw->disk_number,
      .offset_bytes = (uint64_t)raw->offset_bytes,
      .length_bytes = (uint64_t)raw->length_bytes,
  };
  return true;
}

bool csi_extents_parse(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes,
                       struct csi_extent **extents_out, size_t *count_out, struct csi_status *status) {
  struct header header = {0};
  if (size_bytes >= sizeof header) memcpy(&header, bytes, sizeof header);
  if (size_bytes < sizeof header || header.count > (size_bytes - sizeof header) / sizeof(struct raw_extent))
    return csi_fail(status, CSI_DATA_LOSS,
                    "the list of the volume's extents is cut off: %" PRIu32 " of them in %zu bytes",
                    header.count, size_bytes);
  if (header.count == 0) return csi_fail(status, CSI_DATA_LOSS, "the volume is said to lie on no disk");
  struct csi_extent *extents = csi_arena_alloc_array(arena, header.count, sizeof *extents);
  if (extents == NULL) return csi_fail_out_of_memory(status);
  for (size_t i = 0; i < header.count; i++) {
    struct raw_extent raw;
    memcpy(&raw, bytes + CSI_EXTENTS_BYTES(i), sizeof raw);
    if (!parse_one(&raw, &extents[i], status)) return false;
  }
  *extents_out = extents;
  *count_out = header.count;
  return true;
}
