/* SPDX-License-Identifier: Apache-2.0 */
#include "page83.h"

#include <string.h>

#include "text.h"
#include "words.h"

/* STORAGE_DEVICE_ID_DESCRIPTOR, and STORAGE_IDENTIFIER up to the identifier's bytes. */
struct header {
  uint32_t version;
  uint32_t size;
  uint32_t id_count;
};

struct id_header {
  uint32_t code_set;
  uint32_t type;
  uint16_t length_bytes;
  uint16_t next_offset;
  uint32_t association;
};

enum { CODE_SET_BINARY = 1, CODE_SET_ASCII, CODE_SET_UTF8 };
enum { OVERSIZED_BYTES = 256 << 20, FAR_AWAY = 0xFFF0, NO_TYPE = 16, NO_ASSOCIATION = 4 };

/* Cuts `<mark><number>` off the end of spec. False when the number is none, or not below the limit. */
static bool cut_number(char *spec, char mark, uint8_t limit, uint8_t *number_out) {
  char *at = strrchr(spec, mark);
  if (at == NULL) return true;
  uint64_t number;
  if (!vdisk_number_parse(at + 1, &number) || number >= limit) return false;
  *number_out = (uint8_t)number;
  *at = 0;
  return true;
}

static bool parse_hex(struct vdisk_page83_id *id, const char *digits) {
  size_t length = strlen(digits) / 2;
  if (strlen(digits) % 2 != 0 || length > sizeof id->bytes) return false;
  for (size_t i = 0; i < length; i++) {
    int high = vdisk_hex_digit(digits[2 * i]), low = vdisk_hex_digit(digits[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    id->bytes[i] = (uint8_t)(high << 4 | low);
  }
  id->length_bytes = (uint8_t)length;
  return true;
}

static bool parse_text(struct vdisk_page83_id *id, char *text) {
  if (!vdisk_percent_decode(text)) return false;
  size_t length = strlen(text);
  if (length > sizeof id->bytes) return false;
  memcpy(id->bytes, text, length);
  id->length_bytes = (uint8_t)length;
  return true;
}

static bool parse_id(struct vdisk_page83_id *id, char *spec) {
  *id = (struct vdisk_page83_id){0};
  if (!cut_number(spec, '/', NO_TYPE, &id->type) || !cut_number(spec, '@', NO_ASSOCIATION, &id->association))
    return false;
  char *text = strchr(spec, ':');
  if (text == NULL) return false;
  *text++ = 0;
  if (strcmp(spec, "hex") == 0) {
    id->code_set = CODE_SET_BINARY;
    return parse_hex(id, text);
  }
  bool is_utf8 = strcmp(spec, "utf8") == 0;
  if (!is_utf8 && strcmp(spec, "ascii") != 0) return false;
  id->code_set = is_utf8 ? CODE_SET_UTF8 : CODE_SET_ASCII;
  return parse_text(id, text);
}

/* An identifier for a page that is to be broken and needs something in it. */
static void add_plain_id(struct vdisk_page83 *page) {
  char spec[] = "ascii:vdisk";
  page->count = parse_id(&page->ids[0], spec) ? 1 : 0;
}

bool vdisk_page83_parse(struct vdisk_page83 *page, char *spec) {
  *page = (struct vdisk_page83){.mode = VDISK_PAGE83_NORMAL};
  if (strcmp(spec, "none") == 0) return true;
  if (strcmp(spec, "unsupported") == 0) page->mode = VDISK_PAGE83_UNSUPPORTED;
  if (strcmp(spec, "malformed-next") == 0) page->mode = VDISK_PAGE83_MALFORMED_NEXT;
  if (strcmp(spec, "oversized") == 0) page->mode = VDISK_PAGE83_OVERSIZED;
  if (page->mode != VDISK_PAGE83_NORMAL) {
    add_plain_id(page);
    return true;
  }
  for (char *next; spec != NULL; spec = next) {
    next = strchr(spec, ',');
    if (next != NULL) *next++ = 0;
    if (page->count == VDISK_PAGE83_IDS_MAX || !parse_id(&page->ids[page->count], spec)) return false;
    page->count++;
  }
  return true;
}

static size_t put_id(const struct vdisk_page83_id *id, bool is_last, uint8_t *out) {
  size_t bytes = (sizeof(struct id_header) + id->length_bytes + 3) & ~(size_t)3;
  struct id_header header = {
      .code_set = id->code_set,
      .type = id->type,
      .length_bytes = id->length_bytes,
      .next_offset = is_last ? 0 : (uint16_t)bytes,
      .association = id->association,
  };
  memset(out, 0, bytes);
  memcpy(out, &header, sizeof header);
  memcpy(out + sizeof header, id->bytes, id->length_bytes);
  return bytes;
}

size_t vdisk_page83_descriptor(const struct vdisk_page83 *page,
                               uint8_t descriptor_out[VDISK_PAGE83_DESCRIPTOR_LIMIT_BYTES]) {
  struct header header = {.id_count = page->count};
  size_t bytes = sizeof header;
  for (uint32_t i = 0; i < page->count; i++)
    bytes += put_id(&page->ids[i], i + 1 == page->count, descriptor_out + bytes);
  header.version = header.size = (uint32_t)bytes;
  if (page->mode == VDISK_PAGE83_OVERSIZED) header.size = OVERSIZED_BYTES;
  memcpy(descriptor_out, &header, sizeof header);
  if (page->mode == VDISK_PAGE83_MALFORMED_NEXT) {
    uint16_t next_offset = FAR_AWAY;
    header.id_count++;
    memcpy(descriptor_out, &header, sizeof header);
    memcpy(descriptor_out + sizeof header + offsetof(struct id_header, next_offset), &next_offset,
           sizeof next_offset);
  }
  return bytes;
}
