/* SPDX-License-Identifier: Apache-2.0
 *
 * Who wants to know of every call: metrics, the audit log. The server tells; it does not know what is made
 * of it. Who wants to look rather than be told: see rpc/snapshot.h.
 */
#ifndef CSI_RPC_OBSERVER_H
#define CSI_RPC_OBSERVER_H

#include <stdint.h>

#include "base/peer.h"
#include "base/status.h"
#include "rpc/method.h"

/* Why a call never reached its handler. */
enum csi_rejection {
  CSI_NOT_REJECTED,
  CSI_REJECTED_UNKNOWN_METHOD,
  CSI_REJECTED_NO_MESSAGE,  /* the client sent none, a compressed one, or one that is too large */
  CSI_REJECTED_BAD_MESSAGE, /* could not be decoded, or is against a limit of the proto */
  CSI_REJECTED_QUEUE_FULL,  /* too many calls wait for a thread, or too many streams are open */
  CSI_REJECTED_BYTES_FULL,  /* too many bytes of requests wait */
  CSI_REJECTED_OUT_OF_MEMORY,
  CSI_REJECTED_TOO_LATE, /* deadline or cancellation came before its message, or while it waited for a thread
                          */
  CSI_REJECTION_COUNT,
};

/* What is known of a call; everything is borrowed for the callback. A stream is a call too: its method tells
 * (method->streaming). */
struct csi_call_info {
  uint64_t id;                       /* of this process, from 1 */
  const struct csi_service *service; /* when it has no such method: the first one of the endpoint */
  const struct csi_method *method;   /* NULL: the endpoint has no such method */
  const struct csi_peer *peer;
  const char *object; /* of mutating methods whose message could be read: the request's fields,
                         "path=\"C:\\x\" force=true", secrets blanked (rpc/request_object.h); "" of others */
  int64_t arrived_ns; /* csi_now_ns() */
  int64_t queued_ns;  /* how long it waited for a thread; 0 in LANE_INLINE, and of streams */
  int64_t ended_ns;   /* in ended() only */
  enum csi_rejection rejection;
  const struct csi_status *status; /* in ended() only; CSI_CANCELLED when the client went away */
  enum csi_code wire_code;         /* in ended() only: what the client gets */
};

/* Both run on threads of the server, several at once, and must not block. A call that is rejected has only
 * ended(); every other has both, in this order. ended() comes before the reply is sent,
 * except where only that tells whether the client has cancelled: of a stream that the client ended, and of a
 * call without a message. */
struct csi_call_observer {
  void *context;
  void (*started)(void *context,
                  const struct csi_call_info *call); /* the handler is about to run; may be NULL */
  void (*ended)(void *context, const struct csi_call_info *call); /* may be NULL */
};

enum {
  CSI_CALL_OBSERVERS = 4, /* most that a server takes */
};

/* "queue_full", as in metrics; "" for CSI_NOT_REJECTED. */
const char *csi_rejection_name(enum csi_rejection rejection);

#endif
