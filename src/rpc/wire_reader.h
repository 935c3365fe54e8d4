/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks the fields of an encoded protobuf message. Knows the encoding only, no schema. Accepts only
 * what protobuf-c scans as well, so that what passes here fails there for want of memory only.
 */
#ifndef CSI_RPC_WIRE_READER_H
#define CSI_RPC_WIRE_READER_H

#include <stddef.h>
#include <stdint.h>

enum csi_wire_type {
  CSI_WIRE_TYPE_VARINT = 0,
  CSI_WIRE_TYPE_64BIT = 1,
  CSI_WIRE_TYPE_LENGTH = 2,
  CSI_WIRE_TYPE_32BIT = 5,
};

enum {
  CSI_WIRE_MAX_DEPTH = 32, /* messages within messages, the outermost counted */
};

struct csi_wire_reader {
  const uint8_t *at;
  const uint8_t *end;
};

struct csi_wire_item {
  uint32_t number; /* 1 to 2^29 - 1 */
  enum csi_wire_type type;
  const uint8_t *bytes; /* the value; for CSI_WIRE_TYPE_LENGTH what follows the length */
  size_t length;
};

/* Reads the next field. Call it only while at != end. NULL, or what is wrong, as a literal for an error
 * text; the reader is of no use then. */
const char *csi_wire_next(struct csi_wire_reader *reader, struct csi_wire_item *item_out);

/* Skips one varint of at most 64 bits. NULL or what is wrong. */
const char *csi_wire_skip_varint(struct csi_wire_reader *reader);

#endif
