/* SPDX-License-Identifier: Apache-2.0
 *
 * ASCII, such as GUIDs and names of file systems, in UTF-16.
 */
#ifndef CSI_WIN32_ASCII_H
#define CSI_WIN32_ASCII_H

#include <stddef.h>
#include <wchar.h>

/* Copies text, which must be ASCII, as far as it fits; text_w_out always ends in a NUL (units > 0). */
static inline void csi_widen_ascii(const char *text, wchar_t *text_w_out, size_t units) {
  size_t i = 0;
  for (; text[i] != '\0' && i + 1 < units; i++)
    text_w_out[i] = (wchar_t)(unsigned char)text[i];
  text_w_out[i] = L'\0';
}

#endif
