/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/foreign.h"

#include <inttypes.h>

#include "disk/signatures.h"
#include "disk/table_check.h"

/* Reads size_bytes at an offset, both multiples of the sector size. */
static bool read_piece(struct csi_target *target, uint64_t offset_bytes, size_t size_bytes,
                       struct csi_piece *piece_out) {
  uint8_t *bytes = csi_sectors_alloc(target->ctx, size_bytes);
  if (bytes == NULL) return false;
  *piece_out = (struct csi_piece){.bytes = bytes, .size_bytes = size_bytes, .offset_bytes = offset_bytes};
  return size_bytes == 0 ||
         target->host->read(target->host->self, target->ctx, target->disk, offset_bytes, bytes, size_bytes);
}

static bool refuse_contents(struct csi_target *target, const struct csi_piece *piece,
                            const struct csi_contents *contents) {
  if (contents->name == NULL || contents->is_table) return true;
  return csi_fail(&target->ctx->status, CSI_FAILED_PRECONDITION,
                  "the disk has no partition table, but it is not empty: it looks like %s (signature at byte "
                  "%" PRIu64 "); partitioning " CSI_CONTENTS_ADVICE,
                  contents->name, piece->offset_bytes + contents->offset_bytes);
}

static bool refuse_table(struct csi_target *target) {
  return csi_fail(&target->ctx->status, CSI_UNAVAILABLE,
                  "Windows does not read the partition table that is there; try Rescan. "
                  "Partitioning " CSI_CONTENTS_ADVICE);
}

bool csi_disk_refuse_foreign(struct csi_target *target, const struct csi_disk_geometry *geometry) {
  if (geometry->sector_bytes == 0)
    return csi_fail(&target->ctx->status, CSI_INTERNAL, "the disk has sectors of 0 bytes");
  uint64_t disk_bytes = geometry->size_bytes - geometry->size_bytes % geometry->sector_bytes;
  uint64_t begin_bytes = disk_bytes < CSI_CONTENTS_BYTES ? disk_bytes : CSI_CONTENTS_BYTES;
  struct csi_piece begin, end;
  if (!read_piece(target, 0, (size_t)begin_bytes, &begin)) return false;
  struct csi_contents contents = csi_contents_recognise(begin.bytes, begin.size_bytes);
  if (!refuse_contents(target, &begin, &contents)) return false;
  if (csi_table_is_at_begin(&begin, disk_bytes)) return refuse_table(target);
  uint64_t end_bytes = disk_bytes < CSI_CONTENTS_END_BYTES ? disk_bytes : CSI_CONTENTS_END_BYTES;
  if (!read_piece(target, disk_bytes - end_bytes, (size_t)end_bytes, &end)) return false;
  contents = csi_contents_recognise_end(end.bytes, end.size_bytes);
  if (!refuse_contents(target, &end, &contents)) return false;
  return !csi_table_is_at_end(&end, disk_bytes) || refuse_table(target);
}
