/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/identity.h"

#include <string.h>

#include "base/little_endian.h"
#include "base/text.h"

/* STORAGE_DEVICE_ID_DESCRIPTOR: Version, Size, NumberOfIdentifiers, all u32; then the identifiers.
 * STORAGE_IDENTIFIER: CodeSet u32, Type u32, IdentifierSize u16, NextOffset u16 (from its own beginning),
 * Association u32; then the bytes. */
enum {
  DESCRIPTOR_SIZE_AT = 4,
  IDENTIFIER_COUNT_AT = 8,
  FIRST_IDENTIFIER_AT = 12,
  TYPE_AT = 4,
  IDENTIFIER_SIZE_AT = 8,
  NEXT_OFFSET_AT = 10,
  ASSOCIATION_AT = 12,
  IDENTIFIER_HEADER_BYTES = 16,

  CODE_SET_BINARY = 1,
  CODE_SET_ASCII = 2,
  ASSOCIATION_DEVICE = 0,
};

/* STORAGE_DEVICE_DESCRIPTOR: Version u32, Size u32, ..., offsets of texts in it. */
enum {
  VENDOR_OFFSET_AT = 12,
  PRODUCT_OFFSET_AT = 16,
  SERIAL_NUMBER_OFFSET_AT = 24,
  BUS_TYPE_AT = 28,
  DEVICE_DESCRIPTOR_HEADER_BYTES = 36,
};

static bool is_blank(char character) {
  return character == ' ' || (character >= '\t' && character <= '\r');
}

static bool is_all_blank(const char *text) {
  while (is_blank(*text))
    text++;
  return *text == '\0';
}

static const char *hex_of(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes) {
  static const char digits[] = "0123456789abcdef";
  char *hex = csi_arena_alloc(arena, 2 * size_bytes + 1);
  if (hex == NULL) return NULL;
  for (size_t i = 0; i < size_bytes; i++) {
    hex[2 * i] = digits[bytes[i] >> 4];
    hex[2 * i + 1] = digits[bytes[i] & 15];
  }
  return hex;
}

static const char *text_of(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes) {
  const char *text = (const char *)bytes;
  size_t length = size_bytes;
  while (length > 0 && text[length - 1] == '\0')
    length--;
  if (memchr(text, '\0', length) != NULL || !csi_utf8_is_valid(text, length))
    return hex_of(arena, bytes, size_bytes);
  const char *copy = csi_arena_strndup(arena, text, length);
  return copy != NULL && is_all_blank(copy) ? "" : copy;
}

/* How much of a descriptor can be read: what it says of its size, but not more than there is. */
static size_t readable_bytes(const uint8_t *bytes, size_t size_bytes) {
  if (size_bytes < DESCRIPTOR_SIZE_AT + sizeof(uint32_t)) return 0;
  uint32_t claimed_bytes = csi_get_u32(bytes + DESCRIPTOR_SIZE_AT);
  return claimed_bytes < size_bytes ? claimed_bytes : size_bytes;
}

/* Fills in the text of an identifier, if its code set is one that is chosen. */
static bool take_identifier(struct csi_arena *arena, const uint8_t *identifier, size_t value_bytes,
                            struct csi_page83 *chosen) {
  const uint8_t *value = identifier + IDENTIFIER_HEADER_BYTES;
  uint32_t code_set = csi_get_u32(identifier);
  if (code_set != CODE_SET_ASCII && code_set != CODE_SET_BINARY) return false;
  chosen->type = csi_get_u32(identifier + TYPE_AT);
  chosen->is_ascii = code_set == CODE_SET_ASCII;
  chosen->text = chosen->is_ascii ? text_of(arena, value, value_bytes) : hex_of(arena, value, value_bytes);
  return true;
}

bool csi_page83_find(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes,
                     struct csi_page83 *chosen_out) {
  *chosen_out = (struct csi_page83){.text = ""};
  size_t end = readable_bytes(bytes, size_bytes);
  if (end < FIRST_IDENTIFIER_AT) return true;
  uint32_t count = csi_get_u32(bytes + IDENTIFIER_COUNT_AT);
  size_t at = FIRST_IDENTIFIER_AT;
  for (uint32_t i = 0; i < count; i++) {
    if (end - at < IDENTIFIER_HEADER_BYTES) return true;
    const uint8_t *identifier = bytes + at;
    size_t identifier_bytes = csi_get_u16(identifier + IDENTIFIER_SIZE_AT);
    if (identifier_bytes > end - at - IDENTIFIER_HEADER_BYTES) return true;
    chosen_out->seen_count++;
    if (csi_get_u32(identifier + ASSOCIATION_AT) == ASSOCIATION_DEVICE &&
        take_identifier(arena, identifier, identifier_bytes, chosen_out))
      return chosen_out->text != NULL;
    size_t next = csi_get_u16(identifier + NEXT_OFFSET_AT);
    if (next < IDENTIFIER_HEADER_BYTES + identifier_bytes || next > end - at) return true;
    at += next;
  }
  return true;
}

const char *csi_page83_choose(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes) {
  struct csi_page83 chosen;
  return csi_page83_find(arena, bytes, size_bytes, &chosen) ? chosen.text : NULL;
}

/* A text of a STORAGE_DEVICE_DESCRIPTOR whose offset stands at offset_at, without blanks behind it. */
static char *descriptor_text(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes,
                             size_t offset_at) {
  size_t end = readable_bytes(bytes, size_bytes);
  uint32_t offset = end < DEVICE_DESCRIPTOR_HEADER_BYTES ? 0 : csi_get_u32(bytes + offset_at);
  if (offset < DEVICE_DESCRIPTOR_HEADER_BYTES || offset >= end) return csi_arena_strdup(arena, "");
  const char *text = (const char *)bytes + offset;
  size_t length = strnlen(text, end - offset);
  while (length > 0 && is_blank(text[length - 1]))
    length--;
  char *copy = csi_arena_strndup(arena, text, length);
  if (copy == NULL || csi_utf8_is_valid(copy, length)) return copy;
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)copy[i] > '~') copy[i] = '?';
  return copy;
}

/* UNVERIFIED ON WINDOWS: that MSFT_Disk.SerialNumber keeps leading blanks and loses trailing ones. */
const char *csi_serial_number(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes) {
  return descriptor_text(arena, bytes, size_bytes, SERIAL_NUMBER_OFFSET_AT);
}

static const char *without_leading_blanks(const char *text) {
  while (text != NULL && is_blank(*text))
    text++;
  return text;
}

const char *csi_disk_vendor(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes) {
  return without_leading_blanks(descriptor_text(arena, bytes, size_bytes, VENDOR_OFFSET_AT));
}

const char *csi_disk_product(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes) {
  return without_leading_blanks(descriptor_text(arena, bytes, size_bytes, PRODUCT_OFFSET_AT));
}

uint32_t csi_disk_bus_type(const uint8_t *bytes, size_t size_bytes) {
  return readable_bytes(bytes, size_bytes) < BUS_TYPE_AT + sizeof(uint32_t)
             ? CSI_BUS_UNKNOWN
             : csi_get_u32(bytes + BUS_TYPE_AT);
}

const char *csi_bus_type_name(uint32_t bus_type) {
  static const char *const names[] = {
      "",    "SCSI", "ATAPI", "ATA", "IEEE 1394", "SSA",     "Fibre Channel",  "USB",  "RAID", "iSCSI",
      "SAS", "SATA", "SD",    "MMC", "virtual",   "virtual", "Storage Spaces", "NVMe", "SCM",  "UFS",
  };
  return bus_type < sizeof names / sizeof *names ? names[bus_type] : "";
}

const char *csi_page83_type_name(uint32_t type) {
  static const char *const names[] = {
      "vendor specific",   "T10 vendor",         "EUI-64",           "NAA",       "relative port",
      "target port group", "logical unit group", "MD5 logical unit", "SCSI name", "protocol specific"};
  return type < sizeof names / sizeof *names ? names[type] : "unknown type";
}
