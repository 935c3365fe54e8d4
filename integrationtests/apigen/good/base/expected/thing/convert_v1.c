/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions of thing v1.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#include "thing/convert_v1.h"

#include <string.h>

#include "codegen/runtime/convert.h"

static int compare_find_request_shelves(const void *a, const void *b) {
  const V1__FindRequest__ShelvesEntry *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

bool csi_thing_v1_find_request_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1__FindRequest *from, struct csi_thing_find_request *to) {
  to->name = from->name;
  to->labels_count = from->n_labels;
  to->labels = (const char *const *)from->labels;
  const void **shelves_sorted;
  if (!csi_convert_map(arena, status, (const void *const *)from->shelves, from->n_shelves,
                       compare_find_request_shelves, &shelves_sorted,
                       &to->shelves_count))
    return false;
  struct csi_thing_find_request_shelves_entry *shelves_items =
      csi_convert_array(arena, status, to->shelves_count, sizeof *shelves_items);
  if (shelves_items == NULL)
    return false;
  for (size_t i = 0; i < to->shelves_count; i++) {
    const V1__FindRequest__ShelvesEntry *entry = shelves_sorted[i];
    shelves_items[i].key = entry->key;
    V1__Shelf empty;
    v1__shelf__init(&empty);
    const V1__Shelf *source = entry->value != NULL ? entry->value : &empty;
    if (!csi_thing_v1_shelf_from_wire(arena, status, source, &shelves_items[i].value))
      return false;
  }
  to->shelves = shelves_items;
  return true;
}

bool csi_thing_v1_find_request_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_find_request *from, V1__FindRequest *to) {
  to->name = csi_text_to_wire(from->name);
  to->n_labels = from->labels_count;
  char **labels_items =
      csi_convert_array(arena, status, from->labels_count, sizeof *labels_items);
  if (labels_items == NULL)
    return false;
  for (size_t i = 0; i < from->labels_count; i++) {
    labels_items[i] = csi_text_to_wire(from->labels[i]);
  }
  to->labels = labels_items;
  to->n_shelves = from->shelves_count;
  V1__FindRequest__ShelvesEntry **shelves_items =
      csi_convert_array(arena, status, from->shelves_count, sizeof *shelves_items);
  if (shelves_items == NULL)
    return false;
  for (size_t i = 0; i < from->shelves_count; i++) {
    V1__FindRequest__ShelvesEntry *entry = csi_convert_array(arena, status, 1, sizeof *entry);
    if (entry == NULL)
      return false;
    v1__find_request__shelves_entry__init(entry);
    entry->key = from->shelves[i].key;
    V1__Shelf *value = csi_convert_array(arena, status, 1, sizeof *value);
    if (value == NULL)
      return false;
    v1__shelf__init(value);
    if (!csi_thing_v1_shelf_to_wire(arena, status, &from->shelves[i].value, value))
      return false;
    entry->value = value;
    shelves_items[i] = entry;
  }
  to->shelves = shelves_items;
  return true;
}

bool csi_thing_v1_find_response_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1__FindResponse *from, struct csi_thing_find_response *to) {
  (void)arena;
  (void)status;
  to->kind = (enum csi_thing_kind)from->kind;
  return true;
}

bool csi_thing_v1_find_response_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_find_response *from, V1__FindResponse *to) {
  (void)arena;
  (void)status;
  to->kind = (V1__Kind)from->kind;
  return true;
}

bool csi_thing_v1_count_request_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1__CountRequest *from, struct csi_thing_count_request *to) {
  (void)arena;
  (void)status;
  (void)from;
  (void)to;
  return true;
}

bool csi_thing_v1_count_request_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_count_request *from, V1__CountRequest *to) {
  (void)arena;
  (void)status;
  (void)from;
  (void)to;
  return true;
}

bool csi_thing_v1_count_response_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1__CountResponse *from, struct csi_thing_count_response *to) {
  (void)arena;
  (void)status;
  to->count = from->count;
  return true;
}

bool csi_thing_v1_count_response_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_count_response *from, V1__CountResponse *to) {
  (void)arena;
  (void)status;
  to->count = from->count;
  return true;
}

bool csi_thing_v1_shelf_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1__Shelf *from, struct csi_thing_shelf *to) {
  (void)arena;
  (void)status;
  to->height = from->height;
  return true;
}

bool csi_thing_v1_shelf_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_shelf *from, V1__Shelf *to) {
  (void)arena;
  (void)status;
  to->height = from->height;
  return true;
}

