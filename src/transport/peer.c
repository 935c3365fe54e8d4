/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "transport/transport.h"

#if !defined(_WIN32)
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* NULL when it is not known: the process has ended, or belongs to somebody else. */
static const char *image_of(struct csi_arena *arena, pid_t process_id) {
  char link[32], path[1024];
  snprintf(link, sizeof link, "/proc/%d/exe", (int)process_id);
  ssize_t length = readlink(link, path, sizeof path);
  return length < 0 ? NULL : csi_arena_strndup(arena, path, (size_t)length);
}

/* A Unix socket's peer reads "fd:<number>"; the kernel knows who that is. */
static bool parse_socket_peer(struct csi_arena *arena, const char *peer_text, struct csi_peer *peer_out) {
  if (strncmp(peer_text, "fd:", 3) != 0) return false;
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  int fd = atoi(peer_text + 3);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return false;
  peer_out->process_id = (uint32_t)credentials.pid;
  const char *image_path = image_of(arena, credentials.pid);
  if (image_path) peer_out->image_path = image_path;
  const char *account = csi_arena_printf(arena, "uid %u", (unsigned)credentials.uid);
  if (account) peer_out->account = account;
  return true;
}
#else
static bool parse_socket_peer(struct csi_arena *arena, const char *peer_text, struct csi_peer *peer_out) {
  (void)arena, (void)peer_text, (void)peer_out;
  return false;
}
#endif

/* The next field of a pipe's peer, copied; "" when memory is short. NULL when no colon follows. */
static const char *next_field(struct csi_arena *arena, const char **at) {
  const char *colon = strchr(*at, ':');
  if (!colon) return NULL;
  const char *field = csi_arena_strndup(arena, *at, (size_t)(colon - *at));
  *at = colon + 1;
  return field ? field : "";
}

/* A pipe's peer reads "pipe:<process id>:<session id>:<SID>:<container id>:<image path>". */
void csi_peer_parse(struct csi_arena *arena, const char *peer_text, struct csi_peer *peer_out) {
  *peer_out = CSI_PEER_UNKNOWN;
  if (parse_socket_peer(arena, peer_text, peer_out) || strncmp(peer_text, "pipe:", 5) != 0) return;
  const char *at = peer_text + 5;
  const char *process_id = next_field(arena, &at);
  const char *session_id = process_id ? next_field(arena, &at) : NULL;
  const char *account = session_id ? next_field(arena, &at) : NULL;
  const char *container = account ? next_field(arena, &at) : NULL;
  if (!container) return;
  peer_out->process_id = (uint32_t)strtoul(process_id, NULL, 10);
  if (session_id[0]) peer_out->session_id = (uint32_t)strtoul(session_id, NULL, 10);
  peer_out->account = account;
  peer_out->container = container;
  const char *image_path = csi_arena_strdup(arena, at);
  if (image_path) peer_out->image_path = image_path;
}
