/* SPDX-License-Identifier: Apache-2.0 */
#include "iscsi/name.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

void csi_iscsi_to_lower(char *text) {
  for (; *text != '\0'; text++)
    *text = lower(*text);
}

const char *csi_iscsi_name_problem(const char *name) {
  enum { ESCAPED_FACTOR = 10 };
  char escaped[CSI_ISCSI_NAME_BYTES * ESCAPED_FACTOR];
  if (name[0] == '\0') return "it is empty";
  if (strlen(name) >= CSI_ISCSI_NAME_BYTES) return "it is longer than 223 bytes";
  (void)csi_text_escape(escaped, sizeof escaped, name, strlen(name));
  if (strcmp(escaped, name) != 0 || strchr(name, ' ') != NULL)
    return "it has a blank or a control character in it";
  return NULL;
}

bool csi_iscsi_name_is_usual(const char *name) {
  return csi_utf8_has_prefix_ignore_case(name, "iqn.") || csi_utf8_has_prefix_ignore_case(name, "eui.") ||
         csi_utf8_has_prefix_ignore_case(name, "naa.");
}

bool csi_iscsi_name_is_equal(const char *a, const char *b) {
  while (*a != '\0' && lower(*a) == lower(*b)) {
    a++;
    b++;
  }
  return lower(*a) == lower(*b);
}

void csi_iscsi_name_key(const char *name, char key_out[CSI_ISCSI_NAME_BYTES]) {
  (void)snprintf(key_out, CSI_ISCSI_NAME_BYTES, "%s", name);
  csi_iscsi_to_lower(key_out);
}
