/* SPDX-License-Identifier: Apache-2.0
 *
 * The client against a node inside this process: a transport of socket pairs with endpoints that can be
 * absent, refused or busy, and a gRPC server whose every method misbehaves in its own way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/ctx.h"
#include "client/endpoint.h"
#include "client/groups.h"
#include "client_test.pb-c.h"
#include "csi-proxy/client.h"
#include "transport/transport.h"

/* ---- The group "toy", as the generator would write it. ---- */

struct toy_request {
  const char *text;
  uint32_t times;
};

struct toy_response {
  size_t text_count;
  const char **texts;
};

enum { RPC_ECHO, RPC_FAIL, RPC_FAIL_BARE, RPC_HANG, RPC_GARBAGE, RPC_SILENT, RPC_NEW, RPC_COUNT };

static const char *const rpc_names[RPC_COUNT] = {"Echo",    "Fail",   "FailBare", "Hang",
                                                 "Garbage", "Silent", "New"};
static const size_t response_bytes[RPC_COUNT] = {
    sizeof(struct toy_response), sizeof(struct toy_response), sizeof(struct toy_response),
    sizeof(struct toy_response), sizeof(struct toy_response), sizeof(struct toy_response),
    sizeof(struct toy_response),
};

static const struct csi_wire_field echo_response_fields[] = {
    {.number = 1, .kind = CSI_WIRE_STRING, .repeated = true, .name = "texts"},
};
static const struct csi_wire_message echo_response_wire = {
    .name = "client_test.EchoResponse",
    .fields = echo_response_fields,
    .field_count = 1,
};

static bool request_to_wire(struct csi_arena *arena, struct csi_status *status, const void *opaque,
                            ProtobufCMessage **message_out) {
  const struct toy_request *request = opaque;
  ClientTest__EchoRequest *message = csi_arena_alloc(arena, sizeof *message);
  if (message == NULL) return csi_fail_out_of_memory(status);
  client_test__echo_request__init(message);
  if (request->text != NULL) message->text = (char *)request->text;
  message->times = request->times;
  *message_out = &message->base;
  return true;
}

static bool response_from_wire(struct csi_arena *arena, struct csi_status *status,
                               const ProtobufCMessage *opaque, void *response_out) {
  const ClientTest__EchoResponse *message = (const ClientTest__EchoResponse *)opaque;
  struct toy_response *response = response_out;
  response->text_count = message->n_texts;
  response->texts = csi_arena_alloc_array(arena, message->n_texts + 1, sizeof response->texts[0]);
  if (response->texts == NULL) return csi_fail_out_of_memory(status);
  for (size_t i = 0; i < message->n_texts; i++)
    response->texts[i] = message->texts[i];
  return true;
}

#define METHOD(version, name)                                                                                \
  {                                                                                                          \
    .path = "/" version ".Toy/" name, .response = &client_test__echo_response__descriptor,                   \
    .response_wire = &echo_response_wire, .request_to_wire = request_to_wire,                                \
    .response_from_wire = response_from_wire                                                                 \
  }
#define METHODS(version)                                                                                     \
  METHOD(version, "Echo"), METHOD(version, "Fail"), METHOD(version, "FailBare"), METHOD(version, "Hang"),    \
      METHOD(version, "Garbage"), METHOD(version, "Silent")

static const struct csi_client_method v1_methods[RPC_COUNT] = {METHODS("v1"), METHOD("v1", "New")};
static const struct csi_client_method v2alpha1_methods[RPC_COUNT] = {METHODS("v2alpha1"),
                                                                     METHOD("v2alpha1", "New")};
static const struct csi_client_method v1beta1_methods[RPC_COUNT] = {METHODS("v1beta1")};

static const struct csi_client_version toy_versions[] = {
    {"v1", v1_methods}, {"v1beta1", v1beta1_methods}, {"v2alpha1", v2alpha1_methods}};

static const struct csi_client_group toy_group = {
    .group = "toy",
    .rpc_names = rpc_names,
    .response_bytes = response_bytes,
    .rpc_count = RPC_COUNT,
    .versions = toy_versions,
    .version_count = 3,
};
static const struct csi_client_group other_group = {
    .group = "other",
    .rpc_names = rpc_names,
    .response_bytes = response_bytes,
    .rpc_count = RPC_COUNT,
    .versions = toy_versions,
    .version_count = 3,
};

const struct csi_client_group *const csi_client_groups[] = {&toy_group, &other_group, NULL};

/* ---- The node. ---- */

static struct node {
  /* What csi_transport_connect() says about each endpoint: the code of its failure, CSI_OK when served. */
  enum csi_code toy_v1, toy_v1beta1, toy_v2alpha1;
  atomic_uint connection_count;
  atomic_uint hang_count;   /* Hang calls that arrived */
  atomic_uint cancel_count; /* ... and that the server saw cancelled */
  char last_endpoint[256];
  int client_socket;   /* of the last connection; gRPC owns it */
  bool starts_on_call; /* the next connection starts the server */

  grpc_server *server;
  grpc_completion_queue *events;
  grpc_completion_queue *calls;
  pthread_t thread;
} node;

struct incoming {
  grpc_call *call;
  grpc_call_details details;
  grpc_metadata_array metadata;
};

static void batch(grpc_call *call, const grpc_op *operations, size_t count) {
  assert_int_equal(grpc_call_start_batch(call, operations, count, &node, NULL), GRPC_CALL_OK);
  grpc_completion_queue_pluck(node.calls, &node, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
}

static void answer(grpc_call *call, grpc_byte_buffer *message, grpc_status_code code, const char *text,
                   grpc_metadata *trailing, size_t trailing_count) {
  grpc_slice details = grpc_slice_from_copied_string(text);
  int cancelled = 0;
  grpc_op operations[4] = {
      {.op = GRPC_OP_SEND_INITIAL_METADATA},
      {.op = GRPC_OP_SEND_STATUS_FROM_SERVER,
       .data.send_status_from_server = {.trailing_metadata_count = trailing_count,
                                        .trailing_metadata = trailing,
                                        .status = code,
                                        .status_details = &details}},
      {.op = GRPC_OP_RECV_CLOSE_ON_SERVER, .data.recv_close_on_server.cancelled = &cancelled},
      {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = message},
  };
  batch(call, operations, message != NULL ? 4 : 3);
  grpc_slice_unref(details);
}

static grpc_byte_buffer *buffer_of(const void *bytes, size_t length) {
  grpc_slice slice = grpc_slice_from_copied_buffer(bytes, length);
  grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  return buffer;
}

static void answer_echo(grpc_call *call, grpc_byte_buffer *request_buffer) {
  grpc_byte_buffer_reader reader;
  assert_true(grpc_byte_buffer_reader_init(&reader, request_buffer));
  grpc_slice bytes = grpc_byte_buffer_reader_readall(&reader);
  grpc_byte_buffer_reader_destroy(&reader);
  ClientTest__EchoRequest *request =
      client_test__echo_request__unpack(NULL, GRPC_SLICE_LENGTH(bytes), GRPC_SLICE_START_PTR(bytes));
  assert_non_null(request);
  ClientTest__EchoResponse response = CLIENT_TEST__ECHO_RESPONSE__INIT;
  response.n_texts = request->times;
  response.texts = calloc(request->times + 1, sizeof response.texts[0]);
  for (size_t i = 0; i < request->times; i++)
    response.texts[i] = request->text;
  size_t length = client_test__echo_response__get_packed_size(&response);
  uint8_t *packed = malloc(length + 1);
  client_test__echo_response__pack(&response, packed);
  grpc_byte_buffer *reply = buffer_of(packed, length);
  answer(call, reply, GRPC_STATUS_OK, "", NULL, 0);
  grpc_byte_buffer_destroy(reply);
  free(packed);
  free(response.texts);
  client_test__echo_request__free_unpacked(request, NULL);
  grpc_slice_unref(bytes);
}

static grpc_metadata pair(const char *key, const char *value) {
  return (grpc_metadata){.key = grpc_slice_from_static_string(key),
                         .value = grpc_slice_from_static_string(value)};
}

/* So long that gRPC does not keep it in the slice itself. */
#define LONG_CALL "IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS"

static void answer_fail(grpc_call *call) {
  grpc_metadata trailing[] = {
      pair("csi-proxy-code", "NOT_FOUND"),
      pair("csi-proxy-error-space", csi_error_space_name(CSI_SPACE_WIN32)),
      pair("csi-proxy-error-number", "4294967295"),
      pair("csi-proxy-error-call", LONG_CALL),
  };
  answer(call, NULL, GRPC_STATUS_UNKNOWN, "open C:\\a\xC3\xA4: not found\n.", trailing, 4);
}

static void answer_hang(grpc_call *call) {
  int cancelled = 0;
  grpc_op operation = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER, .data.recv_close_on_server.cancelled = &cancelled};
  atomic_fetch_add(&node.hang_count, 1);
  batch(call, &operation, 1);
  if (cancelled) atomic_fetch_add(&node.cancel_count, 1);
}

static void answer_bytes(grpc_call *call, const void *bytes, size_t length) {
  grpc_byte_buffer *reply = buffer_of(bytes, length);
  answer(call, reply, GRPC_STATUS_OK, "", NULL, 0);
  grpc_byte_buffer_destroy(reply);
}

static bool is_method(const struct incoming *incoming, const char *name) {
  size_t length = strlen(name), whole = GRPC_SLICE_LENGTH(incoming->details.method);
  const uint8_t *method = GRPC_SLICE_START_PTR(incoming->details.method);
  return whole > length && method[whole - length - 1] == '/' &&
         memcmp(method + whole - length, name, length) == 0;
}

static void serve(struct incoming *incoming) {
  grpc_byte_buffer *request = NULL;
  grpc_op receive = {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &request};
  batch(incoming->call, &receive, 1);
  if (is_method(incoming, "Echo") || is_method(incoming, "New")) {
    if (request != NULL) answer_echo(incoming->call, request);
  } else if (is_method(incoming, "Fail")) {
    answer_fail(incoming->call);
  } else if (is_method(incoming, "FailBare")) {
    answer(incoming->call, NULL, GRPC_STATUS_UNKNOWN, "bare", NULL, 0);
  } else if (is_method(incoming, "Hang")) {
    answer_hang(incoming->call);
  } else if (is_method(incoming, "Garbage")) {
    answer_bytes(incoming->call, "\x0a\x7f", 2);
  } else {
    answer(incoming->call, NULL, GRPC_STATUS_OK, "", NULL, 0);
  }
  if (request != NULL) grpc_byte_buffer_destroy(request);
}

static void *serve_all(void *unused) {
  (void)unused;
  for (;;) {
    struct incoming incoming = {0};
    grpc_call_details_init(&incoming.details);
    grpc_metadata_array_init(&incoming.metadata);
    grpc_server_request_call(node.server, &incoming.call, &incoming.details, &incoming.metadata, node.calls,
                             node.events, &incoming);
    grpc_event event = grpc_completion_queue_next(node.events, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    bool go_on = event.tag == &incoming && event.success;
    if (go_on) {
      serve(&incoming);
      grpc_call_unref(incoming.call);
    }
    grpc_call_details_destroy(&incoming.details);
    grpc_metadata_array_destroy(&incoming.metadata);
    if (!go_on) return NULL;
  }
}

static void start_server(void) {
  node.events = grpc_completion_queue_create_for_next(NULL);
  node.calls = grpc_completion_queue_create_for_pluck(NULL);
  node.server = grpc_server_create(NULL, NULL);
  grpc_server_register_completion_queue(node.server, node.events, NULL);
  grpc_server_register_completion_queue(node.server, node.calls, NULL);
  grpc_server_start(node.server);
  pthread_create(&node.thread, NULL, serve_all, NULL);
}

/* Waits until the other end of the last connection was closed. */
static void wait_for_hang_up(void) {
  struct pollfd wait = {.fd = node.client_socket};
  assert_int_equal(poll(&wait, 1, 5000), 1);
}

/* Connections and calls end as if the process had been killed. */
static void kill_server(void) {
  static char tag;
  grpc_server_shutdown_and_notify(node.server, node.events, &tag);
  grpc_server_cancel_all_calls(node.server);
  pthread_join(node.thread, NULL);
  grpc_completion_queue_shutdown(node.events);
  while (grpc_completion_queue_next(node.events, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).type !=
         GRPC_QUEUE_SHUTDOWN) {
  }
  grpc_server_destroy(node.server);
  grpc_completion_queue_shutdown(node.calls);
  grpc_completion_queue_destroy(node.calls);
  grpc_completion_queue_destroy(node.events);
  node.server = NULL;
}

/* A restart as a client in another process sees it: no thread of the new server helps it to notice. */
static void restart_server_when_called(void) {
  kill_server();
  wait_for_hang_up();
  node.starts_on_call = true;
}

static enum csi_code state_of(const char *endpoint) {
  if (strcmp(endpoint, "/node/toy-v1") == 0) return node.toy_v1;
  if (strcmp(endpoint, "/node/toy-v1beta1") == 0) return node.toy_v1beta1;
  if (strcmp(endpoint, "/node/toy-v2alpha1") == 0) return node.toy_v2alpha1;
  return CSI_NOT_FOUND;
}

bool csi_transport_needs_polling(void) {
  return true;
}

grpc_channel *csi_transport_connect(const char *endpoint, uint32_t timeout_ms, const grpc_channel_args *args,
                                    struct csi_status *status) {
  (void)timeout_ms;
  snprintf(node.last_endpoint, sizeof node.last_endpoint, "%s", endpoint);
  enum csi_code state = state_of(endpoint);
  if (state == CSI_NOT_FOUND) {
    csi_fail_system(status, CSI_SPACE_WIN32, 2, "CreateFileW", "open %s", endpoint);
    return NULL;
  }
  if (state != CSI_OK) {
    csi_fail(status, state, "open %s: refused for the test", endpoint);
    return NULL;
  }
  if (node.starts_on_call) start_server();
  node.starts_on_call = false;
  int ends[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  node.client_socket = ends[1];
  atomic_fetch_add(&node.connection_count, 1);
  grpc_server_credentials *server_side = grpc_insecure_server_credentials_create();
  grpc_server_add_channel_from_fd(node.server, ends[0], server_side);
  grpc_server_credentials_release(server_side);
  grpc_channel_credentials *client_side = grpc_insecure_credentials_create();
  grpc_channel *channel = grpc_channel_create_from_fd(endpoint, ends[1], client_side, args);
  grpc_channel_credentials_release(client_side);
  return channel;
}

static int set_up(void **state) {
  (void)state;
  grpc_init();
  memset(&node, 0, sizeof node);
  start_server();
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  if (node.server != NULL) kill_server();
  grpc_shutdown();
  return 0;
}

/* ---- Helpers of the tests. ---- */

static const struct csi_client_options options = {.endpoint_format = "/node/%s-%s"};

static struct csi_client *connect_toy(const char *const *versions) {
  struct csi_client *client = NULL;
  struct csi_error error = {0};
  enum csi_code code = csi_client_connect("toy", versions, &options, &client, &error);
  if (code != CSI_OK) fail_msg("%s", error.text);
  return client;
}

static enum csi_code fail_to_connect(const char *group, const char *const *versions,
                                     const struct csi_client_options *how, struct csi_error *error_out) {
  struct csi_client *client = (struct csi_client *)&node;
  enum csi_code code = csi_client_connect(group, versions, how, &client, error_out);
  assert_null(client);
  assert_int_equal(error_out->code, code);
  return code;
}

static enum csi_code call(struct csi_client *client, size_t rpc, struct toy_response **response_out,
                          struct csi_error *error_out) {
  struct toy_request request = {.text = "hello", .times = 3};
  void *response = NULL;
  enum csi_code code = csi_client_call(client, &toy_group, rpc, &request, NULL, &response, error_out);
  if (response_out != NULL) {
    *response_out = response;
  } else {
    csi_response_free(response);
  }
  return code;
}

static void assert_text(const struct csi_error *error, const char *part) {
  if (strstr(error->text, part) == NULL) fail_msg("\"%s\" is not in \"%s\"", part, error->text);
}

/* ---- Connecting. ---- */

static void the_first_version_in_default_order_is_taken(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  assert_string_equal(csi_client_version(client), "v1");
  assert_string_equal(csi_client_group(client), "toy");
  csi_client_close(client);

  node.toy_v1 = CSI_NOT_FOUND;
  client = connect_toy(NULL);
  assert_string_equal(csi_client_version(client), "v1beta1");
  assert_string_equal(node.last_endpoint, "/node/toy-v1beta1");
  csi_client_close(client);
}

static void the_callers_order_counts(void **state) {
  (void)state;
  struct csi_client *client = connect_toy((const char *const[]){"v2alpha1", "v1", NULL});
  assert_string_equal(csi_client_version(client), "v2alpha1");
  csi_client_close(client);

  node.toy_v2alpha1 = CSI_NOT_FOUND;
  client = connect_toy((const char *const[]){"v2alpha1", "v1beta1", NULL});
  assert_string_equal(csi_client_version(client), "v1beta1");
  csi_client_close(client);
}

static void a_version_that_was_not_asked_for_is_not_taken(void **state) {
  (void)state;
  struct csi_error error;
  node.toy_v1 = node.toy_v1beta1 = CSI_NOT_FOUND;
  assert_int_equal(fail_to_connect("toy", (const char *const[]){"v1", "v1beta1", NULL}, &options, &error),
                   CSI_NOT_FOUND);
  assert_int_equal(error.space, CSI_SPACE_WIN32);
  assert_int_equal(error.number, 2);
  assert_string_equal(error.call, "CreateFileW");
  assert_text(&error, "no version of toy that was asked for is served on this node: open /node/toy-v1: ");
}

static void a_version_that_refuses_ends_the_search(void **state) {
  (void)state;
  struct csi_error error;
  node.toy_v1 = CSI_PERMISSION_DENIED;
  assert_int_equal(fail_to_connect("toy", NULL, &options, &error), CSI_PERMISSION_DENIED);
  assert_text(&error, "open /node/toy-v1");
  node.toy_v1 = CSI_NOT_FOUND;
  node.toy_v1beta1 = CSI_DEADLINE_EXCEEDED;
  assert_int_equal(fail_to_connect("toy", NULL, &options, &error), CSI_DEADLINE_EXCEEDED);
  assert_text(&error, "open /node/toy-v1beta1");
}

static void unknown_names_are_refused_without_connecting(void **state) {
  (void)state;
  struct csi_error error;
  assert_int_equal(fail_to_connect("tyo", NULL, &options, &error), CSI_INVALID_ARGUMENT);
  assert_text(&error, "tyo");
  assert_int_equal(fail_to_connect(NULL, NULL, &options, &error), CSI_INVALID_ARGUMENT);
  assert_int_equal(fail_to_connect("toy", (const char *const[]){"v1", "v3", NULL}, &options, &error),
                   CSI_INVALID_ARGUMENT);
  assert_text(&error, "does not know version v3 of toy");
  assert_int_equal(fail_to_connect("toy", (const char *const[]){NULL}, &options, &error),
                   CSI_INVALID_ARGUMENT);
  struct csi_client_options bad = {.endpoint_format = "/node/%s-%n"};
  assert_int_equal(fail_to_connect("toy", NULL, &bad, &error), CSI_INVALID_ARGUMENT);
  assert_int_equal(node.connection_count, 0);

  struct csi_client *client;
  assert_int_equal(csi_client_connect("tyo", NULL, NULL, &client, NULL), CSI_INVALID_ARGUMENT);
}

static void endpoint_formats(void **state) {
  (void)state;
  char *name = NULL;
  struct csi_status status = {0};
  assert_true(csi_endpoint_name("a%%%s-%sz%%", "g", "v1", &name, &status));
  assert_string_equal(name, "a%g-v1z%");
  free(name);
  assert_true(csi_endpoint_name(NULL, "disk", "v1beta3", &name, &status));
  assert_string_equal(name, "/run/csi-proxy/csi-proxy-disk-v1beta3.sock");
  free(name);
  static const char *const bad[] = {"", "%s", "%s%s%s", "%s-%d", "%s-%s%", "%s %1$s", "%%s %s"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    csi_status_clear(&status);
    assert_false(csi_endpoint_name(bad[i], "g", "v", &name, &status));
    assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
  }
}

/* ---- Calls. ---- */

static void a_response_is_the_callers(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  struct csi_error error;
  struct toy_response *response;
  assert_int_equal(call(client, RPC_ECHO, &response, &error), CSI_OK);
  csi_client_close(client);
  assert_int_equal((uintptr_t)response % _Alignof(max_align_t), 0);
  assert_int_equal(response->text_count, 3);
  assert_string_equal(response->texts[2], "hello");
  csi_response_free(response);
  csi_response_free(NULL);
  csi_client_close(NULL);
}

static void large_and_empty_messages(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  enum { TEXT_BYTES = 90000, TIMES = 40 };
  char *text = malloc(TEXT_BYTES + 1);
  memset(text, 'x', TEXT_BYTES);
  text[TEXT_BYTES] = '\0';
  struct toy_request request = {.text = text, .times = TIMES};
  void *opaque;
  struct csi_error error;
  assert_int_equal(csi_client_call(client, &toy_group, RPC_ECHO, &request, NULL, &opaque, &error), CSI_OK);
  struct toy_response *response = opaque;
  assert_int_equal(response->text_count, TIMES);
  assert_string_equal(response->texts[TIMES - 1], text);
  csi_response_free(response);

  request.times = 50; /* more than 4 MiB */
  assert_int_equal(csi_client_call(client, &toy_group, RPC_ECHO, &request, NULL, &opaque, &error),
                   CSI_RESOURCE_EXHAUSTED);
  assert_null(opaque);

  request = (struct toy_request){0};
  assert_int_equal(csi_client_call(client, &toy_group, RPC_ECHO, &request, NULL, &opaque, &error), CSI_OK);
  response = opaque;
  assert_int_equal(response->text_count, 0);
  csi_response_free(response);
  free(text);
  csi_client_close(client);
}

static void an_error_carries_all_that_the_service_tells(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  struct csi_error error;
  assert_int_equal(call(client, RPC_FAIL, NULL, &error), CSI_UNKNOWN);
  assert_int_equal(error.code, CSI_UNKNOWN);
  assert_int_equal(error.precise_code, CSI_NOT_FOUND);
  assert_int_equal(error.space, CSI_SPACE_WIN32);
  assert_int_equal(error.number, UINT32_MAX);
  assert_string_equal(error.call, LONG_CALL);
  assert_string_equal(error.text, "open C:\\a\xC3\xA4: not found\\n.");

  assert_int_equal(call(client, RPC_FAIL_BARE, NULL, &error), CSI_UNKNOWN);
  assert_int_equal(error.precise_code, CSI_UNKNOWN);
  assert_int_equal(error.space, CSI_SPACE_NONE);
  assert_int_equal(error.number, 0);
  assert_string_equal(error.call, "");
  assert_string_equal(error.text, "bare");
  assert_int_equal(call(client, RPC_FAIL, NULL, NULL), CSI_UNKNOWN);
  csi_client_close(client);
}

static void an_rpc_that_the_version_lacks_names_those_that_have_it(void **state) {
  (void)state;
  struct csi_client *client = connect_toy((const char *const[]){"v1beta1", NULL});
  struct csi_error error;
  assert_int_equal(call(client, RPC_NEW, NULL, &error), CSI_UNIMPLEMENTED);
  assert_string_equal(error.text, "toy has no New in version v1beta1, to which this client is connected; "
                                  "it is in v1, v2alpha1");
  csi_client_close(client);
}

static void misuse_is_an_error(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  struct csi_error error;
  struct toy_request request = {0};
  void *response;
  assert_int_equal(csi_client_call(client, &other_group, RPC_ECHO, &request, NULL, &response, &error),
                   CSI_INVALID_ARGUMENT);
  assert_text(&error, "connected to toy, the call is one of other");
  assert_int_equal(csi_client_call(client, &toy_group, RPC_ECHO, NULL, NULL, &response, &error),
                   CSI_INVALID_ARGUMENT);
  assert_null(response);
  csi_client_close(client);
}

static void answers_that_cannot_be_read_are_internal_errors(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  struct csi_error error;
  assert_int_equal(call(client, RPC_GARBAGE, NULL, &error), CSI_INTERNAL);
  assert_text(&error, "the response of /v1.Toy/Garbage is not valid");
  assert_int_equal(call(client, RPC_SILENT, NULL, &error), CSI_INTERNAL);
  assert_int_equal(call(client, RPC_ECHO, NULL, &error), CSI_OK);
  csi_client_close(client);
}

static void a_deadline_ends_the_call_on_both_sides(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  struct csi_error error;
  struct toy_request request = {0};
  void *response;
  int64_t started_ns = csi_now_ns();
  assert_int_equal(csi_client_call(client, &toy_group, RPC_HANG, &request,
                                   &(struct csi_call_options){.timeout_ms = 50}, &response, &error),
                   CSI_DEADLINE_EXCEEDED);
  assert_true(csi_now_ns() - started_ns >= 45 * 1000000);
  assert_null(response);
  /* The server has one thread: that it answers means that it saw the other call end. */
  assert_int_equal(call(client, RPC_ECHO, NULL, &error), CSI_OK);
  assert_int_equal(node.cancel_count, 1);
  assert_int_equal(node.connection_count, 1);
  csi_client_close(client);
}

/* ---- Lost connections. ---- */

static void a_restarted_service_is_found_again(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  struct csi_error error;
  assert_int_equal(call(client, RPC_ECHO, NULL, &error), CSI_OK);
  for (unsigned restart = 1; restart <= 3; restart++) {
    restart_server_when_called();
    enum csi_code code = call(client, RPC_ECHO, NULL, &error);
    /* The connection may be lost in the middle of the call; then the library must not repeat it, as it
     * cannot know whether it arrived. The next one finds the service. */
    if (code == CSI_UNAVAILABLE) code = call(client, RPC_ECHO, NULL, &error);
    if (code != CSI_OK) fail_msg("restart %u: %s", restart, error.text);
    assert_int_equal(node.connection_count, 1 + restart);
  }
  csi_client_close(client);
}

static void a_service_that_is_gone_is_unavailable(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  struct csi_error error;
  kill_server();
  wait_for_hang_up();
  node.toy_v1 = CSI_NOT_FOUND;
  /* The first call may still find the old connection, and lose it. */
  assert_int_equal(call(client, RPC_ECHO, NULL, &error), CSI_UNAVAILABLE);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(call(client, RPC_ECHO, NULL, &error), CSI_UNAVAILABLE);
    assert_int_equal(error.space, CSI_SPACE_WIN32);
    assert_int_equal(error.number, 2);
    assert_text(&error, "there is no new one: open /node/toy-v1");
  }
  /* Only this version was asked for: another one that is served is no replacement. */
  assert_string_equal(csi_client_version(client), "v1");
  node.toy_v1 = CSI_OK;
  start_server();
  assert_int_equal(call(client, RPC_ECHO, NULL, &error), CSI_OK);
  csi_client_close(client);
}

static void *hang(void *client) {
  struct csi_error error;
  return (void *)(uintptr_t)call(client, RPC_HANG, NULL, &error);
}

static void a_call_that_may_have_arrived_is_not_repeated(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, hang, client);
  while (atomic_load(&node.hang_count) == 0)
    sched_yield();
  kill_server();
  start_server();
  void *code;
  pthread_join(thread, &code);
  assert_int_not_equal((uintptr_t)code, CSI_OK);
  struct csi_error error;
  enum csi_code next = call(client, RPC_ECHO, NULL, &error);
  if (next != CSI_OK) fail_msg("%s", error.text);
  assert_int_equal(node.hang_count, 1);
  csi_client_close(client);
}

enum { THREADS = 16, CALLS = 50 };

static void *call_many(void *client) {
  uintptr_t failures = 0;
  for (int i = 0; i < CALLS; i++) {
    struct csi_error error;
    if (call(client, RPC_ECHO, NULL, &error) != CSI_OK) failures++;
  }
  return (void *)failures;
}

static uintptr_t call_from_many_threads(struct csi_client *client) {
  pthread_t threads[THREADS];
  uintptr_t failures = 0;
  for (size_t i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, call_many, client);
  for (size_t i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    failures += (uintptr_t)result;
  }
  return failures;
}

static void threads_share_a_client(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  assert_int_equal(call_from_many_threads(client), 0);
  assert_int_equal(node.connection_count, 1);
  restart_server_when_called();
  /* A call that was started before another thread saw the loss may fail; but then no second one of its
   * thread, and everybody ends on one new connection. */
  uintptr_t failures = call_from_many_threads(client);
  assert_true(failures <= THREADS);
  assert_int_equal(node.connection_count, 2);
  csi_client_close(client);
}

static void short_memory_fails_one_call_only(void **state) {
  (void)state;
  struct csi_client *client = connect_toy(NULL);
  struct csi_error error;
  unsigned failed = 0;
  for (unsigned countdown = 1;; countdown++) {
    csi_arena_fail_after(countdown);
    enum csi_code code = call(client, RPC_ECHO, NULL, &error);
    unsigned left = csi_arena_fail_after(0);
    if (code == CSI_OK) {
      assert_int_not_equal(left, 0);
      break;
    }
    assert_int_equal(code, CSI_RESOURCE_EXHAUSTED);
    failed++;
  }
  assert_true(failed >= 6); /* arena, message, bytes; arena, message, response at least */
  csi_client_close(client);
}

/* ---- Calls with encoded messages. ---- */

static struct csi_client *connect_raw(void) {
  struct csi_client *client = NULL;
  struct csi_error error = {0};
  if (csi_client_connect_raw("toy", "v1", &options, &client, &error) != CSI_OK) fail_msg("%s", error.text);
  return client;
}

static void a_raw_call_goes_to_any_path(void **state) {
  (void)state;
  static const uint8_t request[] = {0x0a, 2, 'h', 'i', 0x10, 2},
                       wanted[] = {0x0a, 2, 'h', 'i', 0x0a, 2, 'h', 'i'};
  struct csi_client *clients[] = {connect_raw(), connect_toy(NULL)};
  for (size_t i = 0; i < 2; i++) {
    struct csi_bytes *response;
    struct csi_error error;
    assert_int_equal(
        csi_client_call_raw(clients[i], "/v9.Newer/Echo", request, sizeof request, NULL, &response, &error),
        CSI_OK);
    assert_int_equal(response->size_bytes, sizeof wanted);
    assert_memory_equal(response->data, wanted, sizeof wanted);
    csi_response_free(response);
    assert_int_equal(csi_client_call_raw(clients[i], "/v1.Toy/Garbage", NULL, 0, NULL, &response, NULL),
                     CSI_OK);
    assert_int_equal(response->size_bytes, 2); /* nobody has looked at it */
    csi_response_free(response);
    csi_client_close(clients[i]);
  }
}

static void a_raw_call_fails_as_others_do(void **state) {
  (void)state;
  struct csi_client *client = connect_raw();
  struct csi_bytes *response = (struct csi_bytes *)&node;
  struct csi_error error;
  assert_int_equal(csi_client_call_raw(client, "/v1.Toy/Fail", NULL, 0, NULL, &response, &error),
                   CSI_UNKNOWN);
  assert_null(response);
  assert_int_equal(error.precise_code, CSI_NOT_FOUND);
  assert_string_equal(error.call, LONG_CALL);
  assert_int_equal(csi_client_call_raw(client, "/v1.Toy/Silent", NULL, 0, NULL, &response, &error),
                   CSI_INTERNAL);
  const struct csi_call_options soon = {.timeout_ms = 50};
  assert_int_equal(csi_client_call_raw(client, "/v1.Toy/Hang", NULL, 0, &soon, &response, &error),
                   CSI_DEADLINE_EXCEEDED);
  static const char *const paths[] = {NULL,     "",         "Echo",          "/Echo",
                                      "//Echo", "/v1.Toy/", "/v1.Toy/E cho", "/v1.Toy/\n"};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
    assert_int_equal(csi_client_call_raw(client, paths[i], NULL, 0, NULL, &response, &error),
                     CSI_INVALID_ARGUMENT);
  assert_int_equal(call(client, RPC_ECHO, NULL, &error), CSI_INVALID_ARGUMENT);
  csi_client_close(client);
}

static void raw_names_are_checked(void **state) {
  (void)state;
  static const char *const names[] = {
      NULL, "", "Disk", "a/b", "a\\b", "..", "1a", "a%s", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
  struct csi_client *client = (struct csi_client *)&node;
  struct csi_error error;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_int_equal(csi_client_connect_raw(names[i], "v1", &options, &client, &error), CSI_INVALID_ARGUMENT);
    assert_null(client);
    assert_int_equal(csi_client_connect_raw("toy", names[i], &options, &client, &error),
                     CSI_INVALID_ARGUMENT);
  }
  assert_string_equal(node.last_endpoint, "");
  assert_int_equal(csi_client_connect_raw("newer", "v7", &options, &client, &error), CSI_NOT_FOUND);
  assert_string_equal(node.last_endpoint, "/node/newer-v7");
}

static void short_memory_fails_a_raw_call(void **state) {
  (void)state;
  struct csi_client *client = connect_raw();
  unsigned failed = 0;
  for (unsigned countdown = 1;; countdown++, failed++) {
    struct csi_bytes *response;
    csi_arena_fail_after(countdown);
    enum csi_code code = csi_client_call_raw(client, "/v1.Toy/Echo", "\x10\x01", 2, NULL, &response, NULL);
    unsigned left = csi_arena_fail_after(0);
    csi_response_free(response);
    if (code == CSI_OK && left > 0) break;
    assert_int_equal(code, CSI_RESOURCE_EXHAUSTED);
  }
  assert_true(failed >= 4); /* arena and copy, of request and response */
  csi_client_close(client);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_first_version_in_default_order_is_taken),
      TEST(the_callers_order_counts),
      TEST(a_version_that_was_not_asked_for_is_not_taken),
      TEST(a_version_that_refuses_ends_the_search),
      TEST(unknown_names_are_refused_without_connecting),
      cmocka_unit_test(endpoint_formats),
      TEST(a_response_is_the_callers),
      TEST(large_and_empty_messages),
      TEST(an_error_carries_all_that_the_service_tells),
      TEST(an_rpc_that_the_version_lacks_names_those_that_have_it),
      TEST(misuse_is_an_error),
      TEST(answers_that_cannot_be_read_are_internal_errors),
      TEST(a_deadline_ends_the_call_on_both_sides),
      TEST(a_restarted_service_is_found_again),
      TEST(a_service_that_is_gone_is_unavailable),
      TEST(a_call_that_may_have_arrived_is_not_repeated),
      TEST(threads_share_a_client),
      TEST(short_memory_fails_one_call_only),
      TEST(a_raw_call_goes_to_any_path),
      TEST(a_raw_call_fails_as_others_do),
      TEST(raw_names_are_checked),
      TEST(short_memory_fails_a_raw_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
