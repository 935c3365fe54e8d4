/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/request_object.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/little_endian.h"
#include "base/text.h"
#include "rpc/wire_reader.h"

static const char cannot_be_shown[] = "(request cannot be shown)";
static const char blank[] = "***";
static const char ellipsis[] = "\xe2\x80\xa6";

/* The text so far. What does not fit sets `full`, and nothing is added any more. */
struct text {
  char bytes[CSI_REQUEST_OBJECT_BYTES];
  size_t length;
  bool full;
};

struct context {
  struct text text;
  const char *const *secret_fields;
};

enum {
  ROOM_BYTES = CSI_REQUEST_OBJECT_BYTES - sizeof ellipsis, /* the ellipsis always fits behind */
};

static bool is_full(const struct context *context) {
  return context->text.full;
}

static void put_bytes(struct context *context, const char *bytes, size_t length) {
  struct text *text = &context->text;
  if (text->full) return;
  const size_t kept = csi_utf8_cut(bytes, length, ROOM_BYTES - text->length);
  memcpy(text->bytes + text->length, bytes, kept);
  text->length += kept;
  text->full = kept < length;
}

static void put(struct context *context, const char *words) {
  put_bytes(context, words, strlen(words));
}

/* ---- Values ---- */

static bool is_secret(const struct context *context, const ProtobufCMessageDescriptor *message,
                      const ProtobufCFieldDescriptor *field) {
  const size_t prefix = strlen(message->name);
  if (!context->secret_fields) return false;
  for (const char *const *name = context->secret_fields; *name; name++)
    if (strncmp(*name, message->name, prefix) == 0 && (*name)[prefix] == '.' &&
        strcmp(*name + prefix + 1, field->name) == 0)
      return true;
  return false;
}

static enum csi_wire_type wire_type_of(const ProtobufCFieldDescriptor *field) {
  switch (field->type) {
  case PROTOBUF_C_TYPE_SFIXED32:
  case PROTOBUF_C_TYPE_FIXED32:
  case PROTOBUF_C_TYPE_FLOAT:
    return CSI_WIRE_TYPE_32BIT;
  case PROTOBUF_C_TYPE_SFIXED64:
  case PROTOBUF_C_TYPE_FIXED64:
  case PROTOBUF_C_TYPE_DOUBLE:
    return CSI_WIRE_TYPE_64BIT;
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_BYTES:
  case PROTOBUF_C_TYPE_MESSAGE:
    return CSI_WIRE_TYPE_LENGTH;
  default:
    return CSI_WIRE_TYPE_VARINT;
  }
}

/* For values that csi_wire_next() or csi_wire_skip_varint() has passed. */
static uint64_t read_number(enum csi_wire_type type, const uint8_t *bytes) {
  if (type == CSI_WIRE_TYPE_32BIT) return csi_get_u32(bytes);
  if (type == CSI_WIRE_TYPE_64BIT) return csi_get_u64(bytes);
  uint64_t number = 0;
  for (unsigned shift = 0; shift < 70; shift += 7, bytes++) {
    if (shift < 64) number |= (uint64_t)(*bytes & 0x7f) << shift;
    if (*bytes < 0x80) break;
  }
  return number;
}

static int64_t unzigzag(uint64_t number) {
  return (int64_t)(number >> 1 ^ (~(number & 1) + 1));
}

static void print_enum(char *out, size_t out_bytes, const ProtobufCFieldDescriptor *field, int32_t number) {
  const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(field->descriptor, number);
  if (value)
    (void)snprintf(out, out_bytes, "%s", value->name);
  else
    (void)snprintf(out, out_bytes, "%" PRId32, number);
}

static void print_floating(char *out, size_t out_bytes, bool is_float, uint64_t bits) {
  double number;
  float short_number;
  const uint32_t short_bits = (uint32_t)bits;
  memcpy(&number, &bits, sizeof number);
  memcpy(&short_number, &short_bits, sizeof short_number);
  (void)snprintf(out, out_bytes, "%.9g", is_float ? (double)short_number : number);
}

static void put_number(struct context *context, const ProtobufCFieldDescriptor *field, uint64_t number) {
  char out[96];
  switch (field->type) {
  case PROTOBUF_C_TYPE_BOOL:
    (void)snprintf(out, sizeof out, "%s", number ? "true" : "false");
    break;
  case PROTOBUF_C_TYPE_ENUM:
    print_enum(out, sizeof out, field, (int32_t)number);
    break;
  case PROTOBUF_C_TYPE_UINT32:
  case PROTOBUF_C_TYPE_FIXED32:
    (void)snprintf(out, sizeof out, "%" PRIu32, (uint32_t)number);
    break;
  case PROTOBUF_C_TYPE_UINT64:
  case PROTOBUF_C_TYPE_FIXED64:
    (void)snprintf(out, sizeof out, "%" PRIu64, number);
    break;
  case PROTOBUF_C_TYPE_SINT32:
  case PROTOBUF_C_TYPE_SINT64:
    (void)snprintf(out, sizeof out, "%" PRId64, unzigzag(number));
    break;
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_SFIXED64:
    (void)snprintf(out, sizeof out, "%" PRId64, (int64_t)number);
    break;
  case PROTOBUF_C_TYPE_FLOAT:
  case PROTOBUF_C_TYPE_DOUBLE:
    print_floating(out, sizeof out, field->type == PROTOBUF_C_TYPE_FLOAT, number);
    break;
  default:
    (void)snprintf(out, sizeof out, "%" PRId32, (int32_t)number);
    break;
  }
  put(context, out);
}

static void put_string(struct context *context, const struct csi_wire_item *item) {
  char quoted[CSI_REQUEST_OBJECT_STRING_BYTES];
  const bool whole =
      csi_text_quote_bytes(quoted, sizeof quoted, (const char *)item->bytes, item->length) == item->length;
  put(context, quoted);
  if (!whole) put(context, ellipsis);
}

static bool put_message(struct context *context, const ProtobufCMessageDescriptor *message,
                        const uint8_t *bytes, size_t length, unsigned depth);

/* What stands in braces behind a field's name. */
static bool put_submessage(struct context *context, const ProtobufCFieldDescriptor *field,
                           const struct csi_wire_item *item, unsigned depth) {
  put(context, "{");
  bool ok = true;
  if (depth < CSI_REQUEST_OBJECT_DEPTH)
    ok = put_message(context, field->descriptor, item->bytes, item->length, depth + 1);
  else if (item->length > 0)
    put(context, "...");
  put(context, "}");
  return ok;
}

static bool put_value(struct context *context, const ProtobufCFieldDescriptor *field,
                      const struct csi_wire_item *item, unsigned depth) {
  char out[32];
  switch (field->type) {
  case PROTOBUF_C_TYPE_MESSAGE:
    return put_submessage(context, field, item, depth);
  case PROTOBUF_C_TYPE_STRING:
    put_string(context, item);
    return true;
  case PROTOBUF_C_TYPE_BYTES:
    (void)snprintf(out, sizeof out, "(%zu bytes)", item->length);
    put(context, out);
    return true;
  default:
    put_number(context, field, read_number(item->type, item->bytes));
    return true;
  }
}

/* ---- Fields ---- */

static bool is_packed(const ProtobufCFieldDescriptor *field, const struct csi_wire_item *item) {
  return field->label == PROTOBUF_C_LABEL_REPEATED && item->type == CSI_WIRE_TYPE_LENGTH &&
         wire_type_of(field) != CSI_WIRE_TYPE_LENGTH;
}

/* Takes one number from a packed list. */
static bool next_packed(const ProtobufCFieldDescriptor *field, struct csi_wire_reader *reader,
                        struct csi_wire_item *item_out) {
  item_out->type = wire_type_of(field);
  item_out->bytes = reader->at;
  if (item_out->type == CSI_WIRE_TYPE_VARINT) return !csi_wire_skip_varint(reader);
  const size_t size = item_out->type == CSI_WIRE_TYPE_32BIT ? 4 : 8;
  if ((size_t)(reader->end - reader->at) < size) return false;
  reader->at += size;
  return true;
}

/* The values of one repeated field while it is shown. */
struct list {
  const ProtobufCFieldDescriptor *field;
  size_t count;
  unsigned depth;
};

static bool put_list_item(struct context *context, struct list *list, const struct csi_wire_item *item) {
  list->count++;
  if (list->count > CSI_REQUEST_OBJECT_ITEMS || is_full(context)) return true;
  if (list->count > 1) put(context, ",");
  return put_value(context, list->field, item, list->depth);
}

static bool put_list_part(struct context *context, struct list *list, const struct csi_wire_item *item) {
  if (!is_packed(list->field, item)) return put_list_item(context, list, item);
  struct csi_wire_reader reader = {item->bytes, item->bytes + item->length};
  struct csi_wire_item number;
  while (reader.at != reader.end)
    if (!next_packed(list->field, &reader, &number) || !put_list_item(context, list, &number)) return false;
  return true;
}

static bool put_list(struct context *context, const ProtobufCFieldDescriptor *field,
                     struct csi_wire_reader reader, unsigned depth) {
  struct list list = {.field = field, .depth = depth};
  struct csi_wire_item item;
  put(context, "[");
  while (reader.at != reader.end) {
    if (csi_wire_next(&reader, &item)) return false;
    if (item.number == field->id && !put_list_part(context, &list, &item)) return false;
  }
  if (list.count > CSI_REQUEST_OBJECT_ITEMS) {
    char rest[48];
    (void)snprintf(rest, sizeof rest, ",%s %zu more", ellipsis, list.count - CSI_REQUEST_OBJECT_ITEMS);
    put(context, rest);
  }
  put(context, "]");
  return true;
}

/* A message is no default, even an empty one; of a list nobody asks. */
static bool is_default(const ProtobufCFieldDescriptor *field, const struct csi_wire_item *item) {
  if (field->type == PROTOBUF_C_TYPE_MESSAGE) return false;
  if (item->type == CSI_WIRE_TYPE_LENGTH) return item->length == 0;
  return read_number(item->type, item->bytes) == 0;
}

/* Numbers of the request itself are always shown: 0 and false, which nobody sends, say as much as others. */
static bool is_always_shown(const ProtobufCFieldDescriptor *field, unsigned depth) {
  return depth == 1 && field->label == PROTOBUF_C_LABEL_NONE &&
         (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0 && wire_type_of(field) != CSI_WIRE_TYPE_LENGTH;
}

/* Finds the last occurrence of the field. False when the message is malformed, or the field has another wire
 * type than its own; *found_out is false when there is none. */
static bool find_last(const ProtobufCFieldDescriptor *field, struct csi_wire_reader reader, bool *found_out,
                      struct csi_wire_item *last_out) {
  struct csi_wire_item item;
  *found_out = false;
  while (reader.at != reader.end) {
    if (csi_wire_next(&reader, &item)) return false;
    if (item.number != field->id) continue;
    if (item.type != wire_type_of(field) && !is_packed(field, &item)) return false;
    *last_out = item;
    *found_out = true;
  }
  return true;
}

static bool put_field(struct context *context, const ProtobufCMessageDescriptor *message,
                      const ProtobufCFieldDescriptor *field, struct csi_wire_reader reader, unsigned depth) {
  const bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
  const bool always = is_always_shown(field, depth);
  static const uint8_t zero[sizeof(uint64_t)];
  struct csi_wire_item item;
  bool found;
  if (!find_last(field, reader, &found, &item)) return false;
  if (!found) item = (struct csi_wire_item){.type = wire_type_of(field), .bytes = zero};
  if (!always && (!found || (!repeated && is_default(field, &item)))) return true;
  const size_t length = context->text.length;
  if (length > 0 && context->text.bytes[length - 1] != '{') put(context, " ");
  put(context, field->name);
  if (repeated || field->type != PROTOBUF_C_TYPE_MESSAGE || is_secret(context, message, field))
    put(context, "=");
  if (is_secret(context, message, field)) {
    put(context, blank);
    return true;
  }
  return repeated ? put_list(context, field, reader, depth) : put_value(context, field, &item, depth);
}

/* Every field is looked at, also when the text is full: a message is shown whole or not at all when it is
 * malformed further behind. */
static bool put_message(struct context *context, const ProtobufCMessageDescriptor *message,
                        const uint8_t *bytes, size_t length, unsigned depth) {
  const struct csi_wire_reader reader = {bytes, bytes + length};
  for (unsigned i = 0; i < message->n_fields; i++)
    if (!put_field(context, message, &message->fields[i], reader, depth)) return false;
  return true;
}

/* The last thing that is seen of a request which would not be read. */
static bool is_well_formed(const uint8_t *bytes, size_t length) {
  struct csi_wire_reader reader = {bytes, bytes + length};
  struct csi_wire_item item;
  while (reader.at != reader.end)
    if (csi_wire_next(&reader, &item)) return false;
  return true;
}

static const char *copy_out(struct csi_arena *arena, struct context *context) {
  if (is_full(context)) {
    memcpy(context->text.bytes + context->text.length, ellipsis, sizeof ellipsis - 1);
    context->text.length += sizeof ellipsis - 1;
  }
  const char *copy = csi_arena_strndup(arena, context->text.bytes, context->text.length);
  return copy ? copy : cannot_be_shown;
}

const char *csi_request_object(struct csi_arena *arena, const ProtobufCMessageDescriptor *message,
                               const char *const *secret_fields, const uint8_t *bytes, size_t length) {
  struct context context;
  context.text.length = 0;
  context.text.full = false;
  context.secret_fields = secret_fields;
  if (length > CSI_REQUEST_OBJECT_INPUT_BYTES) {
    const char *text = csi_arena_printf(arena, "(request of %zu bytes is not shown)", length);
    return text ? text : cannot_be_shown;
  }
  static const uint8_t none[1];
  if (!bytes) bytes = none; /* an empty one */
  if (!is_well_formed(bytes, length) || !put_message(&context, message, bytes, length, 1))
    return cannot_be_shown;
  return copy_out(arena, &context);
}
