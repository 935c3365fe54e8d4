/* SPDX-License-Identifier: Apache-2.0
 *
 * The mark on a volume whose formatting has begun: one block at its very beginning, where the boot sector
 * will be. It says that the nameless data behind it were written by a format that did not come to its end,
 * and may be formatted over. Portable and pure.
 */
#ifndef CSI_VOLUME_MARKER_H
#define CSI_VOLUME_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/guid.h"

enum {
  CSI_MARKER_BYTES = 4096, /* a whole number of sectors of any disk; zero behind the text */
};

/* Makes the mark of a volume. Its text ends within the first 512 bytes: no write can leave half of it. */
void csi_marker_make(const struct csi_guid *volume, uint8_t block_out[CSI_MARKER_BYTES]);

/* Whether these first bytes of a volume begin with the mark of this very volume, to the last byte. */
bool csi_marker_is_of(const struct csi_guid *volume, const uint8_t *bytes, size_t size_bytes);

#endif
