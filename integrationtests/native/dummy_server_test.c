/* SPDX-License-Identifier: Apache-2.0
 *
 * The dummy group through everything: C client, socket, server, conversions, handlers and back, in its
 * three versions. What holds here holds for every group.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/groups.h"
#include "csi-proxy/dummy.h"
#include "dummy/client_group.h"
#include "dummy/dummy.h"
#include "dummy/services.h"
#include "rpc/server.h"

#define PASSWORD "correct horse battery"

const struct csi_client_group *const csi_client_groups[] = {&csi_dummy_client_group, NULL};

static struct csi_dummy dummy = {.expected_password = PASSWORD};
static char directory[] = "/tmp/csi-proxy-dummy-test.XXXXXX";
static char endpoint_format[64];
static struct csi_server *server;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[1 << 20];
static size_t log_length;

static void keep_log(void *data, enum csi_severity severity, const char *line, size_t length_bytes) {
  (void)data, (void)severity;
  pthread_mutex_lock(&log_lock);
  if (log_length + length_bytes < sizeof log_text) {
    memcpy(log_text + log_length, line, length_bytes + 1);
    log_length += length_bytes;
  }
  pthread_mutex_unlock(&log_lock);
}

static bool log_has(const char *text) {
  pthread_mutex_lock(&log_lock);
  bool has = strstr(log_text, text) != NULL;
  pthread_mutex_unlock(&log_lock);
  return has;
}

static int set_up(void **state) {
  (void)state;
  char *arguments[] = {(char *)"test", (char *)"-v=9", NULL};
  const struct csi_flag_table tables[] = {csi_log_flags()};
  struct csi_status status = {0};
  int rest;
  assert_int_equal(csi_flags_parse(tables, 1, 2, arguments, &rest, &status), CSI_FLAGS_OK);
  assert_true(csi_log_open("test", &status));
  csi_log_set_sink(keep_log, NULL);
  assert_non_null(mkdtemp(directory));
  snprintf(endpoint_format, sizeof endpoint_format, "%s/%%s-%%s", directory);
  struct csi_server_options options;
  csi_server_options_default(&options);
  options.endpoint_format = endpoint_format;
  server = csi_server_new(&options, &status);
  assert_non_null(server);
  assert_true(csi_server_add_group(server, &csi_dummy_services, &dummy, &status));
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  assert_int_equal(csi_server_drain(server, 5000, NULL, NULL), 0);
  assert_true(csi_server_free(server));
  rmdir(directory);
  csi_log_set_sink(NULL, NULL);
  csi_log_close();
  return 0;
}

static struct csi_client *connect_to(const char *version) {
  const char *const versions[] = {version, NULL};
  const struct csi_client_options options = {.endpoint_format = endpoint_format};
  struct csi_client *client;
  struct csi_error error;
  if (csi_client_connect("dummy", version ? versions : NULL, &options, &client, &error) != CSI_OK) {
    fail_msg("%s", error.text);
  }
  if (version) assert_string_equal(csi_client_version(client), version);
  return client;
}

static const char *const every_version[] = {"v1alpha1", "v1beta1", "v1"};
enum { VERSIONS = 3 };

static void test_renamed_rpcs_and_fields_arrive(void **state) {
  (void)state;
  for (int i = 0; i < VERSIONS; i++) {
    struct csi_client *client = connect_to(every_version[i]);
    struct csi_error error;
    const struct csi_dummy_compute_double_request request = {.input = 21};
    struct csi_dummy_compute_double_response *response;
    assert_int_equal(csi_dummy_compute_double(client, &request, NULL, &response, &error), CSI_OK);
    assert_int_equal(response->response, 42);
    csi_response_free(response);

    const struct csi_dummy_tell_me_a_poem_request poem_request = {.i_want_a_title = true, .line_count = 2};
    struct csi_dummy_tell_me_a_poem_response *poem;
    assert_int_equal(csi_dummy_tell_me_a_poem(client, &poem_request, NULL, &poem, &error), CSI_OK);
    assert_string_equal(poem->title, "The Pipe");
    assert_int_equal(poem->lines_count, 2);
    assert_string_equal(poem->lines[1], "a pipe that hears,");
    csi_response_free(poem);
    csi_client_close(client);
  }
}

static void test_errors_of_renamed_rpcs_have_their_prefix(void **state) {
  (void)state;
  for (int i = 0; i < VERSIONS; i++) {
    struct csi_client *client = connect_to(every_version[i]);
    struct csi_error error;
    const struct csi_dummy_tell_me_a_poem_request request = {.line_count = 0};
    struct csi_dummy_tell_me_a_poem_response *response;
    assert_int_equal(csi_dummy_tell_me_a_poem(client, &request, NULL, &response, &error), CSI_UNKNOWN);
    assert_null(response);
    assert_int_equal(error.precise_code, CSI_INVALID_ARGUMENT);
    assert_string_equal(error.text, strcmp(every_version[i], "v1alpha1") == 0
                                        ? "Forward to TellMeAPoem failed, err=a poem has lines"
                                        : "a poem has lines");
    csi_client_close(client);
  }
}

static void test_an_rpc_that_the_version_lacks_is_unimplemented(void **state) {
  (void)state;
  struct csi_client *client = connect_to("v1beta1");
  struct csi_error error;
  const struct csi_dummy_sleep_request request = {.duration_ms = 1};
  struct csi_dummy_sleep_response *response;
  assert_int_equal(csi_dummy_sleep(client, &request, NULL, &response, &error), CSI_UNIMPLEMENTED);
  assert_non_null(strstr(error.text, "v1"));
  csi_client_close(client);
}

static void test_the_best_version_is_taken(void **state) {
  (void)state;
  struct csi_client *client = connect_to(NULL);
  assert_string_equal(csi_client_version(client), "v1");
  csi_client_close(client);
}

/* Maps have no order on the wire; v1beta1's is converted by hand and comes as it was sent. */
static const struct csi_dummy_shelf *shelf_of(const struct csi_dummy_list_shelves_response *response,
                                              uint32_t number) {
  for (size_t i = 0; i < response->shelves_count; i++) {
    if (response->shelves[i].key == number) return &response->shelves[i].value;
  }
  fail_msg("there is no shelf %u", number);
  return NULL;
}

static const char *label_of(const struct csi_dummy_list_shelves_response *response, const char *key) {
  for (size_t i = 0; i < response->labels_count; i++) {
    if (strcmp(response->labels[i].key, key) == 0) return response->labels[i].value;
  }
  return "";
}

static void test_maps_and_nested_messages_arrive(void **state) {
  (void)state;
  static const uint32_t numbers[] = {7, 3};
  static const uint32_t pages[] = {1, 300};
  static const struct csi_dummy_book book = {
      .title = "Pipes", .picture_pages = pages, .picture_pages_count = 2};
  static const struct csi_dummy_list_shelves_request_labels_entry labels[] = {{"b", "2"}, {"a", "1"}};
  const struct csi_dummy_list_shelves_request request = {
      .numbers = numbers, .numbers_count = 2, .book = &book, .labels = labels, .labels_count = 2};
  for (int i = 1; i < VERSIONS; i++) {
    struct csi_client *client = connect_to(every_version[i]);
    struct csi_error error;
    struct csi_dummy_list_shelves_response *response;
    if (csi_dummy_list_shelves(client, &request, NULL, &response, &error) != CSI_OK)
      fail_msg("%s", error.text);
    assert_int_equal(response->shelves_count, 2);
    assert_non_null(shelf_of(response, 3));
    const struct csi_dummy_shelf *shelf = shelf_of(response, 7);
    assert_int_equal(shelf->material, CSI_DUMMY_MATERIAL_GLASS);
    assert_string_equal(shelf->books[0].title, "Pipes");
    assert_int_equal(shelf->books[0].picture_pages[1], 300);
    assert_string_equal(label_of(response, "a"), "1");
    assert_string_equal(label_of(response, "b"), "2");
    csi_response_free(response);
    csi_client_close(client);
  }
}

static void test_too_many_elements_are_refused(void **state) {
  (void)state;
  static const uint32_t numbers[9] = {0};
  const struct csi_dummy_list_shelves_request request = {.numbers = numbers, .numbers_count = 9};
  struct csi_client *client = connect_to("v1");
  struct csi_error error;
  struct csi_dummy_list_shelves_response *response;
  unsigned calls = atomic_load(&dummy.calls);
  assert_int_equal(csi_dummy_list_shelves(client, &request, NULL, &response, &error), CSI_UNKNOWN);
  assert_int_equal(error.precise_code, CSI_INVALID_ARGUMENT);
  assert_non_null(strstr(error.text, "numbers"));
  assert_int_equal(atomic_load(&dummy.calls), calls);
  csi_client_close(client);
}

static void test_secrets_arrive_and_are_not_logged(void **state) {
  (void)state;
  const struct csi_dummy_credentials credentials = {.user = "somebody", .password = PASSWORD};
  const struct csi_dummy_credentials wrong = {.user = "somebody", .password = PASSWORD "!"};
  for (int i = 1; i < VERSIONS; i++) {
    struct csi_client *client = connect_to(every_version[i]);
    struct csi_error error;
    struct csi_dummy_exchange_request request = {.credentials = &credentials};
    struct csi_dummy_exchange_response *response;
    assert_int_equal(csi_dummy_exchange(client, &request, NULL, &response, &error), CSI_OK);
    assert_string_equal(response->user, "somebody");
    csi_response_free(response);
    request.credentials = &wrong;
    assert_int_equal(csi_dummy_exchange(client, &request, NULL, &response, &error), CSI_UNKNOWN);
    assert_int_equal(error.precise_code, CSI_UNAUTHENTICATED);
    assert_null(strstr(error.text, PASSWORD));
    csi_client_close(client);
  }
  assert_true(log_has("somebody"));
  assert_true(log_has("***"));
  assert_false(log_has(PASSWORD));
}

static void test_deadline_ends_a_call_and_its_work(void **state) {
  (void)state;
  struct csi_client *client = connect_to("v1");
  struct csi_error error;
  const struct csi_dummy_sleep_request request = {.duration_ms = 60000};
  const struct csi_call_options options = {.timeout_ms = 100};
  struct csi_dummy_sleep_response *response;
  assert_int_equal(csi_dummy_sleep(client, &request, &options, &response, &error), CSI_DEADLINE_EXCEEDED);
  csi_client_close(client);
  for (int i = 0; i < 1000 && atomic_load(&dummy.sleeping) > 0; i++)
    usleep(10000);
  assert_int_equal(atomic_load(&dummy.sleeping), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_renamed_rpcs_and_fields_arrive),
      cmocka_unit_test(test_errors_of_renamed_rpcs_have_their_prefix),
      cmocka_unit_test(test_an_rpc_that_the_version_lacks_is_unimplemented),
      cmocka_unit_test(test_the_best_version_is_taken),
      cmocka_unit_test(test_maps_and_nested_messages_arrive),
      cmocka_unit_test(test_too_many_elements_are_refused),
      cmocka_unit_test(test_secrets_arrive_and_are_not_logged),
      cmocka_unit_test(test_deadline_ends_a_call_and_its_work),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
