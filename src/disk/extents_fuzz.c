/* SPDX-License-Identifier: Apache-2.0
 *
 * Any VOLUME_DISK_EXTENTS: parsing stays inside it, and what it accepts makes sense.
 */
#include <stdlib.h>

#include "disk/extents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_arena *arena = csi_arena_new(1 << 20);
  require(arena != NULL);
  struct csi_status status = {0};
  struct csi_extent *extents;
  size_t count;
  if (csi_extents_parse(arena, data, size, &extents, &count, &status)) {
    require(count > 0 && CSI_EXTENTS_BYTES(count) <= size);
    for (size_t i = 0; i < count; i++) {
      require(extents[i].length_bytes > 0);
      require(extents[i].offset_bytes + extents[i].length_bytes <= INT64_MAX);
    }
  } else {
    require(!csi_status_ok(&status));
  }
  csi_arena_free(arena);
  return 0;
}
