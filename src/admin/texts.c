/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/texts.h"

#include <stdarg.h>
#include <string.h>

enum {
  FIRST_ITEMS = 8,
  JOINED_ITEMS = 8, /* of a list that is told in one text; how many there are besides is told, too */
};

void *csi_list_grow(struct csi_ctx *ctx, void *items, size_t count, size_t *capacity_inout,
                    size_t item_bytes) {
  if (count < *capacity_inout) return items;
  size_t capacity = *capacity_inout == 0 ? FIRST_ITEMS : 2 * *capacity_inout;
  void *copy = csi_arena_alloc_array(ctx->arena, capacity, item_bytes);
  if (copy == NULL) {
    csi_fail_out_of_memory(&ctx->status);
    return NULL;
  }
  if (count > 0) memcpy(copy, items, count * item_bytes);
  *capacity_inout = capacity;
  return copy;
}

bool csi_texts_add(struct csi_ctx *ctx, struct csi_texts *texts, const char *text) {
  const char **items = csi_list_grow(ctx, texts->items, texts->count, &texts->capacity, sizeof *items);
  if (items == NULL) return false;
  texts->items = items;
  items[texts->count++] = text;
  return true;
}

bool csi_texts_print(struct csi_ctx *ctx, struct csi_texts *texts, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *text = csi_arena_vprintf(ctx->arena, format, arguments);
  va_end(arguments);
  if (text == NULL) return csi_fail_out_of_memory(&ctx->status);
  return csi_texts_add(ctx, texts, text);
}

bool csi_texts_add_failure(struct csi_ctx *ctx, struct csi_texts *texts, const char *name, const char *why) {
  return strstr(why, name) != NULL ? csi_texts_print(ctx, texts, "%s", why)
                                   : csi_texts_print(ctx, texts, "%s: %s", name, why);
}

const char *csi_texts_join(struct csi_ctx *ctx, const char *const *items, size_t count) {
  size_t told = count <= JOINED_ITEMS ? count : JOINED_ITEMS;
  const char *joined = "";
  for (size_t i = 0; i < told && joined != NULL; i++)
    joined = csi_arena_printf(ctx->arena, "%s%s%s", joined, i > 0 ? ", " : "", items[i]);
  if (told < count && joined != NULL)
    joined = csi_arena_printf(ctx->arena, "%s and %zu more", joined, count - told);
  if (joined == NULL) csi_fail_out_of_memory(&ctx->status);
  return joined;
}
