/* SPDX-License-Identifier: Apache-2.0
 *
 * Accepts connections on a named pipe. A connection is listening (an instance that waits for a
 * client), then silent (connected, waits for its first byte; the Go client opens one such probe for
 * every client), then served (an HTTP/2 transport has it). Silence ends at a time-out.
 */
#include <winsock2.h>

#include <windows.h>

#include <sddl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "transport/pipe_win32.h"
#include "transport/transport.h"
#include "win32/process_image.h"

enum {
  FIRST_BYTES = 512, /* preface, settings and usually the first call */
  RETRY_MS = 1000,   /* between attempts to make an instance when the system refuses */
  CLOSE_WAIT_MS = 5000,
};

struct connection {
  struct csi_io io; /* first member */
  struct csi_io_deadline silence;
  struct csi_pipe_observer observer;
  struct csi_listener *listener;
  struct connection *previous, *next;
  HANDLE pipe;     /* INVALID_HANDLE_VALUE once the endpoint has it */
  bool connected;  /* counted as connected, else as listening */
  DWORD error;     /* why waiting for a client could not even begin */
  atomic_int refs; /* the operation or the endpoint, and the armed deadline */
  uint8_t first_bytes[FIRST_BYTES];
};

struct csi_listener {
  struct csi_io fill_io; /* first member: posts the remaining instances on an engine thread */
  struct csi_io_deadline retry;
  grpc_server *server;
  uint32_t max_connections, pending_instances, silence_timeout_ms;
  char path[512];
  wchar_t path_w[257];
  PSECURITY_DESCRIPTOR security;
  SRWLOCK lock; /* all below, and the links and `connected` of the connections */
  CONDITION_VARIABLE changed;
  struct connection *connections;
  uint32_t listening_count;
  uint32_t connected_count;
  uint64_t opened_count, rejected_count;
  uint32_t user_count; /* connections in the list, and a queued fill_io */
  bool retrying;       /* `retry` is armed */
  bool stopping;
};

static void fill(struct csi_listener *listener);
static void connection_event(struct csi_io *io, DWORD error, DWORD transferred_bytes);

static void delist(struct connection *connection) {
  struct csi_listener *listener = connection->listener;
  AcquireSRWLockExclusive(&listener->lock);
  *(connection->previous ? &connection->previous->next : &listener->connections) = connection->next;
  if (connection->next) connection->next->previous = connection->previous;
  ReleaseSRWLockExclusive(&listener->lock);
}

/* With the last reference the connection leaves the list (csi_listener_stop() must not meet a closed
 * handle), the handle is closed, the counters follow: csi_listener_free() may go on. */
static void release(struct connection *connection) {
  if (atomic_fetch_sub(&connection->refs, 1) != 1) return;
  struct csi_listener *listener = connection->listener;
  delist(connection);
  if (connection->pipe != INVALID_HANDLE_VALUE) CloseHandle(connection->pipe);
  AcquireSRWLockExclusive(&listener->lock);
  *(connection->connected ? &listener->connected_count : &listener->listening_count) -= 1;
  listener->user_count--;
  WakeAllConditionVariable(&listener->changed);
  ReleaseSRWLockExclusive(&listener->lock);
  free(connection);
}

/* One user of the listener fewer. */
static void leave(struct csi_listener *listener) {
  AcquireSRWLockExclusive(&listener->lock);
  listener->user_count--;
  WakeAllConditionVariable(&listener->changed);
  ReleaseSRWLockExclusive(&listener->lock);
}

/* Counts the connection as connected; false when it is one too many. has_come: there is a client. */
static bool admit(struct connection *connection, bool has_come) {
  struct csi_listener *listener = connection->listener;
  AcquireSRWLockExclusive(&listener->lock);
  connection->connected = true;
  listener->listening_count--;
  listener->connected_count++;
  bool has_room = listener->connected_count <= listener->max_connections;
  bool admitted = !listener->stopping && has_room;
  if (!listener->stopping && has_come) *(has_room ? &listener->opened_count : &listener->rejected_count) += 1;
  ReleaseSRWLockExclusive(&listener->lock);
  return admitted;
}

/* csi_listener_stop() may have looked before the operation was pending. */
static void cancel_when_stopping(struct connection *connection) {
  struct csi_listener *listener = connection->listener;
  AcquireSRWLockShared(&listener->lock);
  if (listener->stopping) CancelIoEx(connection->pipe, &connection->io.overlapped);
  ReleaseSRWLockShared(&listener->lock);
}

static void silence_over(struct csi_io_deadline *deadline) {
  struct connection *connection = deadline->context;
  CancelIoEx(connection->pipe, &connection->io.overlapped);
  release(connection);
}

static void closed(struct csi_pipe_observer *observer) {
  release(CONTAINING_RECORD(observer, struct connection, observer));
}

/* The first bytes are here: an HTTP/2 transport takes the pipe, and the reference. */
static void first_bytes_read(struct connection *connection, DWORD length) {
  struct csi_listener *listener = connection->listener;
  if (!csi_io_deadline_disarm(&connection->silence)) {
    release(connection); /* too late: silence_over() runs or has run */
    return;
  }
  release(connection);
  char peer[CSI_PIPE_PEER_BYTES];
  csi_pipe_peer_text(connection->pipe, peer, sizeof peer);
  HANDLE pipe = connection->pipe;
  AcquireSRWLockExclusive(&listener->lock);
  connection->pipe = INVALID_HANDLE_VALUE;
  bool stopping = listener->stopping;
  ReleaseSRWLockExclusive(&listener->lock);
  connection->observer.closed = closed;
  if (stopping) {
    CloseHandle(pipe);
    release(connection);
  } else if (!csi_pipe_serve(listener->server, pipe, peer, connection->first_bytes, length,
                             listener->silence_timeout_ms, &connection->observer)) {
    release(connection);
  }
}

/* Waits for the first bytes of a client that has just connected. */
static void listen_to(struct connection *connection) {
  connection->silence.expired = silence_over;
  connection->silence.context = connection;
  atomic_fetch_add(&connection->refs, 1);
  csi_io_deadline_arm(&connection->silence, connection->listener->silence_timeout_ms);
  DWORD length = 0;
  atomic_fetch_add(&connection->refs, 1); /* the operation may end before this function does */
  enum csi_io_result result =
      csi_io_read(connection->pipe, &connection->io, connection->first_bytes, FIRST_BYTES, &length);
  if (result == CSI_IO_PENDING) {
    cancel_when_stopping(connection);
  } else {
    connection_event(&connection->io, result == CSI_IO_DONE ? ERROR_SUCCESS : GetLastError(), length);
  }
  release(connection);
}

/* A new instance of the pipe, not yet waiting. NULL when the system refuses: *error_out. */
static struct connection *new_instance(struct csi_listener *listener, bool first, DWORD *error_out) {
  SECURITY_ATTRIBUTES attributes = {.nLength = sizeof attributes, .lpSecurityDescriptor = listener->security};
  struct connection *connection = calloc(1, sizeof *connection);
  if (!connection) {
    *error_out = ERROR_NOT_ENOUGH_MEMORY;
    return NULL;
  }
  connection->pipe = CreateNamedPipeW(
      listener->path_w,
      PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | (first ? FILE_FLAG_FIRST_PIPE_INSTANCE : 0),
      PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, PIPE_UNLIMITED_INSTANCES,
      CSI_PIPE_BUFFER_BYTES, CSI_PIPE_BUFFER_BYTES, 0, &attributes);
  if (connection->pipe == INVALID_HANDLE_VALUE || !csi_io_attach(connection->pipe)) {
    *error_out = GetLastError();
    if (connection->pipe != INVALID_HANDLE_VALUE) CloseHandle(connection->pipe);
    free(connection);
    return NULL;
  }
  connection->listener = listener;
  connection->io.done = connection_event;
  atomic_init(&connection->refs, 1);
  return connection;
}

/* A free instance can be taken by a client at once: only one that is wanted may be made. */
static bool reserve(struct csi_listener *listener) {
  AcquireSRWLockExclusive(&listener->lock);
  bool wanted = !listener->stopping && listener->listening_count < listener->pending_instances;
  if (wanted) {
    listener->listening_count++;
    listener->user_count++;
  }
  ReleaseSRWLockExclusive(&listener->lock);
  return wanted;
}

static void unreserve(struct csi_listener *listener) {
  AcquireSRWLockExclusive(&listener->lock);
  listener->listening_count--;
  listener->user_count--;
  WakeAllConditionVariable(&listener->changed);
  ReleaseSRWLockExclusive(&listener->lock);
}

static void enlist(struct csi_listener *listener, struct connection *connection) {
  AcquireSRWLockExclusive(&listener->lock);
  connection->next = listener->connections;
  if (connection->next) connection->next->previous = connection;
  listener->connections = connection;
  ReleaseSRWLockExclusive(&listener->lock);
}

static void start_listening(struct connection *connection) {
  atomic_fetch_add(&connection->refs, 1); /* the operation may end before this function does */
  switch (csi_io_connect(connection->pipe, &connection->io)) {
  case CSI_IO_PENDING:
    cancel_when_stopping(connection);
    break;
  case CSI_IO_DONE:
    /* By way of the port: a burst of clients must not nest fill() as deep as it is long. */
    if (csi_io_post(&connection->io, 0)) break;
    connection_event(&connection->io, ERROR_SUCCESS, 0);
    break;
  case CSI_IO_FAILED:
    connection->error = GetLastError();
    if (csi_io_post(&connection->io, 0)) break;
    connection_event(&connection->io, connection->error, 0);
    break;
  }
  release(connection);
}

static void retry_now(struct csi_io_deadline *deadline) {
  struct csi_listener *listener = deadline->context;
  AcquireSRWLockExclusive(&listener->lock);
  listener->retrying = false;
  ReleaseSRWLockExclusive(&listener->lock);
  fill(listener);
  leave(listener);
}

/* Without a listening instance nothing would ever happen on the pipe again. */
static void retry_later(struct csi_listener *listener, DWORD error) {
  AcquireSRWLockExclusive(&listener->lock);
  bool arms = !listener->retrying && !listener->stopping;
  if (arms) {
    listener->retrying = true;
    listener->user_count++;
  }
  ReleaseSRWLockExclusive(&listener->lock);
  if (!arms) return;
  CSI_LOG(ERROR, "no further instance of pipe %s: Win32 error %lu; trying again", listener->path, error);
  listener->retry.expired = retry_now;
  listener->retry.context = listener;
  csi_io_deadline_arm(&listener->retry, RETRY_MS);
}

/* Brings the number of listening instances up to what is wanted. */
static void fill(struct csi_listener *listener) {
  while (reserve(listener)) {
    DWORD error = 0;
    struct connection *connection = new_instance(listener, false, &error);
    if (!connection) {
      unreserve(listener);
      retry_later(listener, error);
      return;
    }
    enlist(listener, connection);
    start_listening(connection);
  }
}

static void fill_event(struct csi_io *io, DWORD error, DWORD transferred_bytes) {
  (void)error, (void)transferred_bytes;
  struct csi_listener *listener = CONTAINING_RECORD(io, struct csi_listener, fill_io);
  fill(listener);
  leave(listener);
}

/* A client has come, or the wait for one has ended. */
static void instance_event(struct connection *connection, DWORD error) {
  struct csi_listener *listener = connection->listener;
  if (connection->error) error = connection->error;
  bool admitted = admit(connection, error == ERROR_SUCCESS) && error == ERROR_SUCCESS;
  /* The next client must find an instance before this one is served. The connection's reference keeps
   * the listener alive. A client that came and went (ERROR_NO_DATA) is no failure. */
  if (error == ERROR_SUCCESS || error == ERROR_NO_DATA || error == ERROR_OPERATION_ABORTED)
    fill(listener);
  else
    retry_later(listener, error);
  if (admitted) {
    listen_to(connection);
  } else {
    release(connection);
  }
}

static void connection_event(struct csi_io *io, DWORD error, DWORD transferred_bytes) {
  struct connection *connection = CONTAINING_RECORD(io, struct connection, io);
  if (!connection->connected) {
    instance_event(connection, error);
  } else if (error == ERROR_SUCCESS && transferred_bytes > 0) {
    first_bytes_read(connection, transferred_bytes);
  } else {
    if (csi_io_deadline_disarm(&connection->silence)) release(connection);
    release(connection);
  }
}

/* -- Opening and closing --------------------------------------------------------------------------- */

/* Windows refuses a second first instance, but with "access denied", which says nothing; and not every
 * system refuses it. So look first, and name the owner. */
static bool refuse_when_taken(const char *endpoint, const wchar_t *path_w, struct csi_status *status) {
  HANDLE pipe = CreateFileW(path_w, GENERIC_READ, 0, NULL, OPEN_EXISTING,
                            SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, NULL);
  DWORD error = pipe == INVALID_HANDLE_VALUE ? GetLastError() : ERROR_SUCCESS;
  if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) return true;
  ULONG process_id = 0;
  if (pipe != INVALID_HANDLE_VALUE) {
    GetNamedPipeServerProcessId(pipe, &process_id);
    CloseHandle(pipe);
  }
  char image_path[CSI_PIPE_PEER_BYTES];
  csi_process_image_path(process_id, image_path, sizeof image_path);
  if (process_id == 0) {
    return csi_fail(status, CSI_ALREADY_EXISTS, "pipe %s is taken by another process; stop it first",
                    endpoint);
  }
  return csi_fail(status, CSI_ALREADY_EXISTS, "pipe %s is taken by process %lu (%s); stop it first", endpoint,
                  process_id, image_path[0] ? image_path : "image unknown");
}

static bool parse_security(struct csi_listener *listener, const char *sddl, struct csi_status *status) {
  /* An empty one would mean Windows' default, which lets everybody read. */
  if (!sddl || !sddl[0]) {
    return csi_fail(status, CSI_INVALID_ARGUMENT, "the security descriptor of the pipes is missing");
  }
  wchar_t sddl_w[1024];
  if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, sddl, -1, sddl_w, ARRAYSIZE(sddl_w))) {
    return csi_fail_system(status, CSI_SPACE_WIN32, GetLastError(), "MultiByteToWideChar",
                           "pipe security descriptor %s", sddl);
  }
  if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(sddl_w, SDDL_REVISION_1, &listener->security,
                                                            NULL)) {
    return csi_fail_system(status, CSI_SPACE_WIN32, GetLastError(),
                           "ConvertStringSecurityDescriptorToSecurityDescriptorW",
                           "pipe security descriptor %s", sddl);
  }
  return true;
}

static void free_listener(struct csi_listener *listener) {
  if (listener->security) LocalFree(listener->security);
  free(listener);
}

static bool open_first_instance(struct csi_listener *listener, const char *endpoint,
                                struct csi_status *status) {
  DWORD error = 0;
  struct connection *connection = new_instance(listener, true, &error);
  /* A descriptor that does not let the service itself make further instances is found out now. */
  struct connection *second = connection ? new_instance(listener, false, &error) : NULL;
  if (!second) {
    if (connection) CloseHandle(connection->pipe);
    free(connection);
    return csi_fail_system(status, CSI_SPACE_WIN32, error, "CreateNamedPipeW", "cannot create pipe %s",
                           endpoint);
  }
  listener->fill_io.done = fill_event;
  listener->user_count++; /* nobody else knows the listener yet */
  reserve(listener);
  reserve(listener);
  enlist(listener, connection);
  enlist(listener, second);
  start_listening(connection);
  start_listening(second);
  if (!csi_io_post(&listener->fill_io, 0)) fill_event(&listener->fill_io, 0, 0);
  return true;
}

struct csi_listener *csi_listener_open(grpc_server *server, const struct csi_listener_options *options,
                                       struct csi_status *status) {
  struct csi_listener *listener = calloc(1, sizeof *listener);
  if (!listener) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  snprintf(listener->path, sizeof listener->path, "%s", options->endpoint);
  InitializeSRWLock(&listener->lock);
  InitializeConditionVariable(&listener->changed);
  listener->server = server;
  listener->max_connections = options->max_connections;
  listener->pending_instances = options->pending_instances > 2 ? options->pending_instances : 2;
  listener->silence_timeout_ms = options->silence_timeout_ms;
  if (!csi_pipe_path_w(options->endpoint, listener->path_w, ARRAYSIZE(listener->path_w), status) ||
      !parse_security(listener, options->sddl, status) ||
      !refuse_when_taken(options->endpoint, listener->path_w, status) || !csi_io_engine_start(status)) {
    free_listener(listener);
    return NULL;
  }
  if (!open_first_instance(listener, options->endpoint, status)) {
    free_listener(listener);
    return NULL;
  }
  return listener;
}

void csi_listener_stop(struct csi_listener *listener) {
  AcquireSRWLockExclusive(&listener->lock);
  listener->stopping = true;
  ReleaseSRWLockExclusive(&listener->lock);
  if (csi_io_deadline_disarm(&listener->retry)) leave(listener);
  AcquireSRWLockExclusive(&listener->lock);
  for (struct connection *connection = listener->connections; connection; connection = connection->next) {
    if (connection->pipe != INVALID_HANDLE_VALUE) CancelIoEx(connection->pipe, NULL);
  }
  while (listener->listening_count > 0) {
    SleepConditionVariableSRW(&listener->changed, &listener->lock, INFINITE, 0);
  }
  ReleaseSRWLockExclusive(&listener->lock);
}

void csi_listener_free(struct csi_listener *listener) {
  AcquireSRWLockExclusive(&listener->lock);
  while (listener->user_count > 0) {
    if (!SleepConditionVariableSRW(&listener->changed, &listener->lock, CLOSE_WAIT_MS, 0)) break;
  }
  bool unused = listener->user_count == 0;
  ReleaseSRWLockExclusive(&listener->lock);
  /* A connection that will not end keeps its memory; the process is about to end anyway. */
  if (unused) free_listener(listener);
}

void csi_listener_count(struct csi_listener *listener, struct csi_listener_counts *counts_out) {
  AcquireSRWLockShared(&listener->lock);
  *counts_out = (struct csi_listener_counts){
      .connections = listener->connected_count,
      .opened = listener->opened_count,
      .rejected = listener->rejected_count,
  };
  ReleaseSRWLockShared(&listener->lock);
}
