/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/wiping_heap.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"

void __real_free(void *memory); /* the linker's name for the true one */

void __wrap_free(void *memory) {
  if (memory == NULL) return;
  csi_wipe(memory, _msize(memory));
  __real_free(memory);
}

void *__wrap_realloc(void *memory, size_t size_bytes) {
  if (memory == NULL) return malloc(size_bytes);
  if (size_bytes == 0) {
    __wrap_free(memory);
    return NULL;
  }
  void *moved = malloc(size_bytes);
  if (moved == NULL) return NULL;
  size_t old_bytes = _msize(memory);
  memcpy(moved, memory, old_bytes < size_bytes ? old_bytes : size_bytes);
  __wrap_free(memory);
  return moved;
}
