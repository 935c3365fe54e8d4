/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <string.h>

/* The order in which a GUID's bytes are written: the first three fields are little-endian. */
static const uint8_t guid_order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

static bool is_dash_before(unsigned byte) {
  return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

void vdisk_text_init(struct vdisk_text *text, char *buffer, size_t capacity_bytes) {
  *text = (struct vdisk_text){.buffer = buffer, .capacity_bytes = capacity_bytes};
  buffer[0] = 0;
}

void vdisk_text_add_bytes(struct vdisk_text *text, const char *bytes, size_t count) {
  if (text->is_cut || count >= text->capacity_bytes - text->length_bytes) {
    text->is_cut = true;
    return;
  }
  memcpy(text->buffer + text->length_bytes, bytes, count);
  text->length_bytes += count;
  text->buffer[text->length_bytes] = 0;
}

void vdisk_text_add(struct vdisk_text *text, const char *string) {
  vdisk_text_add_bytes(text, string, strlen(string));
}

void vdisk_text_add_number(struct vdisk_text *text, uint64_t number) {
  char digits[20];
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  vdisk_text_add_bytes(text, digits + at, sizeof digits - at);
}

void vdisk_text_add_hex(struct vdisk_text *text, uint64_t number, unsigned digits) {
  char buffer[16];
  size_t at = sizeof buffer;
  do {
    buffer[--at] = "0123456789abcdef"[number & 15];
    number >>= 4;
  } while (at > 0 && (number != 0 || sizeof buffer - at < digits));
  vdisk_text_add_bytes(text, buffer + at, sizeof buffer - at);
}

void vdisk_text_add_utf16(struct vdisk_text *text, const uint16_t *units_w, size_t count) {
  for (size_t i = 0; i < count; i++) {
    bool is_plain = units_w[i] > ' ' && units_w[i] < 0x7F && units_w[i] != '%';
    if (is_plain) {
      vdisk_text_add_bytes(text, &(char){(char)units_w[i]}, 1);
    } else {
      vdisk_text_add(text, "%u");
      vdisk_text_add_hex(text, units_w[i], 4);
    }
  }
}

void vdisk_text_add_guid(struct vdisk_text *text, const uint8_t guid[16]) {
  vdisk_text_add(text, "{");
  for (unsigned i = 0; i < 16; i++) {
    if (is_dash_before(i)) vdisk_text_add(text, "-");
    vdisk_text_add_hex(text, guid[guid_order[i]], 2);
  }
  vdisk_text_add(text, "}");
}

void vdisk_text_add_word(struct vdisk_text *text, const char *key, const char *string) {
  vdisk_text_add(text, " ");
  vdisk_text_add(text, key);
  vdisk_text_add(text, "=");
  vdisk_text_add(text, string);
}

void vdisk_text_add_number_word(struct vdisk_text *text, const char *key, uint64_t number) {
  vdisk_text_add_word(text, key, "");
  vdisk_text_add_number(text, number);
}

int vdisk_hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

bool vdisk_guid_parse(const char *string, uint8_t guid_out[16]) {
  if (*string++ != '{') return false;
  for (unsigned i = 0; i < 16; i++) {
    if (is_dash_before(i) && *string++ != '-') return false;
    int high = vdisk_hex_digit(string[0]);
    int low = high < 0 ? -1 : vdisk_hex_digit(string[1]);
    if (low < 0) return false;
    guid_out[guid_order[i]] = (uint8_t)(high << 4 | low);
    string += 2;
  }
  return string[0] == '}' && string[1] == 0;
}
