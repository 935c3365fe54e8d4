/* SPDX-License-Identifier: Apache-2.0 */
#include "mbr.h"

#include <string.h>

enum { SIGNATURE_AT = 0x1B8, ENTRIES_AT = 0x1BE, ENTRY_BYTES = 16, MAGIC_AT = 0x1FE };
enum { ACTIVE = 0x80 };

struct entry {
  uint8_t flags;
  uint8_t first_chs[3];
  uint8_t type;
  uint8_t last_chs[3];
  uint32_t first_sector;
  uint32_t sector_count;
};
_Static_assert(sizeof(struct entry) == ENTRY_BYTES, "as on the disk");

static const uint8_t chs_none[3] = {0xFE, 0xFF, 0xFF}; /* beyond what cylinders can say */
static const uint8_t chs_second[3] = {0x00, 0x02, 0x00};

static bool has_magic(const uint8_t *sector) {
  return sector[MAGIC_AT] == 0x55 && sector[MAGIC_AT + 1] == 0xAA;
}

static void put_magic(uint8_t *sector) {
  sector[MAGIC_AT] = 0x55;
  sector[MAGIC_AT + 1] = 0xAA;
}

static struct entry get_entry(const uint8_t *sector, unsigned index) {
  struct entry entry;
  memcpy(&entry, sector + ENTRIES_AT + index * ENTRY_BYTES, sizeof entry);
  return entry;
}

static void put_entry(uint8_t *sector, unsigned index, const struct entry *entry) {
  memcpy(sector + ENTRIES_AT + index * ENTRY_BYTES, entry, sizeof *entry);
}

/* A boot sector ends in the same two bytes; where it has code, a master boot record has nothing but 0 or 80h.
 */
static bool has_entries(const uint8_t *sector) {
  for (unsigned i = 0; i < VDISK_MBR_PARTITIONS; i++)
    if (get_entry(sector, i).flags & ~ACTIVE) return false;
  return true;
}

bool vdisk_mbr_decode(const uint8_t *sector, struct vdisk_table *table) {
  if (!has_magic(sector) || !has_entries(sector)) return false;
  memcpy(&table->signature, sector + SIGNATURE_AT, sizeof table->signature);
  for (unsigned i = 0; i < VDISK_MBR_PARTITIONS; i++) {
    struct entry entry = get_entry(sector, i);
    if (entry.type == 0 || entry.sector_count == 0) continue;
    struct vdisk_partition partition = {
        .number = i + 1,
        .first_sector = entry.first_sector,
        .sector_count = entry.sector_count,
        .mbr_type = entry.type,
        .is_active = entry.flags == ACTIVE,
    };
    if (!vdisk_table_insert(table, &partition)) return false;
  }
  return true;
}

void vdisk_mbr_encode(const struct vdisk_table *table, uint8_t *sector) {
  memcpy(sector + SIGNATURE_AT, &table->signature, sizeof table->signature);
  memset(sector + ENTRIES_AT, 0, VDISK_MBR_PARTITIONS * ENTRY_BYTES);
  for (uint32_t i = 0; i < table->count; i++) {
    const struct vdisk_partition *partition = &table->partitions[i];
    struct entry entry = {
        .flags = partition->is_active ? ACTIVE : 0,
        .type = partition->mbr_type,
        .first_sector = (uint32_t)partition->first_sector,
        .sector_count = (uint32_t)partition->sector_count,
    };
    memcpy(entry.first_chs, chs_none, sizeof chs_none);
    memcpy(entry.last_chs, chs_none, sizeof chs_none);
    put_entry(sector, partition->number - 1, &entry);
  }
  put_magic(sector);
}

bool vdisk_mbr_is_protective(const uint8_t *sector) {
  if (!has_magic(sector)) return false;
  for (unsigned i = 0; i < VDISK_MBR_PARTITIONS; i++)
    if (get_entry(sector, i).type == VDISK_MBR_PROTECTIVE) return true;
  return false;
}

void vdisk_mbr_protect(uint8_t *sector, uint64_t sector_count) {
  uint64_t protected_sectors = sector_count - 1;
  struct entry entry = {
      .type = VDISK_MBR_PROTECTIVE,
      .first_sector = 1,
      .sector_count = protected_sectors > UINT32_MAX ? UINT32_MAX : (uint32_t)protected_sectors,
  };
  memcpy(entry.first_chs, chs_second, sizeof chs_second);
  memcpy(entry.last_chs, chs_none, sizeof chs_none);
  memset(sector + SIGNATURE_AT, 0, MAGIC_AT - SIGNATURE_AT);
  put_entry(sector, 0, &entry);
  put_magic(sector);
}
