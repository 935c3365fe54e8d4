/* SPDX-License-Identifier: Apache-2.0 */
#include "base/guid.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
  TEXT_LENGTH = CSI_GUID_TEXT_BYTES - 1,
  GUID_BYTES = 16,
};

void csi_guid_format(const struct csi_guid *guid, char text_out[CSI_GUID_TEXT_BYTES]) {
  const uint8_t *tail = guid->data4;
  snprintf(text_out, CSI_GUID_TEXT_BYTES,
           "%08" PRIx32 "-%04" PRIx16 "-%04" PRIx16 "-%02x%02x-%02x%02x%02x%02x%02x%02x", guid->data1,
           guid->data2, guid->data3, tail[0], tail[1], tail[2], tail[3], tail[4], tail[5], tail[6], tail[7]);
}

/* -1 when the character is no hexadecimal digit. */
static int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

static bool dash_belongs_at(size_t index) {
  return index == 8 || index == 13 || index == 18 || index == 23;
}

/* The digits in the order they are written, two a byte. */
static bool parse_bytes(const char *text, uint8_t bytes_out[GUID_BYTES]) {
  size_t count = 0;
  for (size_t i = 0; i < TEXT_LENGTH;) {
    if (dash_belongs_at(i)) {
      if (text[i++] != '-') return false;
      continue;
    }
    int high = digit_value(text[i]), low = digit_value(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes_out[count++] = (uint8_t)(high << 4 | low);
    i += 2;
  }
  return true;
}

bool csi_guid_parse(const char *text, size_t length, struct csi_guid *guid_out) {
  uint8_t bytes[GUID_BYTES];
  if (length != TEXT_LENGTH || !parse_bytes(text, bytes)) return false;
  guid_out->data1 = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
  guid_out->data2 = (uint16_t)(bytes[4] << 8 | bytes[5]);
  guid_out->data3 = (uint16_t)(bytes[6] << 8 | bytes[7]);
  memcpy(guid_out->data4, bytes + 8, sizeof guid_out->data4);
  return true;
}

bool csi_guid_equal(const struct csi_guid *left, const struct csi_guid *right) {
  return memcmp(left, right, sizeof *left) == 0;
}
