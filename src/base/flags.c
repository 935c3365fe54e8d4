/* SPDX-License-Identifier: Apache-2.0 */
#include "base/flags.h"

#include <assert.h>
#include <string.h>

#include "base/flags_value.h"
#include "base/text.h"

enum {
  REASON_BYTES = 256,
  QUOTED_BYTES = 256,
};

struct parser {
  const struct csi_flag_table *tables;
  size_t table_count;
  int argc;
  char *const *argv;
  int next;                 /* index of the argument to look at */
  csi_flag_given_fn *given; /* is told of each flag, which then is not set; NULL = flags are set */
  void *context;
  struct csi_status *status;
};

static bool needs_no_value(const struct csi_flag *flag) {
  return flag->type == CSI_FLAG_BOOL || flag->type == CSI_FLAG_CUSTOM_BOOL;
}

/* True when the name_bytes at name spell the flag's name. */
static bool is_named(const struct csi_flag *flag, const char *name, size_t name_bytes) {
  return strncmp(flag->name, name, name_bytes) == 0 && flag->name[name_bytes] == '\0';
}

static const struct csi_flag *find_flag(const struct parser *parser, const char *name, size_t name_bytes) {
  for (size_t t = 0; t < parser->table_count; t++) {
    for (size_t i = 0; i < parser->tables[t].count; i++) {
      if (is_named(&parser->tables[t].flags[i], name, name_bytes)) return &parser->tables[t].flags[i];
    }
  }
  return NULL;
}

static void set_defaults(const struct csi_flag_table *table) {
  for (size_t i = 0; i < table->count; i++) {
    char reason[REASON_BYTES];
    bool valid = csi_flag_set_default(&table->flags[i], reason, sizeof reason);
    assert(valid); /* a table with a bad default is our own bug */
    (void)valid;
  }
}

static enum csi_flags_result refuse_value(struct parser *parser, const struct csi_flag *flag,
                                          const char *text, const char *reason) {
  char quoted[QUOTED_BYTES];
  (void)csi_text_quote(quoted, sizeof quoted, text);
  if (needs_no_value(flag))
    csi_fail(parser->status, CSI_INVALID_ARGUMENT, "invalid boolean value %s for -%s: %s", quoted, flag->name,
             reason);
  else
    csi_fail(parser->status, CSI_INVALID_ARGUMENT, "invalid value %s for flag -%s: %s", quoted, flag->name,
             reason);
  return CSI_FLAGS_ERROR;
}

/* Sets the flag that `name[=value]` at argument names, and moves on behind it and its value. */
static enum csi_flags_result parse_flag(struct parser *parser, const char *name) {
  size_t name_bytes = strcspn(name, "=");
  const char *value = name[name_bytes] == '=' ? name + name_bytes + 1 : NULL;
  parser->next++;

  const struct csi_flag *flag = find_flag(parser, name, name_bytes);
  if (flag == NULL) {
    if ((name_bytes == 1 && name[0] == 'h') || (name_bytes == 4 && memcmp(name, "help", 4) == 0))
      return CSI_FLAGS_HELP;
    csi_fail(parser->status, CSI_INVALID_ARGUMENT, "flag provided but not defined: -%.*s",
             (int)(name_bytes < QUOTED_BYTES ? name_bytes : QUOTED_BYTES), name);
    return CSI_FLAGS_ERROR;
  }
  if (value == NULL && needs_no_value(flag)) value = "true";
  if (value == NULL && parser->next < parser->argc) value = parser->argv[parser->next++];
  if (value == NULL) {
    csi_fail(parser->status, CSI_INVALID_ARGUMENT, "flag needs an argument: -%s", flag->name);
    return CSI_FLAGS_ERROR;
  }
  if (parser->given != NULL) {
    parser->given(parser->context, flag, value);
    return CSI_FLAGS_OK;
  }
  char reason[REASON_BYTES] = "parse error";
  if (!csi_flag_set(flag, value, reason, sizeof reason)) return refuse_value(parser, flag, value, reason);
  return CSI_FLAGS_OK;
}

/* Goes through all arguments up to the first that is no flag. */
static enum csi_flags_result parse_all(struct parser *parser) {
  while (parser->next < parser->argc) {
    const char *argument = parser->argv[parser->next];
    if (argument[0] != '-' || argument[1] == '\0') break;
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    if (argument[1] == '-' && name[0] == '\0') {
      parser->next++; /* "--" ends the flags */
      break;
    }
    if (name[0] == '\0' || name[0] == '-' || name[0] == '=') {
      csi_fail(parser->status, CSI_INVALID_ARGUMENT, "bad flag syntax: %.256s", argument);
      return CSI_FLAGS_ERROR;
    }
    enum csi_flags_result result = parse_flag(parser, name);
    if (result != CSI_FLAGS_OK) return result;
  }
  return CSI_FLAGS_OK;
}

enum csi_flags_result csi_flags_parse(const struct csi_flag_table *tables, size_t table_count, int argc,
                                      char *const *argv, int *rest_out, struct csi_status *status) {
  for (size_t t = 0; t < table_count; t++)
    set_defaults(&tables[t]);
  struct parser parser = {
      .tables = tables, .table_count = table_count, .argc = argc, .argv = argv, .next = 1, .status = status};
  enum csi_flags_result result = parse_all(&parser);
  if (result == CSI_FLAGS_OK) *rest_out = parser.next < argc ? parser.next : argc;
  return result;
}

void csi_flags_list_given(const struct csi_flag_table *tables, size_t table_count, int argc,
                          char *const *argv, csi_flag_given_fn *given, void *context) {
  struct csi_status ignored = {0};
  struct parser parser = {.tables = tables,
                          .table_count = table_count,
                          .argc = argc,
                          .argv = argv,
                          .next = 1,
                          .status = &ignored,
                          .given = given,
                          .context = context};
  (void)parse_all(&parser);
}
