/* SPDX-License-Identifier: Apache-2.0
 *
 * A C heap that overwrites what is given back to it. Requests carry passwords through gRPC, which copies
 * them as it likes and frees them as they are; this way no copy outlives its owner. A program gets it by
 * linking csi_wiping_heap, which has the linker put these in place of free() and realloc(), also for C++ and
 * libraries that are linked statically.
 */
#ifndef CSI_WIN32_WIPING_HEAP_H
#define CSI_WIN32_WIPING_HEAP_H

#include <stddef.h>

/* As free() and realloc(). A block that grows or shrinks is always moved. */
void __wrap_free(void *memory);
void *__wrap_realloc(void *memory, size_t size_bytes);

#endif
