/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/exposition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  FIRST_BYTES = 16 * 1024,
  FRACTION_DIGITS = 9,
};

#define NS_PER_S UINT64_C(1000000000)

char *csi_seconds_text(char text[CSI_SECONDS_BYTES], uint64_t duration_ns) {
  int length = snprintf(text, CSI_SECONDS_BYTES, "%" PRIu64 ".%09" PRIu64, duration_ns / NS_PER_S,
                        duration_ns % NS_PER_S);
  while (text[length - 1] == '0')
    length--;
  if (text[length - 1] == '.') length--;
  text[length] = '\0';
  return text;
}

static bool reserve(struct csi_exposition *out, size_t more_bytes) {
  if (out->failed) return false;
  if (more_bytes <= out->capacity_bytes - out->length_bytes) return true;
  size_t capacity_bytes = out->capacity_bytes == 0 ? FIRST_BYTES : out->capacity_bytes;
  while (capacity_bytes < out->limit_bytes && more_bytes > capacity_bytes - out->length_bytes)
    capacity_bytes *= 2;
  if (capacity_bytes > out->limit_bytes) capacity_bytes = out->limit_bytes;
  char *text = NULL;
  if (more_bytes <= capacity_bytes - out->length_bytes) text = realloc(out->text, capacity_bytes);
  if (text == NULL) {
    out->failed = true;
    return false;
  }
  out->text = text;
  out->capacity_bytes = capacity_bytes;
  return true;
}

static void put_bytes(struct csi_exposition *out, const char *bytes, size_t length_bytes) {
  if (!reserve(out, length_bytes)) return;
  memcpy(out->text + out->length_bytes, bytes, length_bytes);
  out->length_bytes += length_bytes;
}

static void put(struct csi_exposition *out, const char *text) {
  put_bytes(out, text, strlen(text));
}

/* A backslash and a line end are escaped everywhere, a quote in the value of a label only. */
static void put_escaped(struct csi_exposition *out, const char *text, bool in_quotes) {
  const char *special = in_quotes ? "\\\n\"" : "\\\n";
  for (;;) {
    size_t plain_bytes = strcspn(text, special);
    put_bytes(out, text, plain_bytes);
    text += plain_bytes;
    if (*text == '\0') return;
    char escaped[2] = {'\\', *text == '\n' ? 'n' : *text};
    put_bytes(out, escaped, sizeof escaped);
    text++;
  }
}

static void put_number(struct csi_exposition *out, uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, number);
  put(out, text);
}

static void describe(struct csi_exposition *out, enum csi_metric metric) {
  const struct csi_metric_info *info = &csi_metric_table[metric];
  uint32_t bit = UINT32_C(1) << (metric % 32);
  if ((out->described[metric / 32] & bit) != 0) return;
  out->described[metric / 32] |= bit;
  put(out, "# HELP ");
  put(out, info->name);
  put(out, " ");
  put_escaped(out, info->help, false);
  put(out, "\n# TYPE ");
  put(out, info->name);
  put(out, " ");
  put(out, csi_metric_type_name(info->type));
  put(out, "\n");
}

/* le: the label of a bucket; NULL when it is none. */
static void put_labels(struct csi_exposition *out, const struct csi_metric_info *info,
                       const char *const *values, const char *le) {
  const char *before = "{";
  for (size_t i = 0; i < CSI_METRIC_LABELS && info->labels[i] != NULL; i++) {
    put(out, before);
    put(out, info->labels[i]);
    put(out, "=\"");
    put_escaped(out, values[i], true);
    put(out, "\"");
    before = ",";
  }
  if (le != NULL) {
    put(out, before);
    put(out, "le=\"");
    put(out, le);
    put(out, "\"");
    before = ",";
  }
  if (before[0] == ',') put(out, "}");
}

static void put_name(struct csi_exposition *out, enum csi_metric metric, const char *suffix,
                     const char *const *values, const char *le) {
  const struct csi_metric_info *info = &csi_metric_table[metric];
  put(out, info->name);
  put(out, suffix);
  put_labels(out, info, values, le);
  put(out, " ");
}

void csi_exposition_count(struct csi_exposition *out, enum csi_metric metric, const char *const *values,
                          uint64_t count) {
  describe(out, metric);
  put_name(out, metric, "", values, NULL);
  put_number(out, count);
  put(out, "\n");
}

void csi_exposition_seconds(struct csi_exposition *out, enum csi_metric metric, const char *const *values,
                            uint64_t duration_ns) {
  char text[CSI_SECONDS_BYTES];
  describe(out, metric);
  put_name(out, metric, "", values, NULL);
  put(out, csi_seconds_text(text, duration_ns));
  put(out, "\n");
}

void csi_exposition_histogram(struct csi_exposition *out, enum csi_metric metric, const char *const *values,
                              const uint64_t *counts, uint64_t sum_ns) {
  const struct csi_buckets *buckets = csi_metric_table[metric].buckets;
  char text[CSI_SECONDS_BYTES];
  uint64_t total = 0;
  describe(out, metric);
  for (size_t i = 0; i <= buckets->count; i++) {
    total += counts[i];
    bool beyond = i == buckets->count;
    put_name(out, metric, "_bucket", values, beyond ? "+Inf" : csi_seconds_text(text, buckets->bounds_ns[i]));
    put_number(out, total);
    put(out, "\n");
  }
  put_name(out, metric, "_sum", values, NULL);
  put(out, csi_seconds_text(text, sum_ns));
  put(out, "\n");
  put_name(out, metric, "_count", values, NULL);
  put_number(out, total);
  put(out, "\n");
}

void csi_exposition_free(struct csi_exposition *out) {
  free(out->text);
  *out = (struct csi_exposition){.limit_bytes = out->limit_bytes};
}
