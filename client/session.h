/* SPDX-License-Identifier: Apache-2.0
 *
 * What a client keeps between calls: the connection, replaced after it was lost, and a few completion
 * queues. Everything here may be called by any number of threads at once.
 */
#ifndef CSI_CLIENT_SESSION_H
#define CSI_CLIENT_SESSION_H

#include <grpc/grpc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "client/runtime.h"

enum {
  CSI_IDLE_QUEUES = 8, /* completion queues kept for the next calls; more are made and dropped as needed */
};

/* One channel over one pipe or socket. Shared by the calls on it. */
struct csi_connection;

enum {
  CSI_RAW_NAME_BYTES = 33, /* of a group or version the library need not know */
};

/* What stands in for the tables of a group when there are none. */
struct csi_raw_group {
  char group_name[CSI_RAW_NAME_BYTES];
  char version_name[CSI_RAW_NAME_BYTES];
  struct csi_client_group group; /* without RPCs */
  struct csi_client_version version;
};

struct csi_client {
  struct csi_raw_group raw; /* `group` points into it when the client was made by csi_client_connect_raw() */
  const struct csi_client_group *group;
  const struct csi_client_version *version;
  char *endpoint;
  uint32_t connect_timeout_ms;

  pthread_mutex_t mutex; /* guards what follows */
  pthread_cond_t settled;
  struct csi_connection *connection; /* NULL after it was lost */
  bool connecting;                   /* one thread connects, the others wait for what comes of it */
  grpc_completion_queue *idle_queues[CSI_IDLE_QUEUES];
  size_t idle_queue_count;
};

/* Opens the first connection of a client whose other members are set. */
bool csi_session_open(struct csi_client *client, struct csi_status *status);

/* Drops connection and queues. No call may be under way. */
void csi_session_close(struct csi_client *client);

/* The connection for a call; opens a new one when the last was lost. To be given back with
 * csi_session_release(). Waits no longer than deadline_ns and the client's connect time-out.
 * False: DEADLINE_EXCEEDED after deadline_ns, otherwise UNAVAILABLE with the reason. */
bool csi_session_acquire(struct csi_client *client, int64_t deadline_ns,
                         struct csi_connection **connection_out, struct csi_status *status);

/* lost (in): the connection is dead; the next call opens another. */
void csi_session_release(struct csi_client *client, struct csi_connection *connection, bool lost);

/* A queue for one call, to be given back empty. NULL when it cannot be made. */
grpc_completion_queue *csi_session_take_queue(struct csi_client *client);
void csi_session_give_queue(struct csi_client *client, grpc_completion_queue *queue);

/* What to call. */
struct csi_rpc {
  size_t index; /* in the table of the client's group; it must exist in the version of the client */
  const char
      *path; /* "/v1.Disk/ListDiskIDs": any RPC, whether the table has it or not; NULL: `index` counts */
};

grpc_call *csi_connection_start(struct csi_connection *connection, struct csi_rpc rpc,
                                grpc_completion_queue *queue, gpr_timespec deadline);

#endif
