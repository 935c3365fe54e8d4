/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSI_BASE_WIPE_H
#define CSI_BASE_WIPE_H

#include <stddef.h>

/* Overwrites memory with zeroes in a way the compiler may not drop, although nobody reads it later.
 * memory may be NULL when size_bytes is 0. */
void csi_wipe(void *memory, size_t size_bytes);

/* Overwrites what functions that have returned left below the caller's frame: a small message is copied on
 * the stack as well. */
void csi_wipe_stack(void);

#endif
