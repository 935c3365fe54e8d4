/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes: reading stays inside them, ends, and gives texts that protobuf can carry and that are not empty.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "volume/path_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 24)};
  size_t units = size / sizeof(uint16_t);
  uint16_t *list_w = malloc(units * sizeof *list_w + 1);
  require(ctx.arena != NULL && list_w != NULL);
  memcpy(list_w, data, units * sizeof *list_w);
  const char **paths;
  size_t count;
  if (csi_path_list_parse(&ctx, list_w, units, &paths, &count)) {
    require(count <= units);
    for (size_t i = 0; i < count; i++)
      require(paths[i][0] != '\0' && csi_utf8_is_valid(paths[i], strlen(paths[i])));
  }
  free(list_w);
  csi_arena_free(ctx.arena);
  return 0;
}
