/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/marker.h"

#include <stdio.h>
#include <string.h>

/* Another text needs another version: it is compared byte for byte. It must not look like a boot sector. */
static const char text[] = "CSI-PROXY UNFINISHED FORMAT, VERSION 1\r\n"
                           "csi-proxy has begun to format volume {%s} and has not finished.\r\n"
                           "There are no data on it.\r\n";

enum {
  TEXT_MAX_BYTES = 512,
};
_Static_assert(sizeof text + CSI_GUID_TEXT_BYTES <= TEXT_MAX_BYTES, "the text fits into one sector");

void csi_marker_make(const struct csi_guid *volume, uint8_t block_out[CSI_MARKER_BYTES]) {
  char guid[CSI_GUID_TEXT_BYTES];
  csi_guid_format(volume, guid);
  memset(block_out, 0, CSI_MARKER_BYTES);
  snprintf((char *)block_out, TEXT_MAX_BYTES, text, guid);
}

bool csi_marker_is_of(const struct csi_guid *volume, const uint8_t *bytes, size_t size_bytes) {
  uint8_t block[CSI_MARKER_BYTES];
  if (size_bytes < sizeof block) return false;
  csi_marker_make(volume, block);
  return memcmp(bytes, block, sizeof block) == 0;
}
