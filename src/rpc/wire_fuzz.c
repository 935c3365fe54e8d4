/* SPDX-License-Identifier: Apache-2.0
 *
 * Property: whatever csi_wire_check() accepts, protobuf-c decodes, and what protobuf-c encodes from it is
 * accepted again.
 */
#include <stdlib.h>

#include "rpc/wire.h"
#include "rpc/wire_probe.h"
#include "rpc/wire_probe.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds) {
  if (!holds) abort();
}

static void encode_and_check(const CsiTest__Probe *probe) {
  const size_t length = csi_test__probe__get_packed_size(probe);
  uint8_t *bytes = malloc(length > 0 ? length : 1);
  expect(bytes);
  expect(csi_test__probe__pack(probe, bytes) == length);
  struct csi_status status;
  csi_status_clear(&status);
  expect(csi_wire_check(&probe_wire, bytes, length, &status));
  free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_status status;
  csi_status_clear(&status);
  if (!csi_wire_check(&probe_wire, data, size, &status)) {
    expect(status.code == CSI_INTERNAL || status.code == CSI_INVALID_ARGUMENT);
    return 0;
  }
  CsiTest__Probe *probe = csi_test__probe__unpack(NULL, size, data);
  expect(probe);
  encode_and_check(probe);
  csi_test__probe__free_unpacked(probe, NULL);
  return 0;
}
