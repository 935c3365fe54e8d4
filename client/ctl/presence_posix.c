/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/ctl/connection.h"

/* A socket outlives whoever listened on it: only connecting tells. */
bool csi_pipe_is_present(const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(name) >= sizeof address.sun_path) return false;
  memcpy(address.sun_path, name, strlen(name) + 1);
  int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return false;
  bool present = connect(connection, (struct sockaddr *)&address, sizeof address) == 0;
  close(connection);
  return present;
}
