/* SPDX-License-Identifier: Apache-2.0
 *
 * The control requests about a disk's partitions.
 */
#include <string.h>

#include "disk.h"
#include "partition_info.h"

enum { LAYOUT_HEADER_BYTES = offsetof(DRIVE_LAYOUT_INFORMATION_EX, PartitionEntry) };
enum { MSR_END_BYTES = 16 << 20, MSR_DISK_MIN_BYTES = 128 << 20 };

/* A table for working on; it is too large for the stack. NULL when memory is short. */
static struct vdisk_table *new_table(void) {
  return ExAllocatePoolWithTag(PagedPool, sizeof(struct vdisk_table), VDISK_POOL_TAG);
}

static void free_table(struct vdisk_table *table) {
  ExFreePoolWithTag(table, VDISK_POOL_TAG);
}

static void describe_layout(const struct vdisk_disk *disk, uint32_t count,
                            DRIVE_LAYOUT_INFORMATION_EX *layout) {
  const struct vdisk_table *table = &disk->table;
  uint32_t sector_bytes = disk->settings.sector_bytes;
  memset(layout, 0, LAYOUT_HEADER_BYTES + count * sizeof(PARTITION_INFORMATION_EX));
  layout->PartitionStyle = table->style;
  layout->PartitionCount = count;
  if (table->style == VDISK_STYLE_GPT) {
    memcpy(&layout->Gpt.DiskId, table->disk_guid, sizeof layout->Gpt.DiskId);
    layout->Gpt.StartingUsableOffset.QuadPart = (LONGLONG)(table->first_usable_sector * sector_bytes);
    layout->Gpt.UsableLength.QuadPart = (LONGLONG)(table->usable_sectors * sector_bytes);
    layout->Gpt.MaxPartitionCount = VDISK_PARTITIONS_MAX;
  } else if (table->style == VDISK_STYLE_MBR) {
    layout->Mbr.Signature = table->signature;
  }
}

/* GPT has its partitions, MBR always four entries, the empty ones too. */
static NTSTATUS get_layout(const struct vdisk_disk *disk, struct vdisk_call *call) {
  const struct vdisk_table *table = &disk->table;
  bool is_mbr = table->style == VDISK_STYLE_MBR;
  uint32_t count = is_mbr ? VDISK_MBR_PARTITIONS : table->count;
  size_t bytes = LAYOUT_HEADER_BYTES + count * sizeof(PARTITION_INFORMATION_EX);
  if (call->output_bytes < bytes) return STATUS_BUFFER_TOO_SMALL;
  DRIVE_LAYOUT_INFORMATION_EX *layout = call->buffer;
  describe_layout(disk, count, layout);
  for (uint32_t i = 0; i < table->count; i++) {
    uint32_t at = is_mbr ? table->partitions[i].number - 1 : i;
    vdisk_partition_describe(table, &table->partitions[i], disk->settings.sector_bytes,
                             &layout->PartitionEntry[at]);
  }
  call->information = (uint32_t)bytes;
  return STATUS_SUCCESS;
}

/* A partition that CREATE_DISK makes of itself on some systems: from the first usable sector to 16 MiB. */
static void add_msr(const struct vdisk_disk *disk, struct vdisk_table *table) {
  if (!disk->settings.makes_msr || disk->size_bytes < MSR_DISK_MIN_BYTES) return;
  uint64_t end = MSR_END_BYTES / disk->settings.sector_bytes;
  struct vdisk_partition partition = {
      .number = 1,
      .first_sector = table->first_usable_sector,
      .sector_count = end - table->first_usable_sector,
  };
  static const char name[] = "Microsoft reserved partition";
  for (size_t i = 0; name[i] != 0; i++)
    partition.name_w[i] = (uint8_t)name[i];
  memcpy(partition.type_guid, vdisk_msr_type_guid, sizeof partition.type_guid);
  ExUuidCreate((UUID *)partition.guid);
  vdisk_table_insert(table, &partition);
}

static NTSTATUS create_disk(struct vdisk_disk *disk, struct vdisk_call *call) {
  struct vdisk_create_disk create;
  NTSTATUS status = vdisk_call_input(call, &create, sizeof create);
  if (NT_SUCCESS(status)) status = vdisk_disk_check_writable(disk);
  if (!NT_SUCCESS(status)) return status;
  if (create.style > VDISK_STYLE_RAW) return STATUS_INVALID_PARAMETER;
  struct vdisk_table *table = new_table();
  if (table == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  struct vdisk_sectors sectors = vdisk_disk_sectors(disk);
  vdisk_table_init(&sectors, table, (enum vdisk_style)create.style);
  if (create.style == VDISK_STYLE_MBR) table->signature = create.mbr_signature;
  if (create.style == VDISK_STYLE_GPT) {
    memcpy(table->disk_guid, &create.gpt.disk_id, sizeof table->disk_guid);
    add_msr(disk, table);
  }
  status = vdisk_disk_set_table(disk, table);
  free_table(table);
  return status;
}

static NTSTATUS delete_layout(struct vdisk_disk *disk) {
  NTSTATUS status = vdisk_disk_check_writable(disk);
  if (!NT_SUCCESS(status)) return status;
  struct vdisk_table *table = new_table();
  if (table == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  struct vdisk_sectors sectors = vdisk_disk_sectors(disk);
  vdisk_table_init(&sectors, table, VDISK_STYLE_RAW);
  status = vdisk_disk_set_table(disk, table);
  free_table(table);
  return status;
}

/* The partition of the table that is the same one, though its length and so on may differ. */
static const struct vdisk_partition *same_partition(const struct vdisk_table *table,
                                                    const struct vdisk_partition *partition) {
  for (uint32_t i = 0; i < table->count; i++) {
    const struct vdisk_partition *other = &table->partitions[i];
    if (other->first_sector == partition->first_sector &&
        memcmp(other->guid, partition->guid, sizeof other->guid) == 0)
      return other;
  }
  return NULL;
}

/* Inserts what `entries` says is there, with the numbers that partitions had before; new ones have number 0.
 * An entry that changes something has to say so in RewritePartition. */
static NTSTATUS take_entries(const struct vdisk_disk *disk, const PARTITION_INFORMATION_EX *entries,
                             uint32_t count, struct vdisk_table *table) {
  for (uint32_t i = 0; i < count; i++) {
    struct vdisk_partition partition;
    NTSTATUS status =
        vdisk_partition_take(table->style, &entries[i], disk->settings.sector_bytes, &partition);
    if (!NT_SUCCESS(status)) return status;
    if (vdisk_partition_is_empty(table->style, &partition)) continue;
    const struct vdisk_partition *before = same_partition(&disk->table, &partition);
    partition.number = before != NULL ? before->number : 0;
    bool is_changed = before == NULL || !vdisk_partition_equals(before, &partition);
    if (is_changed && !entries[i].RewritePartition) return STATUS_INVALID_PARAMETER;
    if (!vdisk_table_insert(table, &partition)) return STATUS_INVALID_PARAMETER;
  }
  return STATUS_SUCCESS;
}

/* Gives the new partitions the lowest free numbers, in the order in which they lie on the disk. */
static void number_new_partitions(struct vdisk_table *table) {
  while (table->count > 0 && table->partitions[0].number == 0) {
    uint32_t new_count = 0, first = 0;
    while (new_count < table->count && table->partitions[new_count].number == 0)
      new_count++;
    for (uint32_t i = 1; i < new_count; i++)
      if (table->partitions[i].first_sector < table->partitions[first].first_sector) first = i;
    struct vdisk_partition partition = table->partitions[first];
    table->count--;
    memmove(&table->partitions[first], &table->partitions[first + 1],
            (table->count - first) * sizeof table->partitions[0]);
    partition.number = vdisk_table_free_number(table);
    vdisk_table_insert(table, &partition);
  }
}

static NTSTATUS take_layout(struct vdisk_disk *disk, const DRIVE_LAYOUT_INFORMATION_EX *layout,
                            struct vdisk_table *table) {
  struct vdisk_sectors sectors = vdisk_disk_sectors(disk);
  vdisk_table_init(&sectors, table, disk->table.style);
  memcpy(table->disk_guid, &layout->Gpt.DiskId, sizeof table->disk_guid);
  table->signature = disk->table.style == VDISK_STYLE_MBR ? layout->Mbr.Signature : 0;
  NTSTATUS status = take_entries(disk, layout->PartitionEntry, layout->PartitionCount, table);
  if (!NT_SUCCESS(status)) return status;
  number_new_partitions(table);
  return vdisk_table_is_sound(table) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

/* The size of an input that has all the entries it says it has; STATUS_INVALID_PARAMETER otherwise. */
static NTSTATUS check_layout_input(const struct vdisk_call *call) {
  const DRIVE_LAYOUT_INFORMATION_EX *layout = call->buffer;
  if (call->input_bytes < LAYOUT_HEADER_BYTES) return STATUS_INVALID_PARAMETER;
  uint32_t room = (call->input_bytes - LAYOUT_HEADER_BYTES) / (uint32_t)sizeof(PARTITION_INFORMATION_EX);
  return layout->PartitionCount <= room ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

static NTSTATUS set_layout(struct vdisk_disk *disk, struct vdisk_call *call) {
  NTSTATUS status = check_layout_input(call);
  if (NT_SUCCESS(status)) status = vdisk_disk_check_writable(disk);
  if (!NT_SUCCESS(status)) return status;
  const DRIVE_LAYOUT_INFORMATION_EX *layout = call->buffer;
  if (disk->table.style == VDISK_STYLE_RAW || layout->PartitionStyle != (ULONG)disk->table.style)
    return STATUS_INVALID_PARAMETER;
  struct vdisk_table *table = new_table();
  if (table == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  status = take_layout(disk, layout, table);
  if (NT_SUCCESS(status)) status = vdisk_disk_set_table(disk, table);
  free_table(table);
  return status;
}

/* Lengthens or, with a negative number of bytes, shortens the partition. */
static NTSTATUS grow(const struct vdisk_disk *disk, const DISK_GROW_PARTITION *grow_by,
                     struct vdisk_table *table) {
  int64_t bytes = grow_by->BytesToGrow.QuadPart, sector_bytes = disk->settings.sector_bytes;
  struct vdisk_partition *partition = vdisk_table_find(table, grow_by->PartitionNumber);
  if (partition == NULL || bytes % sector_bytes != 0) return STATUS_INVALID_PARAMETER;
  int64_t sectors = bytes / sector_bytes;
  int64_t room =
      (int64_t)(vdisk_table_limit(table, partition) - partition->first_sector - partition->sector_count);
  if (sectors > room || -sectors >= (int64_t)partition->sector_count) return STATUS_INVALID_PARAMETER;
  partition->sector_count = (uint64_t)((int64_t)partition->sector_count + sectors);
  return STATUS_SUCCESS;
}

static NTSTATUS grow_partition(struct vdisk_disk *disk, struct vdisk_call *call) {
  DISK_GROW_PARTITION grow_by;
  NTSTATUS status = vdisk_call_input(call, &grow_by, sizeof grow_by);
  if (NT_SUCCESS(status)) status = vdisk_disk_check_writable(disk);
  if (!NT_SUCCESS(status)) return status;
  struct vdisk_table *table = new_table();
  if (table == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  *table = disk->table;
  status = grow(disk, &grow_by, table);
  if (NT_SUCCESS(status)) status = vdisk_disk_set_table(disk, table);
  free_table(table);
  return status;
}

NTSTATUS vdisk_disk_serve_layout(struct vdisk_disk *disk, struct vdisk_call *call) {
  switch (call->code) {
  case IOCTL_DISK_GET_DRIVE_LAYOUT_EX:
    return get_layout(disk, call);
  case IOCTL_DISK_SET_DRIVE_LAYOUT_EX:
    return set_layout(disk, call);
  case IOCTL_DISK_CREATE_DISK:
    return create_disk(disk, call);
  case IOCTL_DISK_DELETE_DRIVE_LAYOUT:
    return delete_layout(disk);
  case IOCTL_DISK_GROW_PARTITION:
    return grow_partition(disk, call);
  default:
    return STATUS_INVALID_DEVICE_REQUEST;
  }
}
