/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSI_BASE_PEER_H
#define CSI_BASE_PEER_H

#include <stdint.h>

/* The process at the other end of a connection. */
struct csi_peer {
  uint32_t process_id;    /* 0 when the transport does not know it */
  const char *image_path; /* UTF-8; "" when the transport does not know it */
};

#endif
