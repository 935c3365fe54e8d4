/* SPDX-License-Identifier: Apache-2.0 */
#include "gpt.h"

#include <string.h>

#include "crc32.h"

enum { ENTRY_BYTES = 128, ENTRIES_BYTES = VDISK_PARTITIONS_MAX * ENTRY_BYTES, HEADER_BYTES = 92 };
enum { REVISION = 0x00010000, FIRST_HEADER_SECTOR = 1 };
static const char magic[8] = {'E', 'F', 'I', ' ', 'P', 'A', 'R', 'T'};

/* On the disk it is HEADER_BYTES long. */
struct header {
  char magic[8];
  uint32_t revision;
  uint32_t header_bytes;
  uint32_t header_crc; /* with this member 0 */
  uint32_t reserved;
  uint64_t own_sector;
  uint64_t other_sector;
  uint64_t first_usable_sector;
  uint64_t last_usable_sector;
  uint8_t disk_guid[16];
  uint64_t entries_sector;
  uint32_t entry_count;
  uint32_t entry_bytes;
  uint32_t entries_crc;
};

struct entry {
  uint8_t type_guid[16];
  uint8_t guid[16];
  uint64_t first_sector;
  uint64_t last_sector;
  uint64_t attributes;
  uint16_t name_w[VDISK_PARTITION_NAME_UNITS];
};
_Static_assert(sizeof(struct entry) == ENTRY_BYTES, "as on the disk");

/* Entries are read and written by whole sectors, of which either size holds a whole number. */
static uint32_t entries_sectors(const struct vdisk_sectors *sectors) {
  return ENTRIES_BYTES / sectors->sector_bytes;
}

uint32_t vdisk_gpt_reserved_sectors(const struct vdisk_sectors *sectors) {
  return 2 + entries_sectors(sectors);
}

static uint32_t header_crc(struct header header) {
  header.header_crc = 0;
  return vdisk_crc32(0, &header, HEADER_BYTES);
}

static bool is_zero(const uint8_t guid[16]) {
  static const uint8_t zero[16];
  return memcmp(guid, zero, sizeof zero) == 0;
}

/* True when the header can be relied on as far as it says where things are. */
static bool is_sound(const struct vdisk_sectors *sectors, const struct header *header, uint64_t at) {
  return memcmp(header->magic, magic, sizeof magic) == 0 && header->header_bytes == HEADER_BYTES &&
         header->header_crc == header_crc(*header) && header->own_sector == at &&
         header->entry_bytes == ENTRY_BYTES && header->entry_count == VDISK_PARTITIONS_MAX &&
         header->entries_sector < sectors->count &&
         entries_sectors(sectors) <= sectors->count - header->entries_sector;
}

static bool insert_entries(struct vdisk_table *table, const uint8_t *bytes, uint32_t first_index,
                           uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    struct entry entry;
    memcpy(&entry, bytes + i * sizeof entry, sizeof entry);
    if (is_zero(entry.type_guid)) continue;
    struct vdisk_partition partition = {
        .number = first_index + i + 1,
        .first_sector = entry.first_sector,
        .sector_count = entry.last_sector - entry.first_sector + 1,
        .attributes = entry.attributes,
    };
    memcpy(partition.type_guid, entry.type_guid, sizeof partition.type_guid);
    memcpy(partition.guid, entry.guid, sizeof partition.guid);
    memcpy(partition.name_w, entry.name_w, sizeof partition.name_w);
    if (!vdisk_table_insert(table, &partition)) return false;
  }
  return true;
}

/* Sector by sector: the stack is not large enough for all. */
static enum vdisk_gpt_result read_entries(const struct vdisk_sectors *sectors, const struct header *header,
                                          struct vdisk_table *table) {
  uint8_t sector[VDISK_SECTOR_BYTES_MAX];
  uint32_t per_sector = sectors->sector_bytes / ENTRY_BYTES, crc = 0;
  for (uint32_t i = 0; i < entries_sectors(sectors); i++) {
    if (!sectors->read(sectors->context, header->entries_sector + i, 1, sector)) return VDISK_GPT_IO_ERROR;
    crc = vdisk_crc32(crc, sector, sectors->sector_bytes);
    if (!insert_entries(table, sector, i * per_sector, per_sector)) return VDISK_GPT_ABSENT;
  }
  return crc == header->entries_crc && vdisk_table_is_sound(table) ? VDISK_GPT_FOUND : VDISK_GPT_ABSENT;
}

static enum vdisk_gpt_result read_copy(const struct vdisk_sectors *sectors, uint64_t at,
                                       struct vdisk_table *table) {
  uint8_t sector[VDISK_SECTOR_BYTES_MAX];
  if (!sectors->read(sectors->context, at, 1, sector)) return VDISK_GPT_IO_ERROR;
  struct header header;
  memcpy(&header, sector, sizeof header);
  if (!is_sound(sectors, &header, at)) return VDISK_GPT_ABSENT;
  vdisk_table_init(sectors, table, VDISK_STYLE_GPT);
  memcpy(table->disk_guid, header.disk_guid, sizeof table->disk_guid);
  return read_entries(sectors, &header, table);
}

enum vdisk_gpt_result vdisk_gpt_read(const struct vdisk_sectors *sectors, struct vdisk_table *table) {
  enum vdisk_gpt_result result = read_copy(sectors, FIRST_HEADER_SECTOR, table);
  return result == VDISK_GPT_ABSENT ? read_copy(sectors, sectors->count - 1, table) : result;
}

static void put_entries(const struct vdisk_table *table, uint32_t first_index, uint32_t count,
                        uint8_t *bytes) {
  memset(bytes, 0, (size_t)count * ENTRY_BYTES);
  for (uint32_t i = 0; i < table->count; i++) {
    const struct vdisk_partition *partition = &table->partitions[i];
    uint32_t index = partition->number - 1;
    if (index < first_index || index >= first_index + count) continue;
    struct entry entry = {
        .first_sector = partition->first_sector,
        .last_sector = partition->first_sector + partition->sector_count - 1,
        .attributes = partition->attributes,
    };
    memcpy(entry.type_guid, partition->type_guid, sizeof entry.type_guid);
    memcpy(entry.guid, partition->guid, sizeof entry.guid);
    memcpy(entry.name_w, partition->name_w, sizeof entry.name_w);
    memcpy(bytes + (index - first_index) * sizeof entry, &entry, sizeof entry);
  }
}

static bool write_entries(const struct vdisk_sectors *sectors, const struct vdisk_table *table, uint64_t at,
                          uint32_t *crc_out) {
  uint8_t sector[VDISK_SECTOR_BYTES_MAX];
  uint32_t per_sector = sectors->sector_bytes / ENTRY_BYTES;
  *crc_out = 0;
  for (uint32_t i = 0; i < entries_sectors(sectors); i++) {
    put_entries(table, i * per_sector, per_sector, sector);
    *crc_out = vdisk_crc32(*crc_out, sector, sectors->sector_bytes);
    if (!sectors->write(sectors->context, at + i, 1, sector)) return false;
  }
  return true;
}

static bool write_header(const struct vdisk_sectors *sectors, struct header header) {
  uint8_t sector[VDISK_SECTOR_BYTES_MAX] = {0};
  header.header_crc = header_crc(header);
  memcpy(sector, &header, HEADER_BYTES);
  return sectors->write(sectors->context, header.own_sector, 1, sector);
}

bool vdisk_gpt_write(const struct vdisk_sectors *sectors, const struct vdisk_table *table) {
  uint64_t last = sectors->count - 1;
  struct header header = {
      .revision = REVISION,
      .header_bytes = HEADER_BYTES,
      .first_usable_sector = table->first_usable_sector,
      .last_usable_sector = table->first_usable_sector + table->usable_sectors - 1,
      .entry_count = VDISK_PARTITIONS_MAX,
      .entry_bytes = ENTRY_BYTES,
  };
  memcpy(header.magic, magic, sizeof magic);
  memcpy(header.disk_guid, table->disk_guid, sizeof header.disk_guid);

  struct header second = header;
  second.own_sector = last;
  second.other_sector = FIRST_HEADER_SECTOR;
  second.entries_sector = last - entries_sectors(sectors);
  header.own_sector = FIRST_HEADER_SECTOR;
  header.other_sector = last;
  header.entries_sector = FIRST_HEADER_SECTOR + 1;
  return write_entries(sectors, table, second.entries_sector, &second.entries_crc) &&
         write_header(sectors, second) &&
         write_entries(sectors, table, header.entries_sector, &header.entries_crc) &&
         write_header(sectors, header);
}

bool vdisk_gpt_wipe(const struct vdisk_sectors *sectors) {
  uint8_t zero[VDISK_SECTOR_BYTES_MAX] = {0};
  return sectors->write(sectors->context, FIRST_HEADER_SECTOR, 1, zero) &&
         sectors->write(sectors->context, sectors->count - 1, 1, zero);
}
