/* SPDX-License-Identifier: Apache-2.0
 *
 * The partition table of a disk: read from and written to its sectors, MBR or GPT.
 */
#ifndef VDISK_TABLE_H
#define VDISK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sectors.h"

/* The numbers are PARTITION_STYLE's. */
enum vdisk_style { VDISK_STYLE_MBR, VDISK_STYLE_GPT, VDISK_STYLE_RAW };

enum { VDISK_PARTITIONS_MAX = 128, VDISK_PARTITION_NAME_UNITS = 36, VDISK_MBR_PARTITIONS = 4 };

/* GUIDs are kept as Windows and GPT keep them. */
struct vdisk_partition {
  uint32_t number; /* 1.. ; its place in the table */
  uint64_t first_sector;
  uint64_t sector_count;
  uint8_t type_guid[16]; /* GPT */
  uint8_t guid[16];      /* GPT */
  uint64_t attributes;   /* GPT */
  uint16_t name_w[VDISK_PARTITION_NAME_UNITS];
  uint8_t mbr_type; /* MBR */
  bool is_active;   /* MBR */
};

struct vdisk_table {
  enum vdisk_style style;
  uint8_t disk_guid[16];        /* GPT */
  uint32_t signature;           /* MBR */
  uint64_t first_usable_sector; /* where partitions may be */
  uint64_t usable_sectors;
  uint32_t count;
  struct vdisk_partition partitions[VDISK_PARTITIONS_MAX]; /* by number */
};

/* Reads the table. Sectors without a valid one are RAW. False when they cannot be read.
 * The usable range is the one the medium has room for, also if it has grown since the table was written. */
bool vdisk_table_read(const struct vdisk_sectors *sectors, struct vdisk_table *table);

/* Writes the table: for GPT a protective MBR and both copies, the second at the end of the medium as it is;
 * for RAW it wipes what made a table. False when the sectors cannot be written. */
bool vdisk_table_write(const struct vdisk_sectors *sectors, const struct vdisk_table *table);

/* Empties the table and sets its style and usable range. */
void vdisk_table_init(const struct vdisk_sectors *sectors, struct vdisk_table *table, enum vdisk_style style);

/* True when the partitions have numbers of their own that the style has room for, lie in the usable range and
 * do not overlap. */
bool vdisk_table_is_sound(const struct vdisk_table *table);

/* The lowest number no partition has. */
uint32_t vdisk_table_free_number(const struct vdisk_table *table);

/* The partition with this number; NULL when there is none. */
struct vdisk_partition *vdisk_table_find(struct vdisk_table *table, uint32_t number);

/* Adds a partition at the place its number gives it. False when the table is full. */
bool vdisk_table_insert(struct vdisk_table *table, const struct vdisk_partition *partition);

/* The first sector behind the partition that is another's, or the end of the usable range. */
uint64_t vdisk_table_limit(const struct vdisk_table *table, const struct vdisk_partition *partition);

#endif
