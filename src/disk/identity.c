/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/identity.h"

#include <stdbool.h>
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
  SERIAL_NUMBER_OFFSET_AT = 24,
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

const char *csi_page83_choose(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes) {
  size_t end = readable_bytes(bytes, size_bytes);
  if (end < FIRST_IDENTIFIER_AT) return "";
  uint32_t count = csi_get_u32(bytes + IDENTIFIER_COUNT_AT);
  size_t at = FIRST_IDENTIFIER_AT;
  for (uint32_t i = 0; i < count; i++) {
    if (end - at < IDENTIFIER_HEADER_BYTES) return "";
    const uint8_t *identifier = bytes + at;
    uint32_t code_set = csi_get_u32(identifier);
    size_t identifier_bytes = csi_get_u16(identifier + IDENTIFIER_SIZE_AT);
    if (identifier_bytes > end - at - IDENTIFIER_HEADER_BYTES) return "";
    if (csi_get_u32(identifier + ASSOCIATION_AT) == ASSOCIATION_DEVICE) {
      const uint8_t *value = identifier + IDENTIFIER_HEADER_BYTES;
      if (code_set == CODE_SET_ASCII) return text_of(arena, value, identifier_bytes);
      if (code_set == CODE_SET_BINARY) return hex_of(arena, value, identifier_bytes);
    }
    size_t next = csi_get_u16(identifier + NEXT_OFFSET_AT);
    if (next < IDENTIFIER_HEADER_BYTES + identifier_bytes || next > end - at) return "";
    at += next;
  }
  return "";
}

/* UNVERIFIED ON WINDOWS: that MSFT_Disk.SerialNumber keeps leading blanks and loses trailing ones. */
const char *csi_serial_number(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes) {
  size_t end = readable_bytes(bytes, size_bytes);
  if (end < DEVICE_DESCRIPTOR_HEADER_BYTES) return "";
  uint32_t offset = csi_get_u32(bytes + SERIAL_NUMBER_OFFSET_AT);
  if (offset < DEVICE_DESCRIPTOR_HEADER_BYTES || offset >= end) return "";
  const char *text = (const char *)bytes + offset;
  size_t length = strnlen(text, end - offset);
  while (length > 0 && is_blank(text[length - 1]))
    length--;
  char *serial = csi_arena_strndup(arena, text, length);
  if (serial == NULL || csi_utf8_is_valid(serial, length)) return serial;
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)serial[i] > '~') serial[i] = '?';
  return serial;
}
