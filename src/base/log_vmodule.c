/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log_settings.h"

const char *csi_log_base_name(const char *file) {
  const char *base = file;
  for (const char *at = file; *at != '\0'; at++) {
    if (*at == '/' || *at == '\\') base = at + 1;
  }
  return base;
}

/* Matches one "[a-z]" or "[^a-z]" at the beginning of pattern against c; returns how long it is, 0
 * when it does not match or is not closed. */
static size_t match_set(const char *pattern, size_t pattern_bytes, char c) {
  size_t at = 1;
  bool negated = at < pattern_bytes && pattern[at] == '^';
  if (negated) at++;
  bool found = false;
  for (bool first = true; at < pattern_bytes && (first || pattern[at] != ']'); first = false) {
    char low = pattern[at++], high = low;
    if (at + 1 < pattern_bytes && pattern[at] == '-' && pattern[at + 1] != ']') {
      high = pattern[at + 1];
      at += 2;
    }
    found |= c >= low && c <= high;
  }
  bool closed = at < pattern_bytes;
  return closed && found != negated ? at + 1 : 0;
}

/* Shell pattern: * ? [set]. Goes back to the last star only, so the time is at most the product of
 * both lengths. */
static bool matches(const char *pattern, size_t pattern_bytes, const char *name, size_t name_bytes) {
  size_t at_pattern = 0, at_name = 0, star = SIZE_MAX, star_name = 0;
  while (at_name < name_bytes) {
    char p = at_pattern < pattern_bytes ? pattern[at_pattern] : '\0';
    size_t step = 0;
    if (p == '*') {
      star = at_pattern++;
      star_name = at_name;
      continue;
    }
    if (p == '[')
      step = match_set(pattern + at_pattern, pattern_bytes - at_pattern, name[at_name]);
    else if (p != '\0' && (p == '?' || p == name[at_name]))
      step = 1;
    if (step > 0) {
      at_pattern += step;
      at_name++;
    } else if (star != SIZE_MAX) {
      at_pattern = star + 1;
      at_name = ++star_name;
    } else {
      return false;
    }
  }
  while (at_pattern < pattern_bytes && pattern[at_pattern] == '*')
    at_pattern++;
  return at_pattern == pattern_bytes;
}

int csi_log_vmodule_level(const struct csi_log_vmodule *vmodule, const char *file) {
  const char *name = csi_log_base_name(file);
  const char *dot = strrchr(name, '.');
  size_t name_bytes = dot == NULL ? strlen(name) : (size_t)(dot - name);
  for (size_t i = 0; i < vmodule->count; i++) {
    const struct csi_log_vmodule_entry *entry = &vmodule->entries[i];
    if (matches(entry->pattern, entry->pattern_bytes, name, name_bytes)) return entry->level;
  }
  return 0;
}

/* Decimal digits only, at most limit; -1 otherwise. */
static int parse_level(const char *text, size_t text_bytes) {
  int level = 0;
  for (size_t i = 0; i < text_bytes; i++) {
    if (text[i] < '0' || text[i] > '9' || level > 100000) return -1;
    level = level * 10 + (text[i] - '0');
  }
  return text_bytes == 0 ? -1 : level;
}

bool csi_log_vmodule_parse(struct csi_log_vmodule *vmodule, const char *text, char *reason,
                           size_t reason_bytes) {
  struct csi_log_vmodule parsed = {.count = 0};
  for (const char *at = text; *at != '\0';) {
    size_t entry_bytes = strcspn(at, ",");
    size_t pattern_bytes = 0;
    while (pattern_bytes < entry_bytes && at[pattern_bytes] != '=')
      pattern_bytes++;
    bool has_level = pattern_bytes < entry_bytes;
    int level = has_level ? parse_level(at + pattern_bytes + 1, entry_bytes - pattern_bytes - 1) : -1;
    if (entry_bytes > 0) {
      if (pattern_bytes == 0 || level < 0) {
        (void)snprintf(reason, reason_bytes, "syntax error: expect comma-separated list of filename=N");
        return false;
      }
      if (level > 0 && parsed.count == CSI_LOG_VMODULE_ENTRIES) {
        (void)snprintf(reason, reason_bytes, "more than %d entries", CSI_LOG_VMODULE_ENTRIES);
        return false;
      }
      if (level > 0)
        parsed.entries[parsed.count++] =
            (struct csi_log_vmodule_entry){.pattern = at, .pattern_bytes = pattern_bytes, .level = level};
    }
    at += entry_bytes + (at[entry_bytes] == ',');
  }
  *vmodule = parsed;
  return true;
}
