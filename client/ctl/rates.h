/* SPDX-License-Identifier: Apache-2.0
 *
 * What happened between two answers of ListCalls. Not thread-safe; never blocks.
 */
#ifndef CSI_CTL_RATES_H
#define CSI_CTL_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/ctl/dynamic.h"

enum {
  CSI_RATES_METHODS = 512, /* of all groups and versions; what is beyond is left out */
  CSI_RATES_NAME_BYTES = 96,
};

struct csi_method_rate {
  char name[CSI_RATES_NAME_BYTES]; /* "v1.Disk/ListDiskIDs" */
  /* Since the start of the service. */
  uint64_t started;
  uint64_t ended;
  uint64_t failed;
  int64_t duration_us;
  int64_t longest_us;
  /* Since the answer before. */
  bool is_known; /* there was one */
  double started_per_second;
  uint64_t ended_since;
  int64_t duration_since_us;
};

/* All zero before the first answer. */
struct csi_rates {
  struct csi_method_rate methods[CSI_RATES_METHODS]; /* busiest first */
  size_t count;
  int64_t at_us; /* when the answer came; 0 = none has */
};

/* Takes an answer in.
 *
 * now_us (in): a clock that nobody sets.
 * calls (in): a ListCallsResponse; negative times in it count as 0. When one of its totals is smaller than
 * before, or a method is gone, the service has been started anew, and there are no rates this time. */
void csi_rates_take(struct csi_rates *rates, struct csi_ctl_view calls, int64_t now_us);

#endif
