/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "base/ctx.h"

int64_t csi_now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
