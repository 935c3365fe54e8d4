/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <string.h>

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Letters, digits and what Windows paths are made of stay as they are. */
static bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != '\0' && strchr("\\:/._-{}", c) != NULL);
}

struct line_writer {
  char *bytes;
  size_t used;
  bool full;
};

static void put(struct line_writer *out, char c) {
  if (out->used + 1 >= CSI_PROFILE_LINE_BYTES) {
    out->full = true;
    return;
  }
  out->bytes[out->used++] = c;
}

static void put_escaped(struct line_writer *out, const char *value) {
  static const char digits[] = "0123456789ABCDEF";
  for (; *value != '\0'; value++) {
    if (is_plain(*value)) {
      put(out, *value);
      continue;
    }
    put(out, '%');
    put(out, digits[(unsigned char)*value >> 4]);
    put(out, digits[*value & 15]);
  }
}

static const char *value_of(const struct csi_profile_variable *variables, const char *name,
                            size_t name_bytes) {
  for (; variables->name != NULL; variables++) {
    if (strlen(variables->name) == name_bytes && memcmp(variables->name, name, name_bytes) == 0)
      return variables->value;
  }
  return NULL;
}

/* Cuts off blanks at both ends and a comment. */
static void trim(const char **text, size_t *length_bytes) {
  const char *comment = memchr(*text, '#', *length_bytes);
  if (comment != NULL) *length_bytes = (size_t)(comment - *text);
  while (*length_bytes > 0 && is_blank((*text)[*length_bytes - 1]))
    (*length_bytes)--;
  while (*length_bytes > 0 && is_blank(**text)) {
    (*text)++;
    (*length_bytes)--;
  }
}

enum csi_profile_result csi_profile_read_line(const char *text, size_t length_bytes,
                                              const struct csi_profile_variable *variables,
                                              char line_out[CSI_PROFILE_LINE_BYTES]) {
  struct line_writer out = {.bytes = line_out};
  trim(&text, &length_bytes);
  for (size_t i = 0; i < length_bytes && !out.full; i++) {
    if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~') return CSI_PROFILE_NOT_ASCII;
    if (text[i] != '$' || i + 1 >= length_bytes || text[i + 1] != '{') {
      put(&out, text[i]);
      continue;
    }
    const char *name = text + i + 2;
    const char *end = memchr(name, '}', length_bytes - i - 2);
    size_t name_bytes = end == NULL ? length_bytes - i - 2 : (size_t)(end - name);
    const char *value = end == NULL ? NULL : value_of(variables, name, name_bytes);
    if (value == NULL) {
      if (name_bytes >= CSI_PROFILE_LINE_BYTES) name_bytes = CSI_PROFILE_LINE_BYTES - 1;
      memcpy(line_out, name, name_bytes);
      line_out[name_bytes] = '\0';
      return CSI_PROFILE_UNKNOWN_VARIABLE;
    }
    put_escaped(&out, value);
    i += name_bytes + 2;
  }
  if (out.full) return CSI_PROFILE_TOO_LONG;
  line_out[out.used] = '\0';
  return out.used > 0 ? CSI_PROFILE_COMMAND : CSI_PROFILE_NOTHING;
}

const char *csi_profile_problem(enum csi_profile_result result) {
  switch (result) {
  case CSI_PROFILE_TOO_LONG:
    return "the line is too long";
  case CSI_PROFILE_UNKNOWN_VARIABLE:
    return "there is no such variable";
  case CSI_PROFILE_NOT_ASCII:
    return "the line is not printable ASCII (write other bytes as %XX)";
  case CSI_PROFILE_COMMAND:
  case CSI_PROFILE_NOTHING:
    break;
  }
  return "";
}
