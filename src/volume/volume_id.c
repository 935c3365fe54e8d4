/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/volume_id.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum {
  PREFIX_BYTES = 4, /* `\\?\` */
  GUID_CHARS = CSI_GUID_TEXT_BYTES - 1,
};

bool csi_volume_id_parse(const char *text, struct csi_guid *guid_out) {
  static const char name[] = "Volume{";
  if (csi_utf8_has_prefix_ignore_case(text, "\\\\?\\") || csi_utf8_has_prefix_ignore_case(text, "\\\\.\\") ||
      csi_utf8_has_prefix_ignore_case(text, "\\??\\"))
    text += PREFIX_BYTES;
  if (!csi_utf8_has_prefix_ignore_case(text, name)) return false;
  text += sizeof name - 1;
  if (strnlen(text, GUID_CHARS) < GUID_CHARS) return false;
  const char *end = text + GUID_CHARS;
  if (strcmp(end, "}") != 0 && strcmp(end, "}\\") != 0) return false;
  return csi_guid_parse(text, GUID_CHARS, guid_out);
}

void csi_volume_id_format(const struct csi_guid *guid, char text_out[CSI_VOLUME_ID_BYTES]) {
  char guid_text[CSI_GUID_TEXT_BYTES];
  csi_guid_format(guid, guid_text);
  (void)snprintf(text_out, CSI_VOLUME_ID_BYTES, "\\\\?\\Volume{%s}\\", guid_text);
}
