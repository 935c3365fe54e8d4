/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include "base/ctx.h"

int64_t csi_now_ns(void) {
  enum { NS_PER_S = 1000000000 };
  LARGE_INTEGER frequency, ticks;
  /* Neither call fails on any Windows that runs this program. */
  (void)QueryPerformanceFrequency(&frequency);
  (void)QueryPerformanceCounter(&ticks);
  /* Seconds and rest apart: ticks times a billion would overflow after minutes. */
  int64_t seconds = ticks.QuadPart / frequency.QuadPart;
  int64_t rest = ticks.QuadPart % frequency.QuadPart;
  return seconds * NS_PER_S + rest * NS_PER_S / frequency.QuadPart;
}
