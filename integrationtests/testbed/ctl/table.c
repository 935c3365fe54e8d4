/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <windows.h>

#include <objbase.h>
#include <stdlib.h>
#include <string.h>
#include <winioctl.h>

#include "driver/text.h"
#include "driver/words.h"
#include "physical_disk.h"

enum {
  MBR_ENTRIES = 4,
  MBR_SIGNATURE = 0x5C1B0C57,
};

static const GUID partition_type_guids[] = {
    {0xebd0a0a2, 0xb9e5, 0x4433, {0x87, 0xc0, 0x68, 0xb6, 0xb7, 0x26, 0x99, 0xc7}},
    {0xe3c9e316, 0x0b5c, 0x4db8, {0x81, 0x7d, 0xf9, 0x2d, 0xf0, 0x02, 0x15, 0xae}},
    {0xc12a7328, 0xf81f, 0x11d2, {0xba, 0x4b, 0x00, 0xa0, 0xc9, 0x3e, 0xc9, 0x3b}},
    {0xde94bba4, 0x06d1, 0x4d40, {0xa1, 0x6a, 0xbf, 0xd5, 0x01, 0x79, 0xd6, 0xac}},
};
static const char *const partition_type_names[] = {"basic", "msr", "efi", "recovery"};

static bool parse_guid_type(const char *text, GUID *type_out) {
  for (size_t i = 0; i < ARRAYSIZE(partition_type_names); i++) {
    if (strcmp(text, partition_type_names[i]) != 0) continue;
    *type_out = partition_type_guids[i];
    return true;
  }
  return vdisk_guid_parse(text, (uint8_t *)type_out);
}

static bool parse_mbr_type(const char *text, BYTE *type_out) {
  int high = vdisk_hex_digit(text[0]);
  int low = high < 0 ? -1 : vdisk_hex_digit(text[1]);
  if (low < 0 || text[2] != '\0' || (high == 0 && low == 0)) return false;
  *type_out = (BYTE)(high << 4 | low);
  return true;
}

/* Fills one entry from TYPE,OFFSET,LENGTH, which is changed. end_bytes: where `rest` ends. */
static bool parse_partition(char *text, PARTITION_STYLE style, uint64_t end_bytes,
                            PARTITION_INFORMATION_EX *entry, struct csi_ctl_error *error) {
  char *offset = strchr(text, ',');
  char *length = offset == NULL ? NULL : strchr(offset + 1, ',');
  if (length == NULL) return csi_ctl_fail(error, "partition=%s is not TYPE,OFFSET,LENGTH", text);
  *offset++ = '\0';
  *length++ = '\0';

  uint64_t offset_bytes, length_bytes;
  if (!vdisk_number_parse(offset, &offset_bytes) || offset_bytes > end_bytes)
    return csi_ctl_fail(error, "%s is no offset on this disk", offset);
  if (strcmp(length, "rest") == 0) {
    length_bytes = end_bytes - offset_bytes;
  } else if (!vdisk_number_parse(length, &length_bytes) || length_bytes > INT64_MAX) {
    return csi_ctl_fail(error, "%s is no length", length);
  }
  entry->PartitionStyle = style;
  entry->StartingOffset.QuadPart = (LONGLONG)offset_bytes;
  entry->PartitionLength.QuadPart = (LONGLONG)length_bytes;
  entry->RewritePartition = TRUE;
  bool is_type = style == PARTITION_STYLE_GPT ? parse_guid_type(text, &entry->Gpt.PartitionType)
                                              : parse_mbr_type(text, &entry->Mbr.PartitionType);
  return is_type || csi_ctl_fail(error, "%s is no partition type here", text);
}

static bool new_guid(GUID *guid_out, struct csi_ctl_error *error) {
  HRESULT result = CoCreateGuid(guid_out);
  return SUCCEEDED(result) || csi_ctl_fail_win32(error, (uint32_t)result, "CoCreateGuid failed");
}

/* Whatever the disk had, it has an empty table of this style afterwards. */
static bool create_table(const struct csi_physical_disk *disk, PARTITION_STYLE style,
                         struct csi_ctl_error *error) {
  CREATE_DISK create = {.PartitionStyle = style};
  if (style == PARTITION_STYLE_MBR) create.Mbr.Signature = MBR_SIGNATURE + disk->number;
  if (style == PARTITION_STYLE_GPT) {
    create.Gpt.MaxPartitionCount = CSI_LAYOUT_ENTRIES_MAX;
    if (!new_guid(&create.Gpt.DiskId, error)) return false;
  }
  return csi_physical_disk_control(disk, IOCTL_DISK_CREATE_DISK, "IOCTL_DISK_CREATE_DISK", &create,
                                   sizeof create, NULL, 0, error);
}

/* Fills the entries from the words `partition=...`. layout: of the empty table. */
static bool parse_partitions(struct vdisk_words *words, const struct csi_physical_disk *disk,
                             DRIVE_LAYOUT_INFORMATION_EX *layout, struct csi_ctl_error *error) {
  bool is_gpt = layout->PartitionStyle == PARTITION_STYLE_GPT;
  uint64_t end_bytes = is_gpt ? (uint64_t)layout->Gpt.StartingUsableOffset.QuadPart +
                                    (uint64_t)layout->Gpt.UsableLength.QuadPart
                              : disk->size_bytes;
  DWORD count = 0;
  memset(layout->PartitionEntry, 0, CSI_LAYOUT_ENTRIES_MAX * sizeof layout->PartitionEntry[0]);
  for (uint32_t i = 0; i < words->count; i++) {
    if (words->value[i] == NULL || strcmp(words->word[i], "partition") != 0) continue;
    words->used[i] = true;
    if (count == (is_gpt ? CSI_LAYOUT_ENTRIES_MAX : MBR_ENTRIES))
      return csi_ctl_fail(error, "too many partitions");
    PARTITION_INFORMATION_EX *entry = &layout->PartitionEntry[count++];
    if (!parse_partition(words->value[i], (PARTITION_STYLE)layout->PartitionStyle, end_bytes, entry, error))
      return false;
    if (is_gpt && !new_guid(&entry->Gpt.PartitionId, error)) return false;
  }
  /* MBR entries come in fours, empty ones included. */
  if (!is_gpt)
    for (DWORD i = count; i < MBR_ENTRIES; i++)
      layout->PartitionEntry[i].RewritePartition = TRUE;
  layout->PartitionCount = is_gpt ? count : MBR_ENTRIES;
  return true;
}

static bool write_partitions(struct vdisk_words *words, const struct csi_physical_disk *disk,
                             struct csi_ctl_error *error) {
  union csi_drive_layout layout;
  if (!csi_physical_disk_layout(disk, &layout, error)) return false;
  if (!parse_partitions(words, disk, &layout.header, error)) return false;
  size_t bytes = offsetof(DRIVE_LAYOUT_INFORMATION_EX, PartitionEntry) +
                 layout.header.PartitionCount * sizeof(PARTITION_INFORMATION_EX);
  return csi_physical_disk_control(disk, IOCTL_DISK_SET_DRIVE_LAYOUT_EX, "IOCTL_DISK_SET_DRIVE_LAYOUT_EX",
                                   &layout, bytes, NULL, 0, error);
}

static bool parse_style(struct vdisk_words *words, PARTITION_STYLE *style_out, struct csi_ctl_error *error) {
  const char *style = vdisk_words_value(words, "style");
  if (style == NULL) return csi_ctl_fail(error, "style=gpt|mbr|raw is missing");
  if (strcmp(style, "gpt") == 0) {
    *style_out = PARTITION_STYLE_GPT;
  } else if (strcmp(style, "mbr") == 0) {
    *style_out = PARTITION_STYLE_MBR;
  } else if (strcmp(style, "raw") == 0) {
    *style_out = PARTITION_STYLE_RAW;
  } else {
    return csi_ctl_fail(error, "style=%s is none of gpt, mbr and raw", style);
  }
  return true;
}

bool csi_table_command(struct vdisk_words *words, struct csi_ctl_error *error) {
  PARTITION_STYLE style = PARTITION_STYLE_RAW;
  if (!parse_style(words, &style, error)) return false;
  CSI_SCOPED_PHYSICAL_DISK disk;
  if (!csi_physical_disk_open(words, &disk, error)) return false;
  if (style == PARTITION_STYLE_RAW) {
    return csi_physical_disk_control(&disk, IOCTL_DISK_DELETE_DRIVE_LAYOUT, "IOCTL_DISK_DELETE_DRIVE_LAYOUT",
                                     NULL, 0, NULL, 0, error);
  }
  return create_table(&disk, style, error) && write_partitions(words, &disk, error);
}
