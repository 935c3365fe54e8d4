/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/sockets.h"

#include <iphlpapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "win32/late_dll.h"
#include "win32/process_image.h"

enum {
  PATH_BYTES = 300, /* as much of a path as is told */
  TABLE_TRIES = 4,  /* the table may have grown between asking for its size and for it */
};

static struct {
  DWORD(WINAPI *get_tcp_table)
  (PVOID table, PDWORD size_bytes, BOOL sorted, ULONG family, TCP_TABLE_CLASS class, ULONG reserved);
} helper;

bool csi_sockets_begin(struct csi_status *status) {
  WSADATA data;
  int error = WSAStartup(MAKEWORD(2, 2), &data);
  return error == 0 || csi_fail_system(status, CSI_SPACE_WIN32, (uint32_t)error, "WSAStartup", "Winsock");
}

void csi_sockets_end(void) {
  WSACleanup();
}

/* UNVERIFIED ON WINDOWS: that a port can be had again at once when the service was stopped with connections
 * on it. An exclusive port is documented to be free only when no accepted connection is active any more. */
static bool set_up(csi_socket made) {
  BOOL exclusive = TRUE;
  u_long nonblocking = 1;
  return setsockopt(made, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, (const char *)&exclusive, sizeof exclusive) == 0 &&
         ioctlsocket(made, (long)FIONBIO, &nonblocking) == 0;
}

csi_socket csi_sockets_new(int family) {
  csi_socket made =
      WSASocketW(family, SOCK_STREAM, IPPROTO_TCP, NULL, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  if (made != CSI_NO_SOCKET && !set_up(made)) {
    csi_sockets_close(made);
    return CSI_NO_SOCKET;
  }
  return made;
}

void csi_sockets_close(csi_socket socket) {
  int error = WSAGetLastError();
  closesocket(socket);
  WSASetLastError(error);
}

void csi_sockets_shut_down(csi_socket socket) {
  (void)shutdown(socket, SD_BOTH);
}

bool csi_sockets_fail(struct csi_status *status, const char *call, const char *object) {
  return csi_fail_system(status, CSI_SPACE_WIN32, (uint32_t)WSAGetLastError(), call, "%s", object);
}

/* With exclusive sockets, WSAEACCES is another's exclusive socket, or a range of ports that the system keeps.
 */
bool csi_sockets_port_is_taken(void) {
  int error = WSAGetLastError();
  return error == WSAEADDRINUSE || error == WSAEACCES;
}

/* The table of listening sockets of a family; to be freed. */
static void *listeners_of(ULONG family) {
  DWORD size_bytes = 0;
  void *table = NULL;
  for (int i = 0; i < TABLE_TRIES; i++) {
    DWORD error = helper.get_tcp_table(table, &size_bytes, FALSE, family, TCP_TABLE_OWNER_PID_LISTENER, 0);
    if (error == NO_ERROR && table != NULL) return table;
    free(table);
    if (error != ERROR_INSUFFICIENT_BUFFER || (table = malloc(size_bytes)) == NULL) return NULL;
  }
  free(table);
  return NULL;
}

/* What is listened on, or shall be: an address with all zeroes is every address of its family, and of both
 * when it is one of IPv6. */
struct place {
  int family;
  uint16_t port; /* of the network, as in the tables */
  size_t bytes;
  uint8_t address[16];
};

static struct place place_of(const struct sockaddr *address) {
  struct place place = {.family = address->sa_family};
  if (place.family == AF_INET) {
    const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)(const void *)address;
    place.port = ipv4->sin_port;
    place.bytes = sizeof ipv4->sin_addr;
    memcpy(place.address, &ipv4->sin_addr, place.bytes);
  } else {
    const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)(const void *)address;
    place.port = ipv6->sin6_port;
    place.bytes = sizeof ipv6->sin6_addr;
    memcpy(place.address, &ipv6->sin6_addr, place.bytes);
  }
  return place;
}

static bool is_every_address(const struct place *place) {
  static const uint8_t zeroes[sizeof place->address];
  return memcmp(place->address, zeroes, sizeof zeroes) == 0;
}

/* True when two sockets cannot be in both places. */
static bool collide(const struct place *a, const struct place *b) {
  if (a->port != b->port) return false;
  if (a->family == b->family)
    return is_every_address(a) || is_every_address(b) || memcmp(a->address, b->address, a->bytes) == 0;
  return is_every_address(a->family == AF_INET6 ? a : b);
}

/* 0 when no process listens there. */
static DWORD owner_ipv4(const struct place *wanted) {
  MIB_TCPTABLE_OWNER_PID *table = listeners_of(AF_INET);
  DWORD process_id = 0;
  for (DWORD i = 0; table != NULL && i < table->dwNumEntries && process_id == 0; i++) {
    const MIB_TCPROW_OWNER_PID *row = &table->table[i];
    struct place taken = {.family = AF_INET, .port = (uint16_t)row->dwLocalPort, .bytes = 4};
    memcpy(taken.address, &row->dwLocalAddr, taken.bytes);
    if (collide(&taken, wanted)) process_id = row->dwOwningPid;
  }
  free(table);
  return process_id;
}

static DWORD owner_ipv6(const struct place *wanted) {
  MIB_TCP6TABLE_OWNER_PID *table = listeners_of(AF_INET6);
  DWORD process_id = 0;
  for (DWORD i = 0; table != NULL && i < table->dwNumEntries && process_id == 0; i++) {
    const MIB_TCP6ROW_OWNER_PID *row = &table->table[i];
    struct place taken = {.family = AF_INET6, .port = (uint16_t)row->dwLocalPort, .bytes = 16};
    memcpy(taken.address, row->ucLocalAddr, taken.bytes);
    if (collide(&taken, wanted)) process_id = row->dwOwningPid;
  }
  free(table);
  return process_id;
}

/* UNVERIFIED ON WINDOWS: Wine lists sockets without their processes. */
bool csi_sockets_owner(const struct sockaddr *address, char *text_out, size_t text_bytes) {
  static const char *const names[] = {"GetExtendedTcpTable"};
  static struct csi_late_dll dll = {
      .name = "iphlpapi.dll", .names = names, .count = 1, .required_count = 1, .functions = &helper};
  struct csi_status ignored = {0};
  char path[PATH_BYTES], shown[PATH_BYTES];
  if (!csi_late_dll_load(&dll, &ignored)) return false;
  const struct place wanted = place_of(address);
  DWORD process_id = owner_ipv4(&wanted);
  if (process_id == 0) process_id = owner_ipv6(&wanted);
  if (process_id == 0) return false;
  csi_process_image_path(process_id, path, sizeof path);
  csi_text_escape(shown, sizeof shown, path, strlen(path));
  snprintf(text_out, text_bytes, path[0] == '\0' ? "process %lu" : "process %lu (%s)", process_id, shown);
  return true;
}
