/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/http.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before the header of libmicrohttpd, which stands on them. */
#include "metrics/listen.h"
#include "metrics/sockets.h"

#include <microhttpd.h>

#include "base/ctx.h"
#include "base/timed_wait.h"
#include "metrics/gzip.h"
#include "metrics/patience.h"

#define TEXT_FORMAT "text/plain; version=0.0.4; charset=utf-8"
#define PLAIN_TEXT "text/plain; charset=utf-8"

struct csi_http {
  struct MHD_Daemon *daemon;
  void (*write)(void *context, struct csi_exposition *out);
  void *context;
  struct csi_patience patience;
  int64_t stop_ns; /* how long the stop waits */
  pthread_mutex_t lock;
  pthread_cond_t written;
  bool is_writing, is_ending; /* under lock */
  char address[CSI_LISTEN_TEXT_BYTES];
  char start_unix_s[24];
};

/* A short answer. allow: the Allow header; NULL for none. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned code, const char *text,
                              const char *allow) {
  struct MHD_Response *response =
      MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
  if (response == NULL) return MHD_NO;
  enum MHD_Result result = MHD_add_response_header(response, "Content-Type", PLAIN_TEXT);
  if (result == MHD_YES && allow != NULL) result = MHD_add_response_header(response, "Allow", allow);
  if (result == MHD_YES) result = MHD_queue_response(connection, code, response);
  MHD_destroy_response(response);
  return result;
}

/* Takes the block over. */
static enum MHD_Result answer_metrics(const struct csi_http *http, struct MHD_Connection *connection,
                                      char *block, size_t length_bytes, bool compressed) {
  struct MHD_Response *response = MHD_create_response_from_buffer(length_bytes, block, MHD_RESPMEM_MUST_FREE);
  if (response == NULL) {
    free(block);
    return MHD_NO;
  }
  enum MHD_Result result = MHD_add_response_header(response, "Content-Type", TEXT_FORMAT);
  if (result == MHD_YES && compressed) result = MHD_add_response_header(response, "Content-Encoding", "gzip");
  if (result == MHD_YES) result = MHD_add_response_header(response, "Vary", "Accept-Encoding");
  if (result == MHD_YES)
    result = MHD_add_response_header(response, "Process-Start-Time-Unix", http->start_unix_s);
  if (result == MHD_YES) result = MHD_queue_response(connection, MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  return result;
}

/* False when the endpoint is about to end. */
static bool begin_to_write(struct csi_http *http) {
  pthread_mutex_lock(&http->lock);
  bool may_write = http->is_writing = !http->is_ending;
  pthread_mutex_unlock(&http->lock);
  return may_write;
}

static void end_of_writing(struct csi_http *http) {
  pthread_mutex_lock(&http->lock);
  http->is_writing = false;
  pthread_cond_signal(&http->written);
  pthread_mutex_unlock(&http->lock);
}

static enum MHD_Result serve_metrics(struct csi_http *http, struct MHD_Connection *connection) {
  struct csi_exposition out = {.limit_bytes = CSI_HTTP_TEXT_BYTES};
  if (!begin_to_write(http)) return MHD_NO;
  http->write(http->context, &out);
  end_of_writing(http);
  if (out.failed) {
    csi_exposition_free(&out);
    return answer(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
                  "The metrics do not fit into 8 MiB, or memory is short.\n", NULL);
  }
  const char *accepted = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept-Encoding");
  char *block = out.text;
  size_t length_bytes = out.length_bytes;
  bool compressed =
      csi_gzip_is_accepted(accepted) && csi_gzip(out.text, out.length_bytes, &block, &length_bytes);
  if (compressed) csi_exposition_free(&out);
  return answer_metrics(http, connection, block, length_bytes, compressed);
}

static enum MHD_Result serve(void *context, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload,
                             size_t *upload_bytes, void **state) {
  (void)version, (void)upload;
  bool known = strcmp(url, "/metrics") == 0;
  bool reads = strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
  /* Answered before a body is read, which ends the connection. */
  if (known && !reads)
    return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD are served here.\n",
                  "GET, HEAD");
  if (!known) return answer(connection, MHD_HTTP_NOT_FOUND, "Metrics are at /metrics.\n", NULL);
  /* The first call is about the head of the request alone; only an answer to the second one keeps the
   * connection. */
  if (*state == NULL) {
    *state = context;
    return MHD_YES;
  }
  if (*upload_bytes > 0) { /* a body, which nobody wants */
    *upload_bytes = 0;
    return MHD_YES;
  }
  return serve_metrics(context, connection);
}

static csi_socket socket_of(struct MHD_Connection *connection) {
  return (csi_socket)MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static void connection_changed(void *context, struct MHD_Connection *connection, void **state,
                               enum MHD_ConnectionNotificationCode what) {
  struct csi_http *http = context;
  (void)state;
  if (what == MHD_CONNECTION_NOTIFY_STARTED)
    csi_patience_begin(&http->patience, socket_of(connection));
  else
    csi_patience_forget(&http->patience, socket_of(connection));
}

/* The connection may be kept for a further one. */
static void request_ended(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_RequestTerminationCode how) {
  struct csi_http *http = context;
  (void)state, (void)how;
  csi_patience_begin(&http->patience, socket_of(connection));
}

/* Takes the listener; libmicrohttpd closes it, when it fails too. */
static bool start_daemon(struct csi_http *http, csi_socket listener, unsigned silence_s,
                         struct csi_status *status) {
  const unsigned flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC;
  http->daemon = MHD_start_daemon(
      flags, 0, NULL, NULL, serve, http, MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT,
      (unsigned)CSI_HTTP_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
      (unsigned)CSI_HTTP_CONNECTIONS_PER_CLIENT, MHD_OPTION_CONNECTION_TIMEOUT, silence_s,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CSI_HTTP_REQUEST_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
      connection_changed, http, MHD_OPTION_NOTIFY_COMPLETED, request_ended, http, MHD_OPTION_END);
  return http->daemon != NULL ||
         csi_fail(status, CSI_RESOURCE_EXHAUSTED,
                  "the HTTP server on %s could not be started: no thread or no memory", http->address);
}

static bool start(struct csi_http *http, const struct csi_http_options *options, struct csi_status *status) {
  struct csi_address address;
  csi_socket listener = CSI_NO_SOCKET;
  if (!csi_address_parse(options->address, &address, status) || !csi_sockets_begin(status)) return false;
  if (csi_patience_start(&http->patience, options->request_s, status)) {
    if (csi_listen(&address, &listener, http->address, status) &&
        start_daemon(http, listener, options->silence_s, status))
      return true;
    csi_patience_stop(&http->patience);
  }
  csi_sockets_end();
  return false;
}

static void free_http(struct csi_http *http) {
  pthread_cond_destroy(&http->written);
  pthread_mutex_destroy(&http->lock);
  free(http);
}

struct csi_http *csi_http_start(const struct csi_http_options *options, struct csi_status *status) {
  struct csi_http *http = calloc(1, sizeof *http);
  if (http == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  http->write = options->write;
  http->context = options->context;
  snprintf(http->start_unix_s, sizeof http->start_unix_s, "%" PRId64, options->start_unix_s);
  http->stop_ns = options->stop_s * INT64_C(1000000000);
  pthread_mutex_init(&http->lock, NULL);
  csi_timed_wait_init(&http->written);
  if (start(http, options, status)) return http;
  free_http(http);
  return NULL;
}

const char *csi_http_address(const struct csi_http *http) {
  return http->address;
}

/* False when an answer is being written all the time. */
static bool end_writing(struct csi_http *http) {
  const int64_t until_ns = csi_now_ns() + http->stop_ns;
  pthread_mutex_lock(&http->lock);
  http->is_ending = true;
  while (http->is_writing && csi_timed_wait(&http->written, &http->lock, until_ns)) {
  }
  bool ended = !http->is_writing;
  pthread_mutex_unlock(&http->lock);
  return ended;
}

bool csi_http_stop(struct csi_http *http) {
  if (http == NULL) return true;
  if (!end_writing(http)) return false;
  MHD_stop_daemon(http->daemon);
  csi_patience_stop(&http->patience);
  csi_sockets_end();
  free_http(http);
  return true;
}
