/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <unistd.h>

#include "metrics/sockets.h"

bool csi_sockets_begin(struct csi_status *status) {
  (void)status;
  return true;
}

void csi_sockets_end(void) {
}

csi_socket csi_sockets_new(int family) {
  csi_socket made = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  /* Connections of a predecessor that are about to end do not keep the port; another listener does. */
  int reuse = 1;
  if (made != CSI_NO_SOCKET && setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) != 0) {
    csi_sockets_close(made);
    return CSI_NO_SOCKET;
  }
  return made;
}

void csi_sockets_close(csi_socket socket) {
  int error = errno;
  close(socket);
  errno = error;
}

void csi_sockets_shut_down(csi_socket socket) {
  (void)shutdown(socket, SHUT_RDWR);
}

bool csi_sockets_fail(struct csi_status *status, const char *call, const char *object) {
  return csi_fail_system(status, CSI_SPACE_ERRNO, (uint32_t)errno, call, "%s", object);
}

bool csi_sockets_port_is_taken(void) {
  return errno == EADDRINUSE;
}

bool csi_sockets_owner(const struct sockaddr *address, char *text_out, size_t text_bytes) {
  (void)address, (void)text_out, (void)text_bytes;
  return false;
}
