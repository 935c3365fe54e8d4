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

#include "audit/audit.h"
#include "base/log.h"
#include "metrics/metrics.h"
#include "rpc/server.h"
#include "service/event_log.h"

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

bool csi_server_add_group_with(struct csi_server *unused, const struct csi_service_list *list, void *group,
                               const struct csi_extra_service *extras, size_t extra_count,
                               struct csi_status *status) {
  (void)unused;
  (void)list;
  (void)extras;
  if (extra_count > 0) happened("beside(%zu) ", extra_count);
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

bool csi_server_add_observer(struct csi_server *unused, const struct csi_call_observer *observer) {
  (void)unused;
  happened("observed-by(%s) ", (const char *)observer->context);
  return true;
}

static bool audit_fails;

struct csi_audit *csi_audit_open(const char *path, uint64_t max_backups, struct csi_status *status) {
  assert_int_equal(max_backups, 3);
  if (path[0] != '\0') happened("audit(%s) ", path);
  if (!audit_fails) return (struct csi_audit *)"audit";
  csi_fail(status, CSI_INVALID_ARGUMENT, "-audit-log: open %s: no", path);
  return NULL;
}

bool csi_audit_check(const char *path, struct csi_status *status) {
  return !audit_fails || csi_fail(status, CSI_INVALID_ARGUMENT, "-audit-log: %s: no", path);
}

struct csi_call_observer csi_audit_observer(struct csi_audit *audit) {
  return (struct csi_call_observer){.context = audit};
}

void csi_audit_close(struct csi_audit *audit, bool keep) {
  if (audit != NULL && keep) happened("audit-flush ");
}

/* The Event Log, as "100:version|flags;" and so on. */
static char reported[4096];

static bool note_event(void *context, const struct csi_event_kind *kind, const char *const *inserts,
                       struct csi_status *status) {
  (void)context, (void)status;
  size_t length = strlen(reported);
  length += (size_t)snprintf(reported + length, sizeof reported - length, "%d:", (int)kind->id);
  for (size_t i = 0; i < kind->insert_count; i++)
    length +=
        (size_t)snprintf(reported + length, sizeof reported - length, "%s%s", i == 0 ? "" : "|", inserts[i]);
  (void)snprintf(reported + length, sizeof reported - length, ";");
  return true;
}

static struct csi_metrics_options asked_metrics;
static bool metrics_port_is_taken;

struct csi_metrics *csi_metrics_start(const struct csi_metrics_options *asked, struct csi_status *status) {
  happened("metrics(%s) ", asked->address);
  asked_metrics = *asked;
  if (!metrics_port_is_taken) return (struct csi_metrics *)&asked_metrics;
  csi_fail(status, CSI_ALREADY_EXISTS, "the port is taken");
  return NULL;
}

const char *csi_metrics_address(const struct csi_metrics *metrics) {
  (void)metrics;
  return "127.0.0.1:8888";
}

static bool metrics_hang;

bool csi_metrics_stop(struct csi_metrics *metrics) {
  if (metrics != NULL) happened("metrics-stop ");
  return !metrics_hang;
}

void csi_metrics_free(struct csi_metrics *metrics) {
  if (metrics != NULL) happened("metrics-free ");
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
    {.name = "disk", .services = &two_versions, .open = open_disk, .close = close_group},
    {.name = "volume", .services = &three_versions, .open = open_volume, .close = close_group},
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
  metrics_port_is_taken = audit_fails = false;
  refuse_config = false;
  static char *const argv[] = {(char *)"csi-proxy", (char *)"-pipe-prefix=/p/",
                               (char *)"-stop-grace-period=20s", (char *)"-working-dir=C:\\w",
                               (char *)"-audit-log-max-backups=3"};
  struct csi_status status = {0};
  csi_log_set_sink(keep_line, NULL);
  return csi_options_parse(&options, 5, argv, &status) == CSI_OPTIONS_RUN ? 0 : -1;
}

/* Runs the daemon with the Event Log on, and returns what it reported behind 100 (starting). */
static const char *run_and_report(enum csi_exit expected) {
  static const struct csi_event_sink sink = {.report = note_event};
  struct csi_status status = {0};
  reported[0] = '\0';
  assert_true(csi_event_log_open(CSI_EVENTS_ALL, &sink, &status));
  assert_int_equal(csi_daemon_run(&options, &program, &host), expected);
  csi_event_log_close();
  assert_memory_equal(reported, "100:v", 5);
  return strchr(reported, ';') + 1;
}

static void assert_logged(const char *text) {
  if (strstr(logged, text) == NULL) fail_msg("\"%s\" is not in the log:\n%s", text, logged);
}

static void a_life_without_trouble(void **unused) {
  (void)unused;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_OK);
  assert_string_equal(events,
                      "starting open(disk) open(volume) new(/p/%s-%s) observed-by(audit) starting add(disk) "
                      "starting add(volume) RUNNING wait stopping(0) drain stopping(0) free "
                      "stopping(0) close(disk) close(volume) ");
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
  assert_string_equal(events,
                      "starting open(disk) open(volume) new(/p/%s-%s) observed-by(audit) starting add(disk) "
                      "starting add(volume) drain stopping(0) free stopping(0) close(disk) close(volume) ");
  assert_logged("API group disk cannot be served: pipe disk-v1 is taken\n");
  assert_null(strstr(logged, "has stopped"));
}

/* -- The admin group ------------------------------------------------------------------------------- */

static char admin[] = "admin";

static bool open_admin(void *context, const struct csi_options *unused, void **group_out,
                       struct csi_status *status) {
  (void)context, (void)unused;
  return open_group(admin, group_out, status);
}

static void attach_admin(void *context, void *group, struct csi_server *unused, const char *metrics_address) {
  (void)context, (void)unused;
  happened("attach(%s%s) ", (const char *)group, metrics_address);
}

static size_t list_extras(void *context, void *group, struct csi_extra_service *extras_out) {
  (void)context, (void)group;
  extras_out[0] = extras_out[1] = (struct csi_extra_service){.group = admin};
  return 2;
}

static void tell_stop(void *context, void *group) {
  (void)context;
  happened("stop(%s) ", (const char *)group);
}

static const struct csi_group groups_with_admin[] = {
    {.name = "admin",
     .services = &two_versions,
     .open = open_admin,
     .close = close_group,
     .is_admin = true,
     .attach = attach_admin,
     .list_extras = list_extras,
     .stopping = tell_stop},
    {.name = "disk", .services = &two_versions, .open = open_disk, .close = close_group},
};
static const struct csi_program program_with_admin = {.groups = groups_with_admin, .group_count = 2};

static void the_admin_pipe_comes_last_and_is_not_counted(void **unused) {
  (void)unused;
  options.admin_pipe = true;
  assert_int_equal(csi_daemon_run(&options, &program_with_admin, &host), CSI_EXIT_OK);
  assert_non_null(strstr(events, "attach(admin) starting add(disk) starting beside(2) add(admin) RUNNING "));
  assert_non_null(strstr(events, "stop(admin) "));
  assert_true(strstr(events, "stop(admin) ") < strstr(events, "drain"));
  assert_logged("Serving 2 API versions on ");
}

static void the_admin_group_is_told_where_metrics_are(void **unused) {
  (void)unused;
  options.admin_pipe = true;
  options.metrics_bind_address = "localhost:0";
  assert_int_equal(csi_daemon_run(&options, &program_with_admin, &host), CSI_EXIT_OK);
  assert_non_null(strstr(events, "attach(admin127.0.0.1:8888) starting add(disk) "));
}

static void the_admin_pipe_can_be_off(void **unused) {
  (void)unused;
  options.admin_pipe = false;
  assert_int_equal(csi_daemon_run(&options, &program_with_admin, &host), CSI_EXIT_OK);
  assert_non_null(strstr(events, "open(admin) "));
  assert_null(strstr(events, "add(admin)"));
  assert_logged("The admin pipe is off (-admin-pipe=false)");
}

static void a_taken_admin_pipe_fails_the_start(void **unused) {
  (void)unused;
  options.admin_pipe = true;
  server.fail_service_of = "admin";
  assert_int_equal(csi_daemon_run(&options, &program_with_admin, &host), CSI_EXIT_START);
  assert_logged("API group admin cannot be served: pipe admin-v1 is taken");
}

static void a_server_that_cannot_be_made_fails_the_start(void **unused) {
  (void)unused;
  server.fail_new = true;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_START);
  assert_string_equal(
      events, "starting open(disk) open(volume) new(/p/%s-%s) stopping(0) close(disk) close(volume) ");
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
  assert_non_null(strstr(events, "stopping(0) drain stopping(3) stopping(0) free"));
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

/* Listened for before the first pipe, and ended before what it asks. */
static void metrics_enclose_the_pipes(void **unused) {
  (void)unused;
  options.metrics_bind_address = "localhost:8888";
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_OK);
  const char *begin = strstr(events, "metrics(localhost:8888) ");
  assert_non_null(begin);
  assert_true(begin < strstr(events, "add("));
  assert_non_null(strstr(events, "drain stopping(0) metrics-stop free metrics-free "));
  assert_logged("Metrics are served at http://127.0.0.1:8888/metrics");
  assert_string_equal(asked_metrics.groups[0], "disk");
  assert_string_equal(asked_metrics.groups[1], "volume");
  assert_null(asked_metrics.groups[2]);
}

static void metrics_of_hanging_calls_are_not_freed(void **unused) {
  (void)unused;
  options.metrics_bind_address = "localhost:8888";
  server.hangs = true;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_OK);
  assert_non_null(strstr(events, "metrics-stop "));
  assert_null(strstr(events, "metrics-free "));
}

/* A scrape that does not end uses the server, and what the groups have. */
static void what_hanging_metrics_use_is_not_freed(void **unused) {
  (void)unused;
  options.metrics_bind_address = "localhost:8888";
  metrics_hang = true;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_OK);
  metrics_hang = false;
  assert_non_null(strstr(events, "drain "));
  assert_non_null(strstr(events, "metrics-stop "));
  assert_null(strstr(events, "free "));
  assert_null(strstr(events, "close("));
  assert_non_null(strstr(logged, "Metrics are still being written"));
}

static void a_taken_metrics_port_fails_the_start(void **unused) {
  (void)unused;
  options.metrics_bind_address = "localhost:8888";
  metrics_port_is_taken = true;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_START);
  assert_null(strstr(events, "add("));
  assert_null(strstr(events, "running"));
  assert_logged("-metrics-bind-address: the port is taken");
}

static void a_metrics_address_that_is_none_is_wrong_configuration(void **unused) {
  (void)unused;
  options.metrics_bind_address = "localhost";
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_CONFIG);
  assert_string_equal(events, "starting ");
  assert_logged("-metrics-bind-address: \"localhost\" is not an address to listen on: it has no port");
}

static void events_of_a_life(void **unused) {
  (void)unused;
  const char *events_text = run_and_report(CSI_EXIT_OK);
  assert_non_null(strstr(
      reported, "|-pipe-prefix=/p/ -stop-grace-period=20s -working-dir=C:\\w -audit-log-max-backups=3;201:"));
  assert_memory_equal(events_text, "201:odd, but possible;101:v", 27);
  assert_non_null(
      strstr(events_text, "|5|/p/|[C:\\w C:\\var\\lib\\kubelet];106:/p/admin-v1;102:20000;103:0;"));

  set_up(NULL);
  options.admin_pipe = false;
  options.metrics_bind_address = "localhost:8888";
  server.cancelled = 2;
  server.hangs = true;
  events_text = run_and_report(CSI_EXIT_OK);
  assert_null(strstr(events_text, "106:"));
  assert_non_null(strstr(events_text, ";107:127.0.0.1:8888;101:v"));
  assert_non_null(strstr(events_text, ";102:20000;104:2|20000;105:;103:2;"));
}

static void events_of_a_start_that_fails(void **unused) {
  (void)unused;
  server.fail_service_of = "disk";
  const char *events_text = run_and_report(CSI_EXIT_START);
  assert_string_equal(events_text, "201:odd, but possible;202:disk|pipe disk-v1 is taken;"
                                   "203:not every pipe could be opened;");
  set_up(NULL);
  server.fail_new = true;
  assert_string_equal(run_and_report(CSI_EXIT_START), "201:odd, but possible;203:out of threads;");

  set_up(NULL);
  refuse_config = true;
  assert_string_equal(run_and_report(CSI_EXIT_CONFIG), "201:odd, but possible;200:-pipe-sddl: nonsense;");
}

static void no_audit_log_no_pipes(void **unused) {
  (void)unused;
  options.audit_log = "C:\\no\\audit.json";
  audit_fails = true;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_CONFIG);
  assert_string_equal(
      events, "starting open(disk) open(volume) audit(C:\\no\\audit.json) close(disk) close(volume) ");
  assert_logged("-audit-log: open C:\\no\\audit.json: no\n");
}

static void calls_are_audited(void **unused) {
  (void)unused;
  options.audit_log = "C:\\audit.json";
  server.hangs = true;
  assert_int_equal(csi_daemon_run(&options, &program, &host), CSI_EXIT_OK);
  assert_non_null(strstr(events, "audit(C:\\audit.json) new(/p/%s-%s) observed-by(audit) "));
  assert_non_null(strstr(events, "free stopping(0) audit-flush "));
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

  options.audit_log = "C:\\no\\audit.json";
  audit_fails = true;
  text = check_report(CSI_EXIT_CONFIG);
  assert_non_null(strstr(text, "audit log:         C:\\no\\audit.json\n"));
  assert_non_null(strstr(text, "configuration is not valid: -audit-log: C:\\no\\audit.json: no\n"));

  wrong_group = "disk";
  text = check_report(CSI_EXIT_CONFIG);
  assert_non_null(strstr(text, "configuration is not valid: API group disk: not an absolute path\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_life_without_trouble, set_up),
      cmocka_unit_test_setup(the_server_gets_the_options, set_up),
      cmocka_unit_test_setup(a_taken_pipe_fails_the_start_after_all_were_tried, set_up),
      cmocka_unit_test_setup(the_admin_pipe_comes_last_and_is_not_counted, set_up),
      cmocka_unit_test_setup(the_admin_group_is_told_where_metrics_are, set_up),
      cmocka_unit_test_setup(the_admin_pipe_can_be_off, set_up),
      cmocka_unit_test_setup(a_taken_admin_pipe_fails_the_start, set_up),
      cmocka_unit_test_setup(a_server_that_cannot_be_made_fails_the_start, set_up),
      cmocka_unit_test_setup(wrong_options_are_told_from_a_failed_start, set_up),
      cmocka_unit_test_setup(calls_that_outlast_the_grace_period_are_told, set_up),
      cmocka_unit_test_setup(what_a_hanging_call_uses_is_not_freed, set_up),
      cmocka_unit_test_setup(metrics_enclose_the_pipes, set_up),
      cmocka_unit_test_setup(metrics_of_hanging_calls_are_not_freed, set_up),
      cmocka_unit_test_setup(what_hanging_metrics_use_is_not_freed, set_up),
      cmocka_unit_test_setup(a_taken_metrics_port_fails_the_start, set_up),
      cmocka_unit_test_setup(a_metrics_address_that_is_none_is_wrong_configuration, set_up),
      cmocka_unit_test_setup(events_of_a_life, set_up),
      cmocka_unit_test_setup(events_of_a_start_that_fails, set_up),
      cmocka_unit_test_setup(no_audit_log_no_pipes, set_up),
      cmocka_unit_test_setup(calls_are_audited, set_up),
      cmocka_unit_test_setup(check_config_opens_nothing_and_reports, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
