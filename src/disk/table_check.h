/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the sectors of a disk that Windows calls raw hold a partition table all the same, and one that
 * somebody uses. Windows does not see one for a moment when a disk arrives, nor one that was made with
 * sectors of another size. Portable and pure.
 */
#ifndef CSI_DISK_TABLE_CHECK_H
#define CSI_DISK_TABLE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of a disk, as it was read. */
struct csi_piece {
  const uint8_t *bytes;
  size_t size_bytes;
  uint64_t offset_bytes; /* of its first byte on the disk */
};

/* True when the beginning of a disk holds a whole GPT, made with sectors of 512 or 4096 bytes, or an MBR
 * with partitions on this disk. A table that is torn, empty, or has only what Windows itself puts into an
 * empty one (a reserved partition), does not count; entries that lie outside of the piece do. */
bool csi_table_is_at_begin(const struct csi_piece *begin, uint64_t disk_bytes);

/* The same of the copy of a GPT in the last sectors of a disk: end goes up to disk_bytes. */
bool csi_table_is_at_end(const struct csi_piece *end, uint64_t disk_bytes);

#endif
