/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/path_list.h"

#include "base/text.h"

/* Units up to the NUL, or all that there are. */
static size_t length_of(const uint16_t *text_w, size_t units) {
  size_t length = 0;
  while (length < units && text_w[length] != 0)
    length++;
  return length;
}

static size_t count_paths(const uint16_t *list_w, size_t units) {
  size_t count = 0, at = 0;
  while (at < units && list_w[at] != 0) {
    at += length_of(list_w + at, units - at) + 1;
    count++;
  }
  return count;
}

bool csi_path_list_parse(struct csi_ctx *ctx, const uint16_t *list_w, size_t units, const char ***paths_out,
                         size_t *count_out) {
  size_t count = count_paths(list_w, units), at = 0;
  const char **paths = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *paths);
  if (paths == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++) {
    size_t length = length_of(list_w + at, units - at);
    paths[i] = csi_utf8_from_utf16(ctx->arena, list_w + at, length);
    if (paths[i] == NULL) return csi_fail_out_of_memory(&ctx->status);
    at += length + 1;
  }
  *paths_out = paths;
  *count_out = count;
  return true;
}
