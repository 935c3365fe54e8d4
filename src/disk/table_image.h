/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests: partition tables as they stand on a disk.
 */
#ifndef CSI_DISK_TABLE_IMAGE_H
#define CSI_DISK_TABLE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/guid.h"

enum {
  TABLE_IMAGE_ENTRY_COUNT = 128,
  TABLE_IMAGE_ENTRY_BYTES = 128,
  TABLE_IMAGE_ENTRIES_BYTES = TABLE_IMAGE_ENTRY_COUNT * TABLE_IMAGE_ENTRY_BYTES,
  TABLE_IMAGE_HEADER_BYTES = 92,
};

/* CRC-32 as zlib's. */
uint32_t table_image_crc(const uint8_t *bytes, size_t size_bytes);

/* Writes a GPT header, and to entries_out the table, whose third entry is of this type; NULL = all unused.
 * entries_sector: where the entries stand. */
void table_image_make_gpt(uint8_t header_out[TABLE_IMAGE_HEADER_BYTES],
                          uint8_t entries_out[TABLE_IMAGE_ENTRIES_BYTES], uint64_t entries_sector,
                          const struct csi_guid *type);

/* Writes one entry of an MBR, and the mark at its end. */
void table_image_put_mbr(uint8_t sector[512], size_t index, uint8_t type, uint32_t begin, uint32_t length);

#endif
