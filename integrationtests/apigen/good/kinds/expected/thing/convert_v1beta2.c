/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions of thing v1beta2.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#include "thing/convert_v1beta2.h"

#include <string.h>

#include "codegen/runtime/convert.h"

static int compare_everything_texts_by_text(const void *a, const void *b) {
  const V1beta2__Everything__TextsByTextEntry *x = a, *y = b;
  return strcmp(x->key, y->key);
}

static int compare_everything_leaves_by_number(const void *a, const void *b) {
  const V1beta2__Everything__LeavesByNumberEntry *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

static int compare_everything_bytes_by_number(const void *a, const void *b) {
  const V1beta2__Everything__BytesByNumberEntry *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

static int compare_everything_colours_by_flag(const void *a, const void *b) {
  const V1beta2__Everything__ColoursByFlagEntry *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

bool csi_thing_v1beta2_everything_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1beta2__Everything *from, struct csi_thing_everything *to) {
  to->a_double = from->a_double;
  to->a_float = from->a_float;
  to->an_int64 = from->an_int64;
  to->a_uint64 = from->a_uint64;
  to->an_int32 = from->an_int32;
  to->a_fixed64 = from->a_fixed64;
  to->a_fixed32 = from->a_fixed32;
  to->a_bool = from->a_bool != 0;
  to->a_string = from->a_string;
  if (from->a_message != NULL) {
    struct csi_thing_leaf *a_message_item = csi_convert_array(arena, status, 1, sizeof *a_message_item);
    if (a_message_item == NULL)
      return false;
    if (!csi_thing_v1beta2_leaf_from_wire(arena, status, from->a_message, a_message_item))
      return false;
    to->a_message = a_message_item;
  }
  to->some_bytes = csi_bytes_from_wire(from->some_bytes);
  to->a_uint32 = from->a_uint32;
  to->an_enum = (enum csi_thing_colour)from->an_enum;
  to->an_sfixed32 = from->an_sfixed32;
  to->an_sfixed64 = from->an_sfixed64;
  to->an_sint32 = from->an_sint32;
  to->an_sint64 = from->an_sint64;
  to->numbers_count = from->n_numbers;
  to->numbers = from->numbers;
  to->flags_count = from->n_flags;
  bool *flags_items =
      csi_convert_array(arena, status, from->n_flags, sizeof *flags_items);
  if (flags_items == NULL)
    return false;
  for (size_t i = 0; i < from->n_flags; i++) {
    flags_items[i] = from->flags[i] != 0;
  }
  to->flags = flags_items;
  to->texts_count = from->n_texts;
  to->texts = (const char *const *)from->texts;
  to->blobs_count = from->n_blobs;
  struct csi_bytes *blobs_items =
      csi_convert_array(arena, status, from->n_blobs, sizeof *blobs_items);
  if (blobs_items == NULL)
    return false;
  for (size_t i = 0; i < from->n_blobs; i++) {
    blobs_items[i] = csi_bytes_from_wire(from->blobs[i]);
  }
  to->blobs = blobs_items;
  to->colours_count = from->n_colours;
  enum csi_thing_colour *colours_items =
      csi_convert_array(arena, status, from->n_colours, sizeof *colours_items);
  if (colours_items == NULL)
    return false;
  for (size_t i = 0; i < from->n_colours; i++) {
    colours_items[i] = (enum csi_thing_colour)from->colours[i];
  }
  to->colours = colours_items;
  to->leaves_count = from->n_leaves;
  struct csi_thing_leaf *leaves_items =
      csi_convert_array(arena, status, from->n_leaves, sizeof *leaves_items);
  if (leaves_items == NULL)
    return false;
  for (size_t i = 0; i < from->n_leaves; i++) {
    if (!csi_thing_v1beta2_leaf_from_wire(arena, status, from->leaves[i], &leaves_items[i]))
      return false;
  }
  to->leaves = leaves_items;
  const void **texts_by_text_sorted;
  if (!csi_convert_map(arena, status, (const void *const *)from->texts_by_text, from->n_texts_by_text,
                       compare_everything_texts_by_text, &texts_by_text_sorted,
                       &to->texts_by_text_count))
    return false;
  struct csi_thing_everything_texts_by_text_entry *texts_by_text_items =
      csi_convert_array(arena, status, to->texts_by_text_count, sizeof *texts_by_text_items);
  if (texts_by_text_items == NULL)
    return false;
  for (size_t i = 0; i < to->texts_by_text_count; i++) {
    const V1beta2__Everything__TextsByTextEntry *entry = texts_by_text_sorted[i];
    texts_by_text_items[i].key = entry->key;
    texts_by_text_items[i].value = entry->value;
  }
  to->texts_by_text = texts_by_text_items;
  const void **leaves_by_number_sorted;
  if (!csi_convert_map(arena, status, (const void *const *)from->leaves_by_number, from->n_leaves_by_number,
                       compare_everything_leaves_by_number, &leaves_by_number_sorted,
                       &to->leaves_by_number_count))
    return false;
  struct csi_thing_everything_leaves_by_number_entry *leaves_by_number_items =
      csi_convert_array(arena, status, to->leaves_by_number_count, sizeof *leaves_by_number_items);
  if (leaves_by_number_items == NULL)
    return false;
  for (size_t i = 0; i < to->leaves_by_number_count; i++) {
    const V1beta2__Everything__LeavesByNumberEntry *entry = leaves_by_number_sorted[i];
    leaves_by_number_items[i].key = entry->key;
    V1beta2__Leaf empty;
    v1beta2__leaf__init(&empty);
    const V1beta2__Leaf *source = entry->value != NULL ? entry->value : &empty;
    if (!csi_thing_v1beta2_leaf_from_wire(arena, status, source, &leaves_by_number_items[i].value))
      return false;
  }
  to->leaves_by_number = leaves_by_number_items;
  const void **bytes_by_number_sorted;
  if (!csi_convert_map(arena, status, (const void *const *)from->bytes_by_number, from->n_bytes_by_number,
                       compare_everything_bytes_by_number, &bytes_by_number_sorted,
                       &to->bytes_by_number_count))
    return false;
  struct csi_thing_everything_bytes_by_number_entry *bytes_by_number_items =
      csi_convert_array(arena, status, to->bytes_by_number_count, sizeof *bytes_by_number_items);
  if (bytes_by_number_items == NULL)
    return false;
  for (size_t i = 0; i < to->bytes_by_number_count; i++) {
    const V1beta2__Everything__BytesByNumberEntry *entry = bytes_by_number_sorted[i];
    bytes_by_number_items[i].key = entry->key;
    bytes_by_number_items[i].value = csi_bytes_from_wire(entry->value);
  }
  to->bytes_by_number = bytes_by_number_items;
  const void **colours_by_flag_sorted;
  if (!csi_convert_map(arena, status, (const void *const *)from->colours_by_flag, from->n_colours_by_flag,
                       compare_everything_colours_by_flag, &colours_by_flag_sorted,
                       &to->colours_by_flag_count))
    return false;
  struct csi_thing_everything_colours_by_flag_entry *colours_by_flag_items =
      csi_convert_array(arena, status, to->colours_by_flag_count, sizeof *colours_by_flag_items);
  if (colours_by_flag_items == NULL)
    return false;
  for (size_t i = 0; i < to->colours_by_flag_count; i++) {
    const V1beta2__Everything__ColoursByFlagEntry *entry = colours_by_flag_sorted[i];
    colours_by_flag_items[i].key = entry->key != 0;
    colours_by_flag_items[i].value = (enum csi_thing_colour)entry->value;
  }
  to->colours_by_flag = colours_by_flag_items;
  to->disk_ids_count = from->n_diskids;
  to->disk_ids = (const char *const *)from->diskids;
  return true;
}

bool csi_thing_v1beta2_everything_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_everything *from, V1beta2__Everything *to) {
  to->a_double = from->a_double;
  to->a_float = from->a_float;
  to->an_int64 = from->an_int64;
  to->a_uint64 = from->a_uint64;
  to->an_int32 = from->an_int32;
  to->a_fixed64 = from->a_fixed64;
  to->a_fixed32 = from->a_fixed32;
  to->a_bool = from->a_bool;
  to->a_string = csi_text_to_wire(from->a_string);
  if (from->a_message != NULL) {
    V1beta2__Leaf *a_message_item = csi_convert_array(arena, status, 1, sizeof *a_message_item);
    if (a_message_item == NULL)
      return false;
    v1beta2__leaf__init(a_message_item);
    if (!csi_thing_v1beta2_leaf_to_wire(arena, status, from->a_message, a_message_item))
      return false;
    to->a_message = a_message_item;
  }
  to->some_bytes = csi_bytes_to_wire(from->some_bytes);
  to->a_uint32 = from->a_uint32;
  to->an_enum = (V1beta2__Colour)from->an_enum;
  to->an_sfixed32 = from->an_sfixed32;
  to->an_sfixed64 = from->an_sfixed64;
  to->an_sint32 = from->an_sint32;
  to->an_sint64 = from->an_sint64;
  to->n_numbers = from->numbers_count;
  to->numbers = (int64_t *)from->numbers;
  to->n_flags = from->flags_count;
  protobuf_c_boolean *flags_items =
      csi_convert_array(arena, status, from->flags_count, sizeof *flags_items);
  if (flags_items == NULL)
    return false;
  for (size_t i = 0; i < from->flags_count; i++) {
    flags_items[i] = from->flags[i];
  }
  to->flags = flags_items;
  to->n_texts = from->texts_count;
  char **texts_items =
      csi_convert_array(arena, status, from->texts_count, sizeof *texts_items);
  if (texts_items == NULL)
    return false;
  for (size_t i = 0; i < from->texts_count; i++) {
    texts_items[i] = csi_text_to_wire(from->texts[i]);
  }
  to->texts = texts_items;
  to->n_blobs = from->blobs_count;
  ProtobufCBinaryData *blobs_items =
      csi_convert_array(arena, status, from->blobs_count, sizeof *blobs_items);
  if (blobs_items == NULL)
    return false;
  for (size_t i = 0; i < from->blobs_count; i++) {
    blobs_items[i] = csi_bytes_to_wire(from->blobs[i]);
  }
  to->blobs = blobs_items;
  to->n_colours = from->colours_count;
  V1beta2__Colour *colours_items =
      csi_convert_array(arena, status, from->colours_count, sizeof *colours_items);
  if (colours_items == NULL)
    return false;
  for (size_t i = 0; i < from->colours_count; i++) {
    colours_items[i] = (V1beta2__Colour)from->colours[i];
  }
  to->colours = colours_items;
  to->n_leaves = from->leaves_count;
  V1beta2__Leaf **leaves_items =
      csi_convert_array(arena, status, from->leaves_count, sizeof *leaves_items);
  if (leaves_items == NULL)
    return false;
  for (size_t i = 0; i < from->leaves_count; i++) {
    V1beta2__Leaf *item = csi_convert_array(arena, status, 1, sizeof *item);
    if (item == NULL)
      return false;
    v1beta2__leaf__init(item);
    if (!csi_thing_v1beta2_leaf_to_wire(arena, status, &from->leaves[i], item))
      return false;
    leaves_items[i] = item;
  }
  to->leaves = leaves_items;
  to->n_texts_by_text = from->texts_by_text_count;
  V1beta2__Everything__TextsByTextEntry **texts_by_text_items =
      csi_convert_array(arena, status, from->texts_by_text_count, sizeof *texts_by_text_items);
  if (texts_by_text_items == NULL)
    return false;
  for (size_t i = 0; i < from->texts_by_text_count; i++) {
    V1beta2__Everything__TextsByTextEntry *entry = csi_convert_array(arena, status, 1, sizeof *entry);
    if (entry == NULL)
      return false;
    v1beta2__everything__texts_by_text_entry__init(entry);
    entry->key = csi_text_to_wire(from->texts_by_text[i].key);
    entry->value = csi_text_to_wire(from->texts_by_text[i].value);
    texts_by_text_items[i] = entry;
  }
  to->texts_by_text = texts_by_text_items;
  to->n_leaves_by_number = from->leaves_by_number_count;
  V1beta2__Everything__LeavesByNumberEntry **leaves_by_number_items =
      csi_convert_array(arena, status, from->leaves_by_number_count, sizeof *leaves_by_number_items);
  if (leaves_by_number_items == NULL)
    return false;
  for (size_t i = 0; i < from->leaves_by_number_count; i++) {
    V1beta2__Everything__LeavesByNumberEntry *entry = csi_convert_array(arena, status, 1, sizeof *entry);
    if (entry == NULL)
      return false;
    v1beta2__everything__leaves_by_number_entry__init(entry);
    entry->key = from->leaves_by_number[i].key;
    V1beta2__Leaf *value = csi_convert_array(arena, status, 1, sizeof *value);
    if (value == NULL)
      return false;
    v1beta2__leaf__init(value);
    if (!csi_thing_v1beta2_leaf_to_wire(arena, status, &from->leaves_by_number[i].value, value))
      return false;
    entry->value = value;
    leaves_by_number_items[i] = entry;
  }
  to->leaves_by_number = leaves_by_number_items;
  to->n_bytes_by_number = from->bytes_by_number_count;
  V1beta2__Everything__BytesByNumberEntry **bytes_by_number_items =
      csi_convert_array(arena, status, from->bytes_by_number_count, sizeof *bytes_by_number_items);
  if (bytes_by_number_items == NULL)
    return false;
  for (size_t i = 0; i < from->bytes_by_number_count; i++) {
    V1beta2__Everything__BytesByNumberEntry *entry = csi_convert_array(arena, status, 1, sizeof *entry);
    if (entry == NULL)
      return false;
    v1beta2__everything__bytes_by_number_entry__init(entry);
    entry->key = from->bytes_by_number[i].key;
    entry->value = csi_bytes_to_wire(from->bytes_by_number[i].value);
    bytes_by_number_items[i] = entry;
  }
  to->bytes_by_number = bytes_by_number_items;
  to->n_colours_by_flag = from->colours_by_flag_count;
  V1beta2__Everything__ColoursByFlagEntry **colours_by_flag_items =
      csi_convert_array(arena, status, from->colours_by_flag_count, sizeof *colours_by_flag_items);
  if (colours_by_flag_items == NULL)
    return false;
  for (size_t i = 0; i < from->colours_by_flag_count; i++) {
    V1beta2__Everything__ColoursByFlagEntry *entry = csi_convert_array(arena, status, 1, sizeof *entry);
    if (entry == NULL)
      return false;
    v1beta2__everything__colours_by_flag_entry__init(entry);
    entry->key = from->colours_by_flag[i].key;
    entry->value = (V1beta2__Colour)from->colours_by_flag[i].value;
    colours_by_flag_items[i] = entry;
  }
  to->colours_by_flag = colours_by_flag_items;
  to->n_diskids = from->disk_ids_count;
  char **disk_ids_items =
      csi_convert_array(arena, status, from->disk_ids_count, sizeof *disk_ids_items);
  if (disk_ids_items == NULL)
    return false;
  for (size_t i = 0; i < from->disk_ids_count; i++) {
    disk_ids_items[i] = csi_text_to_wire(from->disk_ids[i]);
  }
  to->diskids = disk_ids_items;
  return true;
}

bool csi_thing_v1beta2_leaf_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1beta2__Leaf *from, struct csi_thing_leaf *to) {
  (void)arena;
  (void)status;
  to->text = from->text;
  return true;
}

bool csi_thing_v1beta2_leaf_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_leaf *from, V1beta2__Leaf *to) {
  (void)arena;
  (void)status;
  to->text = csi_text_to_wire(from->text);
  return true;
}

