/* SPDX-License-Identifier: Apache-2.0 */
#include "codegen/runtime/convert.h"

#include <string.h>

void *csi_convert_array(struct csi_arena *arena, struct csi_status *status, size_t count, size_t item_bytes) {
  void *items = csi_arena_alloc_array(arena, count > 0 ? count : 1, item_bytes);
  if (items == NULL) csi_fail_out_of_memory(status);
  return items;
}

typedef int compare_function(const void *a, const void *b);

/* Merges two sorted neighbours; of equal entries the left one comes first. */
static void merge(const void **to, const void *const *left, size_t left_count, const void *const *right,
                  size_t right_count, compare_function *compare) {
  while (left_count > 0 || right_count > 0) {
    bool take_left = right_count == 0 || (left_count > 0 && compare(*left, *right) <= 0);
    *to++ = take_left ? *left++ : *right++;
    *(take_left ? &left_count : &right_count) -= 1;
  }
}

/* A stable sort: runs of length 1, 2, 4, ... are merged from one array to the other and back. */
static const void **sort(const void **items, const void **spare, size_t count, compare_function *compare) {
  for (size_t run = 1; run < count; run *= 2) {
    for (size_t at = 0; at < count; at += 2 * run) {
      size_t left = count - at < run ? count - at : run;
      size_t right = count - at - left < run ? count - at - left : run;
      merge(spare + at, items + at, left, items + at + left, right, compare);
    }
    const void **sorted = spare;
    spare = items;
    items = sorted;
  }
  return items;
}

bool csi_convert_map(struct csi_arena *arena, struct csi_status *status, const void *const *entries,
                     size_t count, int (*compare)(const void *a, const void *b), const void ***sorted_out,
                     size_t *count_out) {
  const void **items = csi_convert_array(arena, status, count, sizeof *items);
  const void **spare = csi_convert_array(arena, status, count, sizeof *spare);
  if (items == NULL || spare == NULL) return false;
  if (count > 0) memcpy(items, entries, count * sizeof *items);
  items = sort(items, spare, count, compare);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (i + 1 == count || compare(items[i], items[i + 1]) != 0) items[kept++] = items[i];
  *sorted_out = items;
  *count_out = kept;
  return true;
}
