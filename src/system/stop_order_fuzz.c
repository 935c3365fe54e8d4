/* SPDX-License-Identifier: Apache-2.0
 *
 * Any services and any edges between them, circles included: each service comes exactly once, and where the
 * edges have no circle, behind all that need it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "system/stop_order.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte is the count; the rest are pairs. When the count is even, edges lead from larger to smaller
 * numbers only, so that there is no circle. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  static struct csi_stop_edge edges[CSI_STOP_EDGES_MAX];
  size_t count = data[0] % (CSI_STOP_SERVICES_MAX + 1), edge_count = 0;
  bool has_no_circle = data[0] % 2 == 0;
  for (size_t i = 1; i + 1 < size && edge_count < CSI_STOP_EDGES_MAX; i += 2) {
    struct csi_stop_edge edge = {.dependent = data[i], .needed = data[i + 1]};
    if (has_no_circle && edge.dependent < edge.needed)
      edge = (struct csi_stop_edge){.dependent = edge.needed, .needed = edge.dependent};
    edges[edge_count++] = edge;
  }
  uint16_t order[CSI_STOP_SERVICES_MAX];
  size_t place[CSI_STOP_SERVICES_MAX];
  csi_stop_order(count, edges, edge_count, order);
  bool seen[CSI_STOP_SERVICES_MAX] = {false};
  for (size_t i = 0; i < count; i++) {
    if (order[i] >= count || seen[order[i]]) abort();
    seen[order[i]] = true;
    place[order[i]] = i;
  }
  for (size_t i = 0; has_no_circle && i < edge_count; i++) {
    struct csi_stop_edge edge = edges[i];
    if (edge.dependent >= count || edge.needed >= count || edge.dependent == edge.needed) continue;
    if (place[edge.dependent] > place[edge.needed]) abort();
  }
  return 0;
}
