/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of texts as Windows gives them: each ends in a NUL, and the last in two. Portable and pure.
 */
#ifndef CSI_VOLUME_PATH_LIST_H
#define CSI_VOLUME_PATH_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

/* Reads a list of at most units characters; it may also end where they do. paths_out: UTF-8, in the arena.
 * Fails when memory is short. */
bool csi_path_list_parse(struct csi_ctx *ctx, const uint16_t *list_w, size_t units, const char ***paths_out,
                         size_t *count_out) CSI_MUST_CHECK;

#endif
