/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/json_sort.h"

#include <stdlib.h>
#include <string.h>

#include "client/ctl/json_expected.h"
#include "client/ctl/json_text.h"

struct sorter {
  struct csi_json_reader reader;
  struct csi_text_buffer scratch; /* the name that was read last */
};

/* One entry of a map: "key":value, from `begin` on in the text of all of them. */
struct entry {
  size_t begin, end;
  char *key;
  bool is_number;
};

struct entries {
  struct csi_text_buffer text;
  struct entry *items;
  size_t count, capacity;
};

static int compare(const void *left, const void *right) {
  const struct entry *a = left, *b = right;
  if (!a->is_number || a->key[0] == '-' || b->key[0] == '-') {
    if (!a->is_number) return strcmp(a->key, b->key);
    long long x = strtoll(a->key, NULL, 10), y = strtoll(b->key, NULL, 10);
    return (x > y) - (x < y);
  }
  unsigned long long x = strtoull(a->key, NULL, 10), y = strtoull(b->key, NULL, 10);
  return (x > y) - (x < y);
}

static bool add_entry(struct entries *entries, size_t begin, const char *key, bool is_number) {
  if (entries->count == entries->capacity) {
    size_t capacity = entries->capacity * 2 + 16;
    struct entry *items = realloc(entries->items, capacity * sizeof *items);
    if (items == NULL) return false;
    entries->items = items;
    entries->capacity = capacity;
  }
  char *copy = strdup(key != NULL ? key : "");
  if (copy == NULL) return false;
  entries->items[entries->count++] =
      (struct entry){.begin = begin, .end = entries->text.length_bytes, .key = copy, .is_number = is_number};
  return true;
}

static void free_entries(struct entries *entries) {
  for (size_t i = 0; i < entries->count; i++)
    free(entries->items[i].key);
  free(entries->items);
  csi_text_buffer_free(&entries->text);
}

static bool copy_value(struct sorter *sorter, struct csi_json_expected expected, struct csi_text_buffer *out);

/* Copies the name with its colon as it is spelled; what it stands for is in the scratch buffer. */
static bool copy_name(struct sorter *sorter, struct csi_text_buffer *out) {
  enum csi_json_kind kind;
  if (!csi_json_peek(&sorter->reader, &kind)) return false;
  const char *begin = sorter->reader.at;
  if (!csi_json_read_string(&sorter->reader, &sorter->scratch) || !csi_json_read_colon(&sorter->reader))
    return false;
  csi_text_buffer_add(out, begin, (size_t)(sorter->reader.at - begin));
  return true;
}

static bool read_entries(struct sorter *sorter, struct csi_json_expected expected, struct entries *entries) {
  bool first = true, more, is_number = csi_json_is_integer(expected.key);
  for (;;) {
    if (!csi_json_next(&sorter->reader, &first, '}', &more)) return false;
    if (!more) return true;
    size_t begin = entries->text.length_bytes;
    if (!copy_name(sorter, &entries->text) || !add_entry(entries, begin, sorter->scratch.text, is_number) ||
        !copy_value(sorter, csi_json_expect_inside(expected), &entries->text))
      return false;
    entries->items[entries->count - 1].end = entries->text.length_bytes;
  }
}

static bool copy_map(struct sorter *sorter, struct csi_json_expected expected, struct csi_text_buffer *out) {
  struct entries entries = {0};
  bool done = csi_json_enter(&sorter->reader) && read_entries(sorter, expected, &entries);
  if (entries.count > 1) qsort(entries.items, entries.count, sizeof entries.items[0], compare);
  csi_text_buffer_put(out, "{");
  for (size_t i = 0; done && i < entries.count; i++) {
    if (i > 0) csi_text_buffer_put(out, ",");
    csi_text_buffer_add(out, entries.text.text + entries.items[i].begin,
                        entries.items[i].end - entries.items[i].begin);
  }
  csi_text_buffer_put(out, "}");
  done = done && !entries.text.out_of_memory;
  free_entries(&entries);
  return done;
}

/* A message or a list. */
static bool copy_inside(struct sorter *sorter, bool is_list, struct csi_json_expected expected,
                        struct csi_text_buffer *out) {
  bool first = true, more;
  const char close = is_list ? ']' : '}';
  csi_text_buffer_put(out, is_list ? "[" : "{");
  if (!csi_json_enter(&sorter->reader)) return false;
  for (bool begun = false;; begun = true) {
    struct csi_json_expected inside = csi_json_expect_inside(expected);
    if (!csi_json_next(&sorter->reader, &first, close, &more)) return false;
    if (!more) break;
    if (begun) csi_text_buffer_put(out, ",");
    if (!is_list) {
      if (!copy_name(sorter, out)) return false;
      const upb_FieldDef *field = upb_MessageDef_FindByJsonNameWithSize(
          expected.message, sorter->scratch.text, sorter->scratch.length_bytes);
      if (field == NULL) return false;
      inside = csi_json_expect(field);
    }
    if (!copy_value(sorter, inside, out)) return false;
  }
  csi_text_buffer_add(out, &close, 1);
  return true;
}

static bool copy_value(struct sorter *sorter, struct csi_json_expected expected,
                       struct csi_text_buffer *out) {
  enum csi_json_kind kind;
  const char *token;
  size_t length;
  if (!csi_json_peek(&sorter->reader, &kind)) return false;
  if (kind == CSI_JSON_OBJECT && expected.key != NULL) return copy_map(sorter, expected, out);
  if (kind == CSI_JSON_OBJECT) return expected.message != NULL && copy_inside(sorter, false, expected, out);
  if (kind == CSI_JSON_ARRAY) return copy_inside(sorter, true, expected, out);
  token = sorter->reader.at;
  if (kind == CSI_JSON_STRING) {
    if (!csi_json_read_string(&sorter->reader, &sorter->scratch)) return false;
  } else if (!csi_json_read_token(&sorter->reader, &token, &length)) {
    return false;
  }
  csi_text_buffer_add(out, token, (size_t)(sorter->reader.at - token));
  return true;
}

bool csi_json_sort_maps(const char *json, size_t length_bytes, const upb_MessageDef *definition,
                        struct csi_text_buffer *out) {
  struct csi_status unheard = {0};
  struct sorter sorter = {0};
  csi_json_reader_init(&sorter.reader, json, length_bytes, &unheard);
  bool done = copy_value(&sorter, (struct csi_json_expected){.message = definition}, out);
  csi_text_buffer_free(&sorter.scratch);
  return done && !out->out_of_memory;
}
