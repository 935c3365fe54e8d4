/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum {
  MS_PER_SECOND = 1000,
  US_PER_MS = 1000,
  US_PER_SECOND = 1000000,
};

static const int64_t last_ms = INT64_C(253370764800000); /* begin of the year 9999 */

const char *csi_units_bytes(char buffer[CSI_UNIT_BYTES], uint64_t bytes) {
  static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  unsigned unit = 0;
  while (bytes >> (10 * unit) >= 1024)
    unit++;
  uint64_t whole = bytes >> (10 * unit);
  if (unit == 0) {
    snprintf(buffer, CSI_UNIT_BYTES, "%" PRIu64 " B", bytes);
  } else {
    uint64_t rest = (bytes >> (10 * (unit - 1))) & 1023; /* in the next smaller unit */
    snprintf(buffer, CSI_UNIT_BYTES, "%" PRIu64 ".%" PRIu64 " %s", whole, rest * 10 / 1024, names[unit]);
  }
  return buffer;
}

const char *csi_units_age(char buffer[CSI_UNIT_BYTES], int64_t age_ms) {
  if (age_ms < 0) age_ms = 0;
  int64_t seconds = age_ms / MS_PER_SECOND;
  int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0)
    snprintf(buffer, CSI_UNIT_BYTES, "%" PRId64 "d %" PRId64 "h", days, hours % 24);
  else if (hours > 0)
    snprintf(buffer, CSI_UNIT_BYTES, "%" PRId64 "h %" PRId64 "m", hours, minutes % 60);
  else if (minutes > 0)
    snprintf(buffer, CSI_UNIT_BYTES, "%" PRId64 "m %" PRId64 "s", minutes, seconds % 60);
  else if (seconds > 0)
    snprintf(buffer, CSI_UNIT_BYTES, "%" PRId64 "s", seconds);
  else
    snprintf(buffer, CSI_UNIT_BYTES, "%" PRId64 "ms", age_ms);
  return buffer;
}

/* A number below 1000 with three figures that count. */
static void print_figures(char buffer[CSI_UNIT_BYTES], int64_t number, int64_t unit, const char *name) {
  int64_t whole = number / unit, rest = number % unit;
  if (whole >= 100)
    snprintf(buffer, CSI_UNIT_BYTES, "%" PRId64 "%s", whole, name);
  else if (whole >= 10)
    snprintf(buffer, CSI_UNIT_BYTES, "%" PRId64 ".%" PRId64 "%s", whole, rest * 10 / unit, name);
  else
    snprintf(buffer, CSI_UNIT_BYTES, "%" PRId64 ".%02" PRId64 "%s", whole, rest * 100 / unit, name);
}

const char *csi_units_duration(char buffer[CSI_UNIT_BYTES], int64_t duration_us) {
  if (duration_us < 0) duration_us = 0;
  if (duration_us < US_PER_MS)
    snprintf(buffer, CSI_UNIT_BYTES, "%" PRId64 "us", duration_us);
  else if (duration_us < US_PER_SECOND)
    print_figures(buffer, duration_us, US_PER_MS, "ms");
  else if (duration_us < 60 * (int64_t)US_PER_SECOND)
    print_figures(buffer, duration_us, US_PER_SECOND, "s");
  else
    csi_units_age(buffer, duration_us / US_PER_MS);
  return buffer;
}

const char *csi_units_time(char buffer[CSI_UNIT_BYTES], int64_t unix_ms) {
  time_t seconds = (time_t)(unix_ms / MS_PER_SECOND);
  struct tm local;
#if defined(_WIN32)
  struct tm *known = localtime_s(&local, &seconds) == 0 ? &local : NULL;
#else
  struct tm *known = localtime_r(&seconds, &local);
#endif
  if (unix_ms < 0 || unix_ms > last_ms || known == NULL ||
      strftime(buffer, CSI_UNIT_BYTES, "%Y-%m-%d %H:%M:%S", known) == 0)
    snprintf(buffer, CSI_UNIT_BYTES, "?");
  return buffer;
}
