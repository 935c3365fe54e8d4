/* SPDX-License-Identifier: Apache-2.0 */
#include "control_server.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
  CONNECTIONS = 16, /* at a time; more wait */
  REPLY_BYTES = 1 << 20,
  LINE_BYTES = 4096,
};

struct connection {
  struct control_server *server;
  int socket; /* -1 = none */
  pthread_t thread;
  bool used; /* there is a thread to join */
};

struct control_server {
  struct fake_node *node;
  char path[sizeof((struct sockaddr_un *)NULL)->sun_path];
  int listener;
  pthread_t acceptor;
  pthread_mutex_t lock; /* guards what follows */
  bool stopping;
  struct connection connections[CONNECTIONS];
};

static void answer(struct control_server *server, FILE *out, char *line, char *reply) {
  line[strcspn(line, "\r\n")] = '\0';
  if (fake_node_command(server->node, line, reply, REPLY_BYTES)) {
    fprintf(out, "%s. ok\n", reply);
  } else {
    fprintf(out, ". error: %s\n", reply);
  }
  fflush(out);
}

static void *serve(void *data) {
  struct connection *connection = data;
  struct control_server *server = connection->server;
  FILE *in = fdopen(connection->socket, "r");
  FILE *out = in == NULL ? NULL : fdopen(dup(connection->socket), "w");
  char *reply = malloc(REPLY_BYTES);
  char line[LINE_BYTES];
  while (out != NULL && reply != NULL && fgets(line, sizeof line, in) != NULL)
    answer(server, out, line, reply);
  free(reply);
  if (out != NULL) fclose(out);
  pthread_mutex_lock(&server->lock);
  if (in != NULL)
    fclose(in);
  else
    close(connection->socket);
  connection->socket = -1;
  pthread_mutex_unlock(&server->lock);
  return NULL;
}

/* A place whose connection has ended; NULL = all are busy. The lock is held. */
static struct connection *free_place(struct control_server *server) {
  for (size_t i = 0; i < CONNECTIONS; i++) {
    struct connection *connection = &server->connections[i];
    if (connection->socket >= 0) continue;
    if (connection->used) pthread_join(connection->thread, NULL);
    connection->used = false;
    return connection;
  }
  return NULL;
}

static void begin(struct control_server *server, int socket) {
  pthread_mutex_lock(&server->lock);
  struct connection *connection = server->stopping ? NULL : free_place(server);
  if (connection != NULL) {
    connection->socket = socket;
    connection->used = pthread_create(&connection->thread, NULL, serve, connection) == 0;
    if (!connection->used) connection->socket = -1;
  }
  bool begun = connection != NULL && connection->used;
  pthread_mutex_unlock(&server->lock);
  if (!begun) close(socket);
}

static void *accept_all(void *data) {
  struct control_server *server = data;
  for (;;) {
    int socket = accept(server->listener, NULL, NULL);
    if (socket < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (socket < 0) return NULL;
    begin(server, socket);
  }
}

static bool listen_at(struct control_server *server, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (snprintf(address.sun_path, sizeof address.sun_path, "%s", path) >= (int)sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(server->path, address.sun_path, sizeof server->path);
  server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  unlink(path);
  return server->listener >= 0 &&
         bind(server->listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
         listen(server->listener, CONNECTIONS) == 0;
}

struct control_server *control_server_start(struct fake_node *node, const char *path) {
  struct control_server *server = calloc(1, sizeof *server);
  if (server == NULL) return NULL;
  server->listener = -1;
  server->node = node;
  pthread_mutex_init(&server->lock, NULL);
  for (size_t i = 0; i < CONNECTIONS; i++)
    server->connections[i] = (struct connection){.server = server, .socket = -1};
  if (listen_at(server, path) && pthread_create(&server->acceptor, NULL, accept_all, server) == 0)
    return server;
  if (server->listener >= 0) close(server->listener);
  pthread_mutex_destroy(&server->lock);
  free(server);
  return NULL;
}

void control_server_stop(struct control_server *server) {
  if (server == NULL) return;
  shutdown(server->listener, SHUT_RDWR);
  pthread_join(server->acceptor, NULL);
  pthread_mutex_lock(&server->lock);
  server->stopping = true;
  for (size_t i = 0; i < CONNECTIONS; i++)
    if (server->connections[i].socket >= 0) shutdown(server->connections[i].socket, SHUT_RDWR);
  pthread_mutex_unlock(&server->lock);
  for (size_t i = 0; i < CONNECTIONS; i++)
    if (server->connections[i].used) pthread_join(server->connections[i].thread, NULL);
  close(server->listener);
  unlink(server->path);
  pthread_mutex_destroy(&server->lock);
  free(server);
}
