/* SPDX-License-Identifier: Apache-2.0
 *
 * Any descriptor: reading stays inside it, ends, and gives text that protobuf can carry and no driver
 * stumbles over.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "disk/identity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_arena *arena = csi_arena_new(1 << 20);
  require(arena != NULL);
  const char *page83 = csi_page83_choose(arena, data, size);
  require(page83 != NULL && csi_utf8_is_valid(page83, strlen(page83)));
  require(page83[0] == '\0' || page83[strspn(page83, " \t\r\n\v\f")] != '\0');
  const char *serial = csi_serial_number(arena, data, size);
  require(serial != NULL && csi_utf8_is_valid(serial, strlen(serial)));
  require(serial[0] == '\0' || serial[strlen(serial) - 1] != ' ');
  require(strlen(page83) <= 2 * size && strlen(serial) <= size);
  const char *vendor = csi_disk_vendor(arena, data, size), *product = csi_disk_product(arena, data, size);
  require(vendor != NULL && csi_utf8_is_valid(vendor, strlen(vendor)) && vendor[0] != ' ');
  require(product != NULL && csi_utf8_is_valid(product, strlen(product)) && product[0] != ' ');
  require(csi_bus_type_name(csi_disk_bus_type(data, size)) != NULL);
  csi_arena_free(arena);
  return 0;
}
