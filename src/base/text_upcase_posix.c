/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

/* Lower-case units first..last, every step-th of them, have their upper case at unit - distance. */
struct case_range {
  uint16_t first;
  uint16_t last;
  uint16_t step;
  int16_t distance;
};

static const struct case_range ranges[] = {
    {0x0061, 0x007A, 1, 32},   /* ASCII */
    {0x00E0, 0x00F6, 1, 32},   /* Latin-1, around the division sign ... */
    {0x00F8, 0x00FE, 1, 32},   /* ... which has no case */
    {0x00FF, 0x00FF, 1, -121}, /* y with diaeresis */
    {0x0101, 0x012F, 2, 1},    /* Latin Extended-A; dotless i (0131) stays, as on NTFS */
    {0x0133, 0x0137, 2, 1},    {0x013A, 0x0148, 2, 1},  {0x014B, 0x0177, 2, 1},  {0x017A, 0x017E, 2, 1},
    {0x01CE, 0x01DC, 2, 1},    {0x01DF, 0x01EF, 2, 1},  {0x01F9, 0x021F, 2, 1},  {0x0223, 0x0233, 2, 1},
    {0x03AC, 0x03AC, 1, 38}, /* Greek */
    {0x03AD, 0x03AF, 1, 37},   {0x03B1, 0x03C1, 1, 32}, {0x03C2, 0x03C2, 1, 31}, {0x03C3, 0x03CB, 1, 32},
    {0x03CC, 0x03CC, 1, 64},   {0x03CD, 0x03CE, 1, 63}, {0x0430, 0x044F, 1, 32}, /* Cyrillic */
    {0x0450, 0x045F, 1, 80},   {0x0461, 0x0481, 2, 1},  {0x048B, 0x04BF, 2, 1},  {0x04C2, 0x04CE, 2, 1},
    {0x04D1, 0x0513, 2, 1},    {0x0561, 0x0586, 1, 48}, /* Armenian */
    {0x1E01, 0x1E95, 2, 1},    {0x1EA1, 0x1EF9, 2, 1},  /* Latin Extended Additional */
    {0x24D0, 0x24E9, 1, 26},   {0xFF41, 0xFF5A, 1, 32}, /* circled and full-width letters */
};

uint16_t csi_utf16_upcase(uint16_t unit) {
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
    const struct case_range *range = &ranges[i];
    if (unit < range->first) return unit;
    if (unit <= range->last)
      return (unit - range->first) % range->step == 0 ? (uint16_t)(unit - range->distance) : unit;
  }
  return unit;
}
