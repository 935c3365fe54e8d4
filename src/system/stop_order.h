/* SPDX-License-Identifier: Apache-2.0
 *
 * In which order services are stopped. Portable and pure.
 */
#ifndef CSI_SYSTEM_STOP_ORDER_H
#define CSI_SYSTEM_STOP_ORDER_H

#include <stddef.h>
#include <stdint.h>

enum {
  CSI_STOP_SERVICES_MAX = 128, /* a node has some 250 services, and RpcSs, the worst, some 100 dependents */
  CSI_STOP_EDGES_MAX = CSI_STOP_SERVICES_MAX * CSI_STOP_SERVICES_MAX,
};

/* One service needs another, directly or not. Services are numbered from 0. */
struct csi_stop_edge {
  uint16_t dependent;
  uint16_t needed;
};

/* Orders count services so that each stands behind all that need it; among those that could be next, the
 * smallest number is. Every service is in the result exactly once, whatever the edges say: one of a
 * service with itself or beyond count is left out of account; a circle, which Windows does not allow, is
 * broken at the smallest number that is left. count: at most CSI_STOP_SERVICES_MAX. order_out: room for count
 * numbers. */
void csi_stop_order(size_t count, const struct csi_stop_edge *edges, size_t edge_count, uint16_t *order_out);

#endif
