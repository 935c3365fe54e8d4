/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/table_check.h"

#include <string.h>

#include "base/little_endian.h"
#include "disk/layout.h"

/* GPT header. */
enum {
  HEADER_BYTES_AT = 12,
  HEADER_CRC_AT = 16,
  ENTRIES_SECTOR_AT = 72,
  ENTRY_COUNT_AT = 80,
  ENTRY_BYTES_AT = 84,
  ENTRIES_CRC_AT = 88,
  HEADER_BYTES_MIN = 92,
  ENTRY_BYTES_MIN = 128,
};

/* MBR. */
enum {
  MBR_BYTES = 512,
  MBR_ENTRIES_AT = 446,
  MBR_ENTRY_BYTES = 16,
  MBR_ENTRY_COUNT = 4,
  MBR_MARK_AT = 510, /* 55 AA */
  MBR_STATUS_AT = 0,
  MBR_TYPE_AT = 4,
  MBR_BEGIN_AT = 8,
  MBR_LENGTH_AT = 12,
  MBR_ACTIVE = 0x80,
  MBR_PROTECTIVE = 0xEE, /* stands for a GPT */
};

static const uint32_t sector_sizes[] = {512, 4096};
enum { SECTOR_SIZES = sizeof sector_sizes / sizeof *sector_sizes };

/* Continues a CRC-32 (IEEE 802.3, reflected); begins and ends with all bits inverted. */
static uint32_t add_to_crc(uint32_t crc, const uint8_t *bytes, size_t size_bytes) {
  for (size_t i = 0; i < size_bytes; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (0xEDB88320 & -(crc & 1));
  }
  return crc;
}

static uint32_t crc_of(const uint8_t *bytes, size_t size_bytes) {
  return ~add_to_crc(UINT32_MAX, bytes, size_bytes);
}

/* The header's own checksum counts as zero in it. */
static uint32_t crc_of_header(const uint8_t *header, size_t size_bytes) {
  static const uint8_t zeros[4];
  uint32_t crc = add_to_crc(UINT32_MAX, header, HEADER_CRC_AT);
  crc = add_to_crc(crc, zeros, sizeof zeros);
  size_t rest_at = HEADER_CRC_AT + sizeof zeros;
  return ~add_to_crc(crc, header + rest_at, size_bytes - rest_at);
}

/* size_bytes bytes at this offset of the disk; NULL when they are not all in the piece. */
static const uint8_t *find(const struct csi_piece *piece, uint64_t offset_bytes, uint64_t size_bytes) {
  if (offset_bytes < piece->offset_bytes) return NULL;
  uint64_t at = offset_bytes - piece->offset_bytes;
  if (at > piece->size_bytes || size_bytes > piece->size_bytes - at) return NULL;
  return piece->bytes + at;
}

static bool is_whole_header(const uint8_t *header, uint32_t sector_bytes) {
  uint32_t size_bytes = csi_get_u32(header + HEADER_BYTES_AT);
  return memcmp(header, "EFI PART", 8) == 0 && size_bytes >= HEADER_BYTES_MIN && size_bytes <= sector_bytes &&
         crc_of_header(header, size_bytes) == csi_get_u32(header + HEADER_CRC_AT);
}

static bool has_used_entry(const uint8_t *entries, uint32_t count, uint32_t entry_bytes) {
  static const struct csi_guid unused;
  for (uint32_t i = 0; i < count; i++) {
    struct csi_guid type = csi_get_guid(entries + (size_t)i * entry_bytes);
    if (!csi_guid_equal(&type, &unused) && !csi_guid_equal(&type, &csi_partition_type_microsoft_reserved))
      return true;
  }
  return false;
}

static bool is_used_gpt(const struct csi_piece *piece, uint64_t header_offset_bytes, uint32_t sector_bytes) {
  const uint8_t *header = find(piece, header_offset_bytes, sector_bytes);
  if (header == NULL || !is_whole_header(header, sector_bytes)) return false;
  uint32_t count = csi_get_u32(header + ENTRY_COUNT_AT);
  uint32_t entry_bytes = csi_get_u32(header + ENTRY_BYTES_AT);
  uint64_t sector = csi_get_u64(header + ENTRIES_SECTOR_AT);
  if (entry_bytes < ENTRY_BYTES_MIN || sector > UINT64_MAX / sector_bytes) return false;
  uint64_t size_bytes = (uint64_t)count * entry_bytes;
  const uint8_t *entries = find(piece, sector * sector_bytes, size_bytes);
  if (entries == NULL) return true;
  return crc_of(entries, (size_t)size_bytes) == csi_get_u32(header + ENTRIES_CRC_AT) &&
         has_used_entry(entries, count, entry_bytes);
}

/* Entries count in sectors of at least 512 bytes. */
static bool is_possible_mbr_entry(const uint8_t *entry, uint64_t disk_bytes) {
  uint64_t begin = csi_get_u32(entry + MBR_BEGIN_AT), length = csi_get_u32(entry + MBR_LENGTH_AT);
  return (entry[MBR_STATUS_AT] == 0 || entry[MBR_STATUS_AT] == MBR_ACTIVE) && begin > 0 && length > 0 &&
         begin + length <= disk_bytes / MBR_BYTES;
}

/* A boot sector ends in the same mark, but has program text where an MBR has its entries. */
static bool is_used_mbr(const struct csi_piece *piece, uint64_t disk_bytes) {
  static const uint8_t unused[MBR_ENTRY_BYTES];
  const uint8_t *sector = find(piece, 0, MBR_BYTES);
  if (sector == NULL || csi_get_u16(sector + MBR_MARK_AT) != 0xAA55) return false;
  bool is_used = false;
  for (size_t i = 0; i < MBR_ENTRY_COUNT; i++) {
    const uint8_t *entry = sector + MBR_ENTRIES_AT + i * MBR_ENTRY_BYTES;
    if (memcmp(entry, unused, sizeof unused) == 0 || entry[MBR_TYPE_AT] == MBR_PROTECTIVE) continue;
    if (entry[MBR_TYPE_AT] == 0 || !is_possible_mbr_entry(entry, disk_bytes)) return false;
    is_used = true;
  }
  return is_used;
}

bool csi_table_is_at_begin(const struct csi_piece *begin, uint64_t disk_bytes) {
  for (size_t i = 0; i < SECTOR_SIZES; i++)
    if (is_used_gpt(begin, sector_sizes[i], sector_sizes[i])) return true;
  return is_used_mbr(begin, disk_bytes);
}

bool csi_table_is_at_end(const struct csi_piece *end, uint64_t disk_bytes) {
  for (size_t i = 0; i < SECTOR_SIZES; i++)
    if (disk_bytes >= sector_sizes[i] && is_used_gpt(end, disk_bytes - sector_sizes[i], sector_sizes[i]))
      return true;
  return false;
}
