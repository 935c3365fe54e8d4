/* SPDX-License-Identifier: Apache-2.0 */
#include "codegen/model.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- memory */

struct block {
  struct block *next;
  max_align_t data[];
};

struct gen_arena {
  struct block *blocks;
};

static void *require(void *memory) {
  if (memory == NULL) {
    fputs("csi-proxy-api-gen: out of memory\n", stderr);
    exit(1);
  }
  return memory;
}

struct gen_arena *gen_arena_new(void) {
  return require(calloc(1, sizeof(struct gen_arena)));
}

void gen_arena_free(struct gen_arena *arena) {
  while (arena->blocks != NULL) {
    struct block *next = arena->blocks->next;
    free(arena->blocks);
    arena->blocks = next;
  }
  free(arena);
}

void *gen_alloc(struct gen_arena *arena, size_t size_bytes) {
  struct block *block = require(calloc(1, sizeof(struct block) + size_bytes));
  block->next = arena->blocks;
  arena->blocks = block;
  return block->data;
}

char *gen_strndup(struct gen_arena *arena, const char *text, size_t length_bytes) {
  char *copy = gen_alloc(arena, length_bytes + 1);
  if (length_bytes > 0) memcpy(copy, text, length_bytes);
  return copy;
}

char *gen_printf(struct gen_arena *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *text = gen_alloc(arena, (size_t)length + 1);
  va_start(args, format);
  vsnprintf(text, (size_t)length + 1, format, args);
  va_end(args);
  return text;
}

void gen_push(struct gen_arena *arena, struct gen_list *list, const void *item) {
  bool full = (list->count & (list->count - 1)) == 0; /* capacity is the next power of two */
  if (full) {
    void **items = gen_alloc(arena, (list->count == 0 ? 1 : list->count * 2) * sizeof(void *));
    if (list->count > 0) memcpy(items, list->items, list->count * sizeof(void *));
    list->items = items;
  }
  list->items[list->count++] = (void *)(uintptr_t)item;
}

/* --- names */

/* A plural "IDs" counts as one run of capitals. */
static bool plural_of_capitals(const char *name, size_t i) {
  return name[i] == 's' && i >= 2 && isupper((unsigned char)name[i - 1]) &&
         isupper((unsigned char)name[i - 2]) && !islower((unsigned char)name[i + 1]);
}

static bool starts_word(const char *name, size_t i) {
  if (i == 0 || !isupper((unsigned char)name[i]) || name[i - 1] == '_' || name[i - 1] == '.') return false;
  if (!isupper((unsigned char)name[i - 1])) return true;
  return islower((unsigned char)name[i + 1]) && !plural_of_capitals(name, i + 1);
}

const char *gen_snake(struct gen_arena *arena, const char *name) {
  char *snake = gen_alloc(arena, 2 * strlen(name) + 1);
  size_t length = 0;
  for (size_t i = 0; name[i] != '\0'; i++) {
    if (starts_word(name, i)) snake[length++] = '_';
    snake[length++] = name[i] == '.' ? '_' : (char)tolower((unsigned char)name[i]);
  }
  return snake;
}

const char *gen_upper(struct gen_arena *arena, const char *text) {
  char *upper = gen_strndup(arena, text, strlen(text));
  for (char *at = upper; *at != '\0'; at++)
    *at = (char)toupper((unsigned char)*at);
  return upper;
}

const char *gen_pbc_lower(struct gen_arena *arena, const char *full_name) {
  char *lower = gen_alloc(arena, 2 * strlen(full_name) + 1);
  size_t length = 0;
  bool was_upper = true;
  for (const char *at = full_name; *at != '\0'; at++) {
    bool is_upper = isupper((unsigned char)*at) != 0;
    if (*at == '.') {
      lower[length++] = '_';
      lower[length++] = '_';
      was_upper = true;
      continue;
    }
    if (is_upper && !was_upper) lower[length++] = '_';
    lower[length++] = (char)tolower((unsigned char)*at);
    was_upper = is_upper;
  }
  return lower;
}

const char *gen_pbc_type(struct gen_arena *arena, const char *full_name) {
  char *type = gen_alloc(arena, 2 * strlen(full_name) + 1);
  size_t length = 0;
  bool capital = true;
  for (const char *at = full_name; *at != '\0'; at++) {
    if (*at == '.') {
      type[length++] = '_';
      type[length++] = '_';
      capital = true;
    } else if (*at == '_') {
      capital = true;
    } else {
      type[length++] = capital ? (char)toupper((unsigned char)*at) : *at;
      capital = false;
    }
  }
  return type;
}

static bool listed(const char *const *words, const char *name) {
  for (; *words != NULL; words++)
    if (strcmp(*words, name) == 0) return true;
  return false;
}

/* The words to which protoc-c 1.4 appends an underscore. */
const char *gen_pbc_field(struct gen_arena *arena, const char *name) {
  static const char *const words[] = {"and",
                                      "and_eq",
                                      "asm",
                                      "auto",
                                      "bitand",
                                      "bitor",
                                      "bool",
                                      "break",
                                      "case",
                                      "catch",
                                      "char",
                                      "class",
                                      "compl",
                                      "const",
                                      "const_cast",
                                      "continue",
                                      "default",
                                      "delete",
                                      "do",
                                      "double",
                                      "dynamic_cast",
                                      "else",
                                      "enum",
                                      "explicit",
                                      "extern",
                                      "false",
                                      "float",
                                      "for",
                                      "friend",
                                      "goto",
                                      "if",
                                      "inline",
                                      "int",
                                      "long",
                                      "mutable",
                                      "namespace",
                                      "new",
                                      "not",
                                      "not_eq",
                                      "operator",
                                      "or",
                                      "or_eq",
                                      "private",
                                      "protected",
                                      "public",
                                      "register",
                                      "reinterpret_cast",
                                      "return",
                                      "short",
                                      "signed",
                                      "sizeof",
                                      "static",
                                      "static_cast",
                                      "struct",
                                      "switch",
                                      "template",
                                      "this",
                                      "throw",
                                      "true",
                                      "try",
                                      "typedef",
                                      "typeid",
                                      "typename",
                                      "union",
                                      "unsigned",
                                      "using",
                                      "virtual",
                                      "void",
                                      "volatile",
                                      "wchar_t",
                                      "while",
                                      "xor",
                                      "xor_eq",
                                      NULL};
  char *lower = gen_strndup(arena, name, strlen(name));
  for (char *at = lower; *at != '\0'; at++)
    *at = (char)tolower((unsigned char)*at);
  return listed(words, lower) ? gen_printf(arena, "%s_", lower) : lower;
}

bool gen_is_keyword(const char *name) {
  static const char *const words[] = {
      "alignas",   "alignof",  "and",      "asm",      "auto",   "bitand",  "bitor",     "bool",
      "break",     "case",     "catch",    "char",     "class",  "compl",   "concept",   "const",
      "constexpr", "continue", "decltype", "default",  "delete", "do",      "double",    "else",
      "enum",      "explicit", "export",   "extern",   "false",  "float",   "for",       "friend",
      "goto",      "if",       "inline",   "int",      "long",   "mutable", "namespace", "new",
      "noexcept",  "not",      "nullptr",  "operator", "or",     "private", "protected", "public",
      "register",  "requires", "restrict", "return",   "short",  "signed",  "sizeof",    "static",
      "struct",    "switch",   "template", "this",     "throw",  "true",    "try",       "typedef",
      "typeid",    "typename", "union",    "unsigned", "using",  "virtual", "void",      "volatile",
      "while",     "xor",      NULL};
  return listed(words, name);
}

/* --- look-up */

struct gen_message *gen_find_message(const struct gen_file *file, const char *name) {
  for (GEN_EACH(struct gen_message, message, &file->messages))
    if (strcmp(message->name, name) == 0) return message;
  return NULL;
}

struct gen_field *gen_find_field(const struct gen_message *message, const char *name) {
  for (GEN_EACH(struct gen_field, field, &message->fields))
    if (strcmp(field->name, name) == 0) return field;
  return NULL;
}

struct gen_rpc *gen_find_rpc(const struct gen_file *file, const char *name) {
  for (GEN_EACH(struct gen_rpc, rpc, &file->rpcs))
    if (strcmp(rpc->name, name) == 0) return rpc;
  return NULL;
}

struct gen_enum *gen_find_enum(const struct gen_file *file, const char *name) {
  for (GEN_EACH(struct gen_enum, enumeration, &file->enums))
    if (strcmp(enumeration->name, name) == 0) return enumeration;
  return NULL;
}

struct gen_file *gen_find_version(const struct gen_group *group, const char *version) {
  for (GEN_EACH(struct gen_file, file, &group->versions))
    if (strcmp(file->version, version) == 0) return file;
  return NULL;
}

struct gen_alias *gen_alias_for(const struct gen_list *aliases, const char *version) {
  for (GEN_EACH(struct gen_alias, alias, aliases))
    for (GEN_EACH(const char, listed_version, &alias->versions))
      if (strcmp(listed_version, version) == 0) return alias;
  return NULL;
}

struct gen_field *gen_counterpart(const struct gen_message *versioned, const struct gen_field *neutral) {
  for (GEN_EACH(struct gen_field, field, &versioned->fields))
    if (field->neutral == neutral) return field;
  return NULL;
}

static const char *value_type_text(const struct gen_field *field) {
  static const char *const names[] = {
      [GEN_DOUBLE] = "double",     [GEN_FLOAT] = "float",       [GEN_INT64] = "int64",
      [GEN_UINT64] = "uint64",     [GEN_INT32] = "int32",       [GEN_FIXED64] = "fixed64",
      [GEN_FIXED32] = "fixed32",   [GEN_BOOL] = "bool",         [GEN_STRING] = "string",
      [GEN_BYTES] = "bytes",       [GEN_UINT32] = "uint32",     [GEN_SFIXED32] = "sfixed32",
      [GEN_SFIXED64] = "sfixed64", [GEN_SINT32] = "sint32",     [GEN_SINT64] = "sint64",
      [GEN_GROUP] = "group",       [GEN_MESSAGE] = "a message", [GEN_ENUM] = "an enum"};
  if (field->kind == GEN_MESSAGE && field->message != NULL) return field->message->name;
  if (field->kind == GEN_ENUM && field->enumeration != NULL) return field->enumeration->name;
  return names[field->kind];
}

const char *gen_type_text(struct gen_arena *arena, const struct gen_field *field) {
  if (gen_is_map(field))
    return gen_printf(arena, "map<%s, %s>", value_type_text(field->message->fields.items[0]),
                      value_type_text(field->message->fields.items[1]));
  return gen_printf(arena, "%s%s%s", field->repeated ? "repeated " : "", value_type_text(field),
                    field->unpacked ? " unpacked" : "");
}

/* --- versions */

/* Digits without a leading zero. */
static bool parse_number(const char **at, unsigned long *number_out) {
  if (**at < '1' || **at > '9') return false;
  char *end;
  *number_out = strtoul(*at, &end, 10);
  if (end - *at > 9) return false;
  *at = end;
  return true;
}

bool gen_version_parse(const char *text, struct gen_version_parts *parts_out) {
  const char *at = text;
  *parts_out = (struct gen_version_parts){.stage = 2};
  if (*at++ != 'v' || !parse_number(&at, &parts_out->major)) return false;
  if (*at == '\0') return true;
  if (strncmp(at, "alpha", 5) == 0) {
    parts_out->stage = 0;
    at += 5;
  } else if (strncmp(at, "beta", 4) == 0) {
    parts_out->stage = 1;
    at += 4;
  } else {
    return false;
  }
  return parse_number(&at, &parts_out->qualifier) && *at == '\0';
}

static int compare_numbers(unsigned long a, unsigned long b) {
  return (a > b) - (a < b);
}

int gen_version_compare_age(const char *a, const char *b) {
  struct gen_version_parts x, y;
  gen_version_parse(a, &x);
  gen_version_parse(b, &y);
  if (x.major != y.major) return compare_numbers(x.major, y.major);
  if (x.stage != y.stage) return x.stage - y.stage;
  return compare_numbers(x.qualifier, y.qualifier);
}

static int compare_preference(const void *a, const void *b) {
  const struct gen_file *const *x = a, *const *y = b;
  struct gen_version_parts p, q;
  gen_version_parse((*x)->version, &p);
  gen_version_parse((*y)->version, &q);
  if (p.stage != q.stage) return q.stage - p.stage;
  return -gen_version_compare_age((*x)->version, (*y)->version);
}

struct gen_list gen_versions_by_preference(const struct gen_group *group) {
  struct gen_list ordered = {0};
  for (GEN_EACH(struct gen_file, file, &group->versions))
    gen_push(group->arena, &ordered, file);
  if (ordered.count > 0) qsort(ordered.items, ordered.count, sizeof(void *), compare_preference);
  return ordered;
}
