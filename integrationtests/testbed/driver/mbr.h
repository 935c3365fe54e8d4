/* SPDX-License-Identifier: Apache-2.0
 *
 * The master boot record: four primary partitions. Logical ones are not looked for.
 */
#ifndef VDISK_MBR_H
#define VDISK_MBR_H

#include "table.h"

enum { VDISK_MBR_EXTENDED = 0x05, VDISK_MBR_EXTENDED_LBA = 0x0F, VDISK_MBR_PROTECTIVE = 0xEE };

/* Understands sector 0: false when it holds no master boot record, or nothing but a file system's boot
 * sector. */
bool vdisk_mbr_decode(const uint8_t *sector, struct vdisk_table *table);

/* Puts the table in sector 0, whose boot code stays. */
void vdisk_mbr_encode(const struct vdisk_table *table, uint8_t *sector);

/* True when sector 0 protects a GPT. */
bool vdisk_mbr_is_protective(const uint8_t *sector);

/* Makes sector 0 protect a GPT on a medium of that many sectors. */
void vdisk_mbr_protect(uint8_t *sector, uint64_t sector_count);

#endif
