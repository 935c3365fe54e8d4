/* SPDX-License-Identifier: Apache-2.0
 *
 * Any sectors, at the beginning of a disk and at its end: nothing is read outside of them.
 */
#include <stdint.h>
#include <stdlib.h>

#include "disk/table_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t disk_bytes = UINT64_C(1) << 30;
  struct csi_piece piece = {.bytes = data, .size_bytes = size};
  bool used = csi_table_is_at_begin(&piece, disk_bytes);
  if (used && size < 512) abort();
  if (csi_table_is_at_begin(&(struct csi_piece){.bytes = data}, disk_bytes)) abort();
  if (size > disk_bytes) return 0;
  piece.offset_bytes = disk_bytes - size;
  used = csi_table_is_at_end(&piece, disk_bytes);
  if (used && size < 512) abort();
  return 0;
}
