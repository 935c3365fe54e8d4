/* SPDX-License-Identifier: Apache-2.0
 *
 * The GUID partition table, both copies, of 128 entries.
 */
#ifndef VDISK_GPT_H
#define VDISK_GPT_H

#include "table.h"

enum vdisk_gpt_result { VDISK_GPT_FOUND, VDISK_GPT_ABSENT, VDISK_GPT_IO_ERROR };

/* Reads the first copy, or the one in the last sector when that is not valid. */
enum vdisk_gpt_result vdisk_gpt_read(const struct vdisk_sectors *sectors, struct vdisk_table *table);

/* Writes both copies; the protective MBR is not its business. */
bool vdisk_gpt_write(const struct vdisk_sectors *sectors, const struct vdisk_table *table);

/* Overwrites both headers. */
bool vdisk_gpt_wipe(const struct vdisk_sectors *sectors);

/* Sectors at the beginning of the medium that belong to the table, sector 0 included; at the end it is one
 * less. 34 of 512 bytes, 6 of 4096. */
uint32_t vdisk_gpt_reserved_sectors(const struct vdisk_sectors *sectors);

#endif
