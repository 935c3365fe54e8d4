/* SPDX-License-Identifier: Apache-2.0
 *
 * Any list of the service manager, with any pointers in it: reading stays inside it and ends.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "system/service_list.h"

enum {
  ADDRESS = 0x1000,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte is the count, the rest the buffer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  struct csi_arena *arena = csi_arena_new(4 << 20);
  if (arena == NULL) return 0;
  struct csi_status status = {.code = CSI_OK};
  const struct csi_bytes bytes = {.data = data + 1, .size_bytes = size - 1};
  const char **names = NULL;
  bool parsed = csi_service_list_parse(arena, &bytes, ADDRESS, data[0], &names, &status);
  if (parsed != csi_status_ok(&status)) abort();
  for (size_t i = 0; parsed && i < data[0]; i++)
    if (names[i][0] == '\0' || !csi_utf8_is_valid(names[i], strlen(names[i]))) abort();
  csi_arena_free(arena);
  return 0;
}
