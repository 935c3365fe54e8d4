/* SPDX-License-Identifier: Apache-2.0 */
#include "system/stop_order.h"

#include <assert.h>
#include <stdbool.h>

static bool is_edge(const struct csi_stop_edge *edge, size_t count) {
  return edge->dependent < count && edge->needed < count && edge->dependent != edge->needed;
}

/* The first that nobody left needs; in a circle, the first that is left. */
static uint16_t choose(size_t count, const bool *placed, const uint32_t *needing) {
  uint16_t first_left = UINT16_MAX;
  for (uint16_t i = 0; i < count; i++) {
    if (placed[i]) continue;
    if (needing[i] == 0) return i;
    if (first_left == UINT16_MAX) first_left = i;
  }
  return first_left;
}

void csi_stop_order(size_t count, const struct csi_stop_edge *edges, size_t edge_count, uint16_t *order_out) {
  assert(count <= CSI_STOP_SERVICES_MAX);
  bool placed[CSI_STOP_SERVICES_MAX] = {false};
  uint32_t needing[CSI_STOP_SERVICES_MAX] = {0}; /* how many edges lead here from services that are left */
  for (size_t i = 0; i < edge_count; i++)
    if (is_edge(&edges[i], count)) needing[edges[i].needed]++;
  for (size_t placed_count = 0; placed_count < count; placed_count++) {
    uint16_t next = choose(count, placed, needing);
    placed[next] = true;
    order_out[placed_count] = next;
    for (size_t i = 0; i < edge_count; i++)
      if (is_edge(&edges[i], count) && edges[i].dependent == next) needing[edges[i].needed]--;
  }
}
