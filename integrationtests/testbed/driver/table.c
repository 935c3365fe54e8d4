/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <string.h>

#include "gpt.h"
#include "mbr.h"

void vdisk_table_init(const struct vdisk_sectors *sectors, struct vdisk_table *table,
                      enum vdisk_style style) {
  memset(table, 0, sizeof *table);
  table->style = style;
  if (style == VDISK_STYLE_GPT) {
    uint32_t reserved = vdisk_gpt_reserved_sectors(sectors);
    table->first_usable_sector = reserved;
    table->usable_sectors = sectors->count - (2 * reserved - 1);
  } else if (style == VDISK_STYLE_MBR) {
    uint64_t end = sectors->count < UINT32_MAX ? sectors->count : UINT32_MAX;
    table->first_usable_sector = 1;
    table->usable_sectors = end - 1;
  }
}

bool vdisk_table_read(const struct vdisk_sectors *sectors, struct vdisk_table *table) {
  uint8_t sector[VDISK_SECTOR_BYTES_MAX];
  if (!sectors->read(sectors->context, 0, 1, sector)) return false;
  if (vdisk_mbr_is_protective(sector)) {
    enum vdisk_gpt_result result = vdisk_gpt_read(sectors, table);
    if (result != VDISK_GPT_ABSENT) return result == VDISK_GPT_FOUND;
  } else {
    vdisk_table_init(sectors, table, VDISK_STYLE_MBR);
    if (vdisk_mbr_decode(sector, table)) return true;
  }
  vdisk_table_init(sectors, table, VDISK_STYLE_RAW);
  return true;
}

bool vdisk_table_write(const struct vdisk_sectors *sectors, const struct vdisk_table *table) {
  uint8_t sector[VDISK_SECTOR_BYTES_MAX];
  if (!sectors->read(sectors->context, 0, 1, sector)) return false;
  switch (table->style) {
  case VDISK_STYLE_GPT:
    vdisk_mbr_protect(sector, sectors->count);
    return vdisk_gpt_write(sectors, table) && sectors->write(sectors->context, 0, 1, sector);
  case VDISK_STYLE_MBR:
    vdisk_mbr_encode(table, sector);
    return vdisk_gpt_wipe(sectors) && sectors->write(sectors->context, 0, 1, sector);
  default:
    memset(sector, 0, sectors->sector_bytes);
    return vdisk_gpt_wipe(sectors) && sectors->write(sectors->context, 0, 1, sector);
  }
}

static uint64_t usable_end(const struct vdisk_table *table) {
  return table->first_usable_sector + table->usable_sectors;
}

static bool is_in_range(const struct vdisk_table *table, const struct vdisk_partition *partition) {
  return partition->first_sector >= table->first_usable_sector && partition->sector_count > 0 &&
         partition->first_sector < usable_end(table) &&
         partition->sector_count <= usable_end(table) - partition->first_sector;
}

static bool overlap(const struct vdisk_partition *a, const struct vdisk_partition *b) {
  return a->first_sector < b->first_sector + b->sector_count &&
         b->first_sector < a->first_sector + a->sector_count;
}

bool vdisk_table_is_sound(const struct vdisk_table *table) {
  uint32_t limit = table->style == VDISK_STYLE_MBR ? VDISK_MBR_PARTITIONS : VDISK_PARTITIONS_MAX;
  for (uint32_t i = 0; i < table->count; i++) {
    const struct vdisk_partition *partition = &table->partitions[i];
    if (partition->number == 0 || partition->number > limit || !is_in_range(table, partition)) return false;
    for (uint32_t j = 0; j < i; j++)
      if (overlap(partition, &table->partitions[j]) || partition->number == table->partitions[j].number)
        return false;
  }
  return true;
}

uint32_t vdisk_table_free_number(const struct vdisk_table *table) {
  uint32_t number = 1;
  for (uint32_t i = 0; i < table->count && table->partitions[i].number <= number; i++)
    if (table->partitions[i].number == number) number++; /* those that have none yet, 0, stand first */
  return number;
}

struct vdisk_partition *vdisk_table_find(struct vdisk_table *table, uint32_t number) {
  for (uint32_t i = 0; i < table->count; i++)
    if (table->partitions[i].number == number) return &table->partitions[i];
  return NULL;
}

bool vdisk_table_insert(struct vdisk_table *table, const struct vdisk_partition *partition) {
  if (table->count == VDISK_PARTITIONS_MAX) return false;
  uint32_t at = table->count++;
  for (; at > 0 && table->partitions[at - 1].number > partition->number; at--)
    table->partitions[at] = table->partitions[at - 1];
  table->partitions[at] = *partition;
  return true;
}

uint64_t vdisk_table_limit(const struct vdisk_table *table, const struct vdisk_partition *partition) {
  uint64_t limit = usable_end(table);
  for (uint32_t i = 0; i < table->count; i++) {
    uint64_t first = table->partitions[i].first_sector;
    if (first > partition->first_sector && first < limit) limit = first;
  }
  return limit;
}
