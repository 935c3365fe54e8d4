/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/credential_text.h"

#include <string.h>

char *csi_smb_credential_text(struct csi_arena *arena, const char *username, const char *password) {
  const size_t password_bytes = strlen(password);
  char *text = csi_arena_alloc(arena, 2 * strlen(username) + 1 + password_bytes + 1);
  if (text == NULL) return NULL;
  char *end = text;
  for (; *username != '\0'; username++) {
    if (*username == '\\' || *username == ':') *end++ = '\\';
    *end++ = *username;
  }
  *end++ = ':';
  memcpy(end, password, password_bytes + 1);
  return text;
}
