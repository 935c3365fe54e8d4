/* SPDX-License-Identifier: Apache-2.0
 *
 * GUIDs in the layout Windows gives them in memory and in GPT entries.
 */
#ifndef CSI_BASE_GUID_H
#define CSI_BASE_GUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  CSI_GUID_TEXT_BYTES = 37, /* "01234567-89ab-cdef-0123-456789abcdef", NUL included */
};

struct csi_guid {
  uint32_t data1;
  uint16_t data2;
  uint16_t data3;
  uint8_t data4[8];
};

/* Writes guid in lower case, without braces. */
void csi_guid_format(const struct csi_guid *guid, char text_out[CSI_GUID_TEXT_BYTES]);

/* Reads exactly 36 characters, in either case, without braces. False, with guid_out untouched, when text
 * is anything else. */
bool csi_guid_parse(const char *text, size_t length, struct csi_guid *guid_out);

bool csi_guid_equal(const struct csi_guid *left, const struct csi_guid *right);

#endif
