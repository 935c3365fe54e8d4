/* SPDX-License-Identifier: Apache-2.0
 *
 * A bare gRPC client for tests: it can say things that the client library never would.
 */
#ifndef CSI_RPC_TEST_CLIENT_H
#define CSI_RPC_TEST_CLIENT_H

#include <grpc/grpc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test_call {
  grpc_channel *channel;
  const char *path;
  const uint8_t *request;
  size_t request_length;
  uint32_t timeout_ms; /* 0 = none */
};

struct test_reply {
  grpc_status_code code;
  char text[1024];
  uint8_t response[4096];
  size_t response_length;
  bool has_response;
  /* Trailing metadata of the service, "" when absent. */
  char precise_code[64];
  char error_space[64];
  char error_number[64];
  char error_call[64];
};

/* Connects or fails the test. gzip: the client compresses its requests. */
grpc_channel *test_connect(const char *endpoint, bool gzip);

void test_make_call(const struct test_call *call, struct test_reply *reply_out);

/* A call that goes on in the background. */
struct test_pending;
struct test_pending *test_start_call(const struct test_call *call);
void test_cancel(struct test_pending *pending);
void test_finish(struct test_pending *pending, struct test_reply *reply_out);

/* A stream. Its functions wait, and abort when what they wait for cannot come. */
struct test_stream;
struct test_stream *test_open_stream(grpc_channel *channel, const char *path);
void test_send(struct test_stream *stream, const uint8_t *bytes, size_t length);
void test_send_no_more(struct test_stream *stream);
/* False when the stream has ended. */
bool test_receive(struct test_stream *stream, uint8_t *bytes_out, size_t room, size_t *length_out);
void test_cancel_stream(struct test_stream *stream);
/* Waits for its end: of the reply, code and text are filled in. */
void test_end_stream(struct test_stream *stream, struct test_reply *reply_out);

#endif
