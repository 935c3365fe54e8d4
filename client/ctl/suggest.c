/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/suggest.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same(char a, char b) {
  return lower(a) == lower(b);
}

static unsigned least(unsigned a, unsigned b) {
  return a < b ? a : b;
}

/* The restricted Damerau-Levenshtein distance, row by row. */
unsigned csi_suggest_distance(const char *a, const char *b) {
  size_t a_length = strnlen(a, CSI_SUGGEST_NAME_BYTES), b_length = strnlen(b, CSI_SUGGEST_NAME_BYTES);
  if (a_length == CSI_SUGGEST_NAME_BYTES || b_length == CSI_SUGGEST_NAME_BYTES) return UINT_MAX;
  unsigned rows[3][CSI_SUGGEST_NAME_BYTES];
  unsigned *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t k = 0; k <= b_length; k++)
    above[k] = (unsigned)k;
  memcpy(before, above, sizeof rows[0]);
  for (size_t i = 1; i <= a_length; i++) {
    row[0] = (unsigned)i;
    for (size_t k = 1; k <= b_length; k++) {
      row[k] = least(least(above[k], row[k - 1]) + 1, above[k - 1] + !same(a[i - 1], b[k - 1]));
      if (i > 1 && k > 1 && same(a[i - 1], b[k - 2]) && same(a[i - 2], b[k - 1]))
        row[k] = least(row[k], before[k - 2] + 1);
    }
    unsigned *oldest = before;
    before = above;
    above = row;
    row = oldest;
  }
  return above[b_length];
}

void csi_suggest_offer(struct csi_suggestion *suggestion, const char *name) {
  unsigned distance = csi_suggest_distance(suggestion->typed, name);
  size_t typed_length = strlen(suggestion->typed);
  bool begins = typed_length >= 2 && csi_utf8_has_prefix_ignore_case(name, suggestion->typed);
  if (begins && distance > 1) distance = 1;
  bool near = distance <= (strlen(name) + 1) / 3;
  if (!near || (suggestion->best != NULL && distance >= suggestion->distance)) return;
  suggestion->best = name;
  suggestion->distance = distance;
}
