/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum {
  REPLACEMENT = 0xFFFD,
  BAD_BYTE = 0xDC00, /* a byte that is not UTF-8, kept apart from every character */
};

static bool is_high_surrogate(uint32_t unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low_surrogate(uint32_t unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

size_t csi_utf8_decode(const char *text, size_t length_bytes, uint32_t *point_out) {
  const unsigned char *byte = (const unsigned char *)text;
  if (byte[0] < 0x80) {
    *point_out = byte[0];
    return 1;
  }
  size_t size = byte[0] >= 0xF0 ? 4 : byte[0] >= 0xE0 ? 3 : 2;
  if (byte[0] < 0xC2 || byte[0] > 0xF4 || size > length_bytes) return 0;
  uint32_t point = byte[0] & (0xFFU >> (size + 1));
  for (size_t i = 1; i < size; i++) {
    if ((byte[i] & 0xC0) != 0x80) return 0;
    point = point << 6 | (byte[i] & 0x3FU);
  }
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < smallest[size] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return 0;
  *point_out = point;
  return size;
}

size_t csi_utf8_encode(uint32_t point, char bytes[4]) {
  if (point < 0x80) {
    bytes[0] = (char)point;
    return 1;
  }
  size_t size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  for (size_t i = size - 1; i > 0; i--) {
    bytes[i] = (char)(0x80 | (point & 0x3F));
    point >>= 6;
  }
  bytes[0] = (char)((0xF00U >> size & 0xFFU) | point);
  return size;
}

bool csi_utf8_is_valid(const char *text, size_t length_bytes) {
  for (size_t at = 0; at < length_bytes;) {
    uint32_t point;
    size_t size = csi_utf8_decode(text + at, length_bytes - at, &point);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

size_t csi_utf8_cut(const char *text, size_t length_bytes, size_t limit_bytes) {
  if (length_bytes <= limit_bytes) return length_bytes;
  size_t cut = limit_bytes;
  for (unsigned back = 0; back < 3 && cut > 0 && ((unsigned char)text[cut] & 0xC0) == 0x80; back++)
    cut--;
  return ((unsigned char)text[cut] & 0xC0) == 0x80 ? limit_bytes : cut;
}

uint16_t *csi_utf16_from_utf8(struct csi_arena *arena, const char *text, size_t length_bytes,
                              size_t *units_out, struct csi_status *status) {
  /* UTF-16 never has more units than UTF-8 has bytes. */
  uint16_t *text_w = csi_arena_alloc_array(arena, length_bytes + 1, sizeof *text_w);
  if (text_w == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  size_t units = 0;
  for (size_t at = 0; at < length_bytes;) {
    uint32_t point;
    size_t size = csi_utf8_decode(text + at, length_bytes - at, &point);
    if (size == 0 || point == 0) {
      csi_fail(status, CSI_INVALID_ARGUMENT,
               size == 0 ? "text is not valid UTF-8 at byte %zu" : "text holds a NUL character at byte %zu",
               at);
      return NULL;
    }
    at += size;
    if (point >= 0x10000) {
      text_w[units++] = (uint16_t)(0xD800 + ((point - 0x10000) >> 10));
      text_w[units++] = (uint16_t)(0xDC00 + (point & 0x3FF));
    } else {
      text_w[units++] = (uint16_t)point;
    }
  }
  if (units_out != NULL) *units_out = units;
  return text_w;
}

/* Writes the UTF-8 form to text, or only counts when text is NULL; returns its length. */
static size_t convert_to_utf8(char *text, const uint16_t *text_w, size_t units) {
  size_t length_bytes = 0;
  for (size_t at = 0; at < units; at++) {
    uint32_t point = text_w[at];
    if (is_high_surrogate(point) && at + 1 < units && is_low_surrogate(text_w[at + 1])) {
      at++;
      point = 0x10000 + ((point - 0xD800) << 10) + (text_w[at] - 0xDC00U);
    } else if (is_high_surrogate(point) || is_low_surrogate(point)) {
      point = REPLACEMENT;
    }
    char bytes[4];
    size_t size = csi_utf8_encode(point, bytes);
    if (text != NULL) memcpy(text + length_bytes, bytes, size);
    length_bytes += size;
  }
  return length_bytes;
}

char *csi_utf8_from_utf16(struct csi_arena *arena, const uint16_t *text_w, size_t units) {
  if (units > SIZE_MAX / 4) return NULL;
  char *text = csi_arena_alloc(arena, convert_to_utf8(NULL, text_w, units) + 1);
  if (text != NULL) convert_to_utf8(text, text_w, units);
  return text;
}

size_t csi_utf16_length(const uint16_t *text_w) {
  size_t units = 0;
  while (text_w[units] != 0)
    units++;
  return units;
}

static int order(uint32_t a, uint32_t b) {
  return (a > b) - (a < b);
}

int csi_utf16_compare_ignore_case(const uint16_t *a_w, size_t a_units, const uint16_t *b_w, size_t b_units) {
  for (size_t i = 0; i < a_units && i < b_units; i++) {
    int result = order(csi_utf16_upcase(a_w[i]), csi_utf16_upcase(b_w[i]));
    if (result != 0) return result;
  }
  return (a_units > b_units) - (a_units < b_units);
}

/* The next character in upper case; *at moves behind it. Characters outside the basic plane have no
 * case to a file system. They sort behind it here, before its last part in UTF-16: only equality is
 * promised to be the same. */
static uint32_t next_upcased(const char *text, size_t length_bytes, size_t *at) {
  uint32_t point;
  size_t size = csi_utf8_decode(text + *at, length_bytes - *at, &point);
  if (size == 0) {
    point = BAD_BYTE | (unsigned char)text[*at];
    size = 1;
  } else if (point < 0x10000) {
    point = csi_utf16_upcase((uint16_t)point);
  }
  *at += size;
  return point;
}

int csi_utf8_compare_ignore_case(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
  size_t at_a = 0, at_b = 0;
  while (at_a < a_bytes && at_b < b_bytes) {
    int result = order(next_upcased(a, a_bytes, &at_a), next_upcased(b, b_bytes, &at_b));
    if (result != 0) return result;
  }
  return (at_a < a_bytes) - (at_b < b_bytes);
}

bool csi_utf8_equal_ignore_case(const char *a, const char *b) {
  return csi_utf8_compare_ignore_case(a, strlen(a), b, strlen(b)) == 0;
}

bool csi_utf8_has_prefix_ignore_case(const char *text, const char *prefix) {
  size_t bytes = strlen(prefix);
  return strnlen(text, bytes) == bytes && csi_utf8_compare_ignore_case(text, bytes, prefix, bytes) == 0;
}

enum csi_decimal csi_decimal_parse(const char *text, uint32_t *number_out) {
  if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0') return CSI_DECIMAL_INVALID;
  uint64_t number = 0;
  for (; *text != '\0'; text++) {
    number = 10 * number + (unsigned)(*text - '0');
    if (number > UINT32_MAX) return CSI_DECIMAL_TOO_LARGE;
  }
  *number_out = (uint32_t)number;
  return CSI_DECIMAL_OK;
}

bool csi_character_is_treacherous(uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point <= 0x9F) || (point >= 0x200E && point <= 0x200F) ||
         (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069) || point == 0xFEFF;
}

/* Writes what stands for one character (point) or one bad byte to piece; returns its length. */
static size_t escape_piece(char *piece, size_t piece_bytes, uint32_t point, bool bad_byte) {
  static const char letters[] = "abtnvfr"; /* \a is 7, \r is 13 */
  int length;
  if (bad_byte)
    length = snprintf(piece, piece_bytes, "\\x%02x", (unsigned)point);
  else if (point >= 7 && point <= 13)
    length = snprintf(piece, piece_bytes, "\\%c", letters[point - 7]);
  else if (point < 0x80)
    length = snprintf(piece, piece_bytes, "\\x%02x", (unsigned)point);
  else
    length = snprintf(piece, piece_bytes, "\\u%04x", (unsigned)point);
  return (size_t)length;
}

/* Escapes into out as much as fits into limit_bytes, without a NUL. Returns how many bytes of text
 * fitted; *written_out says what became of them. */
static size_t escape_into(char *out, size_t limit_bytes, const char *text, size_t length_bytes, bool quoting,
                          size_t *written_out) {
  size_t written = 0, at = 0;
  while (at < length_bytes) {
    uint32_t point;
    size_t size = csi_utf8_decode(text + at, length_bytes - at, &point);
    char piece[8];
    const char *source = piece;
    size_t source_bytes;
    if (size == 0) {
      source_bytes = escape_piece(piece, sizeof piece, (unsigned char)text[at], true);
      size = 1;
    } else if (csi_character_is_treacherous(point)) {
      source_bytes = escape_piece(piece, sizeof piece, point, false);
    } else if (quoting && (point == '"' || point == '\\')) {
      piece[0] = '\\';
      piece[1] = (char)point;
      source_bytes = 2;
    } else {
      source = text + at;
      source_bytes = size;
    }
    if (source_bytes > limit_bytes - written) break;
    memcpy(out + written, source, source_bytes);
    written += source_bytes;
    at += size;
  }
  *written_out = written;
  return at;
}

size_t csi_text_escape(char *buffer, size_t buffer_bytes, const char *text, size_t length_bytes) {
  size_t written;
  size_t fitted = escape_into(buffer, buffer_bytes - 1, text, length_bytes, false, &written);
  buffer[written] = '\0';
  return fitted;
}

size_t csi_text_quote_bytes(char *buffer, size_t buffer_bytes, const char *text, size_t length_bytes) {
  size_t written;
  buffer[0] = '"';
  size_t fitted = escape_into(buffer + 1, buffer_bytes - 3, text, length_bytes, true, &written);
  buffer[1 + written] = '"';
  buffer[2 + written] = '\0';
  return fitted;
}

char *csi_text_quote(char *buffer, size_t buffer_bytes, const char *text) {
  (void)csi_text_quote_bytes(buffer, buffer_bytes, text, strlen(text));
  return buffer;
}
