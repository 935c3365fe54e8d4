/* SPDX-License-Identifier: Apache-2.0
 *
 * Any table of any firmware: reading stays inside it and ends, and what comes out is UTF-8.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "system/smbios.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_arena *arena = csi_arena_new(1 << 20);
  if (arena == NULL) return 0;
  struct csi_status status = {.code = CSI_OK};
  const struct csi_bytes table = {.data = data, .size_bytes = size};
  const char *serial = NULL;
  if (csi_smbios_get_serial_number(arena, &table, &serial, &status) != csi_status_ok(&status)) abort();
  if (csi_status_ok(&status) && !csi_utf8_is_valid(serial, strlen(serial))) abort();
  csi_arena_free(arena);
  return 0;
}
