/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "transport/transport.h"

#if !defined(_WIN32)
#include <stdio.h>
#include <sys/socket.h>

/* A Unix socket's peer reads "fd:<number>"; the kernel knows who that is. */
static bool parse_socket_peer(struct csi_arena *arena, const char *peer_text, struct csi_peer *peer_out) {
  if (strncmp(peer_text, "fd:", 3) != 0) return false;
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  int fd = atoi(peer_text + 3);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return false;
  peer_out->process_id = (uint32_t)credentials.pid;
  const char *image_path = csi_arena_printf(arena, "/proc/%d/exe", (int)credentials.pid);
  if (image_path) peer_out->image_path = image_path;
  return true;
}
#else
static bool parse_socket_peer(struct csi_arena *arena, const char *peer_text, struct csi_peer *peer_out) {
  (void)arena, (void)peer_text, (void)peer_out;
  return false;
}
#endif

/* A pipe's peer reads "pipe:<process id>:<image path>". */
void csi_peer_parse(struct csi_arena *arena, const char *peer_text, struct csi_peer *peer_out) {
  *peer_out = (struct csi_peer){.process_id = 0, .image_path = ""};
  if (parse_socket_peer(arena, peer_text, peer_out) || strncmp(peer_text, "pipe:", 5) != 0) return;
  char *end = NULL;
  unsigned long process_id = strtoul(peer_text + 5, &end, 10);
  if (*end != ':') return;
  peer_out->process_id = (uint32_t)process_id;
  const char *image_path = csi_arena_strdup(arena, end + 1);
  if (image_path) peer_out->image_path = image_path;
}
