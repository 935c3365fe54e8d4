/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes in and out. A listener accepts connections on one endpoint and gives each to a gRPC server as
 * an HTTP/2 transport; connecting gives a gRPC channel. Two implementations of this header: named
 * pipes (pipe_*_win32.*) and Unix sockets (unix_transport.c, for native tests).
 */
#ifndef CSI_TRANSPORT_TRANSPORT_H
#define CSI_TRANSPORT_TRANSPORT_H

#include <grpc/grpc.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/peer.h"
#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts gRPC with as few threads of its own as this transport needs; before anything else here, and
 * paired with csi_transport_shut_down(). Both are counted. */
void csi_transport_start(void);
void csi_transport_shut_down(void);

struct csi_listener;

struct csi_listener_options {
  const char *endpoint;        /* pipe or socket path, UTF-8 */
  const char *sddl;            /* named pipes: security descriptor of the pipe; ignored elsewhere */
  uint32_t max_connections;    /* served at once; one more is closed right after it was accepted */
  uint32_t pending_instances;  /* listening instances kept ready, so that a burst finds one */
  uint32_t silence_timeout_ms; /* a connection that has not completed the HTTP/2 preface is closed */
};

/* Starts accepting. NULL and status on failure: CSI_ALREADY_EXISTS when another process owns the
 * endpoint (the text names the process), otherwise the system error. */
struct csi_listener *csi_listener_open(grpc_server *server, const struct csi_listener_options *options,
                                       struct csi_status *status);

/* Stops accepting and closes what waits for its first byte; established connections stay with the
 * gRPC server. Returns when no callback of the listener can start any more. */
void csi_listener_stop(struct csi_listener *listener);

/* Frees a stopped listener. The gRPC server must have been shut down: no connection is left. */
void csi_listener_free(struct csi_listener *listener);

struct csi_listener_counts {
  uint32_t connections; /* that are established now */
  uint64_t opened;      /* that ever were, refused ones not counted */
  uint64_t rejected;    /* one too many for max_connections */
};

/* Any thread, until csi_listener_free(). */
void csi_listener_count(struct csi_listener *listener, struct csi_listener_counts *counts_out);

/* True when gRPC's completion queues must be polled for the transport to make progress; named pipes
 * drive themselves. */
bool csi_transport_needs_polling(void);

/* Reads the text that grpc_call_get_peer() gives for a connection of this transport. */
void csi_peer_parse(struct csi_arena *arena, const char *peer_text, struct csi_peer *peer_out);

/* Opens a connection and a channel over it; waits while the endpoint is busy, timeout_ms at most.
 * NULL and status on failure: CSI_NOT_FOUND when there is no such endpoint, CSI_DEADLINE_EXCEEDED when
 * it stayed busy. A channel whose connection is lost does not reconnect: its calls end UNAVAILABLE. */
grpc_channel *csi_transport_connect(const char *endpoint, uint32_t timeout_ms, const grpc_channel_args *args,
                                    struct csi_status *status);

#ifdef __cplusplus
}
#endif

#endif
