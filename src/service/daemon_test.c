/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon's own decisions, with a server that only records what it is told. That server replaces the
 * one in rpc/ for this program.
 */
#include "service/daemon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "rpc/server.h"

/* What happened, as a line of words. */
static char events[1024];
static char logged[8192];

static void happened(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void happened(const char *format, ...) {
  size_t length = strlen(events);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(events + length, sizeof events - length, format, arguments);
  va_end(arguments);
}

static void keep_line(void *data, enum csi_severity severity, const char *line, size_t length_bytes) {
  (void)data;
  (void)severity;
  (void)length_bytes;
  size_t length = strlen(logged);
  snprintf(logged + length, sizeof logged - length, "%s", line);
}

static struct {
  struct csi_server_options options;
  bool fail_new;
  const char *fail_service_of; /* group whose pipes are taken */
  size_t cancelled;
  bool hangs; /* a call cannot even be cancelled */
  uint32_t grace_ms;
} server;

void csi_server_options_default(struct csi_server_options *options) {
  *options = (struct csi_server_options){0};
}

struct csi_server *csi_server_new(const struct csi_server_options *options, struct csi_status *status) {
  server.options = *options;
  happened("new(%s) ", options->endpoint_format);
  if (!server.fail_new) return (struct csi_server *)&server;
  csi_fail(status, CSI_RESOURCE_EXHAUSTED, "out of threads");
  return NULL;
}

bool csi_server_add_group(struct csi_server *unused, const struct csi_service_list *list, void *group,
                          struct csi_status *status) {
  (void)unused;
  (void)list;
  happened("add(%s) ", (const char *)group);
  if (server.fail_service_of != NULL && strcmp(server.fail_service_of, group) == 0)
    return csi_fail(status, CSI_ALREADY_EXISTS, "pipe %s-v1 is taken", (const char *)group);
  return true;
}

size_t csi_server_drain(struct csi_server *unused, uint32_t grace_ms,
                        void (*progress)(void *context, size_t running), void *context) {
  (void)unused;
  server.grace_ms = grace_ms;
  happened("drain ");
  if (server.cancelled > 0) progress(context, server.cancelled);
  return server.cancelled;
}

bool csi_server_free(struct csi_server *unused) {
  (void)unused;
  happened("free ");
  return !server.hangs;
}

static const char *wrong_group;
static char disk[] = "disk", volume[] = "volume";

static bool open_group(char *name, void **group_out, struct csi_status *status) {
  happened("open(%s) ", name);
  if (wrong_group != NULL && strcmp(wrong_group, name) == 0)
    return csi_fail(status, CSI_INVALID_ARGUMENT, "not an absolute path");
  *group_out = name;
  return true;
}

static bool open_disk(void *context, const struct csi_options *options, void **group_out,
                      struct csi_status *status) {
  (void)context, (void)options;
  return open_group(disk, group_out, status);
}

static bool open_volume(void *context, const struct csi_options *options, void **group_out,
                        struct csi_status *status) {
  (void)context, (void)options;
  return open_group(volume, group_out, status);
}

static void close_group(void *context, void *group) {
  (void)context;
  happened("close(%s) ", (const char *)group);
}

static const struct csi_service_list two_versions = {.service_count = 2};
static const struct csi_service_list three_versions = {.service_count = 3};
static const struct csi_group groups[] = {
    {"disk", &two_versions, open_disk, close_group},
    {"volume", &three_versions, open_volume, close_group},
};

static bool refuse_config;

static bool check(const struct csi_options *options, void (*remark)(void *context, const char *text),
                  void *context, struct csi_status *status) {
  (void)options;
  remark(context, "odd, but possible");
  if (refuse_config) return csi_fail(status, CSI_INVALID_ARGUMENT, "-pipe-sddl: nonsense");
  return true;
}

static const struct csi_program program = {.groups = groups, .group_count = 2, .check = check};

static void starting(void *context) {
  (void)context;
  happened("starting ");
}

static void running(void *context) {
  (void)context;
  happened("RUNNING ");
}

static void wait_for_stop(void *context) {
  (void)context;
  happened("wait ");
}

static void stopping(void *context, size_t calls, uint32_t left_ms) {
  (void)context;
  assert_true(left_ms <= 20000);
  happened("stopping(%zu) ", calls);
}

static const struct csi_daemon_host host = {NULL, starting, running, wait_for_stop, stopping};

static struct csi_options options;

static int set_up(void **unused) {
  (void)unused;
  memset(&server, 0, sizeof server);
  events[0] = logged[0] = '\0';
  wrong_group = NULL;
  refuse_config = false;
  char *const argv[] = {(char *)"csi-proxy", (char *)"-pipe-prefix=/p/", (char *)"-stop-grace-period=20s",
                        (char *)"-working-dir=C:\\w"};
  struct csi_status status = {0};
  csi_log_set_sink(keep_line, NULL);
  return csi_options_parse(&options, 4, argv, &status) == CSI_OPTIONS_RUN ? 0 : -1;
}

static void assert_logged(const char *text) {
  if (strstr(logged, text) == NULL) fail_msg("\"%s\" is not in the log:\n%s", text, logged);
}

static void a_life_without_trouble(void **unused) {
  (void)unused;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_OK);
  assert_string_equal(events, "starting open(disk) open(volume) new(/p/%s-%s) starting add(disk) "
                              "starting add(volume) RUNNING wait stopping(0) drain free "
                              "close(disk) close(volume) ");
  assert_int_equal(server.grace_ms, 20000);
  assert_logged("] Starting CSI-Proxy Server ...\n");
  assert_logged("] Version: v");
  assert_logged("] Working directories: [C:\\w C:\\var\\lib\\kubelet]\n");
  assert_logged("] Require privacy: true\n");
  assert_logged("] Serving 5 API versions on /p/<group>-<version>\n");
  assert_logged("] CSI-Proxy Server has stopped\n");
}

static void the_server_gets_the_options(void **unused) {
  (void)unused;
  options.pipe_sddl = "D:(A;;GA;;;SY)";
  options.max_connections = 7;
  csi_daemon_run(&options, &program, &host);
  assert_string_equal(server.options.sddl, "D:(A;;GA;;;SY)");
  assert_int_equal(server.options.max_connections, 7);
}

static void a_taken_pipe_fails_the_start_after_all_were_tried(void **unused) {
  (void)unused;
  server.fail_service_of = "disk";
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_START);
  assert_string_equal(events, "starting open(disk) open(volume) new(/p/%s-%s) starting add(disk) "
                              "starting add(volume) drain free close(disk) close(volume) ");
  assert_logged("API group disk cannot be served: pipe disk-v1 is taken\n");
  assert_null(strstr(logged, "has stopped"));
}

static void a_server_that_cannot_be_made_fails_the_start(void **unused) {
  (void)unused;
  server.fail_new = true;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_START);
  assert_string_equal(events, "starting open(disk) open(volume) new(/p/%s-%s) close(disk) close(volume) ");
  assert_logged("out of threads");
}

static void wrong_options_are_told_from_a_failed_start(void **unused) {
  (void)unused;
  wrong_group = "volume";
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_CONFIG);
  assert_string_equal(events, "starting open(disk) open(volume) close(disk) ");
  assert_logged("API group volume: not an absolute path");

  set_up(NULL);
  refuse_config = true;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_CONFIG);
  assert_string_equal(events, "starting ");
  assert_logged("-pipe-sddl: nonsense");
}

static void calls_that_outlast_the_grace_period_are_told(void **unused) {
  (void)unused;
  server.cancelled = 3;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_OK);
  assert_non_null(strstr(events, "stopping(0) drain stopping(3) free"));
  assert_logged("3 calls did not finish within 20000 ms and were cancelled");
}

static void what_a_hanging_call_uses_is_not_freed(void **unused) {
  (void)unused;
  server.cancelled = 1;
  server.hangs = true;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_OK);
  assert_non_null(strstr(events, "free "));
  assert_null(strstr(events, "close("));
  assert_logged("CSI-Proxy Server ends though calls hang in the system");
  assert_null(strstr(logged, "has stopped"));
}

static void metrics_are_not_silently_ignored(void **unused) {
  (void)unused;
  options.metrics_bind_address = "localhost:8888";
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_OK);
  assert_logged("-metrics-bind-address=localhost:8888 has no effect");
}

static const char *check_report(enum csi_exit expected) {
  static char text[4096];
  FILE *report = tmpfile();
  assert_non_null(report);
  assert_int_equal(csi_daemon_check(&options, &program, report), expected);
  rewind(report);
  text[fread(text, 1, sizeof text - 1, report)] = '\0';
  fclose(report);
  return text;
}

static void check_config_opens_nothing_and_reports(void **unused) {
  (void)unused;
  const char *text = check_report(CSI_EXIT_OK);
  assert_string_equal(events, "open(disk) open(volume) close(disk) close(volume) ");
  assert_non_null(strstr(text, "working directory: C:\\w\n"));
  assert_non_null(strstr(text, "warning: odd, but possible\n"));
  assert_non_null(strstr(text, "configuration is valid\n"));

  wrong_group = "disk";
  text = check_report(CSI_EXIT_CONFIG);
  assert_non_null(strstr(text, "configuration is not valid: API group disk: not an absolute path\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_life_without_trouble, set_up),
      cmocka_unit_test_setup(the_server_gets_the_options, set_up),
      cmocka_unit_test_setup(a_taken_pipe_fails_the_start_after_all_were_tried, set_up),
      cmocka_unit_test_setup(a_server_that_cannot_be_made_fails_the_start, set_up),
      cmocka_unit_test_setup(wrong_options_are_told_from_a_failed_start, set_up),
      cmocka_unit_test_setup(calls_that_outlast_the_grace_period_are_told, set_up),
      cmocka_unit_test_setup(what_a_hanging_call_uses_is_not_freed, set_up),
      cmocka_unit_test_setup(metrics_are_not_silently_ignored, set_up),
      cmocka_unit_test_setup(check_config_opens_nothing_and_reports, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
