/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include <ntddscsi.h>
#include <setupapi.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <winioctl.h>

#include "disk_interfaces.h"
#include "physical_disk.h"
#include "show.h"

#ifndef IOCTL_DISK_GET_DISK_ATTRIBUTES
#define IOCTL_DISK_GET_DISK_ATTRIBUTES CTL_CODE(IOCTL_DISK_BASE, 0x3c, METHOD_BUFFERED, FILE_ANY_ACCESS)
#endif

enum {
  DESCRIPTOR_BYTES = 4096,
};

/* As Windows declares it, which mingw does not. */
struct disk_attributes {
  DWORD version;
  DWORD reserved;
  DWORDLONG attributes;
};

static bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != '\0' && strchr("\\/:._-{}?", c) != NULL);
}

static void add_escaped(struct vdisk_text *reply, const char *value, size_t value_bytes) {
  for (size_t i = 0; i < value_bytes; i++) {
    if (is_plain(value[i])) {
      vdisk_text_add_bytes(reply, value + i, 1);
    } else {
      vdisk_text_add(reply, "%");
      vdisk_text_add_hex(reply, (unsigned char)value[i], 2);
    }
  }
}

void csi_show_add_escaped(struct vdisk_text *reply, const char *key, const char *value, size_t value_bytes) {
  vdisk_text_add_word(reply, key, "");
  add_escaped(reply, value, value_bytes);
}

void csi_show_add_wide(struct vdisk_text *reply, const char *key, const wchar_t *value_w) {
  char value[1024];
  int bytes = WideCharToMultiByte(CP_UTF8, 0, value_w, -1, value, sizeof value, NULL, NULL);
  if (bytes > 0) csi_show_add_escaped(reply, key, value, (size_t)bytes - 1);
}

void csi_show_add_error(struct vdisk_text *reply, const char *key) {
  DWORD error = GetLastError();
  vdisk_text_add_word(reply, key, "error-");
  vdisk_text_add_number(reply, error);
}

static bool ask(HANDLE disk, DWORD code, const void *in, size_t in_bytes, void *out, size_t out_bytes,
                DWORD *returned_out) {
  return DeviceIoControl(disk, code, (void *)in, (DWORD)in_bytes, out, (DWORD)out_bytes, returned_out, NULL);
}

static void show_number(struct vdisk_text *reply, HANDLE disk) {
  STORAGE_DEVICE_NUMBER number;
  DWORD returned;
  if (ask(disk, IOCTL_STORAGE_GET_DEVICE_NUMBER, NULL, 0, &number, sizeof number, &returned))
    vdisk_text_add_number_word(reply, "number", number.DeviceNumber);
  else
    csi_show_add_error(reply, "number");
}

static void show_geometry(struct vdisk_text *reply, HANDLE disk) {
  DISK_GEOMETRY_EX geometry;
  DWORD returned;
  if (ask(disk, IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, NULL, 0, &geometry, sizeof geometry, &returned)) {
    vdisk_text_add_number_word(reply, "size", (uint64_t)geometry.DiskSize.QuadPart);
    vdisk_text_add_number_word(reply, "sector", geometry.Geometry.BytesPerSector);
  } else {
    csi_show_add_error(reply, "size");
  }
}

static void show_attributes(struct vdisk_text *reply, HANDLE disk) {
  struct disk_attributes attributes;
  DWORD returned;
  if (ask(disk, IOCTL_DISK_GET_DISK_ATTRIBUTES, NULL, 0, &attributes, sizeof attributes, &returned)) {
    vdisk_text_add_number_word(reply, "offline", attributes.attributes & 1);
    vdisk_text_add_number_word(reply, "readonly", (attributes.attributes >> 1) & 1);
  } else {
    csi_show_add_error(reply, "offline");
  }
}

static void show_address(struct vdisk_text *reply, HANDLE disk) {
  SCSI_ADDRESS address;
  DWORD returned;
  if (!ask(disk, IOCTL_SCSI_GET_ADDRESS, NULL, 0, &address, sizeof address, &returned)) {
    csi_show_add_error(reply, "address");
    return;
  }
  vdisk_text_add_number_word(reply, "address", address.PortNumber);
  const uint8_t parts[] = {address.PathId, address.TargetId, address.Lun};
  for (size_t i = 0; i < ARRAYSIZE(parts); i++) {
    vdisk_text_add(reply, ".");
    vdisk_text_add_number(reply, parts[i]);
  }
}

/* A text in a descriptor, found by its offset. */
static void show_descriptor_text(struct vdisk_text *reply, const char *key, const uint8_t *descriptor,
                                 DWORD descriptor_bytes, DWORD offset) {
  if (offset == 0 || offset >= descriptor_bytes) return;
  const char *text = (const char *)descriptor + offset;
  csi_show_add_escaped(reply, key, text, strnlen(text, descriptor_bytes - offset));
}

static void show_descriptor(struct vdisk_text *reply, HANDLE disk) {
  STORAGE_PROPERTY_QUERY query = {.PropertyId = StorageDeviceProperty};
  union {
    STORAGE_DEVICE_DESCRIPTOR header;
    uint8_t bytes[DESCRIPTOR_BYTES];
  } device;
  DWORD returned;
  if (!ask(disk, IOCTL_STORAGE_QUERY_PROPERTY, &query, sizeof query, &device, sizeof device, &returned)) {
    csi_show_add_error(reply, "bus");
    return;
  }
  vdisk_text_add_number_word(reply, "bus", device.header.BusType);
  show_descriptor_text(reply, "vendor", device.bytes, returned, device.header.VendorIdOffset);
  show_descriptor_text(reply, "product", device.bytes, returned, device.header.ProductIdOffset);
  show_descriptor_text(reply, "serial", device.bytes, returned, device.header.SerialNumberOffset);
}

static const char *code_set_name(STORAGE_IDENTIFIER_CODE_SET code_set) {
  switch ((int)code_set) {
  case StorageIdCodeSetBinary:
    return "binary:";
  case StorageIdCodeSetAscii:
    return "ascii:";
  case 3: /* UTF-8, which mingw does not name */
    return "utf8:";
  default:
    return "?:";
  }
}

static void show_identifier(struct vdisk_text *reply, const STORAGE_IDENTIFIER *id, const uint8_t *bytes) {
  vdisk_text_add_word(reply, "page83", code_set_name(id->CodeSet));
  if (id->CodeSet == StorageIdCodeSetBinary) {
    for (WORD i = 0; i < id->IdentifierSize; i++)
      vdisk_text_add_hex(reply, bytes[i], 2);
  } else {
    add_escaped(reply, (const char *)bytes, id->IdentifierSize);
  }
  vdisk_text_add(reply, "@");
  vdisk_text_add_number(reply, (uint64_t)id->Association);
  vdisk_text_add(reply, "/");
  vdisk_text_add_number(reply, (uint64_t)id->Type);
}

/* Each identifier that is whole, in the form that `disk add` reads. */
static void show_page83(struct vdisk_text *reply, HANDLE disk) {
  STORAGE_PROPERTY_QUERY query = {.PropertyId = StorageDeviceIdProperty};
  union {
    STORAGE_DEVICE_ID_DESCRIPTOR header;
    uint8_t bytes[DESCRIPTOR_BYTES];
  } ids;
  DWORD returned;
  if (!ask(disk, IOCTL_STORAGE_QUERY_PROPERTY, &query, sizeof query, &ids, sizeof ids, &returned)) {
    csi_show_add_error(reply, "page83");
    return;
  }
  size_t at = offsetof(STORAGE_DEVICE_ID_DESCRIPTOR, Identifiers);
  for (DWORD i = 0; i < ids.header.NumberOfIdentifiers; i++) {
    STORAGE_IDENTIFIER id;
    const size_t head_bytes = offsetof(STORAGE_IDENTIFIER, Identifier);
    if (at + head_bytes > returned) break;
    memcpy(&id, ids.bytes + at, head_bytes);
    if (at + head_bytes + id.IdentifierSize > returned) break;
    show_identifier(reply, &id, ids.bytes + at + head_bytes);
    if (id.NextOffset == 0) break;
    at += id.NextOffset;
  }
}

static void show_layout(struct vdisk_text *reply, HANDLE disk) {
  static const char *const styles[] = {"mbr", "gpt", "raw"};
  union csi_drive_layout layout;
  DWORD returned;
  if (!ask(disk, IOCTL_DISK_GET_DRIVE_LAYOUT_EX, NULL, 0, &layout, sizeof layout, &returned)) {
    csi_show_add_error(reply, "style");
    return;
  }
  DWORD style = layout.header.PartitionStyle;
  vdisk_text_add_word(reply, "style", style < ARRAYSIZE(styles) ? styles[style] : "?");
  for (DWORD i = 0; i < layout.header.PartitionCount; i++) {
    const PARTITION_INFORMATION_EX *entry = &layout.header.PartitionEntry[i];
    if (entry->PartitionNumber == 0) continue;
    vdisk_text_add_number_word(reply, "partition", entry->PartitionNumber);
    vdisk_text_add(reply, ",");
    vdisk_text_add_number(reply, (uint64_t)entry->StartingOffset.QuadPart);
    vdisk_text_add(reply, ",");
    vdisk_text_add_number(reply, (uint64_t)entry->PartitionLength.QuadPart);
  }
}

static void show_disk(void *context, const wchar_t *path_w) {
  struct vdisk_text *reply = context;
  csi_show_add_wide(reply, "interface", path_w);
  HANDLE disk = CreateFileW(path_w, 0, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
  if (disk == INVALID_HANDLE_VALUE) {
    csi_show_add_error(reply, "open");
  } else {
    show_number(reply, disk);
    show_geometry(reply, disk);
    show_attributes(reply, disk);
    show_address(reply, disk);
    show_descriptor(reply, disk);
    show_page83(reply, disk);
    show_layout(reply, disk);
    CloseHandle(disk);
  }
  vdisk_text_add(reply, "\n");
}

bool csi_show_disks(struct vdisk_text *reply, struct csi_ctl_error *error) {
  return csi_disk_interfaces(show_disk, reply, error);
}
