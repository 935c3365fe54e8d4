/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/layout.h"

#include <string.h>

#include "base/little_endian.h"

/* DRIVE_LAYOUT_INFORMATION_EX: PartitionStyle u32, PartitionCount u32, a union of 40 bytes, the entries. */
enum {
  STYLE_AT = 0,
  COUNT_AT = 4,
  MBR_SIGNATURE_AT = 8,
  GPT_DISK_ID_AT = 8,
  GPT_USABLE_OFFSET_AT = 24,
  GPT_USABLE_LENGTH_AT = 32,
  GPT_MAX_COUNT_AT = 40,
  HEADER_BYTES = 48,
};

/* PARTITION_INFORMATION_EX. */
enum {
  ENTRY_STYLE_AT = 0,
  ENTRY_OFFSET_AT = 8,
  ENTRY_LENGTH_AT = 16,
  ENTRY_NUMBER_AT = 24,
  ENTRY_REWRITE_AT = 28,
  ENTRY_MBR_TYPE_AT = 32,
  ENTRY_MBR_ACTIVE_AT = 33,
  ENTRY_GPT_TYPE_AT = 32,
  ENTRY_GPT_ID_AT = 48,
  ENTRY_GPT_ATTRIBUTES_AT = 64,
  ENTRY_GPT_NAME_AT = 72,
  ENTRY_BYTES = 144,
};

/* Where 32-bit sector numbers end on 512-byte sectors. */
#define MBR_END_BYTES (UINT64_C(512) << 32)

const struct csi_guid csi_partition_type_basic_data = {
    0xebd0a0a2, 0xb9e5, 0x4433, {0x87, 0xc0, 0x68, 0xb6, 0xb7, 0x26, 0x99, 0xc7}};
const struct csi_guid csi_partition_type_microsoft_reserved = {
    0xe3c9e316, 0x0b5c, 0x4db8, {0x81, 0x7d, 0xf9, 0x2d, 0xf0, 0x02, 0x15, 0xae}};
const struct csi_guid csi_partition_type_efi_system = {
    0xc12a7328, 0xf81f, 0x11d2, {0xba, 0x4b, 0x00, 0xa0, 0xc9, 0x3e, 0xc9, 0x3b}};
static const struct csi_guid no_type;

static bool fail_malformed(struct csi_status *status, const char *what) {
  return csi_fail(status, CSI_DATA_LOSS, "malformed partition table: %s", what);
}

/* Both are signed in Windows' structures; offset + length then fits as well. */
static bool is_possible_range(uint64_t offset_bytes, uint64_t length_bytes) {
  return offset_bytes <= INT64_MAX && length_bytes <= INT64_MAX - offset_bytes;
}

static uint64_t end_of(const struct csi_partition *partition) {
  return partition->offset_bytes + partition->length_bytes;
}

static bool overlap(const struct csi_partition *left, const struct csi_partition *right) {
  return left->offset_bytes < end_of(right) && right->offset_bytes < end_of(left);
}

static void parse_gpt_entry(const uint8_t *entry, struct csi_partition *partition) {
  partition->type = csi_get_guid(entry + ENTRY_GPT_TYPE_AT);
  partition->id = csi_get_guid(entry + ENTRY_GPT_ID_AT);
  partition->attributes = csi_get_u64(entry + ENTRY_GPT_ATTRIBUTES_AT);
  for (size_t i = 0; i < CSI_PARTITION_NAME_UNITS; i++)
    partition->name_w[i] = csi_get_u16(entry + ENTRY_GPT_NAME_AT + 2 * i);
}

static bool parse_entry(const uint8_t *entry, enum csi_partition_style style, struct csi_partition *partition,
                        struct csi_status *status) {
  *partition = (struct csi_partition){
      .number = csi_get_u32(entry + ENTRY_NUMBER_AT),
      .offset_bytes = csi_get_u64(entry + ENTRY_OFFSET_AT),
      .length_bytes = csi_get_u64(entry + ENTRY_LENGTH_AT),
  };
  if (!is_possible_range(partition->offset_bytes, partition->length_bytes))
    return fail_malformed(status, "a partition of impossible size");
  if (csi_get_u32(entry + ENTRY_STYLE_AT) != (uint32_t)style)
    return fail_malformed(status, "a partition of another style");
  if (style == CSI_PARTITION_STYLE_GPT) {
    parse_gpt_entry(entry, partition);
  } else {
    partition->mbr_type = entry[ENTRY_MBR_TYPE_AT];
    partition->mbr_active = entry[ENTRY_MBR_ACTIVE_AT] != 0;
  }
  return true;
}

static bool is_empty(enum csi_partition_style style, const struct csi_partition *partition) {
  return style == CSI_PARTITION_STYLE_GPT ? csi_guid_equal(&partition->type, &no_type)
                                          : partition->mbr_type == 0;
}

/* Not so for MBR, where logical partitions lie in the extended one. */
static bool check_ranges(const struct csi_layout *layout, struct csi_status *status) {
  if (layout->style != CSI_PARTITION_STYLE_GPT) return true;
  for (size_t i = 0; i < layout->partition_count; i++) {
    if (layout->partitions[i].length_bytes == 0) return fail_malformed(status, "a partition without length");
    for (size_t k = 0; k < i; k++)
      if (overlap(&layout->partitions[i], &layout->partitions[k]))
        return fail_malformed(status, "partitions that overlap");
  }
  return true;
}

static bool parse_entries(struct csi_arena *arena, const uint8_t *entries, uint32_t count,
                          struct csi_layout *layout, struct csi_status *status) {
  layout->partitions = csi_arena_alloc_array(arena, count > 0 ? count : 1, sizeof *layout->partitions);
  if (layout->partitions == NULL) return csi_fail_out_of_memory(status);
  for (uint32_t i = 0; i < count; i++) {
    struct csi_partition partition;
    const uint8_t *entry = entries + (size_t)i * ENTRY_BYTES;
    if (!parse_entry(entry, layout->style, &partition, status)) return false;
    if (!is_empty(layout->style, &partition)) layout->partitions[layout->partition_count++] = partition;
  }
  return check_ranges(layout, status);
}

static bool parse_gpt_header(const uint8_t *bytes, struct csi_layout *layout, struct csi_status *status) {
  layout->disk_id = csi_get_guid(bytes + GPT_DISK_ID_AT);
  layout->usable_offset_bytes = csi_get_u64(bytes + GPT_USABLE_OFFSET_AT);
  layout->usable_length_bytes = csi_get_u64(bytes + GPT_USABLE_LENGTH_AT);
  layout->max_partition_count = csi_get_u32(bytes + GPT_MAX_COUNT_AT);
  return is_possible_range(layout->usable_offset_bytes, layout->usable_length_bytes) ||
         fail_malformed(status, "an impossible usable range");
}

bool csi_layout_parse(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes,
                      struct csi_layout *layout_out, struct csi_status *status) {
  if (size_bytes < HEADER_BYTES) return fail_malformed(status, "it is cut short");
  struct csi_layout layout = {0};
  uint32_t count = csi_get_u32(bytes + COUNT_AT);
  switch (csi_get_u32(bytes + STYLE_AT)) {
  case CSI_PARTITION_STYLE_RAW:
    layout.style = CSI_PARTITION_STYLE_RAW;
    count = 0;
    break;
  case CSI_PARTITION_STYLE_MBR:
    layout.style = CSI_PARTITION_STYLE_MBR;
    layout.mbr_signature = csi_get_u32(bytes + MBR_SIGNATURE_AT);
    break;
  case CSI_PARTITION_STYLE_GPT:
    layout.style = CSI_PARTITION_STYLE_GPT;
    if (!parse_gpt_header(bytes, &layout, status)) return false;
    break;
  default:
    return fail_malformed(status, "unknown style");
  }
  if (count > CSI_LAYOUT_PARTITIONS_MAX) return fail_malformed(status, "too many partitions");
  if (count > (size_bytes - HEADER_BYTES) / ENTRY_BYTES) return fail_malformed(status, "it is cut short");
  if (!parse_entries(arena, bytes + HEADER_BYTES, count, &layout, status)) return false;
  *layout_out = layout;
  return true;
}

static void serialize_entry(const struct csi_partition *partition, uint8_t *entry) {
  csi_put_u32(entry + ENTRY_STYLE_AT, CSI_PARTITION_STYLE_GPT);
  csi_put_u64(entry + ENTRY_OFFSET_AT, partition->offset_bytes);
  csi_put_u64(entry + ENTRY_LENGTH_AT, partition->length_bytes);
  csi_put_u32(entry + ENTRY_NUMBER_AT, partition->number);
  entry[ENTRY_REWRITE_AT] = 1;
  csi_put_guid(entry + ENTRY_GPT_TYPE_AT, &partition->type);
  csi_put_guid(entry + ENTRY_GPT_ID_AT, &partition->id);
  csi_put_u64(entry + ENTRY_GPT_ATTRIBUTES_AT, partition->attributes);
  for (size_t i = 0; i < CSI_PARTITION_NAME_UNITS; i++)
    csi_put_u16(entry + ENTRY_GPT_NAME_AT + 2 * i, partition->name_w[i]);
}

uint8_t *csi_layout_serialize(struct csi_arena *arena, const struct csi_layout *layout,
                              size_t *size_bytes_out) {
  /* At least one entry, as the C structure has it. */
  size_t count = layout->partition_count > 0 ? layout->partition_count : 1;
  if (count > CSI_LAYOUT_PARTITIONS_MAX) return NULL;
  size_t size_bytes = HEADER_BYTES + count * ENTRY_BYTES;
  uint8_t *bytes = csi_arena_alloc(arena, size_bytes);
  if (bytes == NULL) return NULL;
  csi_put_u32(bytes + STYLE_AT, CSI_PARTITION_STYLE_GPT);
  csi_put_u32(bytes + COUNT_AT, (uint32_t)layout->partition_count);
  csi_put_guid(bytes + GPT_DISK_ID_AT, &layout->disk_id);
  csi_put_u64(bytes + GPT_USABLE_OFFSET_AT, layout->usable_offset_bytes);
  csi_put_u64(bytes + GPT_USABLE_LENGTH_AT, layout->usable_length_bytes);
  csi_put_u32(bytes + GPT_MAX_COUNT_AT, layout->max_partition_count);
  for (size_t i = 0; i < layout->partition_count; i++)
    serialize_entry(&layout->partitions[i], bytes + HEADER_BYTES + i * ENTRY_BYTES);
  *size_bytes_out = size_bytes;
  return bytes;
}

bool csi_partition_is_basic(const struct csi_layout *layout, const struct csi_partition *partition) {
  if (is_empty(layout->style, partition)) return false;
  return layout->style != CSI_PARTITION_STYLE_GPT ||
         !csi_guid_equal(&partition->type, &csi_partition_type_microsoft_reserved);
}

static bool is_mounted_mbr_type(uint8_t type) {
  switch (type) {
  case 0x01: /* FAT12 */
  case 0x04: /* FAT16 */
  case 0x06: /* FAT16 */
  case 0x07: /* NTFS, exFAT */
  case 0x0B: /* FAT32 */
  case 0x0C: /* FAT32 */
  case 0x0E: /* FAT16 */
    return true;
  default:
    return false;
  }
}

bool csi_partition_is_efi_system(const struct csi_layout *layout, const struct csi_partition *partition) {
  enum { MBR_EFI_SYSTEM = 0xEF };
  return layout->style == CSI_PARTITION_STYLE_GPT
             ? csi_guid_equal(&partition->type, &csi_partition_type_efi_system)
             : partition->mbr_type == MBR_EFI_SYSTEM;
}

bool csi_partition_has_volume(const struct csi_layout *layout, const struct csi_partition *partition) {
  if (partition->number == 0) return false;
  if (layout->style != CSI_PARTITION_STYLE_GPT) return is_mounted_mbr_type(partition->mbr_type);
  return csi_guid_equal(&partition->type, &csi_partition_type_basic_data) &&
         (partition->attributes & CSI_GPT_ATTRIBUTE_HIDDEN) == 0;
}

static uint64_t align_down(uint64_t bytes) {
  return bytes - bytes % CSI_PARTITION_ALIGNMENT_BYTES;
}

static uint64_t align_up(uint64_t bytes) {
  return align_down(bytes + (CSI_PARTITION_ALIGNMENT_BYTES - 1));
}

/* The aligned length of what is free from offset on; 0 inside of a partition. */
static uint64_t free_length(const struct csi_layout *layout, uint64_t offset_bytes) {
  uint64_t end = layout->usable_offset_bytes + layout->usable_length_bytes;
  for (size_t i = 0; i < layout->partition_count; i++) {
    const struct csi_partition *other = &layout->partitions[i];
    if (offset_bytes < end_of(other) && other->offset_bytes < end) end = other->offset_bytes;
  }
  end = align_down(end);
  return end > offset_bytes ? end - offset_bytes : 0;
}

bool csi_layout_largest_gap(const struct csi_layout *layout, uint64_t *offset_bytes_out,
                            uint64_t *length_bytes_out) {
  if (layout->style != CSI_PARTITION_STYLE_GPT) return false;
  uint64_t best_offset = align_up(layout->usable_offset_bytes);
  uint64_t best_length = free_length(layout, best_offset);
  for (size_t i = 0; i < layout->partition_count; i++) {
    uint64_t offset = align_up(end_of(&layout->partitions[i]));
    if (offset < layout->usable_offset_bytes) continue;
    uint64_t length = free_length(layout, offset);
    if (length < best_length || (length == best_length && offset > best_offset)) continue;
    best_offset = offset;
    best_length = length;
  }
  if (best_length == 0) return false;
  *offset_bytes_out = best_offset;
  *length_bytes_out = best_length;
  return true;
}

static bool encloses(const struct csi_partition *outer, const struct csi_partition *inner) {
  return outer->offset_bytes < inner->offset_bytes && end_of(outer) >= end_of(inner);
}

uint64_t csi_layout_max_length(const struct csi_layout *layout, const struct csi_partition *partition,
                               uint64_t disk_bytes) {
  uint64_t end = layout->usable_offset_bytes + layout->usable_length_bytes;
  if (layout->style != CSI_PARTITION_STYLE_GPT) end = disk_bytes < MBR_END_BYTES ? disk_bytes : MBR_END_BYTES;
  for (size_t i = 0; i < layout->partition_count; i++) {
    const struct csi_partition *other = &layout->partitions[i];
    if (other->offset_bytes > partition->offset_bytes && other->offset_bytes < end) end = other->offset_bytes;
    if (encloses(other, partition) && end_of(other) < end) end = end_of(other);
  }
  end = align_down(end);
  return end > end_of(partition) ? end - partition->offset_bytes : partition->length_bytes;
}
