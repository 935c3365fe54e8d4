/* SPDX-License-Identifier: Apache-2.0 */
#include "client/session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "transport/transport.h"

enum {
  NS_PER_MS = 1000000,
  NS_PER_S = 1000000000,
  MAX_RESPONSE_BYTES = 4 * 1024 * 1024, /* what the Go client accepts */
};

struct csi_connection {
  grpc_channel *channel;
  unsigned references; /* guarded by the client's mutex; the client itself holds one while it uses it */
  void *methods[];     /* gRPC's handles, indexed by RPC; NULL where the version lacks it */
};

/* A channel of one connection needs nothing that gRPC offers for networks. */
static grpc_channel *open_channel(const char *endpoint, uint32_t timeout_ms, struct csi_status *status) {
  grpc_arg arguments[] = {
      {.type = GRPC_ARG_STRING, .key = GRPC_ARG_DEFAULT_AUTHORITY, .value.string = "localhost"},
      {.type = GRPC_ARG_STRING,
       .key = GRPC_ARG_PRIMARY_USER_AGENT_STRING,
       .value.string = "csi-proxy-client-c"},
      {.type = GRPC_ARG_INTEGER,
       .key = GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
       .value.integer = MAX_RESPONSE_BYTES},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_HTTP2_BDP_PROBE, .value.integer = 0},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, .value.integer = 0},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, .value.integer = 0},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_ENABLE_RETRIES, .value.integer = 0},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_ENABLE_CHANNELZ, .value.integer = 0},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_MAX_CHANNEL_TRACE_EVENT_MEMORY_PER_NODE, .value.integer = 0},
  };
  grpc_channel_args args = {.num_args = sizeof arguments / sizeof arguments[0], .args = arguments};
  return csi_transport_connect(endpoint, timeout_ms, &args, status);
}

static struct csi_connection *open_connection(const struct csi_client *client, uint32_t timeout_ms,
                                              struct csi_status *status) {
  size_t rpc_count = client->group->rpc_count;
  struct csi_connection *connection =
      calloc(1, sizeof *connection + rpc_count * sizeof connection->methods[0]);
  if (connection == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  connection->channel = open_channel(client->endpoint, timeout_ms, status);
  if (connection->channel == NULL) {
    free(connection);
    return NULL;
  }
  for (size_t rpc = 0; rpc < rpc_count; rpc++) {
    const char *path = client->version->methods[rpc].path;
    if (path == NULL) continue;
    connection->methods[rpc] = grpc_channel_register_call(connection->channel, path, NULL, NULL);
  }
  connection->references = 1;
  return connection;
}

/* Called without the mutex: gRPC may run callbacks in here. */
static void free_connection(struct csi_connection *connection) {
  if (connection == NULL) return;
  grpc_channel_destroy(connection->channel);
  free(connection);
}

/* Returns the connection when nobody refers to it any more. Needs the mutex. */
static struct csi_connection *drop_reference(struct csi_connection *connection) {
  return --connection->references == 0 ? connection : NULL;
}

grpc_call *csi_connection_start(struct csi_connection *connection, struct csi_rpc rpc,
                                grpc_completion_queue *queue, gpr_timespec deadline) {
  if (rpc.path == NULL) {
    return grpc_channel_create_registered_call(connection->channel, NULL, GRPC_PROPAGATE_DEFAULTS, queue,
                                               connection->methods[rpc.index], deadline, NULL);
  }
  grpc_slice path = grpc_slice_from_copied_string(rpc.path);
  grpc_call *call = grpc_channel_create_call(connection->channel, NULL, GRPC_PROPAGATE_DEFAULTS, queue, path,
                                             NULL, deadline, NULL);
  grpc_slice_unref(path);
  return call;
}

static grpc_completion_queue *new_queue(void) {
  grpc_completion_queue_attributes attributes = {
      .version = 1,
      .cq_completion_type = GRPC_CQ_PLUCK,
      .cq_polling_type = csi_transport_needs_polling() ? GRPC_CQ_DEFAULT_POLLING : GRPC_CQ_NON_POLLING,
  };
  return grpc_completion_queue_create(grpc_completion_queue_factory_lookup(&attributes), &attributes, NULL);
}

static void free_queue(grpc_completion_queue *queue) {
  grpc_completion_queue_shutdown(queue);
  grpc_completion_queue_destroy(queue);
}

grpc_completion_queue *csi_session_take_queue(struct csi_client *client) {
  grpc_completion_queue *queue = NULL;
  pthread_mutex_lock(&client->mutex);
  if (client->idle_queue_count > 0) queue = client->idle_queues[--client->idle_queue_count];
  pthread_mutex_unlock(&client->mutex);
  return queue != NULL ? queue : new_queue();
}

void csi_session_give_queue(struct csi_client *client, grpc_completion_queue *queue) {
  pthread_mutex_lock(&client->mutex);
  bool keep = client->idle_queue_count < CSI_IDLE_QUEUES;
  if (keep) client->idle_queues[client->idle_queue_count++] = queue;
  pthread_mutex_unlock(&client->mutex);
  if (!keep) free_queue(queue);
}

bool csi_session_open(struct csi_client *client, struct csi_status *status) {
  client->connection = open_connection(client, client->connect_timeout_ms, status);
  if (client->connection == NULL) return false;
  pthread_mutex_init(&client->mutex, NULL);
  pthread_cond_init(&client->settled, NULL);
  return true;
}

void csi_session_close(struct csi_client *client) {
  free_connection(client->connection);
  for (size_t i = 0; i < client->idle_queue_count; i++) {
    free_queue(client->idle_queues[i]);
  }
  pthread_cond_destroy(&client->settled);
  pthread_mutex_destroy(&client->mutex);
}

static uint32_t milliseconds_until(int64_t time_ns) {
  int64_t left_ns = time_ns - csi_now_ns();
  if (left_ns <= 0) return 0;
  int64_t left_ms = (left_ns + NS_PER_MS - 1) / NS_PER_MS;
  return left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX;
}

/* Waits for the thread that connects. Needs the mutex. */
static void wait_until_settled(struct csi_client *client, int64_t limit_ns) {
  uint32_t left_ms = milliseconds_until(limit_ns);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += left_ms / 1000;
  until.tv_nsec += (long)(left_ms % 1000) * NS_PER_MS;
  if (until.tv_nsec >= NS_PER_S) {
    until.tv_sec++;
    until.tv_nsec -= NS_PER_S;
  }
  pthread_cond_timedwait(&client->settled, &client->mutex, &until);
}

/* Opens the next connection while the others wait. Needs the mutex, and gives it away meanwhile. */
static void reconnect(struct csi_client *client, int64_t limit_ns, struct csi_status *status) {
  client->connecting = true;
  pthread_mutex_unlock(&client->mutex);
  struct csi_connection *connection = open_connection(client, milliseconds_until(limit_ns), status);
  pthread_mutex_lock(&client->mutex);
  client->connection = connection;
  client->connecting = false;
  pthread_cond_broadcast(&client->settled);
}

static bool fail_to_reconnect(struct csi_client *client, int64_t deadline_ns, struct csi_status *status) {
  if (csi_now_ns() >= deadline_ns) {
    csi_status_clear(status);
    return csi_fail(status, CSI_DEADLINE_EXCEEDED,
                    "the time for the call ran out while connecting to %s again", client->endpoint);
  }
  if (csi_status_ok(status)) {
    return csi_fail(status, CSI_UNAVAILABLE,
                    "the connection to %s was lost, and another thread is still connecting",
                    client->endpoint);
  }
  status->code = CSI_UNAVAILABLE;
  return csi_explain(status, "the connection was lost, and there is no new one: ");
}

bool csi_session_acquire(struct csi_client *client, int64_t deadline_ns,
                         struct csi_connection **connection_out, struct csi_status *status) {
  pthread_mutex_lock(&client->mutex);
  if (client->connection == NULL) {
    int64_t limit_ns = csi_now_ns() + (int64_t)client->connect_timeout_ms * NS_PER_MS;
    if (deadline_ns < limit_ns) limit_ns = deadline_ns;
    while (client->connecting && csi_now_ns() < limit_ns) {
      wait_until_settled(client, limit_ns);
    }
    if (client->connection == NULL && !client->connecting) reconnect(client, limit_ns, status);
  }
  struct csi_connection *connection = client->connection;
  if (connection != NULL) connection->references++;
  pthread_mutex_unlock(&client->mutex);

  if (connection == NULL) return fail_to_reconnect(client, deadline_ns, status);
  *connection_out = connection;
  return true;
}

void csi_session_release(struct csi_client *client, struct csi_connection *connection, bool lost) {
  struct csi_connection *unused = NULL;
  pthread_mutex_lock(&client->mutex);
  if (lost && client->connection == connection) {
    client->connection = NULL;
    drop_reference(connection);
  }
  unused = drop_reference(connection);
  pthread_mutex_unlock(&client->mutex);
  free_connection(unused);
}
