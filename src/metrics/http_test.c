/* SPDX-License-Identifier: Apache-2.0
 *
 * The endpoint over real sockets.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "metrics/http.h"
#include "metrics/sockets.h"

enum {
  ANSWER_BYTES = 256 * 1024,
  START_UNIX_S = 1700000000,
};

/* What the endpoint under test shall say. */
static struct {
  uint64_t lines;
  int asked;
  bool hangs;
} metrics;
static pthread_mutex_t hang_lock = PTHREAD_MUTEX_INITIALIZER; /* held: what hangs goes on hanging */
static atomic_bool is_hanging;

static struct csi_http *http;
static char answer[ANSWER_BYTES];

static void write_lines(void *context, struct csi_exposition *out) {
  (void)context;
  metrics.asked++;
  if (metrics.hangs) {
    atomic_store(&is_hanging, true);
    pthread_mutex_lock(&hang_lock);
    pthread_mutex_unlock(&hang_lock);
  }
  for (uint64_t i = 0; i < metrics.lines && !out->failed; i++)
    csi_exposition_count(out, CSI_METRIC_WINDOWS_CALLS_HANGING, NULL, i);
}

static struct csi_http *start_at(const char *address, unsigned silence_s, struct csi_status *status) {
  const struct csi_http_options options = {.address = address,
                                           .silence_s = silence_s,
                                           .request_s = silence_s < 3 ? 3 : CSI_HTTP_REQUEST_S,
                                           .stop_s = 1,
                                           .start_unix_s = START_UNIX_S,
                                           .write = write_lines};
  return csi_http_start(&options, status);
}

static int set_up_with(const char *address, unsigned silence_s) {
  struct csi_status status = {0};
  metrics.lines = 1;
  metrics.asked = 0;
  metrics.hangs = false;
  if (!csi_sockets_begin(&status)) return 1;
  http = start_at(address, silence_s, &status);
  if (http == NULL) print_error("%s\n", status.text);
  return http == NULL;
}

static int set_up(void **unused) {
  (void)unused;
  return set_up_with("127.0.0.1:0", CSI_HTTP_SILENCE_S);
}

static int set_up_impatient(void **unused) {
  (void)unused;
  return set_up_with("127.0.0.1:0", 1);
}

static int tear_down(void **unused) {
  (void)unused;
  bool stopped = csi_http_stop(http);
  csi_sockets_end();
  return stopped ? 0 : 1;
}

static uint16_t port_of(const struct csi_http *of) {
  return (uint16_t)strtoul(strrchr(csi_http_address(of), ':') + 1, NULL, 10);
}

static csi_socket try_address(const struct sockaddr *address, size_t address_bytes) {
  csi_socket client = socket(address->sa_family, SOCK_STREAM, 0);
  if (client == CSI_NO_SOCKET) return client;
  if (connect(client, address, (socklen_t)address_bytes) == 0) return client;
  csi_sockets_close(client);
  return CSI_NO_SOCKET;
}

static csi_socket try_connect(uint16_t port) {
  const struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return try_address((const struct sockaddr *)&address, sizeof address);
}

static csi_socket try_connect_ipv6(uint16_t port) {
  struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
  address.sin6_addr = in6addr_loopback;
  return try_address((const struct sockaddr *)&address, sizeof address);
}

static csi_socket connect_to(uint16_t port) {
  csi_socket client = try_connect(port);
  assert_true(client != CSI_NO_SOCKET);
  return client;
}

static void send_text(csi_socket client, const char *text) {
  /* It may have been closed: what comes back tells. */
#if defined(_WIN32)
  (void)send(client, text, (int)strlen(text), 0);
#else
  (void)!send(client, text, strlen(text), MSG_NOSIGNAL);
#endif
}

/* Some of what comes, behind the first `length` bytes of the answer. 0 when the other side has closed. */
static size_t receive_more(csi_socket client, size_t length) {
#if defined(_WIN32)
  int more = recv(client, answer + length, (int)(sizeof answer - 1 - length), 0);
#else
  ssize_t more = recv(client, answer + length, sizeof answer - 1 - length, 0);
#endif
  return more > 0 ? (size_t)more : 0;
}

/* All that comes until the other side closes; returns how much. */
static size_t receive_all(csi_socket client) {
  size_t length = 0;
  for (size_t more; (more = receive_more(client, length)) > 0;)
    length += more;
  answer[length] = '\0';
  return length;
}

/* One request on a connection of its own; headers: lines. */
static void ask(const char *method, const char *path, const char *headers) {
  char request[1024];
  snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n", method, path,
           headers);
  csi_socket client = connect_to(port_of(http));
  send_text(client, request);
  receive_all(client);
  csi_sockets_close(client);
}

static void assert_answer_has(const char *text) {
  if (strstr(answer, text) == NULL) fail_msg("\"%s\" is not in\n%s", text, answer);
}

static const char *body(void) {
  const char *end = strstr(answer, "\r\n\r\n");
  assert_non_null(end);
  return end + 4;
}

#define LINE_0                                                                                               \
  "# HELP csi_proxy_windows_calls_hanging Calls into Windows that were given up and have not returned.\n"    \
  "# TYPE csi_proxy_windows_calls_hanging gauge\n"                                                           \
  "csi_proxy_windows_calls_hanging 0\n"

static void get_gives_the_metrics(void **unused) {
  (void)unused;
  ask("GET", "/metrics", "");
  assert_ptr_equal(strstr(answer, "HTTP/1.1 200 OK\r\n"), answer);
  assert_answer_has("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
  assert_answer_has("\r\nProcess-Start-Time-Unix: 1700000000\r\n");
  assert_string_equal(body(), LINE_0);
  assert_int_equal(metrics.asked, 1);
}

static void a_query_does_not_matter(void **unused) {
  (void)unused;
  ask("GET", "/metrics?x=1", "");
  assert_string_equal(body(), LINE_0);
}

static void head_gives_the_head(void **unused) {
  (void)unused;
  char length[64];
  snprintf(length, sizeof length, "\r\nContent-Length: %zu\r\n", strlen(LINE_0));
  ask("HEAD", "/metrics", "");
  assert_answer_has("HTTP/1.1 200 OK\r\n");
  assert_answer_has(length);
  assert_string_equal(body(), "");
}

static void other_paths_are_not_found(void **unused) {
  (void)unused;
  static const char *const paths[] = {"/", "/metrics/", "/Metrics", "/debug/pprof", "//metrics"};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    ask("GET", paths[i], "");
    assert_answer_has("HTTP/1.1 404 ");
    assert_string_equal(body(), "Metrics are at /metrics.\n");
  }
  assert_int_equal(metrics.asked, 0);
}

static void other_methods_are_not_allowed(void **unused) {
  (void)unused;
  static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "BREW"};
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
    ask(methods[i], "/metrics", "Content-Length: 5\r\n");
    assert_answer_has("HTTP/1.1 405 ");
    assert_answer_has("\r\nAllow: GET, HEAD\r\n");
  }
  assert_int_equal(metrics.asked, 0);
}

static void what_is_compressed_is_smaller(void **unused) {
  (void)unused;
  metrics.lines = 2000;
  ask("GET", "/metrics", "");
  size_t plain_bytes = strlen(body());
  ask("GET", "/metrics", "Accept-Encoding: deflate, gzip\r\n");
  assert_answer_has("\r\nContent-Encoding: gzip\r\n");
  assert_answer_has("\r\nVary: Accept-Encoding\r\n");
  assert_memory_equal(body(), "\x1f\x8b", 2);
  size_t packed_bytes = strtoul(strstr(answer, "Content-Length: ") + strlen("Content-Length: "), NULL, 10);
  assert_in_range(packed_bytes, 100, plain_bytes / 4);
}

/* One connection serves one scrape after the other. */
static void a_connection_is_kept(void **unused) {
  (void)unused;
  csi_socket client = connect_to(port_of(http));
  for (int i = 0; i < 3; i++) {
    send_text(client, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    size_t length = 0;
    do {
      size_t more = receive_more(client, length);
      assert_true(more > 0);
      length += more;
      answer[length] = '\0';
    } while (strstr(answer, "hanging 0\n") == NULL);
  }
  csi_sockets_close(client);
  assert_int_equal(metrics.asked, 3);
}

static void a_silent_client_is_sent_away(void **unused) {
  (void)unused;
  csi_socket silent = connect_to(port_of(http));
  csi_socket half = connect_to(port_of(http));
  send_text(half, "GET /metrics HTTP/1.1\r\nHos");
  receive_all(silent); /* returns when it was closed */
  receive_all(half);
  csi_sockets_close(silent);
  csi_sockets_close(half);
  assert_int_equal(metrics.asked, 0);
}

static void nonsense_is_answered_or_closed(void **unused) {
  (void)unused;
  csi_socket client = connect_to(port_of(http));
  send_text(client, "\x16\x03\x01 this is TLS\r\n\r\n");
  receive_all(client);
  csi_sockets_close(client);
  assert_null(strstr(answer, " 200 "));
  ask("GET", "/metrics", "");
  assert_answer_has(" 200 ");
}

static void an_endless_head_is_refused(void **unused) {
  (void)unused;
  char part[1025];
  memset(part, 'a', sizeof part - 1);
  part[sizeof part - 1] = '\0';
  csi_socket client = connect_to(port_of(http));
  send_text(client, "GET /metrics HTTP/1.1\r\nX: ");
  for (int i = 0; i < 64; i++)
    send_text(client, part);
  receive_all(client);
  csi_sockets_close(client);
  assert_null(strstr(answer, " 200 "));
  assert_int_equal(metrics.asked, 0);
}

/* Clients that hold on to connections get few, and the next one is served when they are gone. */
static void connections_are_bounded(void **unused) {
  (void)unused;
  enum { MANY = 3 * CSI_HTTP_CONNECTIONS };
  csi_socket clients[MANY];
  for (int i = 0; i < MANY; i++)
    clients[i] = connect_to(port_of(http));
  /* One too many for one address: closed without an answer. */
  receive_all(clients[CSI_HTTP_CONNECTIONS_PER_CLIENT]);
  assert_string_equal(answer, "");
  send_text(clients[0], "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  receive_all(clients[0]); /* the first ones are served all the same */
  assert_answer_has(" 200 ");
  for (int i = 0; i < MANY; i++)
    csi_sockets_close(clients[i]);
  do {
    ask("GET", "/metrics", "");
  } while (answer[0] == '\0'); /* until it has seen that they are gone */
  assert_answer_has(" 200 ");
}

static void a_text_that_is_too_long_is_an_error(void **unused) {
  (void)unused;
  metrics.lines = UINT64_MAX;
  ask("GET", "/metrics", "");
  assert_answer_has("HTTP/1.1 500 ");
  assert_string_equal(body(), "The metrics do not fit into 8 MiB, or memory is short.\n");
  metrics.lines = 1;
  ask("GET", "/metrics", "");
  assert_string_equal(body(), LINE_0);
}

static void a_taken_port_is_explained(void **unused) {
  (void)unused;
  struct csi_status status = {0};
  assert_null(start_at(csi_http_address(http), 1, &status));
  assert_int_not_equal(status.code, CSI_INVALID_ARGUMENT);
  assert_non_null(strstr(status.text, csi_http_address(http)));
  assert_non_null(strstr(status.text, "choose another"));
  ask("GET", "/metrics", "");
  assert_answer_has(" 200 ");
}

#if defined(_WIN32)
static void the_owner_of_a_port_is_known(void **unused) {
  (void)unused;
  char self[32], text[512];
  const struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port_of(http)), .sin_addr.s_addr = htonl(INADDR_ANY)};
  if (!csi_sockets_owner((const struct sockaddr *)&address, text, sizeof text)) {
    print_message("SKIP the_owner_of_a_port_is_known: Wine does not know whose a port is\n");
    skip();
  }
  snprintf(self, sizeof self, "process %lu (", GetCurrentProcessId());
  if (strstr(text, self) == NULL || strstr(text, "http_test.exe") == NULL)
    fail_msg("\"%s\" does not name this process", text);
}
#endif

static void an_address_of_another_machine_is_explained(void **unused) {
  (void)unused;
  struct csi_status status = {0};
  assert_null(start_at("192.0.2.1:0", 1, &status)); /* an address for examples; nobody has it */
  assert_int_not_equal(status.code, CSI_INVALID_ARGUMENT);
  assert_non_null(strstr(status.text, "192.0.2.1:0"));
  assert_non_null(strstr(status.text, "this machine's own name or address"));
  status = (struct csi_status){0};
  assert_null(start_at("localhost", 1, &status));
  assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
}

static void without_a_host_every_address_is_served(void **unused) {
  (void)unused;
  struct csi_status status = {0};
  static const char *const addresses[] = {":0", "[::]:0", "[0:0::0]:0", "0.0.0.0:0", "localhost:0"};
  struct csi_http *ipv6 = start_at("[::1]:0", 1, &status);
  bool has_ipv6 = ipv6 != NULL;
  assert_true(csi_http_stop(ipv6));
  for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
    struct csi_http *other = start_at(addresses[i], 1, &status);
    if (other == NULL && !has_ipv6 && strstr(addresses[i], "::") != NULL) {
      print_message("SKIP [::]: this machine has no IPv6\n");
      continue;
    }
    if (other == NULL) fail_msg("%s: %s", addresses[i], status.text);
    csi_socket client = connect_to(port_of(other));
    csi_sockets_close(client);
    csi_socket client_ipv6 = has_ipv6 ? try_connect_ipv6(port_of(other)) : CSI_NO_SOCKET;
    bool is_one_address = strstr(addresses[i], "localhost") != NULL; /* IPv4, as Go prefers it */
    assert_true((client_ipv6 != CSI_NO_SOCKET) == (has_ipv6 && !is_one_address));
    if (client_ipv6 != CSI_NO_SOCKET) csi_sockets_close(client_ipv6);
    assert_true(csi_http_stop(other));
  }
}

static void ipv6_alone_is_served(void **unused) {
  (void)unused;
  struct csi_status status = {0};
  struct csi_http *ipv6 = start_at("[::1]:0", 1, &status);
  if (ipv6 == NULL) {
    print_message("SKIP ipv6_alone_is_served: this machine has no IPv6: %s\n", status.text);
    skip();
  }
  assert_ptr_equal(strstr(csi_http_address(ipv6), "[::1]:"), csi_http_address(ipv6));
  csi_socket client = try_connect_ipv6(port_of(ipv6));
  assert_true(client != CSI_NO_SOCKET);
  send_text(client, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  receive_all(client);
  assert_answer_has("HTTP/1.1 200 OK\r\n");
  csi_sockets_close(client);
  assert_true(try_connect(port_of(ipv6)) == CSI_NO_SOCKET);
  assert_true(csi_http_stop(ipv6));
}

static void a_body_is_dropped(void **unused) {
  (void)unused;
  static const char *const bodies[] = {"Content-Length: 5\r\n\r\nhello",
                                       "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"};
  for (size_t i = 0; i < 2; i++) {
    ask("GET", "/metrics", bodies[i]);
    assert_answer_has("HTTP/1.1 200 OK\r\n");
    assert_string_equal(body(), LINE_0);
  }
}

/* A head of so many bytes, in one header or in many. */
static void ask_with_head(size_t head_bytes, size_t header_bytes) {
  static char request[64 * 1024];
  size_t length =
      (size_t)snprintf(request, sizeof request, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
  while (length + header_bytes < head_bytes) {
    memcpy(request + length, "X: ", 3);
    memset(request + length + 3, 'a', header_bytes - 5);
    memcpy(request + length + header_bytes - 2, "\r\n", 2);
    length += header_bytes;
  }
  memcpy(request + length, "\r\n", 3);
  csi_socket client = connect_to(port_of(http));
  send_text(client, request);
  receive_all(client);
  csi_sockets_close(client);
}

static void long_heads_are_answered(void **unused) {
  (void)unused;
  static const size_t header_bytes[] = {100, 4000, 16000};
  for (size_t i = 0; i < 3; i++) {
    ask_with_head(16 * 1024 + 300, header_bytes[i]);
    assert_answer_has("HTTP/1.1 200 OK\r\n");
  }
}

/* Whatever the length is, there is an answer. */
static void heads_that_are_too_long_are_answered(void **unused) {
  (void)unused;
  for (size_t head_bytes = 16 * 1024; head_bytes < 56 * 1024; head_bytes += 512) {
    ask_with_head(head_bytes, 200);
    if (strstr(answer, "HTTP/1.1 200 ") == NULL && strstr(answer, "HTTP/1.1 431 ") == NULL)
      fail_msg("%zu bytes: \"%s\"", head_bytes, answer);
  }
  assert_answer_has("HTTP/1.1 431 ");
}

/* It is never silent, and never asks. */
static void a_dribbling_client_is_sent_away(void **unused) {
  (void)unused;
  csi_socket client = connect_to(port_of(http));
  send_text(client, "GET /metrics HTTP/1.1\r\nX: ");
  fd_set readable;
  int changed;
  do {
    send_text(client, "a");
    FD_ZERO(&readable);
    FD_SET(client, &readable);
    struct timeval pause = {.tv_usec = 300 * 1000};
    changed = select((int)client + 1, &readable, NULL, NULL, &pause);
  } while (changed == 0);
  receive_all(client);
  assert_null(strstr(answer, " 200 "));
  csi_sockets_close(client);
  assert_int_equal(metrics.asked, 0);
  ask("GET", "/metrics", "");
  assert_answer_has(" 200 ");
}

static void a_hanging_scrape_does_not_keep_the_end(void **unused) {
  (void)unused;
  pthread_mutex_lock(&hang_lock);
  metrics.hangs = true;
  csi_socket client = connect_to(port_of(http));
  send_text(client, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  while (!atomic_load(&is_hanging)) {
  }
  assert_false(csi_http_stop(http));
  pthread_mutex_unlock(&hang_lock);
  assert_true(csi_http_stop(http));
  http = NULL;
  csi_sockets_close(client);
}

/* A client that holds a connection does not keep the endpoint from ending, and nothing listens then. */
static void it_ends_with_clients_on_it(void **unused) {
  (void)unused;
  uint16_t port = port_of(http);
  csi_socket client = connect_to(port);
  send_text(client, "GET /met");
  assert_true(csi_http_stop(http));
  http = NULL;
  receive_all(client);
  assert_string_equal(answer, "");
  csi_sockets_close(client);
  assert_true(try_connect(port) == CSI_NO_SOCKET);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
    TEST(get_gives_the_metrics),
    TEST(a_query_does_not_matter),
    TEST(head_gives_the_head),
    TEST(other_paths_are_not_found),
    TEST(other_methods_are_not_allowed),
    TEST(what_is_compressed_is_smaller),
    TEST(a_connection_is_kept),
    cmocka_unit_test_setup_teardown(a_silent_client_is_sent_away, set_up_impatient, tear_down),
    cmocka_unit_test_setup_teardown(a_dribbling_client_is_sent_away, set_up_impatient, tear_down),
    TEST(a_body_is_dropped),
    TEST(long_heads_are_answered),
    TEST(heads_that_are_too_long_are_answered),
    TEST(nonsense_is_answered_or_closed),
    TEST(an_endless_head_is_refused),
    TEST(connections_are_bounded),
    TEST(a_text_that_is_too_long_is_an_error),
    TEST(a_taken_port_is_explained),
#if defined(_WIN32)
    TEST(the_owner_of_a_port_is_known),
#endif
    TEST(an_address_of_another_machine_is_explained),
    TEST(without_a_host_every_address_is_served),
    TEST(ipv6_alone_is_served),
    TEST(it_ends_with_clients_on_it),
    TEST(a_hanging_scrape_does_not_keep_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
