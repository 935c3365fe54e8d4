/* SPDX-License-Identifier: Apache-2.0 */
#include "service/daemon.h"

#include <stdio.h>
#include <string.h>

#include "audit/audit.h"
#include "base/ctx.h"
#include "base/log.h"
#include "metrics/address.h"
#include "metrics/metrics.h"
#include "rpc/server.h"
#include "service/daemon_events.h"
#include "service/event_log.h"
#include "service/version.h"

enum {
  DIRECTORIES_TEXT_BYTES = 4096,
  NANOSECONDS_PER_MS = 1000000,
};

struct daemon {
  const struct csi_options *options;
  const struct csi_program *program;
  const struct csi_daemon_host *host;
  void *groups[CSI_PROGRAM_GROUPS]; /* what csi_group.open made; NULL where it was not called */
  struct csi_server *server;
  struct csi_metrics *metrics; /* NULL without -metrics-bind-address */
  struct csi_audit *audit;
  size_t cancelled; /* calls, by the stop */
  int64_t stop_deadline_ns;
};

/* The directories as Go prints a list: "[C:\a C:\b]"; cut when there are too many for a log line. */
static const char *directories_text(const struct csi_options *options, char *text, size_t text_bytes) {
  const char *roots[CSI_FLAG_LIST_ITEMS + 1];
  size_t count = csi_options_roots(options, roots);
  size_t length = 0;
  for (size_t i = 0; i < count && length < text_bytes; i++)
    length += (size_t)snprintf(text + length, text_bytes - length, "%s%s%s", i == 0 ? "[" : " ", roots[i],
                               i + 1 == count ? "]" : "");
  return text;
}

static void log_start(const struct csi_options *options) {
  char directories[DIRECTORIES_TEXT_BYTES];
  CSI_LOG(INFO, "Starting CSI-Proxy Server ...");
  CSI_LOG(INFO, "Version: %s", CSI_VERSION_TEXT);
  CSI_LOG(INFO, "Working directories: %s", directories_text(options, directories, sizeof directories));
  CSI_LOG(INFO, "Require privacy: %s", options->require_privacy ? "true" : "false");
}

static enum csi_exit exit_code_of(const struct csi_status *status) {
  return status->code == CSI_INVALID_ARGUMENT ? CSI_EXIT_CONFIG : CSI_EXIT_START;
}

static void close_groups(struct daemon *daemon) {
  for (size_t i = 0; i < daemon->program->group_count; i++)
    if (daemon->groups[i] != NULL)
      daemon->program->groups[i].close(daemon->program->context, daemon->groups[i]);
}

static bool check_metrics(const struct csi_options *options, struct csi_status *status) {
  struct csi_address unused;
  return options->metrics_bind_address[0] == '\0' ||
         csi_address_parse(options->metrics_bind_address, &unused, status) ||
         csi_explain(status, "-metrics-bind-address: ");
}

/* Everything that can be judged before the first endpoint is opened. */
static bool open_groups(struct daemon *daemon, void (*remark)(void *, const char *), void *context,
                        struct csi_status *status) {
  const struct csi_program *program = daemon->program;
  if (!check_metrics(daemon->options, status)) return false;
  if (program->check != NULL && !program->check(daemon->options, remark, context, status)) return false;
  for (size_t i = 0; i < program->group_count; i++)
    if (!program->groups[i].open(program->context, daemon->options, &daemon->groups[i], status))
      return csi_explain(status, "API group %s: ", program->groups[i].name);
  return true;
}

static bool new_server(struct daemon *daemon, struct csi_status *status) {
  char endpoint_format[CSI_OPTIONS_PREFIX_BYTES + sizeof "%s-%s"];
  csi_options_endpoint_format(daemon->options, endpoint_format, sizeof endpoint_format);
  struct csi_server_options server;
  csi_server_options_default(&server);
  server.endpoint_format = endpoint_format;
  server.sddl = daemon->options->pipe_sddl;
  server.max_connections = (uint32_t)daemon->options->max_connections;
  daemon->server = csi_server_new(&server, status);
  if (daemon->server == NULL) return false;
  const struct csi_call_observer observer = csi_audit_observer(daemon->audit);
  (void)csi_server_add_observer(daemon->server, &observer);
  return true;
}

/* Before the pipes: a node that shall keep records does nothing without them. */
static bool open_audit(struct daemon *daemon, struct csi_status *status) {
  daemon->audit =
      csi_audit_open(daemon->options->audit_log, (uint64_t)daemon->options->audit_log_max_backups, status);
  return daemon->audit != NULL;
}

/* 0 when one of its endpoints does not listen. */
static size_t listen_group(struct daemon *daemon, size_t index) {
  const struct csi_group *group = &daemon->program->groups[index];
  void *opened = daemon->groups[index];
  struct csi_extra_service extras[CSI_GROUP_EXTRAS];
  size_t extra_count = group->list_extras ? group->list_extras(daemon->program->context, opened, extras) : 0;
  struct csi_status status = {0};
  daemon->host->starting(daemon->host->context);
  if (csi_server_add_group_with(daemon->server, group->services, opened, extras, extra_count, &status))
    return group->services->service_count;
  CSI_LOG(ERROR, "API group %s cannot be served: %s", group->name, status.text);
  CSI_EVENT(GROUP_FAILED, group->name, status.text);
  return 0;
}

/* Tries every group, so that the log shows all that is in the way; returns how many API versions are served,
 * or 0 when one of them is not. Who can ask the admin pipe finds the others there. */
static size_t listen_all(struct daemon *daemon) {
  const struct csi_program *program = daemon->program;
  size_t listening = 0;
  bool failed = false;
  for (size_t i = 0; i < program->group_count; i++) {
    if (program->groups[i].is_admin) continue;
    size_t versions = listen_group(daemon, i);
    failed = failed || versions == 0;
    listening += versions;
  }
  for (size_t i = 0; i < program->group_count; i++)
    if (program->groups[i].is_admin && daemon->options->admin_pipe)
      failed = listen_group(daemon, i) == 0 || failed;
  return failed ? 0 : listening;
}

static void attach_groups(struct daemon *daemon) {
  const struct csi_program *program = daemon->program;
  const char *metrics_address = daemon->metrics ? csi_metrics_address(daemon->metrics) : "";
  for (size_t i = 0; i < program->group_count; i++)
    if (program->groups[i].attach)
      program->groups[i].attach(program->context, daemon->groups[i], daemon->server, metrics_address);
}

static void tell_groups_of_stop(struct daemon *daemon) {
  const struct csi_program *program = daemon->program;
  for (size_t i = 0; i < program->group_count; i++)
    if (program->groups[i].stopping) program->groups[i].stopping(program->context, daemon->groups[i]);
}

/* Before the pipes, as in the original: who cannot have the address serves nothing. */
static bool start_metrics(struct daemon *daemon, struct csi_status *status) {
  const struct csi_program *program = daemon->program;
  if (daemon->options->metrics_bind_address[0] == '\0') return true;
  struct csi_metrics_options metrics = {.address = daemon->options->metrics_bind_address,
                                        .version = CSI_VERSION_TEXT,
                                        .grpc_version = CSI_GRPC_VERSION_TEXT,
                                        .server = daemon->server,
                                        .group_was_ready = program->group_was_ready,
                                        .context = program->context,
                                        .count_hanging_calls = program->count_hanging_calls,
                                        .count_lost_events = program->count_lost_events};
  for (size_t i = 0, count = 0; i < program->group_count; i++)
    if (!program->groups[i].is_admin) metrics.groups[count++] = program->groups[i].name;
  daemon->metrics = csi_metrics_start(&metrics, status);
  if (daemon->metrics == NULL) return csi_explain(status, "-metrics-bind-address: ");
  CSI_LOG(INFO, "Metrics are served at http://%s/metrics", csi_metrics_address(daemon->metrics));
  CSI_EVENT(METRICS, csi_metrics_address(daemon->metrics));
  return true;
}

static void report_stopping(void *context, size_t running) {
  struct daemon *daemon = context;
  int64_t left_ms = (daemon->stop_deadline_ns - csi_now_ns()) / NANOSECONDS_PER_MS;
  if (left_ms < 0) left_ms = 0;
  CSI_V(2, "Stopping: %zu calls running, %lld ms left", running, (long long)left_ms);
  daemon->host->stopping(daemon->host->context, running, (uint32_t)left_ms);
}

static void stop(struct daemon *daemon, uint32_t grace_ms) {
  daemon->stop_deadline_ns = csi_now_ns() + (int64_t)grace_ms * NANOSECONDS_PER_MS;
  size_t cancelled = csi_server_drain(daemon->server, grace_ms, report_stopping, daemon);
  daemon->cancelled = cancelled;
  if (cancelled == 0) return;
  CSI_LOG(WARNING, "%zu calls did not finish within %u ms and were cancelled", cancelled, grace_ms);
  csi_daemon_tell_cancelled(cancelled, grace_ms);
}

static enum csi_exit refuse_start(const struct csi_status *status) {
  CSI_LOG(ERROR, "%s", status->text);
  csi_daemon_tell_failed(status);
  return exit_code_of(status);
}

/* Serves on a server that exists. */
static enum csi_exit serve(struct daemon *daemon) {
  struct csi_status status = {0};
  if (!start_metrics(daemon, &status)) {
    stop(daemon, 0);
    return refuse_start(&status);
  }
  attach_groups(daemon);
  size_t listening = listen_all(daemon);
  if (listening == 0) {
    CSI_EVENT(START_FAILED, "not every pipe could be opened");
    stop(daemon, 0);
    return CSI_EXIT_START;
  }
  CSI_LOG(INFO, "Serving %zu API versions on %s<group>-<version>", listening, daemon->options->pipe_prefix);
  if (!daemon->options->admin_pipe) CSI_LOG(INFO, "The admin pipe is off (-admin-pipe=false)");
  char directories[DIRECTORIES_TEXT_BYTES];
  csi_daemon_tell_started(daemon->options, listening,
                          directories_text(daemon->options, directories, sizeof directories));
  daemon->host->running(daemon->host->context);
  daemon->host->wait_for_stop(daemon->host->context);

  uint32_t grace_ms = csi_options_stop_grace_ms(daemon->options);
  CSI_LOG(INFO, "Stopping CSI-Proxy Server ...");
  csi_daemon_tell_stopping(grace_ms);
  tell_groups_of_stop(daemon);
  daemon->host->stopping(daemon->host->context, 0, grace_ms);
  stop(daemon, grace_ms);
  return CSI_EXIT_OK;
}

static void log_end(enum csi_exit result, bool idle, size_t cancelled) {
  if (!idle)
    CSI_LOG(WARNING, "CSI-Proxy Server ends though calls hang in the system; they end with the process");
  else if (result == CSI_EXIT_OK)
    CSI_LOG(INFO, "CSI-Proxy Server has stopped");
  if (result == CSI_EXIT_OK) csi_daemon_tell_stopped(cancelled, idle);
}

static void log_remark(void *context, const char *text) {
  (void)context;
  CSI_LOG(WARNING, "%s", text);
  CSI_EVENT(CONFIGURATION_REMARK, text);
}

/* Behind the last call, the metrics end, and the audit log may wait for a slow disk. */
static void report_closing(const struct daemon *daemon) {
  daemon->host->stopping(daemon->host->context, 0, CSI_AUDIT_CLOSE_MS);
}

/* False when something in it hangs: then all that calls and metrics use is left to the end of the process. */
static bool free_server(struct daemon *daemon) {
  if (!csi_metrics_stop(daemon->metrics)) {
    CSI_LOG(WARNING, "Metrics are still being written; they end with the process");
    return false;
  }
  if (!csi_server_free(daemon->server)) return false;
  csi_metrics_free(daemon->metrics);
  return true;
}

enum csi_exit csi_daemon_run(const struct csi_options *options, const struct csi_program *program,
                             const struct csi_daemon_host *host) {
  struct daemon daemon = {.options = options, .program = program, .host = host};
  struct csi_status status = {0};
  enum csi_exit result;
  bool idle = true;
  host->starting(host->context);
  log_start(options);
  csi_daemon_tell_starting(options);
  if (open_groups(&daemon, log_remark, NULL, &status) && open_audit(&daemon, &status) &&
      new_server(&daemon, &status)) {
    result = serve(&daemon);
    report_closing(&daemon);
    idle = free_server(&daemon);
    log_end(result, idle, daemon.cancelled);
  } else {
    result = refuse_start(&status);
  }
  if (daemon.audit != NULL) report_closing(&daemon);
  csi_audit_close(daemon.audit, !idle);
  if (idle) close_groups(&daemon);
  return result;
}

static void print_remark(void *context, const char *text) {
  fprintf(context, "warning: %s\n", text);
}

static void print_options(const struct csi_options *options, FILE *report) {
  const char *roots[CSI_FLAG_LIST_ITEMS + 1];
  size_t root_count = csi_options_roots(options, roots);
  for (size_t i = 0; i < root_count; i++)
    fprintf(report, "working directory: %s\n", roots[i]);
  fprintf(report, "pipes:             %s<group>-<version>\n", options->pipe_prefix);
  fprintf(report, "pipe security:     %s\n", options->pipe_sddl);
  fprintf(report, "stop grace period: %u ms\n", csi_options_stop_grace_ms(options));
  if (options->metrics_bind_address[0] != '\0')
    fprintf(report, "metrics address:   %s\n", options->metrics_bind_address);
  if (options->audit_log[0] != '\0') fprintf(report, "audit log:         %s\n", options->audit_log);
}

enum csi_exit csi_daemon_check(const struct csi_options *options, const struct csi_program *program,
                               FILE *report) {
  struct daemon daemon = {.options = options, .program = program};
  struct csi_status status = {0};
  print_options(options, report);
  bool valid =
      open_groups(&daemon, print_remark, report, &status) && csi_audit_check(options->audit_log, &status);
  close_groups(&daemon);
  if (valid)
    fprintf(report, "configuration is valid\n");
  else
    fprintf(report, "configuration is not valid: %s\n", status.text);
  return valid ? CSI_EXIT_OK : CSI_EXIT_CONFIG;
}
