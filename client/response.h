/* SPDX-License-Identifier: Apache-2.0
 *
 * A response that the caller owns: its structure, and behind it the arena that holds everything.
 */
#ifndef CSI_CLIENT_RESPONSE_H
#define CSI_CLIENT_RESPONSE_H

#include <stddef.h>

#include "base/arena.h"

/* Allocates a zeroed structure in the arena, which csi_response_free() frees together with it. NULL
 * when the arena is exhausted; then the arena stays the caller's. */
void *csi_response_new(struct csi_arena *arena, size_t size_bytes);

#endif
