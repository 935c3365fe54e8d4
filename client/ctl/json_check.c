/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/json_check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "client/ctl/dynamic.h"
#include "client/ctl/json_expected.h"
#include "client/ctl/json_text.h"
#include "client/ctl/suggest.h"

/* The name of a member: what it stands for. */
struct name {
  const char *text;
  size_t length;  /* a name in a map may have a NUL */
  const char *at; /* where */
};

struct checker {
  struct csi_json_reader reader;
  struct csi_text_buffer scratch;
  struct csi_arena *arena; /* the names */
  struct name *names;      /* of all objects that are open, a stack */
  size_t name_count;
  size_t name_capacity;
  struct csi_text_buffer *normal;
  const char *copied; /* the text is in `normal` up to here */
  struct csi_ctl_error *error;
};

struct csi_json_place csi_json_place_of(const char *json, size_t offset_bytes) {
  struct csi_json_place place = {1, 1};
  for (size_t i = 0; i < offset_bytes; i++) {
    if (json[i] == '\n') {
      place.line++;
      place.column = 1;
    } else if ((json[i] & 0xC0) != 0x80) {
      place.column++;
    }
  }
  return place;
}

static bool wrong_at(const struct checker *checker, const char *at, const char *what) {
  struct csi_json_place place =
      csi_json_place_of(checker->reader.start, (size_t)(at - checker->reader.start));
  return csi_ctl_wrong(checker->error, "JSON, line %zu, column %zu: %s", place.line, place.column, what);
}

/* What the reader has found. */
static bool wrong(const struct checker *checker) {
  if (checker->reader.problem == NULL)
    return csi_ctl_wrong(checker->error, "%s", checker->reader.status->text);
  return wrong_at(checker, checker->reader.at, checker->reader.problem);
}

/* --- names */

static bool push_name(struct checker *checker, struct name name) {
  if (checker->name_count == checker->name_capacity) {
    size_t capacity = checker->name_capacity * 2 + 16;
    struct name *names = realloc(checker->names, capacity * sizeof *names);
    if (names == NULL) return csi_ctl_fail_out_of_memory(checker->error);
    checker->names = names;
    checker->name_capacity = capacity;
  }
  checker->names[checker->name_count++] = name;
  return true;
}

static int compare_text(const struct name *a, const struct name *b) {
  size_t shorter = a->length < b->length ? a->length : b->length;
  int order = memcmp(a->text, b->text, shorter);
  return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare(const void *left, const void *right) {
  const struct name *a = left, *b = right;
  int order = compare_text(a, b);
  return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

static bool check_names(struct checker *checker, size_t first) {
  size_t count = checker->name_count - first;
  checker->name_count = first;
  if (count < 2) return true;
  struct name *names = checker->names + first;
  qsort(names, count, sizeof *names, compare);
  for (size_t i = 1; i < count; i++)
    if (compare_text(&names[i - 1], &names[i]) == 0)
      return wrong_at(checker, names[i].at, "this name stands here twice");
  return true;
}

static bool fail_unknown_name(struct checker *checker, const upb_MessageDef *message, const char *at,
                              const char *typed) {
  char shown[CSI_SUGGEST_NAME_BYTES + 2], what[sizeof shown + 160];
  struct csi_suggestion suggestion = {.typed = typed};
  for (int i = 0; i < upb_MessageDef_FieldCount(message); i++)
    csi_suggest_offer(&suggestion, upb_FieldDef_Name(upb_MessageDef_Field(message, i)));
  snprintf(what, sizeof what, "%s has no field %s", upb_MessageDef_FullName(message),
           csi_text_quote(shown, sizeof shown, typed));
  wrong_at(checker, at, what);
  if (suggestion.best != NULL) csi_ctl_hint(checker->error, "did you mean %s?", suggestion.best);
  return false;
}

static const char no_number[] = "an empty text is no number";

/* Notes the name that the reader has read; a field by its one name, however it was spelled. */
static bool take_name(struct checker *checker, struct csi_json_expected expected, const char *at,
                      struct csi_json_expected *value_out) {
  const struct csi_text_buffer *name = &checker->scratch;
  size_t length = name->length_bytes;
  const char *text =
      csi_arena_strndup(checker->arena, name->text != NULL ? name->text : "", name->length_bytes);
  if (text == NULL) return csi_ctl_fail_out_of_memory(checker->error);
  *value_out = csi_json_expect_inside(expected);
  if (expected.key != NULL) {
    if (name->length_bytes == 0 && csi_json_is_integer(expected.key)) return wrong_at(checker, at, no_number);
  } else if (expected.message != NULL) {
    const upb_FieldDef *field =
        upb_MessageDef_FindByJsonNameWithSize(expected.message, text, name->length_bytes);
    if (field == NULL) return fail_unknown_name(checker, expected.message, at, text);
    text = upb_FieldDef_Name(field);
    length = strlen(text);
    *value_out = csi_json_expect(field);
  }
  return push_name(checker, (struct name){text, length, at});
}

/* --- values */

static uint32_t hexadecimal(const char *at) {
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; i++) {
    char c = at[i];
    uint32_t digit = (uint32_t)(c <= '9' ? c - '0' : (c & ~0x20) - 'A' + 10);
    value = value << 4 | digit;
  }
  return value;
}

/* The reader has found the string well-formed: each "\u" has its digits. A half of a character is none. */
static bool check_halves(const struct checker *checker, const char *at, const char *end) {
  while (at < end) {
    if (*at != '\\') {
      at++;
    } else if (at[1] != 'u') {
      at += 2;
    } else {
      uint32_t unit = hexadecimal(at + 2);
      bool is_pair = unit >= 0xD800 && unit <= 0xDBFF && end - at >= 12 && at[6] == '\\' && at[7] == 'u' &&
                     hexadecimal(at + 8) >= 0xDC00 && hexadecimal(at + 8) <= 0xDFFF;
      if (!is_pair && unit >= 0xD800 && unit <= 0xDFFF) return wrong_at(checker, at, "half a character");
      at += is_pair ? 12 : 6;
    }
  }
  return true;
}

static bool check_string(struct checker *checker, const char **at_out) {
  enum csi_json_kind kind;
  struct csi_json_reader *reader = &checker->reader;
  if (!csi_json_peek(reader, &kind)) return wrong(checker);
  *at_out = reader->at;
  if (!csi_json_read_string(reader, &checker->scratch)) return wrong(checker);
  return check_halves(checker, *at_out, reader->at);
}

/* What shells leave of {"name": 1}: {name: 1}, or {\"name\": 1}. */
static bool hint_quotes(const struct checker *checker, const char *at) {
  while (at < checker->reader.end && *at == ' ')
    at++;
  bool is_name =
      at < checker->reader.end && (*at == '\\' || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z'));
  return is_name && csi_ctl_hint(checker->error,
                                 "a name stands in quotes; the shell may have changed them: give the request "
                                 "by - or \"@FILE\", see \"csi-proxyctl help call\"");
}

static bool check_value(struct checker *checker, struct csi_json_expected expected);

static bool check_member(struct checker *checker, struct csi_json_expected expected) {
  const char *at = NULL;
  struct csi_json_expected value = {0};
  const char *begin = checker->reader.at;
  if (!check_string(checker, &at)) return hint_quotes(checker, begin);
  if (!take_name(checker, expected, at, &value)) return false;
  if (!csi_json_read_colon(&checker->reader)) return wrong(checker);
  return check_value(checker, value);
}

static bool check_inside(struct checker *checker, char close, struct csi_json_expected expected) {
  size_t first_name = checker->name_count;
  bool first = true, more;
  if (checker->reader.depth >= CSI_CTL_JSON_DEPTH) return wrong_at(checker, checker->reader.at, "too deep");
  if (!csi_json_enter(&checker->reader)) return wrong(checker);
  for (;;) {
    if (!csi_json_next(&checker->reader, &first, close, &more)) return wrong(checker);
    if (!more) return check_names(checker, first_name);
    if (!(close == '}' ? check_member(checker, expected) : check_value(checker, expected))) return false;
  }
}

enum {
  EXACT_DIGITS = 15, /* an integer of no more digits is a double without loss */
};

/* Without fraction and exponent. */
static bool is_plain(const char *number, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (number[i] != '-' && (number[i] < '0' || number[i] > '9')) return false;
  return true;
}

static bool fail_range(struct checker *checker, const upb_FieldDef *field, const char *at) {
  char what[128];
  snprintf(what, sizeof what, "out of range for %s", upb_FieldDef_Name(field));
  return wrong_at(checker, at, what);
}

/* upb reads numbers as doubles, and integers in quotes as what they are. */
static bool check_number(struct checker *checker, struct csi_json_expected expected) {
  const char *token;
  size_t length;
  if (!csi_json_read_token(&checker->reader, &token, &length)) return wrong(checker);
  if (!csi_json_is_integer(expected.scalar) || !is_plain(token, length)) return true;
  if (!csi_json_is_in_range(expected.scalar, token, length))
    return fail_range(checker, expected.scalar, token);
  if (length <= EXACT_DIGITS) return true;
  csi_text_buffer_add(checker->normal, checker->copied, (size_t)(token - checker->copied));
  csi_text_buffer_put(checker->normal, "\"");
  csi_text_buffer_add(checker->normal, token, length);
  csi_text_buffer_put(checker->normal, "\"");
  checker->copied = token + length;
  return true;
}

static bool check_value(struct checker *checker, struct csi_json_expected expected) {
  enum csi_json_kind kind;
  const char *at = NULL;
  if (!csi_json_peek(&checker->reader, &kind)) return wrong(checker);
  if (kind == CSI_JSON_OBJECT) return check_inside(checker, '}', expected);
  if (kind == CSI_JSON_ARRAY) return check_inside(checker, ']', expected);
  if (kind != CSI_JSON_STRING) return check_number(checker, expected);
  if (!check_string(checker, &at)) return false;
  if (!csi_json_is_integer(expected.scalar)) return true;
  const struct csi_text_buffer *text = &checker->scratch;
  if (text->length_bytes == 0) return wrong_at(checker, at, no_number);
  return !is_plain(text->text, text->length_bytes) ||
         csi_json_is_in_range(expected.scalar, text->text, text->length_bytes) ||
         fail_range(checker, expected.scalar, at);
}

static bool check_text(struct checker *checker, const upb_MessageDef *definition) {
  enum csi_json_kind kind;
  if (!csi_json_peek(&checker->reader, &kind)) return wrong(checker);
  if (kind != CSI_JSON_OBJECT)
    return wrong_at(checker, checker->reader.at, "a message is a JSON object: {...}");
  return check_value(checker, (struct csi_json_expected){.message = definition}) &&
         (csi_json_finish(&checker->reader) || wrong(checker));
}

bool csi_json_check(const char *json, size_t length_bytes, const upb_MessageDef *definition,
                    struct csi_text_buffer *normal, struct csi_ctl_error *error) {
  if (length_bytes > CSI_CTL_JSON_BYTES)
    return csi_ctl_wrong(error, "the JSON is longer than %d bytes", CSI_CTL_JSON_BYTES);
  struct csi_status status = {0};
  struct checker checker = {
      .error = error, .arena = csi_arena_new(SIZE_MAX), .normal = normal, .copied = json};
  if (checker.arena == NULL) return csi_ctl_fail_out_of_memory(error);
  csi_arena_mark_secret(checker.arena);
  csi_json_reader_init(&checker.reader, json, length_bytes, &status);
  bool valid = check_text(&checker, definition);
  if (valid) csi_text_buffer_add(normal, checker.copied, (size_t)(checker.reader.end - checker.copied));
  if (valid && normal->out_of_memory) valid = csi_ctl_fail_out_of_memory(error);
  csi_text_buffer_free(&checker.scratch);
  csi_arena_free(checker.arena);
  free(checker.names);
  return valid;
}
