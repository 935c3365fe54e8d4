/* SPDX-License-Identifier: Apache-2.0
 *
 * Partitions as PARTITION_INFORMATION_EX says them.
 */
#ifndef VDISK_PARTITION_INFO_H
#define VDISK_PARTITION_INFO_H

#include "nt.h"
#include "table.h"

/* The type of Microsoft reserved partitions. */
extern const uint8_t vdisk_msr_type_guid[16];

/* Fills in an entry that is zeroed or will be overwritten. */
void vdisk_partition_describe(const struct vdisk_table *table, const struct vdisk_partition *partition,
                              uint32_t sector_bytes, PARTITION_INFORMATION_EX *info);

/* Understands an entry; the number is left 0. STATUS_INVALID_PARAMETER when it is of the other style, or not
 * in whole sectors. */
NTSTATUS vdisk_partition_take(enum vdisk_style style, const PARTITION_INFORMATION_EX *info,
                              uint32_t sector_bytes, struct vdisk_partition *partition_out);

/* True for an entry that stands for no partition. */
bool vdisk_partition_is_empty(enum vdisk_style style, const struct vdisk_partition *partition);

/* True when writing the one would not change the other. */
bool vdisk_partition_equals(const struct vdisk_partition *a, const struct vdisk_partition *b);

/* True when Windows makes a volume of such a partition: not of a reserved or extended one. */
bool vdisk_partition_has_volume(enum vdisk_style style, const struct vdisk_partition *partition);

#endif
