/* SPDX-License-Identifier: Apache-2.0
 *
 * The metrics endpoint: plain HTTP on libmicrohttpd, two threads, which sleep while nobody asks. GET and HEAD
 * on /metrics; 404 elsewhere, 405 for other methods. At most CSI_HTTP_CONNECTIONS connections; one that is
 * silent for CSI_HTTP_SILENCE_S, or takes longer than CSI_HTTP_REQUEST_S from its beginning, or from the
 * request before, until it has the answer, is closed. A body of a request is read and dropped. There is no
 * authentication: whoever reaches the address may read.
 */
#ifndef CSI_METRICS_HTTP_H
#define CSI_METRICS_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "metrics/exposition.h"

enum {
  CSI_HTTP_CONNECTIONS = 16,
  CSI_HTTP_CONNECTIONS_PER_CLIENT = 8, /* of one IP address; further ones are closed at once */
  CSI_HTTP_SILENCE_S = 10,
  CSI_HTTP_REQUEST_S = 30,
  CSI_HTTP_STOP_S = 5,
  CSI_HTTP_REQUEST_BYTES = 48 * 1024, /* memory for the head of a request, 16 KiB at least, and what is made
                                         of it; a longer one is answered by 431 */
  CSI_HTTP_TEXT_BYTES = 8 * 1024 * 1024, /* longest text; a longer one is a 500 that says so */
};

struct csi_http;

struct csi_http_options {
  const char *address;  /* "localhost:8888", see metrics/address.h */
  unsigned silence_s;   /* CSI_HTTP_SILENCE_S, but in tests */
  unsigned request_s;   /* CSI_HTTP_REQUEST_S, but in tests */
  unsigned stop_s;      /* CSI_HTTP_STOP_S, but in tests */
  int64_t start_unix_s; /* of the process; for a header the original has too */
  /* Writes the text; called on the endpoint's thread, for one request at a time. */
  void (*write)(void *context, struct csi_exposition *out);
  void *context;
};

/* Listens and serves. NULL on failure: INVALID_ARGUMENT when the address is none; otherwise it cannot be had,
 * and the status says why. Looks names up, which may block as long as the system lets it. */
struct csi_http *csi_http_start(const struct csi_http_options *options,
                                struct csi_status *status) CSI_MUST_CHECK;

/* What is listened on: "127.0.0.1:8888". */
const char *csi_http_address(const struct csi_http *http);

/* Closes all connections, waits for an answer that is being written, for stop_s at most. False when it is not
 * written then: nothing was freed, `write` and its context are still in use, and it may be tried again. NULL
 * is accepted. */
bool csi_http_stop(struct csi_http *http) CSI_MUST_CHECK;

#endif
