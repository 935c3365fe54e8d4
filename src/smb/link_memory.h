/* SPDX-License-Identifier: Apache-2.0
 *
 * Which links to shares were made, so that somebody who looks at a share can be told what leads to it. It
 * forgets the oldest when it is full. Thread-safe.
 */
#ifndef CSI_SMB_LINK_MEMORY_H
#define CSI_SMB_LINK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/ctx.h"

struct csi_link_memory;

/* capacity: how many links it knows at most, 1 or more. NULL when memory is short. */
struct csi_link_memory *csi_link_memory_new(size_t capacity);
/* NULL is accepted. */
void csi_link_memory_free(struct csi_link_memory *memory);

/* Knows from now on that path leads to the share, and to no other. When memory is short, it does not. */
void csi_link_memory_add(struct csi_link_memory *memory, const char *root, const char *path);

/* Lists the links to a share, the newest first, in ctx->arena. Fails when memory is short. */
bool csi_link_memory_list(struct csi_link_memory *memory, struct csi_ctx *ctx, const char *root,
                          const char ***paths_out, size_t *count_out) CSI_MUST_CHECK;

#endif
