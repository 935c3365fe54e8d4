/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/windows_calls.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a. One name may stand at several addresses, so it is the text that counts. */
static size_t first_slot(const char *name) {
  uint32_t hash = UINT32_C(2166136261);
  for (; *name != '\0'; name++)
    hash = (hash ^ (uint8_t)*name) * UINT32_C(16777619);
  return hash % CSI_WINDOWS_CALL_NAMES;
}

/* The name's slot, taken for it if need be; CSI_WINDOWS_CALL_NAMES when none is left. */
static size_t find(struct csi_windows_calls *calls, const char *name) {
  size_t slot = first_slot(name);
  for (size_t i = 0; i < CSI_WINDOWS_CALL_NAMES; i++, slot = (slot + 1) % CSI_WINDOWS_CALL_NAMES) {
    const char *there = atomic_load_explicit(&calls->slots[slot].name, memory_order_acquire);
    if (there == NULL && atomic_compare_exchange_strong_explicit(&calls->slots[slot].name, &there, name,
                                                                 memory_order_acq_rel, memory_order_acquire))
      return slot;
    if (there == name || strcmp(there, name) == 0) return slot;
  }
  return CSI_WINDOWS_CALL_NAMES;
}

void csi_windows_calls_told(void *context, const char *call, int64_t duration_ns, bool succeeded) {
  struct csi_windows_calls *calls = context;
  size_t slot = find(calls, call);
  if (slot == CSI_WINDOWS_CALL_NAMES) {
    atomic_fetch_add_explicit(&calls->unlisted, 1, memory_order_relaxed);
    return;
  }
  csi_histogram_add(&calls->slots[slot].duration, &csi_fine_buckets, duration_ns);
  if (!succeeded) atomic_fetch_add_explicit(&calls->slots[slot].failures, 1, memory_order_relaxed);
}

/* A name and where it stands, for sorting. */
struct entry {
  const char *name;
  size_t slot;
};

static int compare(const void *left, const void *right) {
  return strcmp(((const struct entry *)left)->name, ((const struct entry *)right)->name);
}

void csi_windows_calls_write(struct csi_windows_calls *calls, struct csi_exposition *out) {
  struct entry entries[CSI_WINDOWS_CALL_NAMES];
  size_t count = 0;
  for (size_t slot = 0; slot < CSI_WINDOWS_CALL_NAMES; slot++) {
    const char *name = atomic_load_explicit(&calls->slots[slot].name, memory_order_acquire);
    if (name != NULL) entries[count++] = (struct entry){name, slot};
  }
  qsort(entries, count, sizeof entries[0], compare);
  for (size_t i = 0; i < count; i++)
    csi_histogram_write(&calls->slots[entries[i].slot].duration, out, CSI_METRIC_WINDOWS_CALL_DURATION,
                        &entries[i].name);
  for (size_t i = 0; i < count; i++)
    csi_exposition_count(out, CSI_METRIC_WINDOWS_CALL_FAILURES, &entries[i].name,
                         atomic_load_explicit(&calls->slots[entries[i].slot].failures, memory_order_relaxed));
  csi_exposition_count(out, CSI_METRIC_WINDOWS_CALLS_UNLISTED, NULL,
                       atomic_load_explicit(&calls->unlisted, memory_order_relaxed));
}
