/* SPDX-License-Identifier: Apache-2.0 */
#include "base/wipe.h"

#include <string.h>

void csi_wipe(void *memory, size_t size_bytes) {
  if (size_bytes == 0) return;
  memset(memory, 0, size_bytes);
  /* To the compiler this reads the memory, so the stores above are not dead. */
  __asm__ __volatile__("" : : "r"(memory) : "memory");
}
