/* SPDX-License-Identifier: Apache-2.0
 *
 * Any partition table: reading stays inside it; what was read from a GPT can be written and read again;
 * the free space found overlaps nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "disk/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

static void check_gap(const struct csi_layout *layout) {
  uint64_t offset, length;
  if (!csi_layout_largest_gap(layout, &offset, &length)) return;
  require(length > 0 && offset % CSI_PARTITION_ALIGNMENT_BYTES == 0);
  require(length % CSI_PARTITION_ALIGNMENT_BYTES == 0 && offset >= layout->usable_offset_bytes);
  require(offset + length <= layout->usable_offset_bytes + layout->usable_length_bytes);
  for (size_t i = 0; i < layout->partition_count; i++) {
    const struct csi_partition *other = &layout->partitions[i];
    require(other->offset_bytes >= offset + length || other->offset_bytes + other->length_bytes <= offset);
  }
}

static void check_growth(const struct csi_layout *layout) {
  for (size_t i = 0; i < layout->partition_count; i++) {
    const struct csi_partition *partition = &layout->partitions[i];
    uint64_t length = csi_layout_max_length(layout, partition, UINT64_C(1) << 40);
    require(length >= partition->length_bytes);
    if (length == partition->length_bytes) continue;
    for (size_t k = 0; k < layout->partition_count; k++)
      require(k == i || layout->partitions[k].offset_bytes <= partition->offset_bytes ||
              layout->partitions[k].offset_bytes >= partition->offset_bytes + length);
  }
}

static void check_round_trip(struct csi_arena *arena, const struct csi_layout *layout) {
  if (layout->style != CSI_PARTITION_STYLE_GPT) return;
  size_t size;
  const uint8_t *bytes = csi_layout_serialize(arena, layout, &size);
  struct csi_layout again;
  struct csi_status status = {0};
  require(bytes != NULL && csi_layout_parse(arena, bytes, size, &again, &status));
  require(again.partition_count == layout->partition_count);
  require(layout->partition_count == 0 || memcmp(again.partitions, layout->partitions,
                                                 again.partition_count * sizeof *again.partitions) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_arena *arena = csi_arena_new(4 << 20);
  require(arena != NULL);
  struct csi_layout layout;
  struct csi_status status = {0};
  if (csi_layout_parse(arena, data, size, &layout, &status)) {
    require(csi_status_ok(&status) && layout.partition_count <= CSI_LAYOUT_PARTITIONS_MAX);
    check_gap(&layout);
    check_growth(&layout);
    check_round_trip(arena, &layout);
  } else {
    require(!csi_status_ok(&status));
  }
  csi_arena_free(arena);
  return 0;
}
