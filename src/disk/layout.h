/* SPDX-License-Identifier: Apache-2.0
 *
 * A partition table as Windows tells it (DRIVE_LAYOUT_INFORMATION_EX), and what follows from it: which
 * partitions count, where the next one could stand. Portable and pure.
 */
#ifndef CSI_DISK_LAYOUT_H
#define CSI_DISK_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/guid.h"
#include "base/status.h"

enum {
  CSI_PARTITION_NAME_UNITS = 36,
  CSI_LAYOUT_PARTITIONS_MAX = 1024, /* GPT as Windows writes it has 128 */
  CSI_PARTITION_ALIGNMENT_BYTES = 1 << 20,
};

/* PARTITION_STYLE. */
enum csi_partition_style {
  CSI_PARTITION_STYLE_MBR = 0,
  CSI_PARTITION_STYLE_GPT = 1,
  CSI_PARTITION_STYLE_RAW = 2,
};

#define CSI_GPT_ATTRIBUTE_NO_DRIVE_LETTER UINT64_C(0x8000000000000000)
#define CSI_GPT_ATTRIBUTE_HIDDEN UINT64_C(0x4000000000000000) /* the mount manager leaves it alone */

extern const struct csi_guid csi_partition_type_basic_data;
extern const struct csi_guid csi_partition_type_microsoft_reserved;
extern const struct csi_guid csi_partition_type_efi_system;

struct csi_partition {
  uint32_t number; /* as in HarddiskNPartitionM; 0 for an entry that is empty, or not there yet */
  uint64_t offset_bytes;
  uint64_t length_bytes;
  /* GPT only */
  struct csi_guid type;
  struct csi_guid id;
  uint64_t attributes;
  uint16_t name_w[CSI_PARTITION_NAME_UNITS]; /* NUL-padded */
  /* MBR only */
  uint8_t mbr_type; /* 0 = empty entry */
  bool mbr_active;
};

struct csi_layout {
  enum csi_partition_style style;
  struct csi_guid disk_id;          /* GPT */
  uint64_t usable_offset_bytes;     /* GPT */
  uint64_t usable_length_bytes;     /* GPT */
  uint32_t max_partition_count;     /* GPT */
  uint32_t mbr_signature;           /* MBR */
  struct csi_partition *partitions; /* in the order of the table; empty MBR entries left out */
  size_t partition_count;
};

/* Reads what IOCTL_DISK_GET_DRIVE_LAYOUT_EX returned. Every length and number is checked; an unknown style
 * or an impossible partition is a failure (DATA_LOSS). layout_out is in the arena. */
bool csi_layout_parse(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes,
                      struct csi_layout *layout_out, struct csi_status *status) CSI_MUST_CHECK;

/* Writes layout as IOCTL_DISK_SET_DRIVE_LAYOUT_EX wants it. GPT only; every partition is rewritten. NULL
 * when memory is short. */
uint8_t *csi_layout_serialize(struct csi_arena *arena, const struct csi_layout *layout,
                              size_t *size_bytes_out) CSI_MUST_CHECK;

/* True for a partition that holds, or may hold, somebody's data: all but the Microsoft reserved one. */
bool csi_partition_is_basic(const struct csi_layout *layout, const struct csi_partition *partition);

/* True for a partition that the firmware starts the machine from. */
bool csi_partition_is_efi_system(const struct csi_layout *layout, const struct csi_partition *partition);

/* True when Windows gives the partition a volume with a name, sooner or later, and one of its own: not on
 * dynamic disks, in storage pools, of other systems, or hidden. */
bool csi_partition_has_volume(const struct csi_layout *layout, const struct csi_partition *partition);

/* Finds the largest stretch that no partition has, aligned to CSI_PARTITION_ALIGNMENT_BYTES at both ends.
 * False when there is none of at least one alignment unit. GPT only. */
bool csi_layout_largest_gap(const struct csi_layout *layout, uint64_t *offset_bytes_out,
                            uint64_t *length_bytes_out);

/* How long the partition could become at its place: up to the next partition or the end of the usable
 * space, aligned down. disk_bytes bounds MBR disks, and so do 2 TiB, where their sector numbers end. At
 * least its present length. */
uint64_t csi_layout_max_length(const struct csi_layout *layout, const struct csi_partition *partition,
                               uint64_t disk_bytes);

#endif
