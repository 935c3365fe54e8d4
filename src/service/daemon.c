/* SPDX-License-Identifier: Apache-2.0 */
#include "service/daemon.h"

#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/log.h"
#include "rpc/server.h"
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
  if (options->metrics_bind_address[0] != '\0')
    CSI_LOG(WARNING, "-metrics-bind-address=%s has no effect: this version has no metrics endpoint",
            options->metrics_bind_address);
}

static enum csi_exit exit_code_of(const struct csi_status *status) {
  return status->code == CSI_INVALID_ARGUMENT ? CSI_EXIT_CONFIG : CSI_EXIT_START;
}

static void close_groups(struct daemon *daemon) {
  for (size_t i = 0; i < daemon->program->group_count; i++)
    if (daemon->groups[i] != NULL)
      daemon->program->groups[i].close(daemon->program->context, daemon->groups[i]);
}

/* Everything that can be judged before the first endpoint is opened. */
static bool open_groups(struct daemon *daemon, void (*remark)(void *, const char *), void *context,
                        struct csi_status *status) {
  const struct csi_program *program = daemon->program;
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
  return daemon->server != NULL;
}

/* Tries every group, so that the log shows all that is in the way; returns how many endpoints listen,
 * or 0 when one of them does not. */
static size_t listen_all(struct daemon *daemon) {
  size_t listening = 0;
  bool failed = false;
  for (size_t i = 0; i < daemon->program->group_count; i++) {
    const struct csi_group *group = &daemon->program->groups[i];
    struct csi_status status = {0};
    daemon->host->starting(daemon->host->context);
    if (csi_server_add_group(daemon->server, group->services, daemon->groups[i], &status)) {
      listening += group->services->service_count;
    } else {
      CSI_LOG(ERROR, "API group %s cannot be served: %s", group->name, status.text);
      failed = true;
    }
  }
  return failed ? 0 : listening;
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
  if (cancelled > 0)
    CSI_LOG(WARNING, "%zu calls did not finish within %u ms and were cancelled", cancelled, grace_ms);
}

/* Serves on a server that exists. */
static enum csi_exit serve(struct daemon *daemon) {
  size_t listening = listen_all(daemon);
  if (listening == 0) {
    stop(daemon, 0);
    return CSI_EXIT_START;
  }
  CSI_LOG(INFO, "Serving %zu API versions on %s<group>-<version>", listening, daemon->options->pipe_prefix);
  daemon->host->running(daemon->host->context);
  daemon->host->wait_for_stop(daemon->host->context);

  uint32_t grace_ms = csi_options_stop_grace_ms(daemon->options);
  CSI_LOG(INFO, "Stopping CSI-Proxy Server ...");
  daemon->host->stopping(daemon->host->context, 0, grace_ms);
  stop(daemon, grace_ms);
  return CSI_EXIT_OK;
}

static void log_end(enum csi_exit result, bool idle) {
  if (!idle)
    CSI_LOG(WARNING, "CSI-Proxy Server ends though calls hang in the system; they end with the process");
  else if (result == CSI_EXIT_OK)
    CSI_LOG(INFO, "CSI-Proxy Server has stopped");
}

static void log_remark(void *context, const char *text) {
  (void)context;
  CSI_LOG(WARNING, "%s", text);
}

enum csi_exit csi_daemon_run(const struct csi_options *options, const struct csi_program *program,
                             const struct csi_daemon_host *host) {
  struct daemon daemon = {.options = options, .program = program, .host = host};
  struct csi_status status = {0};
  enum csi_exit result;
  bool idle = true;
  host->starting(host->context);
  log_start(options);
  if (open_groups(&daemon, log_remark, NULL, &status) && new_server(&daemon, &status)) {
    result = serve(&daemon);
    idle = csi_server_free(daemon.server);
    log_end(result, idle);
  } else {
    CSI_LOG(ERROR, "%s", status.text);
    result = exit_code_of(&status);
  }
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
}

enum csi_exit csi_daemon_check(const struct csi_options *options, const struct csi_program *program,
                               FILE *report) {
  struct daemon daemon = {.options = options, .program = program};
  struct csi_status status = {0};
  print_options(options, report);
  bool valid = open_groups(&daemon, print_remark, report, &status);
  close_groups(&daemon);
  if (valid)
    fprintf(report, "configuration is valid\n");
  else
    fprintf(report, "configuration is not valid: %s\n", status.text);
  return valid ? CSI_EXIT_OK : CSI_EXIT_CONFIG;
}
