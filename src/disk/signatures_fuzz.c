/* SPDX-License-Identifier: Apache-2.0
 *
 * Any sectors: nothing is read behind them, and only zeros are empty.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "disk/signatures.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_contents contents = csi_contents_recognise(data, size);
  size_t zeros = 0;
  while (zeros < size && data[zeros] == 0)
    zeros++;
  require(contents.is_empty == (zeros == size));
  require(contents.is_empty ? contents.name == NULL : contents.offset_bytes < size);
  require(!contents.is_table || contents.name != NULL);
  contents = csi_contents_recognise_end(data, size);
  require(contents.is_empty == (contents.name == NULL));
  require(contents.is_empty || contents.offset_bytes < size);
  return 0;
}
