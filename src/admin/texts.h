/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists that grow in an arena: texts, findings, parts.
 */
#ifndef CSI_ADMIN_TEXTS_H
#define CSI_ADMIN_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/ctx.h"

/* Room for one more item behind count items of item_bytes: items when there is some, else a copy with more.
 * NULL, and ctx->status, when memory is short. capacity_inout: how many fit. */
void *csi_list_grow(struct csi_ctx *ctx, void *items, size_t count, size_t *capacity_inout,
                    size_t item_bytes) CSI_MUST_CHECK;

struct csi_texts {
  const char **items; /* in the arena */
  size_t count;
  size_t capacity;
};

/* Appends a text, which must live as long as the arena. */
bool csi_texts_add(struct csi_ctx *ctx, struct csi_texts *texts, const char *text) CSI_MUST_CHECK;

/* Appends a formatted text. */
bool csi_texts_print(struct csi_ctx *ctx, struct csi_texts *texts, const char *format, ...)
    CSI_PRINTF(3, 4) CSI_MUST_CHECK;

/* Appends "NAME: WHY"; only WHY when that names it already. */
bool csi_texts_add_failure(struct csi_ctx *ctx, struct csi_texts *texts, const char *name,
                           const char *why) CSI_MUST_CHECK;

/* "a, b, c": the first few, and how many more there are. NULL, and ctx->status, when memory is short. */
const char *csi_texts_join(struct csi_ctx *ctx, const char *const *items, size_t count) CSI_MUST_CHECK;

#endif
