/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/test_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rpc/test_client.h"
#include "rpc/wire_probe.pb-c.h"
#include "transport/transport.h"

static void require(bool condition, const char *what, const struct csi_status *status) {
  if (condition) return;
  fprintf(stderr, "%s: %s\n", what, status ? status->text : "failed");
  abort();
}

void test_server_prepare(struct test_server *test) {
  csi_transport_start();
  *test = (struct test_server){.directory = "/tmp/csi-proxy-rpc-test.XXXXXX"};
  require(mkdtemp(test->directory) != NULL, "mkdtemp", NULL);
  snprintf(test->endpoint_format, sizeof test->endpoint_format, "%s/%%s-%%s", test->directory);
  snprintf(test->endpoint, sizeof test->endpoint, "%s/probe-v1", test->directory);
  csi_server_options_default(&test->options);
  test->options.endpoint_format = test->endpoint_format;
}

void test_server_start(struct test_server *test, const struct csi_service_list *list, void *group,
                       const struct csi_call_observer *observer) {
  struct csi_status status = {0};
  test->server = csi_server_new(&test->options, &status);
  require(test->server != NULL, "csi_server_new", &status);
  if (observer) require(csi_server_add_observer(test->server, observer), "csi_server_add_observer", NULL);
  require(csi_server_add_group(test->server, list, group, &status), "csi_server_add_group", &status);
  test->channel = test_connect(test->endpoint, false);
}

void test_server_stop(struct test_server *test) {
  if (test->channel) grpc_channel_destroy(test->channel);
  test->channel = NULL;
  if (test->server) {
    require(csi_server_drain(test->server, 5000, NULL, NULL) == 0, "csi_server_drain", NULL);
    require(csi_server_free(test->server), "csi_server_free", NULL);
  }
  test->server = NULL;
}

void test_server_remove(struct test_server *test) {
  test_server_stop(test);
  rmdir(test->directory);
  csi_transport_shut_down();
}

bool test_serve_echo(struct csi_ctx *ctx, void *group, const ProtobufCMessage *request,
                     const ProtobufCMessage **response_out) {
  (void)group;
  CsiTest__Probe *response = csi_arena_alloc(ctx->arena, sizeof *response);
  if (!response) return csi_fail_out_of_memory(&ctx->status);
  csi_test__probe__init(response);
  response->name = ((const CsiTest__Probe *)request)->name;
  *response_out = &response->base;
  return true;
}
