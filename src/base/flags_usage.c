/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/flags.h"
#include "base/text.h"

enum {
  QUOTED_BYTES = 512,
};

/* The flag whose name comes next after `previous` in the alphabet; the first one for NULL. */
static const struct csi_flag *next_flag(const struct csi_flag_table *tables, size_t table_count,
                                        const char *previous) {
  const struct csi_flag *next = NULL;
  for (size_t t = 0; t < table_count; t++) {
    for (size_t i = 0; i < tables[t].count; i++) {
      const struct csi_flag *flag = &tables[t].flags[i];
      bool after_previous = previous == NULL || strcmp(flag->name, previous) > 0;
      if (after_previous && (next == NULL || strcmp(flag->name, next->name) < 0)) next = flag;
    }
  }
  return next;
}

static const char *type_word(enum csi_flag_type type) {
  switch (type) {
  case CSI_FLAG_STRING:
    return "string";
  case CSI_FLAG_INT:
    return "int";
  case CSI_FLAG_UINT:
    return "uint";
  case CSI_FLAG_DURATION:
    return "duration";
  case CSI_FLAG_STRING_LIST:
  case CSI_FLAG_CUSTOM:
    return "value";
  case CSI_FLAG_BOOL:
  case CSI_FLAG_CUSTOM_BOOL:
    break;
  }
  return "";
}

/* Writes the usage without the back quotes, further lines indented like the first. */
static void print_indented(FILE *stream, const char *usage) {
  for (const char *at = usage; *at != '\0'; at++) {
    if (*at == '\n')
      (void)fputs("\n    \t", stream);
    else if (*at != '`')
      (void)fputc(*at, stream);
  }
}

static bool is_zero(const char *default_text) {
  static const char *const zeros[] = {"", "0", "false", "0s"};
  for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
    if (strcmp(default_text, zeros[i]) == 0) return true;
  }
  return false;
}

static void print_default(FILE *stream, const struct csi_flag *flag) {
  if (flag->default_text == NULL || is_zero(flag->default_text)) return;
  char quoted[QUOTED_BYTES];
  bool quote = flag->type == CSI_FLAG_STRING;
  (void)fprintf(stream, " (default %s)",
                quote ? csi_text_quote(quoted, sizeof quoted, flag->default_text) : flag->default_text);
}

static void print_flag(FILE *stream, const struct csi_flag *flag) {
  const char *open = strchr(flag->usage, '`');
  const char *close = open == NULL ? NULL : strchr(open + 1, '`');
  const char *word = close == NULL ? type_word(flag->type) : open + 1;
  int word_bytes = (int)(close == NULL ? strlen(word) : (size_t)(close - word));

  (void)fprintf(stream, "  -%s%s%.*s", flag->name, word_bytes > 0 ? " " : "", word_bytes, word);
  /* A boolean of one letter shares its line with the usage. */
  bool one_letter = word_bytes == 0 && strlen(flag->name) == 1;
  (void)fputs(one_letter ? "\t" : "\n    \t", stream);
  print_indented(stream, flag->usage);
  print_default(stream, flag);
  (void)fputc('\n', stream);
}

void csi_flags_print_usage(FILE *stream, const char *program, const struct csi_flag_table *tables,
                           size_t table_count) {
  (void)fprintf(stream, "Usage of %s:\n", program);
  const struct csi_flag *flag = NULL;
  while ((flag = next_flag(tables, table_count, flag == NULL ? NULL : flag->name)) != NULL)
    print_flag(stream, flag);
}
