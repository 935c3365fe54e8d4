/* SPDX-License-Identifier: Apache-2.0
 *
 * CRC-32 as GPT uses it (IEEE 802.3).
 */
#ifndef VDISK_CRC32_H
#define VDISK_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what has the checksum `crc`, 0 for nothing, followed by the bytes. */
uint32_t vdisk_crc32(uint32_t crc, const void *bytes, size_t count);

#endif
