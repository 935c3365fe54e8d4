/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as people read them. Each function writes a NUL-terminated text to buffer and returns it;
 * CSI_UNIT_BYTES are enough for all of them.
 */
#ifndef CSI_CTL_UNITS_H
#define CSI_CTL_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum {
  CSI_UNIT_BYTES = 40,
};

/* "0 B", "512 B", "10.0 GiB": at most four figures, cut off rather than rounded up to the next unit. */
const char *csi_units_bytes(char buffer[CSI_UNIT_BYTES], uint64_t bytes);

/* "3d 4h", "4h 12m", "12m 5s", "5s", "250ms", "0ms": two parts, the smaller cut off. Negative times count
 * as 0. */
const char *csi_units_age(char buffer[CSI_UNIT_BYTES], int64_t age_ms);

/* "12us", "1.25ms", "2.50s", "3m 4s". */
const char *csi_units_duration(char buffer[CSI_UNIT_BYTES], int64_t duration_us);

/* "2026-11-21 22:30:05" in the time zone of this machine; "?" for a time it cannot show. */
const char *csi_units_time(char buffer[CSI_UNIT_BYTES], int64_t unix_ms);

#endif
