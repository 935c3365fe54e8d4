/* SPDX-License-Identifier: Apache-2.0 */
#include "crc32.h"

uint32_t vdisk_crc32(uint32_t crc, const void *bytes, size_t count) {
  const uint8_t *at = bytes;
  crc = ~crc;
  for (size_t i = 0; i < count; i++) {
    crc ^= at[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (0xEDB88320u & (0 - (crc & 1)));
  }
  return ~crc;
}
