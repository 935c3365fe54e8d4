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

#endif
