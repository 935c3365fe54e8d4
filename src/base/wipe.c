/* SPDX-License-Identifier: Apache-2.0 */
#include "base/wipe.h"

#include <string.h>

enum {
  STACK_BYTES = 16 * 1024,
};

void csi_wipe(void *memory, size_t size_bytes) {
  if (size_bytes == 0) return;
  memset(memory, 0, size_bytes);
  /* To the compiler this reads the memory, so the stores above are not dead. */
  __asm__ __volatile__("" : : "r"(memory) : "memory");
}

__attribute__((noinline)) void csi_wipe_stack(void) {
  char below[STACK_BYTES];
  csi_wipe(below, sizeof below);
}
