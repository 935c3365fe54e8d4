/* SPDX-License-Identifier: Apache-2.0
 *
 * How many columns of a terminal text takes. Pure functions; any thread.
 */
#ifndef CSI_CTL_WIDTH_H
#define CSI_CTL_WIDTH_H

#include <stddef.h>
#include <stdint.h>

/* 0 for combining and invisible characters, 2 for wide ones of East Asia and most emoji, otherwise 1.
 * The ranges are those of Unicode, merged over unassigned characters; control characters count as 1, because
 * nobody prints them as they are. */
unsigned csi_character_columns(uint32_t point);

/* Columns of UTF-8; a byte that is not UTF-8 counts as one. */
size_t csi_text_columns(const char *text, size_t length_bytes);

/* Length in bytes of the longest beginning that takes at most limit_columns; combining characters stay with
 * the one before them. columns_out (out): how many it takes. */
size_t csi_text_fit(const char *text, size_t length_bytes, size_t limit_columns, size_t *columns_out);

#endif
