/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread that has what is watched looked at, every CSI_WATCH_MS, while there is something.
 */
#ifndef CSI_RPC_WATCH_H
#define CSI_RPC_WATCH_H

#include "rpc/call.h"

/* For a watch that is among the open streams already. False and RESOURCE_EXHAUSTED when there is no thread.
 */
bool csi_watch_start(struct csi_call_environment *environment, struct csi_status *status);

#endif
