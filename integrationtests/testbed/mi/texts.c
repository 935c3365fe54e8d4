/* SPDX-License-Identifier: Apache-2.0 */
#include "texts.h"

#include <ctype.h>

static const uint16_t *skip_blanks(const uint16_t *text_w) {
  while (*text_w == ' ')
    text_w++;
  return text_w;
}

static bool is_name_unit(uint16_t unit) {
  return unit < 0x80 && (isalnum(unit) || unit == '_');
}

/* Reads a name; NULL when there is none. */
static const uint16_t *read_name(const uint16_t *text_w, char name_out[MI_NAME_BYTES]) {
  size_t count = 0;
  text_w = skip_blanks(text_w);
  while (is_name_unit(*text_w) && count + 1 < MI_NAME_BYTES)
    name_out[count++] = (char)*text_w++;
  name_out[count] = '\0';
  return count > 0 && !is_name_unit(*text_w) ? text_w : NULL;
}

/* Reads a word of the language, in any case; NULL when something else stands there. text_w may be NULL. */
static const uint16_t *read_word(const uint16_t *text_w, const char *upper) {
  if (text_w == NULL) return NULL;
  text_w = skip_blanks(text_w);
  for (; *upper != '\0'; upper++, text_w++)
    if (*text_w >= 0x80 || toupper(*text_w) != *upper) return NULL;
  return text_w;
}

/* Reads up to a bare end, without escapes, and past it; NULL when it never comes. */
static const uint16_t *read_until(const uint16_t *text_w, uint16_t end,
                                  uint16_t value_w_out[MI_VALUE_UNITS]) {
  size_t count = 0;
  for (; *text_w != end; text_w++) {
    if (*text_w == '\\') text_w++;
    if (*text_w == 0 || count + 1 == MI_VALUE_UNITS) return NULL;
    value_w_out[count++] = *text_w;
  }
  value_w_out[count] = 0;
  return text_w + 1;
}

bool mi_query_parse(const uint16_t *text_w, struct mi_query *query_out) {
  text_w = read_word(text_w, "SELECT");
  text_w = read_word(text_w, "*");
  text_w = read_word(text_w, "FROM");
  if (text_w == NULL || (text_w = read_name(text_w, query_out->class_name)) == NULL) return false;
  text_w = read_word(text_w, "WHERE");
  if (text_w == NULL || (text_w = read_name(text_w, query_out->property)) == NULL) return false;
  text_w = read_word(text_w, "=");
  text_w = read_word(text_w, "'");
  if (text_w == NULL || (text_w = read_until(text_w, '\'', query_out->value_w)) == NULL) return false;
  return *skip_blanks(text_w) == 0;
}

bool mi_credential_parse(const uint16_t *text_w, struct mi_credential *credential_out) {
  credential_out->password_w = read_until(text_w, ':', credential_out->user_w);
  return credential_out->password_w != NULL;
}
