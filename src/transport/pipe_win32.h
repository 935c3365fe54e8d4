/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the named-pipe transport tell each other: the listener (C) accepts and waits for
 * the first byte, the endpoint (C++, as everything that sees gRPC's internals) carries bytes.
 */
#ifndef CSI_TRANSPORT_PIPE_WIN32_H
#define CSI_TRANSPORT_PIPE_WIN32_H

#include <grpc/grpc.h>
#include <windows.h>

#include <stddef.h>

#include "transport/io_engine_win32.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CSI_PIPE_PEER_BYTES = 1500, /* what csi_pipe_peer_text() writes */
  CSI_PIPE_BUFFER_BYTES = 64 * 1024,
};

/* Converts a pipe path to UTF-16. False when it is no valid UTF-8 or longer than Windows allows (256). */
bool csi_pipe_path_w(const char *path, wchar_t *path_w, size_t size, struct csi_status *status);

/* Writes who is at the other end of a connected pipe, for csi_peer_parse():
 * "pipe:<process id>:<session id>:<SID>:<container id>:<image path>"; empty where Windows does not tell.
 * Takes some ten system calls for a process of the host, and one more for each container when it is in a job;
 * does not block. Windows: GetNamedPipeClientProcessId, GetNamedPipeClientSessionId, OpenProcessToken,
 * IsProcessInJob. The client's token itself cannot be had: clients connect with SECURITY_ANONYMOUS. */
void csi_pipe_peer_text(HANDLE pipe, char *text, size_t size_bytes);

/* The id of the container a process runs in, as the names of its jobs claim; "" when in none or it cannot be
 * told. Looks at some thousand objects and some hundred jobs at most. process: with
 * PROCESS_QUERY_LIMITED_INFORMATION. */
void csi_process_container(HANDLE process, char *id, size_t size_bytes);

/* Who is told that a served pipe is closed: last call, on any thread, after the handle is gone. */
struct csi_pipe_observer {
  void (*closed)(struct csi_pipe_observer *observer);
};

/* Serves HTTP/2 on a connected pipe whose first bytes were read already; they are wiped. The connection is
 * ended when the client's HTTP/2 settings have not come within settings_timeout_ms. Takes the handle; false
 * (handle closed, observer not called) when the connection cannot be set up. */
bool csi_pipe_serve(grpc_server *server, HANDLE pipe, const char *peer, void *first_bytes, size_t length,
                    uint32_t settings_timeout_ms, struct csi_pipe_observer *observer);

/* Makes gRPC use the I/O engine instead of threads of its own: for background work (before grpc_init()) and
 * for timers (after it). */
void csi_event_engine_install(void);
void csi_timers_install(void);

/* Makes a channel over a connected pipe. Takes the handle. NULL when it cannot be set up. */
grpc_channel *csi_pipe_channel(HANDLE pipe, const grpc_channel_args *args);

#ifdef __cplusplus
}
#endif

#endif
