/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes that are no text: the type of `bytes` fields in generated structures.
 */
#ifndef CSI_PROXY_BYTES_H
#define CSI_PROXY_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* data may be NULL when size_bytes is 0. Owned by whoever owns the structure around it. */
struct csi_bytes {
  const uint8_t *data;
  size_t size_bytes;
};

#endif
