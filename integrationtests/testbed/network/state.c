/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

#include "driver/text.h"
#include "driver/words.h"

struct field {
  char *key;
  char *value;
};

struct network_record {
  struct network_record *next;
  char *kind; /* NULL when memory was short */
  size_t field_count;
  struct field fields[NETWORK_FIELDS_MAX];
};

/* What is handed out when there is no memory for a record. It is never changed. */
static struct network_record no_record;

static bool equal_ignore_case(const char *a, const char *b) {
  for (;; a++, b++) {
    char lower_a = *a >= 'A' && *a <= 'Z' ? (char)(*a + 'a' - 'A') : *a;
    char lower_b = *b >= 'A' && *b <= 'Z' ? (char)(*b + 'a' - 'A') : *b;
    if (lower_a != lower_b) return false;
    if (*a == '\0') return true;
  }
}

/* ---- Records. ---- */

static void free_record(struct network_record *record) {
  for (size_t i = 0; i < record->field_count; i++) {
    free(record->fields[i].key);
    free(record->fields[i].value);
  }
  free(record->kind);
  free(record);
}

struct network_record *network_add(struct network_state *state, const char *kind) {
  struct network_record *record = calloc(1, sizeof *record);
  char *copy = strdup(kind);
  state->is_changed = true;
  if (record == NULL || copy == NULL) {
    free(record);
    free(copy);
    state->is_broken = true;
    return &no_record;
  }
  record->kind = copy;
  if (state->end == NULL) state->end = &state->first;
  *state->end = record;
  state->end = &record->next;
  return record;
}

void network_remove(struct network_state *state, struct network_record *record) {
  struct network_record **place = &state->first;
  while (*place != NULL && *place != record)
    place = &(*place)->next;
  if (*place == NULL) return;
  *place = record->next;
  if (state->end == &record->next) state->end = place;
  state->is_changed = true;
  free_record(record);
}

void network_remove_all(struct network_state *state, const char *kind) {
  for (struct network_record *record = state->first, *next; record != NULL; record = next) {
    next = record->next;
    if (kind == NULL || strcmp(record->kind, kind) == 0) network_remove(state, record);
  }
}

struct network_record *network_next(const struct network_state *state, const char *kind,
                                    const struct network_record *after) {
  struct network_record *record = after == NULL ? state->first : after->next;
  while (record != NULL && strcmp(record->kind, kind) != 0)
    record = record->next;
  return record;
}

struct network_record *network_find(const struct network_state *state, const char *kind, const char *key,
                                    const char *value) {
  struct network_record *record = network_next(state, kind, NULL);
  while (record != NULL && !network_has(record, key, value))
    record = network_next(state, kind, record);
  return record;
}

size_t network_count(const struct network_state *state, const char *kind) {
  size_t count = 0;
  for (const struct network_record *record = network_next(state, kind, NULL); record != NULL;
       record = network_next(state, kind, record))
    count++;
  return count;
}

struct network_record *network_settings(struct network_state *state, const char *kind) {
  struct network_record *record = network_next(state, kind, NULL);
  return record != NULL ? record : network_add(state, kind);
}

void network_state_clear(struct network_state *state) {
  network_remove_all(state, NULL);
  *state = (struct network_state){.first = NULL};
}

/* ---- Values. ---- */

/* The place of the key; field_count when it is not there. */
static size_t find_field(const struct network_record *record, const char *key) {
  size_t i = 0;
  while (i < record->field_count && strcmp(record->fields[i].key, key) != 0)
    i++;
  return i;
}

const char *network_get(const struct network_record *record, const char *key) {
  size_t i = find_field(record, key);
  return i < record->field_count ? record->fields[i].value : NULL;
}

uint64_t network_get_number(const struct network_record *record, const char *key, uint64_t otherwise) {
  const char *value = network_get(record, key);
  uint64_t number;
  return value != NULL && vdisk_number_parse(value, &number) ? number : otherwise;
}

bool network_has(const struct network_record *record, const char *key, const char *value) {
  const char *found = network_get(record, key);
  return found != NULL && equal_ignore_case(found, value);
}

static void take_away(struct network_record *record, size_t i) {
  free(record->fields[i].key);
  free(record->fields[i].value);
  record->field_count--;
  memmove(record->fields + i, record->fields + i + 1, (record->field_count - i) * sizeof record->fields[0]);
}

void network_set(struct network_state *state, struct network_record *record, const char *key,
                 const char *value) {
  size_t i = find_field(record, key);
  bool is_new = i == record->field_count;
  state->is_changed = true;
  if (value == NULL) {
    if (!is_new) take_away(record, i);
    return;
  }
  char *key_copy = is_new ? strdup(key) : NULL;
  char *value_copy = strdup(value);
  if (record == &no_record || i == NETWORK_FIELDS_MAX || value_copy == NULL || (is_new && key_copy == NULL)) {
    state->is_broken = true;
    free(key_copy);
    free(value_copy);
    return;
  }
  if (is_new) {
    record->fields[record->field_count++] = (struct field){.key = key_copy, .value = value_copy};
  } else {
    free(record->fields[i].value);
    record->fields[i].value = value_copy;
  }
}

void network_set_number(struct network_state *state, struct network_record *record, const char *key,
                        uint64_t number) {
  char digits[24];
  struct vdisk_text text;
  vdisk_text_init(&text, digits, sizeof digits);
  vdisk_text_add_number(&text, number);
  network_set(state, record, key, digits);
}

/* ---- Text. ---- */

static bool parse_line(struct network_state *state, char *line) {
  struct vdisk_words words;
  if (!vdisk_words_split(&words, line)) return false;
  if (words.count == 0) return true;
  if (words.value[0] != NULL) return false;
  struct network_record *record = network_add(state, words.word[0]);
  for (uint32_t i = 1; i < words.count; i++) {
    char *value = words.value[i];
    if (value == NULL || !vdisk_percent_decode(value)) return false;
    network_set(state, record, words.word[i], value);
  }
  return true;
}

void network_state_parse(struct network_state *state, char *text) {
  while (*text != '\0') {
    char *end = text + strcspn(text, "\n");
    bool is_last = *end == '\0';
    *end = '\0';
    if (!parse_line(state, text)) state->is_broken = true;
    text = is_last ? end : end + 1;
  }
  state->is_changed = false;
}

/* In a value a word can hold everything but blanks; a % is what begins an escape. */
void network_add_value(struct vdisk_text *text, const char *value) {
  for (; *value != '\0'; value++) {
    bool is_plain = *value > ' ' && *value < 0x7F && *value != '%';
    if (is_plain) {
      vdisk_text_add_bytes(text, value, 1);
    } else {
      vdisk_text_add(text, "%");
      vdisk_text_add_hex(text, (unsigned char)*value, 2);
    }
  }
}

char *network_state_format(struct network_state *state) {
  char *buffer = state->is_broken ? NULL : malloc(NETWORK_STATE_BYTES);
  if (buffer == NULL) return NULL;
  struct vdisk_text text;
  vdisk_text_init(&text, buffer, NETWORK_STATE_BYTES);
  for (const struct network_record *record = state->first; record != NULL; record = record->next) {
    vdisk_text_add(&text, record->kind);
    for (size_t i = 0; i < record->field_count; i++) {
      vdisk_text_add_word(&text, record->fields[i].key, "");
      network_add_value(&text, record->fields[i].value);
    }
    vdisk_text_add(&text, "\n");
  }
  if (!text.is_cut) return buffer;
  state->is_broken = true;
  free(buffer);
  return NULL;
}
