/* SPDX-License-Identifier: Apache-2.0
 *
 * Unix sockets, for native tests of everything above the transport. gRPC does the I/O here; the limit on
 * silence belongs to the named pipes and is tested there.
 */
#include <errno.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "transport/transport.h"

void csi_transport_start(void) {
  grpc_init();
}

void csi_transport_shut_down(void) {
  grpc_shutdown();
}

/* gRPC closes a connection without a word; whether its number still is the same socket tells. */
struct accepted {
  int socket;
  char identity[32]; /* "socket:[4711]" */
};

struct csi_listener {
  grpc_server *server;
  int socket;
  int wake; /* eventfd: stop */
  pthread_t thread;
  char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
  uint32_t max_connections;
  pthread_mutex_t lock; /* guards what follows */
  struct accepted *connections;
  size_t count;
  uint64_t opened_count, rejected_count;
};

static bool socket_address(const char *endpoint, struct sockaddr_un *address_out, struct csi_status *status) {
  *address_out = (struct sockaddr_un){.sun_family = AF_UNIX};
  if (strlen(endpoint) >= sizeof address_out->sun_path) {
    return csi_fail(status, CSI_INVALID_ARGUMENT, "socket path %s is too long", endpoint);
  }
  memcpy(address_out->sun_path, endpoint, strlen(endpoint) + 1);
  return true;
}

/* By name, because the number may belong to somebody else by now. */
static bool read_identity(int socket, char identity_out[32]) {
  char name[32];
  snprintf(name, sizeof name, "/proc/self/fd/%d", socket);
  ssize_t length = readlink(name, identity_out, 31);
  identity_out[length < 0 ? 0 : length] = '\0';
  return length > 0;
}

static void forget_closed(struct csi_listener *listener) {
  size_t kept = 0;
  for (size_t i = 0; i < listener->count; i++) {
    char now[32];
    const struct accepted *connection = &listener->connections[i];
    if (read_identity(connection->socket, now) && strcmp(now, connection->identity) == 0)
      listener->connections[kept++] = *connection;
  }
  listener->count = kept;
}

static bool admit(struct csi_listener *listener, int socket) {
  pthread_mutex_lock(&listener->lock);
  struct accepted connection = {.socket = socket};
  forget_closed(listener);
  bool admitted = listener->count < listener->max_connections && read_identity(socket, connection.identity);
  if (admitted) listener->connections[listener->count++] = connection;
  *(admitted ? &listener->opened_count : &listener->rejected_count) += 1;
  pthread_mutex_unlock(&listener->lock);
  return admitted;
}

static void *accept_loop(void *context) {
  struct csi_listener *listener = context;
  grpc_server_credentials *credentials = grpc_insecure_server_credentials_create();
  struct pollfd waits[] = {{.fd = listener->socket, .events = POLLIN},
                           {.fd = listener->wake, .events = POLLIN}};
  while (poll(waits, 2, -1) >= 0 && !waits[1].revents) {
    int connection = accept4(listener->socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (connection < 0) continue;
    if (admit(listener, connection))
      grpc_server_add_channel_from_fd(listener->server, connection, credentials);
    else
      close(connection);
  }
  grpc_server_credentials_release(credentials);
  return NULL;
}

/* A socket file that nobody listens on is left over from a killed process. */
static void remove_stale_socket(const struct sockaddr_un *address) {
  int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return;
  if (connect(probe, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED) {
    unlink(address->sun_path);
  }
  close(probe);
}

static bool start_listening(struct csi_listener *listener, const char *endpoint, struct csi_status *status) {
  struct sockaddr_un address;
  if (!socket_address(endpoint, &address, status)) return false;
  memcpy(listener->path, address.sun_path, sizeof listener->path);
  remove_stale_socket(&address);
  listener->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  listener->wake = eventfd(0, EFD_CLOEXEC);
  if (listener->socket < 0 || listener->wake < 0) {
    return csi_fail_system(status, CSI_SPACE_ERRNO, (uint32_t)errno, "socket", "cannot listen on %s",
                           endpoint);
  }
  if (bind(listener->socket, (struct sockaddr *)&address, sizeof address) != 0) {
    int error = errno;
    listener->path[0] = '\0';
    if (error == EADDRINUSE) {
      return csi_fail(status, CSI_ALREADY_EXISTS, "socket %s is taken by another process; stop it first",
                      endpoint);
    }
    return csi_fail_system(status, CSI_SPACE_ERRNO, (uint32_t)error, "bind", "cannot listen on %s", endpoint);
  }
  if (listen(listener->socket, SOMAXCONN) != 0 ||
      pthread_create(&listener->thread, NULL, accept_loop, listener) != 0) {
    return csi_fail_system(status, CSI_SPACE_ERRNO, (uint32_t)errno, "listen", "cannot listen on %s",
                           endpoint);
  }
  return true;
}

static void close_sockets(struct csi_listener *listener) {
  if (listener->socket >= 0) close(listener->socket);
  if (listener->wake >= 0) close(listener->wake);
  if (listener->path[0]) unlink(listener->path);
  listener->socket = listener->wake = -1;
  listener->path[0] = '\0';
}

struct csi_listener *csi_listener_open(grpc_server *server, const struct csi_listener_options *options,
                                       struct csi_status *status) {
  struct csi_listener *listener = calloc(1, sizeof *listener);
  if (!listener) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  listener->server = server;
  listener->socket = listener->wake = -1;
  listener->max_connections = options->max_connections;
  pthread_mutex_init(&listener->lock, NULL);
  listener->connections = calloc(options->max_connections, sizeof *listener->connections);
  bool listens = listener->connections ? start_listening(listener, options->endpoint, status)
                                       : csi_fail_out_of_memory(status);
  if (listens) return listener;
  close_sockets(listener);
  csi_listener_free(listener);
  return NULL;
}

void csi_listener_stop(struct csi_listener *listener) {
  eventfd_write(listener->wake, 1);
  pthread_join(listener->thread, NULL);
  close_sockets(listener);
}

void csi_listener_free(struct csi_listener *listener) {
  pthread_mutex_destroy(&listener->lock);
  free(listener->connections);
  free(listener);
}

bool csi_transport_needs_polling(void) {
  return true;
}

void csi_listener_count(struct csi_listener *listener, struct csi_listener_counts *counts_out) {
  pthread_mutex_lock(&listener->lock);
  forget_closed(listener);
  *counts_out = (struct csi_listener_counts){
      .connections = (uint32_t)listener->count,
      .opened = listener->opened_count,
      .rejected = listener->rejected_count,
  };
  pthread_mutex_unlock(&listener->lock);
}

grpc_channel *csi_transport_connect(const char *endpoint, uint32_t timeout_ms, const grpc_channel_args *args,
                                    struct csi_status *status) {
  (void)timeout_ms; /* connecting to a Unix socket ends at once, either way */
  struct sockaddr_un address;
  if (!socket_address(endpoint, &address, status)) return NULL;
  int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) != 0) {
    csi_fail_system(status, CSI_SPACE_ERRNO, (uint32_t)errno, "connect", "open %s", endpoint);
    if (connection >= 0) close(connection);
    return NULL;
  }
  grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
  grpc_channel *channel = grpc_channel_create_from_fd("localhost", connection, credentials, args);
  grpc_channel_credentials_release(credentials);
  return channel;
}
