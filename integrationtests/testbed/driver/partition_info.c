/* SPDX-License-Identifier: Apache-2.0 */
#include "partition_info.h"

#include <string.h>

#include "mbr.h"

static const uint8_t no_guid[16];
const uint8_t vdisk_msr_type_guid[16] = {0x16, 0xE3, 0xC9, 0xE3, 0x5C, 0x0B, 0xB8, 0x4D,
                                         0x81, 0x7D, 0xF9, 0x2D, 0xF0, 0x02, 0x15, 0xAE};

static void describe_gpt(const struct vdisk_partition *partition, PARTITION_INFORMATION_GPT *gpt) {
  memcpy(&gpt->PartitionType, partition->type_guid, sizeof gpt->PartitionType);
  memcpy(&gpt->PartitionId, partition->guid, sizeof gpt->PartitionId);
  gpt->Attributes = partition->attributes;
  memcpy(gpt->Name, partition->name_w, sizeof gpt->Name);
}

static void describe_mbr(const struct vdisk_partition *partition, PARTITION_INFORMATION_MBR *mbr) {
  mbr->PartitionType = partition->mbr_type;
  mbr->BootIndicator = partition->is_active;
  mbr->RecognizedPartition = IsRecognizedPartition(partition->mbr_type);
  mbr->HiddenSectors = (ULONG)partition->first_sector;
}

void vdisk_partition_describe(const struct vdisk_table *table, const struct vdisk_partition *partition,
                              uint32_t sector_bytes, PARTITION_INFORMATION_EX *info) {
  memset(info, 0, sizeof *info);
  info->PartitionStyle = (PARTITION_STYLE)table->style;
  info->StartingOffset.QuadPart = (LONGLONG)(partition->first_sector * sector_bytes);
  info->PartitionLength.QuadPart = (LONGLONG)(partition->sector_count * sector_bytes);
  info->PartitionNumber = partition->number;
  if (table->style == VDISK_STYLE_GPT)
    describe_gpt(partition, &info->Gpt);
  else
    describe_mbr(partition, &info->Mbr);
}

NTSTATUS vdisk_partition_take(enum vdisk_style style, const PARTITION_INFORMATION_EX *info,
                              uint32_t sector_bytes, struct vdisk_partition *partition_out) {
  uint64_t offset_bytes = (uint64_t)info->StartingOffset.QuadPart;
  uint64_t length_bytes = (uint64_t)info->PartitionLength.QuadPart;
  if ((int)info->PartitionStyle != (int)style || (offset_bytes | length_bytes) % sector_bytes != 0)
    return STATUS_INVALID_PARAMETER;
  *partition_out = (struct vdisk_partition){
      .first_sector = offset_bytes / sector_bytes,
      .sector_count = length_bytes / sector_bytes,
  };
  if (style == VDISK_STYLE_GPT) {
    memcpy(partition_out->type_guid, &info->Gpt.PartitionType, sizeof partition_out->type_guid);
    memcpy(partition_out->guid, &info->Gpt.PartitionId, sizeof partition_out->guid);
    partition_out->attributes = info->Gpt.Attributes;
    memcpy(partition_out->name_w, info->Gpt.Name, sizeof partition_out->name_w);
  } else {
    partition_out->mbr_type = info->Mbr.PartitionType;
    partition_out->is_active = info->Mbr.BootIndicator != 0;
  }
  return STATUS_SUCCESS;
}

bool vdisk_partition_is_empty(enum vdisk_style style, const struct vdisk_partition *partition) {
  if (style == VDISK_STYLE_MBR) return partition->mbr_type == 0;
  return memcmp(partition->type_guid, no_guid, sizeof no_guid) == 0;
}

bool vdisk_partition_equals(const struct vdisk_partition *a, const struct vdisk_partition *b) {
  return a->first_sector == b->first_sector && a->sector_count == b->sector_count &&
         a->attributes == b->attributes && a->mbr_type == b->mbr_type && a->is_active == b->is_active &&
         memcmp(a->type_guid, b->type_guid, sizeof a->type_guid) == 0 &&
         memcmp(a->guid, b->guid, sizeof a->guid) == 0 && memcmp(a->name_w, b->name_w, sizeof a->name_w) == 0;
}

bool vdisk_partition_has_volume(enum vdisk_style style, const struct vdisk_partition *partition) {
  if (style == VDISK_STYLE_GPT)
    return memcmp(partition->type_guid, vdisk_msr_type_guid, sizeof vdisk_msr_type_guid) != 0;
  return partition->mbr_type != VDISK_MBR_EXTENDED && partition->mbr_type != VDISK_MBR_EXTENDED_LBA;
}
