/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/table_image.h"

#include <string.h>

#include "base/little_endian.h"

uint32_t table_image_crc(const uint8_t *bytes, size_t size_bytes) {
  static const uint32_t table[16] = {
      0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
      0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
  };
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size_bytes; i++) {
    crc = crc >> 4 ^ table[(crc ^ bytes[i]) & 15];
    crc = crc >> 4 ^ table[(crc ^ (uint32_t)(bytes[i] >> 4)) & 15];
  }
  return ~crc;
}

void table_image_make_gpt(uint8_t header_out[TABLE_IMAGE_HEADER_BYTES],
                          uint8_t entries_out[TABLE_IMAGE_ENTRIES_BYTES], uint64_t entries_sector,
                          const struct csi_guid *type) {
  memset(header_out, 0, TABLE_IMAGE_HEADER_BYTES);
  memset(entries_out, 0, TABLE_IMAGE_ENTRIES_BYTES);
  if (type != NULL) {
    uint8_t *entry = entries_out + 2 * TABLE_IMAGE_ENTRY_BYTES;
    csi_put_guid(entry, type);
    entry[16] = 1;
  }
  memcpy(header_out, "EFI PART\0\0\1", 11);
  csi_put_u32(header_out + 12, TABLE_IMAGE_HEADER_BYTES);
  csi_put_u64(header_out + 72, entries_sector);
  csi_put_u32(header_out + 80, TABLE_IMAGE_ENTRY_COUNT);
  csi_put_u32(header_out + 84, TABLE_IMAGE_ENTRY_BYTES);
  csi_put_u32(header_out + 88, table_image_crc(entries_out, TABLE_IMAGE_ENTRIES_BYTES));
  csi_put_u32(header_out + 16, table_image_crc(header_out, TABLE_IMAGE_HEADER_BYTES));
}

void table_image_put_mbr(uint8_t sector[512], size_t index, uint8_t type, uint32_t begin, uint32_t length) {
  uint8_t *entry = sector + 446 + 16 * index;
  entry[4] = type;
  csi_put_u32(entry + 8, begin);
  csi_put_u32(entry + 12, length);
  csi_put_u16(sector + 510, 0xAA55);
}
