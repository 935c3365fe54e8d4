/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/wql.h"

#include <string.h>

/* A backslash before each backslash and each quote. */
static char *escape(struct csi_arena *arena, const char *value) {
  char *escaped = csi_arena_alloc(arena, 2 * strlen(value) + 1);
  if (escaped == NULL) return NULL;
  char *end = escaped;
  for (; *value != '\0'; value++) {
    if (*value == '\\' || *value == '\'' || *value == '"') *end++ = '\\';
    *end++ = *value;
  }
  return escaped;
}

char *csi_wql_select(struct csi_arena *arena, const char *class_name, const char *property,
                     const char *value) {
  const char *escaped = escape(arena, value);
  if (escaped == NULL) return NULL;
  return csi_arena_printf(arena, "SELECT * FROM %s WHERE %s = '%s'", class_name, property, escaped);
}
