/* SPDX-License-Identifier: Apache-2.0 */
#include "base/flags_value.h"

#include <string.h>

enum outcome {
  PARSED,
  SYNTAX,
  RANGE,
};

static unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return (unsigned)(c - '0');
  if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
  return 99;
}

/* The base that the prefix of text names; *text_inout moves behind it. "0x" without a digit is no
 * prefix, so that the x is refused as a digit. */
static unsigned take_base(const char **text_inout) {
  const char *text = *text_inout;
  if (text[0] != '0') return 10;
  char letter = text[1] == '\0' || text[2] == '\0' ? '\0' : (char)(text[1] | 0x20);
  unsigned base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  if (base == 0) return 8;
  *text_inout = text + 2;
  return base;
}

/* Go's integer literals: an underscore may stand between digits and behind the prefix. */
static enum outcome parse_magnitude(const char *text, uint64_t *value_out) {
  const char *at = text;
  unsigned base = take_base(&at);
  bool digit_before = at != text; /* the prefix counts as a digit for the underscore */
  bool any_digit = false, overflow = false;
  uint64_t value = 0;
  for (; *at != '\0'; at++) {
    if (*at == '_') {
      if (!digit_before || digit_value(at[1]) >= base) return SYNTAX;
      digit_before = false;
      continue;
    }
    unsigned digit = digit_value(*at);
    if (digit >= base) return SYNTAX;
    digit_before = any_digit = true;
    overflow |= __builtin_mul_overflow(value, (uint64_t)base, &value);
    overflow |= __builtin_add_overflow(value, (uint64_t)digit, &value);
  }
  if (!any_digit) return SYNTAX;
  if (overflow) return RANGE;
  *value_out = value;
  return PARSED;
}

static bool take_sign(const char **text_inout) {
  bool negative = **text_inout == '-';
  if (negative || **text_inout == '+') (*text_inout)++;
  return negative;
}

static enum outcome apply_sign(bool negative, uint64_t magnitude, int64_t *value_out) {
  if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return RANGE;
  *value_out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
  return PARSED;
}

static enum outcome parse_signed(const char *text, int64_t *value_out) {
  bool negative = take_sign(&text);
  uint64_t magnitude;
  enum outcome outcome = parse_magnitude(text, &magnitude);
  return outcome == PARSED ? apply_sign(negative, magnitude, value_out) : outcome;
}

/* Nanoseconds of the unit that text begins with; 0 when it is none. The letters must end there, or be
 * followed by the next number. */
static uint64_t take_unit(const char **text_inout) {
  static const struct {
    const char *name;
    uint64_t ns;
  } units[] = {
      {"ns", 1},
      {"us", 1000},
      {"\xC2\xB5s", 1000}, /* micro sign */
      {"\xCE\xBCs", 1000}, /* Greek mu */
      {"ms", 1000000},
      {"s", 1000000000},
      {"m", 60 * UINT64_C(1000000000)},
      {"h", 3600 * UINT64_C(1000000000)},
  };
  size_t name_bytes = strcspn(*text_inout, "0123456789.");
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (strlen(units[i].name) == name_bytes && memcmp(*text_inout, units[i].name, name_bytes) == 0) {
      *text_inout += name_bytes;
      return units[i].ns;
    }
  }
  return 0;
}

/* One number with its unit, such as "1.5h". */
static enum outcome take_span(const char **text_inout, uint64_t *ns_out) {
  const char *at = *text_inout;
  uint64_t whole = 0;
  bool any_digit = false, overflow = false;
  for (; *at >= '0' && *at <= '9'; at++) {
    any_digit = true;
    overflow |= __builtin_mul_overflow(whole, UINT64_C(10), &whole);
    overflow |= __builtin_add_overflow(whole, (uint64_t)digit_value(*at), &whole);
  }
  double fraction = 0, weight = 0.1;
  if (*at == '.') {
    for (at++; *at >= '0' && *at <= '9'; at++) {
      any_digit = true;
      fraction += weight * digit_value(*at);
      weight /= 10;
    }
  }
  uint64_t unit_ns = take_unit(&at);
  if (!any_digit || unit_ns == 0) return SYNTAX;
  overflow |= __builtin_mul_overflow(whole, unit_ns, &whole);
  overflow |= __builtin_add_overflow(whole, (uint64_t)(fraction * (double)unit_ns + 0.5), &whole);
  *text_inout = at;
  *ns_out = whole;
  return overflow ? RANGE : PARSED;
}

static enum outcome parse_duration(const char *text, int64_t *ns_out) {
  bool negative = take_sign(&text);
  if (text[0] == '\0') return SYNTAX;
  uint64_t sum_ns = 0;
  if (strcmp(text, "0") == 0) text = "";
  while (*text != '\0') {
    uint64_t span_ns;
    enum outcome outcome = take_span(&text, &span_ns);
    if (outcome == RANGE || (outcome == PARSED && __builtin_add_overflow(sum_ns, span_ns, &sum_ns)))
      return SYNTAX; /* Go words this one as a parse error, too */
    if (outcome != PARSED) return outcome;
  }
  enum outcome outcome = apply_sign(negative, sum_ns, ns_out);
  return outcome == RANGE ? SYNTAX : outcome;
}

static enum outcome parse_bool(const char *text, bool *value_out) {
  static const char *const spellings[2][6] = {
      {"0", "f", "F", "false", "FALSE", "False"},
      {"1", "t", "T", "true", "TRUE", "True"},
  };
  for (size_t value = 0; value < 2; value++) {
    for (size_t i = 0; i < 6; i++) {
      if (strcmp(text, spellings[value][i]) == 0) {
        *value_out = value == 1;
        return PARSED;
      }
    }
  }
  return SYNTAX;
}

static bool has_range(const struct csi_flag *flag) {
  return flag->minimum != 0 || flag->maximum != 0;
}

static enum outcome set_signed(const struct csi_flag *flag, enum outcome outcome, int64_t value) {
  if (outcome != PARSED) return outcome;
  if (has_range(flag) && (value < flag->minimum || value > flag->maximum)) return RANGE;
  *(int64_t *)flag->value = value;
  return PARSED;
}

static enum outcome set_unsigned(const struct csi_flag *flag, const char *text) {
  uint64_t value;
  enum outcome outcome = parse_magnitude(text, &value);
  if (outcome != PARSED) return outcome;
  bool too_small = flag->minimum > 0 && value < (uint64_t)flag->minimum;
  if (has_range(flag) && (too_small || value > (uint64_t)flag->maximum)) return RANGE;
  *(uint64_t *)flag->value = value;
  return PARSED;
}

static bool append_to_list(struct csi_flag_list *list, const char *text, char *reason, size_t reason_bytes) {
  if (list->count == CSI_FLAG_LIST_ITEMS) {
    (void)snprintf(reason, reason_bytes, "more than %d values", CSI_FLAG_LIST_ITEMS);
    return false;
  }
  list->items[list->count++] = text;
  return true;
}

bool csi_flag_set(const struct csi_flag *flag, const char *text, char *reason, size_t reason_bytes) {
  enum outcome outcome = SYNTAX;
  int64_t number = 0;
  switch (flag->type) {
  case CSI_FLAG_STRING:
    *(const char **)flag->value = text;
    return true;
  case CSI_FLAG_STRING_LIST:
    return append_to_list(flag->value, text, reason, reason_bytes);
  case CSI_FLAG_CUSTOM:
  case CSI_FLAG_CUSTOM_BOOL:
    return flag->set(flag->value, text, reason, reason_bytes);
  case CSI_FLAG_BOOL:
    outcome = parse_bool(text, flag->value);
    break;
  case CSI_FLAG_INT:
    outcome = parse_signed(text, &number);
    outcome = set_signed(flag, outcome, number);
    break;
  case CSI_FLAG_DURATION:
    outcome = parse_duration(text, &number);
    outcome = set_signed(flag, outcome, number);
    break;
  case CSI_FLAG_UINT:
    outcome = set_unsigned(flag, text);
    break;
  }
  if (outcome == PARSED) return true;
  (void)snprintf(reason, reason_bytes, "%s", outcome == RANGE ? "value out of range" : "parse error");
  return false;
}

bool csi_flag_set_default(const struct csi_flag *flag, char *reason, size_t reason_bytes) {
  if (flag->type == CSI_FLAG_STRING_LIST) ((struct csi_flag_list *)flag->value)->count = 0;
  if (flag->default_text != NULL) return csi_flag_set(flag, flag->default_text, reason, reason_bytes);
  switch (flag->type) {
  case CSI_FLAG_STRING:
    *(const char **)flag->value = "";
    break;
  case CSI_FLAG_BOOL:
    *(bool *)flag->value = false;
    break;
  case CSI_FLAG_INT:
  case CSI_FLAG_DURATION:
    *(int64_t *)flag->value = 0;
    break;
  case CSI_FLAG_UINT:
    *(uint64_t *)flag->value = 0;
    break;
  case CSI_FLAG_STRING_LIST:
  case CSI_FLAG_CUSTOM:
  case CSI_FLAG_CUSTOM_BOOL:
    break;
  }
  return true;
}
