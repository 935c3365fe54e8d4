/* SPDX-License-Identifier: Apache-2.0
 *
 * The one interface of sockets that POSIX and Windows share, and what differs between them. Private to the
 * metrics endpoint: nothing else of this program has sockets. All of it may be called from any thread.
 */
#ifndef CSI_METRICS_SOCKETS_H
#define CSI_METRICS_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#if defined(_WIN32)
/* In this order. */
#include <winsock2.h>

#include <ws2tcpip.h>
typedef SOCKET csi_socket;
#define CSI_NO_SOCKET INVALID_SOCKET
#else
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
typedef int csi_socket;
#define CSI_NO_SOCKET (-1)
#endif

/* Before the first call on sockets (WSAStartup), and after the last for each that succeeded. */
bool csi_sockets_begin(struct csi_status *status) CSI_MUST_CHECK;
void csi_sockets_end(void);

/* A TCP socket that does not block and is not inherited, which nobody else can have the same port with.
 * CSI_NO_SOCKET on failure, see csi_sockets_fail(). */
csi_socket csi_sockets_new(int family);
void csi_sockets_close(csi_socket socket);

/* In both directions: who waits for it, on whatever thread, wakes up. */
void csi_sockets_shut_down(csi_socket socket);

/* Records why the last call on a socket failed. Returns false. */
bool csi_sockets_fail(struct csi_status *status, const char *call, const char *object);

/* True when the last call failed because another socket has the port, or the system keeps it for something.
 */
bool csi_sockets_port_is_taken(void);

/* Which process listens where a socket of that address cannot: "process 4711 (C:\x.exe)". False when there is
 * none, or it cannot be known. address: struct sockaddr_in or sockaddr_in6. Rests on GetExtendedTcpTable; on
 * Linux it is never known. */
bool csi_sockets_owner(const struct sockaddr *address, char *text_out, size_t text_bytes);

#endif
