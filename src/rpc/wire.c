/* SPDX-License-Identifier: Apache-2.0
 *
 * A known field in another wire type than its own is refused, although protobuf lets a decoder take it
 * for an unknown one: protobuf-c fails on it, and a caller whose schema differs is better told so than
 * served with half of its request.
 *
 * A message field given twice would have to be merged. protobuf-c loses fields in doing so, and the
 * limits of the parts would not bound the whole: it is refused.
 */
#include "rpc/wire.h"

#include <string.h>

#include "base/text.h"
#include "rpc/wire_reader.h"

static bool undecodable(struct csi_status *status, const struct csi_wire_message *message,
                        const char *problem) {
  return csi_fail(status, CSI_INTERNAL, "grpc: error unmarshalling request: %s: %s", message->name, problem);
}

static bool field_undecodable(struct csi_status *status, const struct csi_wire_message *message,
                              const struct csi_wire_field *field, const char *problem) {
  return csi_fail(status, CSI_INTERNAL, "grpc: error unmarshalling request: %s.%s: %s", message->name,
                  field->name, problem);
}

static const struct csi_wire_field *find_field(const struct csi_wire_message *message, uint32_t number) {
  for (uint16_t i = 0; i < message->field_count && message->fields[i].number <= number; i++)
    if (message->fields[i].number == number) return &message->fields[i];
  return NULL;
}

static enum csi_wire_type wire_type_of(enum csi_wire_kind kind) {
  switch (kind) {
  case CSI_WIRE_VARINT:
    return CSI_WIRE_TYPE_VARINT;
  case CSI_WIRE_FIXED32:
    return CSI_WIRE_TYPE_32BIT;
  case CSI_WIRE_FIXED64:
    return CSI_WIRE_TYPE_64BIT;
  default:
    return CSI_WIRE_TYPE_LENGTH;
  }
}

/* A repeated number may come one by one or packed, whatever the proto says. */
static bool is_packed(const struct csi_wire_field *field, const struct csi_wire_item *item) {
  return field->repeated && item->type == CSI_WIRE_TYPE_LENGTH &&
         wire_type_of(field->kind) != CSI_WIRE_TYPE_LENGTH;
}

/* protobuf-c wants packed bools in one byte each. The table does not tell bools from numbers, so longer
 * ones pass here and fail there; no API has such a list. */
static const char *check_packed(const struct csi_wire_field *field, const struct csi_wire_item *item) {
  if (field->kind == CSI_WIRE_FIXED32) return item->length % 4 == 0 ? NULL : "truncated in a packed list";
  if (field->kind == CSI_WIRE_FIXED64) return item->length % 8 == 0 ? NULL : "truncated in a packed list";
  struct csi_wire_reader reader = {item->bytes, item->bytes + item->length};
  const char *problem = NULL;
  while (!problem && reader.at != reader.end)
    problem = csi_wire_skip_varint(&reader);
  return problem;
}

static size_t count_packed(const struct csi_wire_field *field, const struct csi_wire_item *item) {
  if (field->kind == CSI_WIRE_FIXED32) return item->length / 4;
  if (field->kind == CSI_WIRE_FIXED64) return item->length / 8;
  size_t count = 0;
  for (size_t i = 0; i < item->length; i++)
    count += item->bytes[i] < 0x80;
  return count;
}

static bool check_length(const struct csi_wire_message *message, const struct csi_wire_field *field,
                         const struct csi_wire_item *item, struct csi_status *status) {
  if (field->max_bytes == 0 || item->length <= field->max_bytes) return true;
  return csi_fail(status, CSI_INVALID_ARGUMENT, "%s.%s is longer than %u bytes", message->name, field->name,
                  (unsigned)field->max_bytes);
}

static bool check_string(const struct csi_wire_message *message, const struct csi_wire_field *field,
                         const struct csi_wire_item *item, struct csi_status *status) {
  if (!csi_utf8_is_valid((const char *)item->bytes, item->length))
    return field_undecodable(status, message, field, "string contains invalid UTF-8");
  if (item->length > 0 && memchr(item->bytes, 0, item->length))
    return csi_fail(status, CSI_INVALID_ARGUMENT, "%s.%s contains a NUL character", message->name,
                    field->name);
  return check_length(message, field, item, status);
}

static bool check_message(const struct csi_wire_message *message, const uint8_t *bytes, size_t length,
                          unsigned depth, struct csi_status *status);

static bool check_field(const struct csi_wire_message *message, const struct csi_wire_field *field,
                        const struct csi_wire_item *item, unsigned depth, struct csi_status *status) {
  if (is_packed(field, item)) {
    const char *problem = check_packed(field, item);
    return problem ? field_undecodable(status, message, field, problem) : true;
  }
  if (item->type != wire_type_of(field->kind))
    return field_undecodable(status, message, field, "wire type does not fit the field");
  switch (field->kind) {
  case CSI_WIRE_STRING:
    return check_string(message, field, item, status);
  case CSI_WIRE_BYTES:
    return check_length(message, field, item, status);
  case CSI_WIRE_MESSAGE:
    return check_message(field->message, item->bytes, item->length, depth + 1, status);
  default:
    return true;
  }
}

/* Only for bytes that were found well-formed. */
static size_t count_elements(const struct csi_wire_field *field, const uint8_t *bytes, size_t length) {
  struct csi_wire_reader reader = {bytes, bytes + length};
  struct csi_wire_item item;
  size_t count = 0;
  while (reader.at != reader.end && !csi_wire_next(&reader, &item))
    if (item.number == field->number) count += is_packed(field, &item) ? count_packed(field, &item) : 1;
  return count;
}

/* A second walk for each field that has such a limit, so that no counters have to be kept: few have. */
static bool check_counts(const struct csi_wire_message *message, const uint8_t *bytes, size_t length,
                         struct csi_status *status) {
  for (uint16_t i = 0; i < message->field_count; i++) {
    const struct csi_wire_field *field = &message->fields[i];
    if (field->repeated && field->max_count > 0 && count_elements(field, bytes, length) > field->max_count)
      return csi_fail(status, CSI_INVALID_ARGUMENT, "%s.%s has more than %u elements", message->name,
                      field->name, (unsigned)field->max_count);
    if (!field->repeated && field->kind == CSI_WIRE_MESSAGE && count_elements(field, bytes, length) > 1)
      return csi_fail(status, CSI_INVALID_ARGUMENT, "%s.%s is given more than once", message->name,
                      field->name);
  }
  return true;
}

static bool check_message(const struct csi_wire_message *message, const uint8_t *bytes, size_t length,
                          unsigned depth, struct csi_status *status) {
  if (depth > CSI_WIRE_MAX_DEPTH) return undecodable(status, message, "nested too deeply");
  struct csi_wire_reader reader = {bytes, bytes + length};
  while (reader.at != reader.end) {
    struct csi_wire_item item;
    const char *problem = csi_wire_next(&reader, &item);
    if (problem) return undecodable(status, message, problem);
    const struct csi_wire_field *field = find_field(message, item.number);
    if (field && !check_field(message, field, &item, depth, status)) return false;
  }
  return check_counts(message, bytes, length, status);
}

bool csi_wire_check(const struct csi_wire_message *message, const uint8_t *bytes, size_t length,
                    struct csi_status *status) {
  static const uint8_t none;
  return check_message(message, length > 0 ? bytes : &none, length, 1, status);
}
