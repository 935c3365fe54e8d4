/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers in buffers that come from, or go to, devices and file systems: little-endian, at any address.
 * Callers check that the bytes are there.
 */
#ifndef CSI_BASE_LITTLE_ENDIAN_H
#define CSI_BASE_LITTLE_ENDIAN_H

#include <stdint.h>
#include <string.h>

#include "base/guid.h"

static inline uint16_t csi_get_u16(const uint8_t *bytes) {
  return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t csi_get_u32(const uint8_t *bytes) {
  return csi_get_u16(bytes) | (uint32_t)csi_get_u16(bytes + 2) << 16;
}

static inline uint64_t csi_get_u64(const uint8_t *bytes) {
  return csi_get_u32(bytes) | (uint64_t)csi_get_u32(bytes + 4) << 32;
}

static inline struct csi_guid csi_get_guid(const uint8_t *bytes) {
  struct csi_guid guid = {
      .data1 = csi_get_u32(bytes), .data2 = csi_get_u16(bytes + 4), .data3 = csi_get_u16(bytes + 6)};
  memcpy(guid.data4, bytes + 8, sizeof guid.data4);
  return guid;
}

static inline void csi_put_u16(uint8_t *bytes, uint16_t value) {
  bytes[0] = (uint8_t)value;
  bytes[1] = (uint8_t)(value >> 8);
}

static inline void csi_put_u32(uint8_t *bytes, uint32_t value) {
  csi_put_u16(bytes, (uint16_t)value);
  csi_put_u16(bytes + 2, (uint16_t)(value >> 16));
}

static inline void csi_put_u64(uint8_t *bytes, uint64_t value) {
  csi_put_u32(bytes, (uint32_t)value);
  csi_put_u32(bytes + 4, (uint32_t)(value >> 32));
}

static inline void csi_put_guid(uint8_t *bytes, const struct csi_guid *guid) {
  csi_put_u32(bytes, guid->data1);
  csi_put_u16(bytes + 4, guid->data2);
  csi_put_u16(bytes + 6, guid->data3);
  memcpy(bytes + 8, guid->data4, sizeof guid->data4);
}

#endif
