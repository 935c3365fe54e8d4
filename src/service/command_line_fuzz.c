/* SPDX-License-Identifier: Apache-2.0
 *
 * Input: a command line. What can be split and joined again must split into the same arguments.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "service/command_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
  struct csi_arena *arena = csi_arena_new(1 << 20);
  if (arena == NULL) return 0;
  struct csi_status status = {.code = CSI_OK};
  struct csi_command_line first, again;
  char *text = csi_arena_strndup(arena, (const char *)data, size_bytes);
  if (text != NULL && csi_command_line_split(arena, text, &first, &status)) {
    if (first.argument_count == 0 || first.arguments[first.argument_count] != NULL) abort();
    char *joined = csi_command_line_join(arena, first.arguments, first.argument_count, &status);
    if (joined != NULL) {
      if (!csi_command_line_split(arena, joined, &again, &status)) abort();
      if (again.ambiguous || again.argument_count != first.argument_count) abort();
      for (size_t i = 0; i < first.argument_count; i++)
        if (strcmp(first.arguments[i], again.arguments[i]) != 0) abort();
    }
  }
  csi_arena_free(arena);
  return 0;
}
