/* SPDX-License-Identifier: Apache-2.0
 *
 * A server on a Unix socket of its own, for tests: group "probe", version "v1".
 */
#ifndef CSI_RPC_TEST_SERVER_H
#define CSI_RPC_TEST_SERVER_H

#include <grpc/grpc.h>

#include "rpc/server.h"

struct test_server {
  char directory[64];
  char endpoint_format[128];
  char endpoint[192];
  struct csi_server_options options; /* may be changed before it is started */
  struct csi_server *server;
  grpc_channel *channel;
};

/* Fail the test when something goes wrong. */
void test_server_prepare(struct test_server *test);
void test_server_start(struct test_server *test, const struct csi_service_list *list, void *group,
                       const struct csi_call_observer *observer);
/* Ends the channel and the server, as far as they are there. */
void test_server_stop(struct test_server *test);
void test_server_remove(struct test_server *test);

/* A csi_method.serve: answers with the name of the request, both of the type csi_test.Probe. */
bool test_serve_echo(struct csi_ctx *ctx, void *group, const ProtobufCMessage *request,
                     const ProtobufCMessage **response_out);

#endif
