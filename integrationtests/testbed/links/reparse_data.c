/* SPDX-License-Identifier: Apache-2.0 */
#include "reparse_data.h"

#include <string.h>

#include "record.h"

/* Every field is little-endian, and so is every machine this runs on. */
struct header {
  ULONG tag;
  USHORT data_bytes;
  USHORT reserved;
};

struct names {
  USHORT substitute_offset;
  USHORT substitute_bytes;
  USHORT print_offset;
  USHORT print_bytes;
};

enum {
  SYMLINK_FLAGS_BYTES = 4,
  FLAG_RELATIVE = 1,
  NUL_BYTES = 2,
};

#define TAG_OF_MICROSOFT 0x80000000UL

_Static_assert(sizeof(struct header) == LINKS_HEADER_BYTES, "as Windows has it");

static struct header header_of(const uint8_t *bytes) {
  struct header header;
  memcpy(&header, bytes, sizeof header);
  return header;
}

static struct names names_of(const uint8_t *bytes) {
  struct names names;
  memcpy(&names, bytes + LINKS_HEADER_BYTES, sizeof names);
  return names;
}

static size_t names_offset(ULONG tag) {
  return LINKS_HEADER_BYTES + sizeof(struct names) + (tag == LINKS_TAG_SYMLINK ? SYMLINK_FLAGS_BYTES : 0);
}

ULONG links_tag_of(const uint8_t *bytes) {
  return header_of(bytes).tag;
}

static bool fits(USHORT offset, USHORT bytes, size_t room_bytes) {
  return offset % 2 == 0 && bytes % 2 == 0 && (size_t)offset + bytes <= room_bytes;
}

/* A mount point has its two names in this order, and each ends in a NUL that its length does not count. */
static bool is_strict(const struct names *names, size_t room_bytes) {
  return names->substitute_offset == 0 && names->print_offset == names->substitute_bytes + NUL_BYTES &&
         room_bytes == (size_t)names->substitute_bytes + names->print_bytes + 2 * (size_t)NUL_BYTES;
}

static bool has_valid_names(const uint8_t *bytes, size_t size_bytes) {
  ULONG tag = links_tag_of(bytes);
  if (size_bytes < names_offset(tag)) return false;
  size_t room_bytes = size_bytes - names_offset(tag);
  struct names names = names_of(bytes);
  if (names.substitute_bytes == 0 || !fits(names.substitute_offset, names.substitute_bytes, room_bytes) ||
      !fits(names.print_offset, names.print_bytes, room_bytes))
    return false;
  return tag != LINKS_TAG_MOUNT_POINT || is_strict(&names, room_bytes);
}

NTSTATUS links_check_data(const uint8_t *bytes, size_t size_bytes) {
  if (bytes == NULL || size_bytes < LINKS_HEADER_BYTES || size_bytes > LINKS_REPARSE_BYTES_MAX)
    return LINKS_STATUS_DATA_INVALID;
  struct header header = header_of(bytes);
  if (header.tag <= 1) return LINKS_STATUS_TAG_INVALID;
  /* Others put their GUID behind the header; nobody here does. */
  if ((header.tag & TAG_OF_MICROSOFT) == 0) return CSI_STATUS_NOT_IMPLEMENTED;
  if (header.data_bytes != size_bytes - LINKS_HEADER_BYTES) return LINKS_STATUS_DATA_INVALID;
  bool link = header.tag == LINKS_TAG_SYMLINK || header.tag == LINKS_TAG_MOUNT_POINT;
  return !link || has_valid_names(bytes, size_bytes) ? CSI_STATUS_SUCCESS : LINKS_STATUS_DATA_INVALID;
}

NTSTATUS links_check_header(const uint8_t *bytes, size_t size_bytes) {
  if (bytes == NULL || size_bytes != LINKS_HEADER_BYTES) return LINKS_STATUS_DATA_INVALID;
  struct header header = header_of(bytes);
  if (header.tag <= 1) return LINKS_STATUS_TAG_INVALID;
  return header.data_bytes == 0 ? CSI_STATUS_SUCCESS : LINKS_STATUS_DATA_INVALID;
}

bool links_find_target(const uint8_t *bytes, struct links_target *target_out) {
  ULONG tag = links_tag_of(bytes), flags = 0;
  if (tag != LINKS_TAG_SYMLINK && tag != LINKS_TAG_MOUNT_POINT) return false;
  struct names names = names_of(bytes);
  size_t offset = names_offset(tag);
  if (tag == LINKS_TAG_SYMLINK) memcpy(&flags, bytes + offset - SYMLINK_FLAGS_BYTES, sizeof flags);
  target_out->name_w = (const wchar_t *)(const void *)(bytes + offset + names.substitute_offset);
  target_out->units = names.substitute_bytes / sizeof(wchar_t);
  target_out->relative = (flags & FLAG_RELATIVE) != 0;
  return true;
}
