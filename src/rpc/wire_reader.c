/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/wire_reader.h"

#include <limits.h>

/* Tags and lengths have 32 bits. protobuf allows them to be padded to ten bytes; no encoder does, and
 * protobuf-c stops at five. */
static const char *read_varint32(struct csi_wire_reader *reader, uint32_t *value_out) {
  uint32_t value = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    if (reader->at == reader->end) return "truncated in a tag or length";
    const uint8_t byte = *reader->at++;
    if (shift == 28 && byte > 0x0f) break;
    value |= (uint32_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value_out = value;
      return NULL;
    }
  }
  return "tag or length out of range";
}

const char *csi_wire_skip_varint(struct csi_wire_reader *reader) {
  for (unsigned count = 1; count <= 10; count++) {
    if (reader->at == reader->end) return "truncated in a number";
    const uint8_t byte = *reader->at++;
    if (count == 10 && byte > 1) break;
    if (byte < 0x80) return NULL;
  }
  return "number out of range";
}

static const char *skip_bytes(struct csi_wire_reader *reader, size_t length) {
  if (length > (size_t)(reader->end - reader->at)) return "truncated in a value";
  reader->at += length;
  return NULL;
}

static const char *skip_value(struct csi_wire_reader *reader, uint32_t type, const uint8_t **value_out) {
  uint32_t length = 0;
  const char *problem = NULL;
  *value_out = reader->at;
  switch (type) {
  case CSI_WIRE_TYPE_VARINT:
    return csi_wire_skip_varint(reader);
  case CSI_WIRE_TYPE_64BIT:
    return skip_bytes(reader, 8);
  case CSI_WIRE_TYPE_32BIT:
    return skip_bytes(reader, 4);
  case CSI_WIRE_TYPE_LENGTH:
    problem = read_varint32(reader, &length);
    if (problem) return problem;
    *value_out = reader->at;
    return length > INT_MAX ? "length out of range" : skip_bytes(reader, length);
  default:
    /* Groups belong to proto2, and protobuf-c cannot skip them. */
    return "unknown wire type or group";
  }
}

const char *csi_wire_next(struct csi_wire_reader *reader, struct csi_wire_item *item_out) {
  uint32_t tag = 0;
  const char *problem = read_varint32(reader, &tag);
  if (problem) return problem;
  item_out->number = tag >> 3;
  if (item_out->number == 0) return "field number 0";
  problem = skip_value(reader, tag & 7, &item_out->bytes);
  if (problem) return problem;
  item_out->type = (enum csi_wire_type)(tag & 7);
  item_out->length = (size_t)(reader->at - item_out->bytes);
  return NULL;
}
