/* SPDX-License-Identifier: Apache-2.0
 *
 * What a server is made of, for the files that make it up.
 */
#ifndef CSI_RPC_SERVER_STATE_H
#define CSI_RPC_SERVER_STATE_H

#include "rpc/call.h"
#include "rpc/server.h"

struct csi_server {
  struct csi_server_options options;
  char *endpoint_format;
  char *sddl;
  struct csi_completion_queue *queue;
  struct csi_call_environment environment;
  struct csi_endpoint *endpoints, **endpoints_end; /* in the order they were opened; under environment.lock */
  size_t endpoints_shut_down;                      /* under environment.lock */
  size_t endpoint_count;
};

#endif
