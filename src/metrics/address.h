/* SPDX-License-Identifier: Apache-2.0
 *
 * "host:port", as Go's net.Listen takes it. Pure.
 */
#ifndef CSI_METRICS_ADDRESS_H
#define CSI_METRICS_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum {
  CSI_ADDRESS_HOST_BYTES = 254, /* of the longest name there can be, NUL included */
};

struct csi_address {
  char host[CSI_ADDRESS_HOST_BYTES]; /* a name or a number, without brackets; "" = every address of the
                                        machine */
  uint16_t port;                     /* 0 = any that is free */
};

/* Takes a text apart: "localhost:8888", ":8888", "0.0.0.0:8888", "[::1]:8888", "127.0.0.1:0". Whether there
 * is such a host is not looked at. Unlike in Go a port is a number, never the name of a service.
 *
 * False, INVALID_ARGUMENT and what is wrong with it otherwise. */
bool csi_address_parse(const char *text, struct csi_address *address_out,
                       struct csi_status *status) CSI_MUST_CHECK;

#endif
