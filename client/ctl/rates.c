/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/rates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  US_PER_SECOND = 1000000,
};

static const struct csi_method_rate *find(const struct csi_rates *rates, const char *name) {
  for (size_t i = 0; i < rates->count; i++) {
    if (strcmp(rates->methods[i].name, name) == 0) return &rates->methods[i];
  }
  return NULL;
}

static int64_t not_negative(int64_t number) {
  return number > 0 ? number : 0;
}

static bool read_totals(struct csi_method_rate *method, struct csi_ctl_view totals) {
  struct csi_arena *arena = csi_arena_new(SIZE_MAX);
  if (arena == NULL) return false;
  *method = (struct csi_method_rate){.started = csi_ctl_u64(totals, "started"),
                                     .failed = csi_ctl_u64(totals, "failed"),
                                     .duration_us = not_negative(csi_ctl_i64(totals, "duration_us")),
                                     .longest_us = not_negative(csi_ctl_i64(totals, "longest_us"))};
  method->ended = csi_ctl_u64(totals, "succeeded") + method->failed;
  snprintf(method->name, sizeof method->name, "%s/%s", csi_ctl_text(totals, "service", arena),
           csi_ctl_text(totals, "method", arena));
  csi_arena_free(arena);
  return true;
}

/* A method that the answer before did not have had not been called by then. */
static void compare_with(struct csi_method_rate *method, const struct csi_rates *before, int64_t now_us) {
  static const struct csi_method_rate never;
  const struct csi_method_rate *then = find(before, method->name);
  if (then == NULL) then = &never;
  method->is_known = true;
  double seconds = (double)(now_us - before->at_us) / US_PER_SECOND;
  method->started_per_second = (double)(method->started - then->started) / seconds;
  method->ended_since = method->ended - then->ended;
  method->duration_since_us = method->duration_us - then->duration_us;
}

static bool has_grown(const struct csi_method_rate *now, const struct csi_method_rate *before) {
  return now->started >= before->started && now->ended >= before->ended &&
         now->duration_us >= before->duration_us;
}

/* Totals never shrink and methods never vanish while one service runs. */
static bool is_same_service(const struct csi_rates *now, const struct csi_rates *before) {
  if (before->at_us == 0 || now->at_us <= before->at_us) return false;
  for (size_t i = 0; i < before->count; i++) {
    const struct csi_method_rate *method = find(now, before->methods[i].name);
    if (method == NULL || !has_grown(method, &before->methods[i])) return false;
  }
  return true;
}

/* Busiest first; then by calls in all, then by name. */
static int order(const void *left, const void *right) {
  const struct csi_method_rate *a = left, *b = right;
  if (a->started_per_second != b->started_per_second)
    return a->started_per_second < b->started_per_second ? 1 : -1;
  if (a->started != b->started) return a->started < b->started ? 1 : -1;
  return strcmp(a->name, b->name);
}

void csi_rates_take(struct csi_rates *rates, struct csi_ctl_view calls, int64_t now_us) {
  static struct csi_rates next; /* too large for a stack */
  next.count = 0;
  next.at_us = now_us;
  for (size_t i = 0; i < csi_ctl_count(calls, "methods") && next.count < CSI_RATES_METHODS; i++) {
    struct csi_method_rate *method = &next.methods[next.count];
    if (read_totals(method, csi_ctl_item(calls, "methods", i))) next.count++;
  }
  bool comparable = is_same_service(&next, rates);
  for (size_t i = 0; comparable && i < next.count; i++)
    compare_with(&next.methods[i], rates, now_us);
  qsort(next.methods, next.count, sizeof next.methods[0], order);
  *rates = next;
}
