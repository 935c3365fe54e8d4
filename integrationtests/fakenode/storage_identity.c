/* SPDX-License-Identifier: Apache-2.0 */
#include "storage_identity.h"

#include <string.h>

#include "driver/page83.h"

enum {
  VERSION_AT = 0,
  SIZE_AT = 4,
  VENDOR_AT = 12,
  PRODUCT_AT = 16,
  SERIAL_AT = 24,
  BUS_TYPE_AT = 28,
  RAW_BYTES_AT = 32,
  STRINGS_AT = 36,       /* RawDeviceProperties */
  DESCRIPTOR_BYTES = 40, /* sizeof(STORAGE_DEVICE_DESCRIPTOR) */
};

bool storage_make_identifiers(const char *spec, uint8_t bytes_out[STORAGE_IDENTITY_BYTES], size_t *size_out) {
  char text[STORAGE_IDENTITY_BYTES];
  struct vdisk_page83 page;
  _Static_assert((size_t)VDISK_PAGE83_DESCRIPTOR_LIMIT_BYTES <= (size_t)STORAGE_IDENTITY_BYTES, "no room");
  if (strlen(spec) >= sizeof text) return false;
  memcpy(text, spec, strlen(spec) + 1);
  if (!vdisk_page83_parse(&page, text)) return false;
  *size_out = page.mode == VDISK_PAGE83_UNSUPPORTED ? 0 : vdisk_page83_descriptor(&page, bytes_out);
  return true;
}

static void put32(uint8_t *at, size_t value) {
  for (size_t i = 0; i < 4; i++)
    at[i] = (uint8_t)(value >> (8 * i));
}

/* Appends a string and puts its offset where the descriptor has it. */
static bool put_string(uint8_t *bytes, size_t *size, size_t offset_at, const char *string) {
  if (string == NULL) return true;
  size_t string_bytes = strlen(string) + 1;
  if (string_bytes > STORAGE_IDENTITY_TEXT_BYTES) return false;
  put32(bytes + offset_at, *size);
  memcpy(bytes + *size, string, string_bytes);
  *size += string_bytes;
  return true;
}

bool storage_find_bus(const char *name, uint8_t *bus_type_out) {
  static const struct {
    const char *name;
    uint8_t type; /* STORAGE_BUS_TYPE */
  } buses[] = {
      {"scsi", 1},    {"ata", 3},   {"fibre", 6}, {"usb", 7},      {"raid", 8},
      {"iscsi", 9},   {"sas", 10},  {"sata", 11}, {"virtual", 14}, {"file-backed-virtual", 15},
      {"spaces", 16}, {"nvme", 17},
  };
  for (size_t i = 0; i < sizeof buses / sizeof *buses; i++) {
    if (strcmp(name, buses[i].name) != 0) continue;
    *bus_type_out = buses[i].type;
    return true;
  }
  return false;
}

bool storage_make_descriptor(const char *vendor, const char *product, const char *serial, uint8_t bus_type,
                             uint8_t bytes_out[STORAGE_IDENTITY_BYTES], size_t *size_out) {
  size_t size = STRINGS_AT;
  memset(bytes_out, 0, STORAGE_IDENTITY_BYTES);
  if (!put_string(bytes_out, &size, VENDOR_AT, vendor) ||
      !put_string(bytes_out, &size, PRODUCT_AT, product) || !put_string(bytes_out, &size, SERIAL_AT, serial))
    return false;
  put32(bytes_out + RAW_BYTES_AT, size - STRINGS_AT);
  if (size < DESCRIPTOR_BYTES) size = DESCRIPTOR_BYTES;
  put32(bytes_out + VERSION_AT, DESCRIPTOR_BYTES);
  put32(bytes_out + SIZE_AT, size);
  bytes_out[BUS_TYPE_AT] = bus_type;
  *size_out = size;
  return true;
}
