/* SPDX-License-Identifier: Apache-2.0
 *
 * Streaming calls: csi_method.streaming tells which kind. They are served by the same functions as others, a
 * message at a time.
 *
 * A stream never has more than one message of the client and one of ours in memory: the next is read, and
 * what is watched is looked at again, when the last answer has left. Of a client that reads slowly, or not
 * at all, that is what it costs. Each message has its own arena and the time of a short call; limits and
 * checks are those of other calls. A stream itself lasts as long as its client likes, or until the server
 * drains. A client that has CSI_STREAMS_PER_PROCESS open, and everybody when there are CSI_ALL_STREAMS, is
 * told RESOURCE_EXHAUSTED.
 */
#ifndef CSI_RPC_STREAM_H
#define CSI_RPC_STREAM_H

#include <grpc/grpc.h>

#include "rpc/call.h"

/* What a call that turned out to be a stream had; the stream takes the grpc_call and the arena. */
struct csi_stream_start {
  struct csi_endpoint *endpoint;
  grpc_call *grpc;
  struct csi_arena *arena; /* has the texts of peer */
  const struct csi_binding *binding;
  const struct csi_method *method;
  struct csi_peer peer;
  int64_t arrived_ns;
  int64_t deadline_ns; /* the client's own, or CSI_NO_DEADLINE */
};

/* False when memory is short: nothing was taken. */
bool csi_stream_begin(const struct csi_stream_start *start);

/* Has all that is watched looked at now. Does not wait for it. */
void csi_streams_refresh(struct csi_call_environment *environment);

/* Ends all streams with UNAVAILABLE, at once, those of clients that do not read too; no new ones are taken.
 */
void csi_streams_end(struct csi_call_environment *environment);

#endif
