/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks an encoded protobuf message before anything is allocated for it: well-formed, valid UTF-8,
 * no NUL in strings, within the limits that the proto annotations state. Pure; fuzzed.
 */
#ifndef CSI_RPC_WIRE_H
#define CSI_RPC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum csi_wire_kind {
  CSI_WIRE_VARINT,  /* int32, int64, uint32, uint64, bool, enum */
  CSI_WIRE_FIXED32, /* fixed32, float */
  CSI_WIRE_FIXED64, /* fixed64, double */
  CSI_WIRE_STRING,
  CSI_WIRE_BYTES,
  CSI_WIRE_MESSAGE, /* also the entries of a map */
};

struct csi_wire_message;

struct csi_wire_field {
  uint32_t number;
  enum csi_wire_kind kind;
  bool repeated;
  uint32_t max_bytes;                     /* strings and bytes; 0 where it does not apply */
  uint32_t max_count;                     /* repeated fields and maps; 0 where it does not apply */
  const struct csi_wire_message *message; /* CSI_WIRE_MESSAGE only */
  const char *name;
};

/* Generated, one per message; fields in ascending order of number. */
struct csi_wire_message {
  const char *name; /* "v1.PathExistsRequest" */
  const struct csi_wire_field *fields;
  uint16_t field_count;
};

/* False: INTERNAL "grpc: error unmarshalling request: ..." for what is no valid encoding,
 * INVALID_ARGUMENT for what is valid but over a limit or holds a NUL. */
bool csi_wire_check(const struct csi_wire_message *message, const uint8_t *bytes, size_t length,
                    struct csi_status *status);

#endif
