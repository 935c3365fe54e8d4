/* SPDX-License-Identifier: Apache-2.0
 *
 * csi-proxy on Linux, for tests: the same options, daemon, server, conversions and handlers as in
 * csi-proxy.exe, over Unix sockets, in front of a node in memory. Ends with SIGTERM or SIGINT.
 *
 * -pipe-prefix is the beginning of the socket paths, for example -pipe-prefix=/tmp/x/csi-proxy-. At
 * <prefix>control it takes the testbed's commands (see control_server.h). CSI_PROXY_NATIVE_PROFILE may name
 * a profile of the testbed for the disks to begin with.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control_server.h"
#include "fake_node.h"
#include "service/daemon.h"
#include "service/groups.h"
#include "service/options.h"

enum {
  PATH_BYTES = 512,
};

static struct fake_node fakes;

static void make_roots(const struct csi_options *options) {
  const char *roots[CSI_FLAG_LIST_ITEMS + 1];
  size_t count = csi_options_roots(options, roots);
  for (size_t i = 0; i < count; i++)
    csi_fake_add_directory(fakes.files, roots[i]);
}

static struct control_server *start_control(const struct csi_options *options) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%scontrol", options->pipe_prefix);
  struct control_server *control = control_server_start(&fakes, path);
  if (control == NULL) fprintf(stderr, "%s: %s\n", path, strerror(errno));
  return control;
}

static void nothing(void *context) {
  (void)context;
}

static void wait_for_signal(void *context) {
  int number;
  sigwait(context, &number);
}

static void stopping(void *context, size_t running, uint32_t left_ms) {
  (void)context, (void)running, (void)left_ms;
}

static enum csi_exit serve(const struct csi_options *options, sigset_t *signals) {
  struct csi_node node = fake_node_hosts(&fakes);
  const struct csi_program program = {.groups = csi_groups,
                                      .group_count = CSI_GROUP_COUNT,
                                      .context = &node,
                                      .group_was_ready = csi_groups_was_ready};
  if (options->check_config) return csi_daemon_check(options, &program, stdout);
  const struct csi_daemon_host host = {.context = signals,
                                       .starting = nothing,
                                       .running = nothing,
                                       .wait_for_stop = wait_for_signal,
                                       .stopping = stopping};
  struct control_server *control = start_control(options);
  if (control == NULL) return CSI_EXIT_START;
  enum csi_exit result = csi_daemon_run(options, &program, &host);
  control_server_stop(control);
  return result;
}

int main(int argc, char **argv) {
  static struct csi_options options;
  struct csi_status status = {0};
  if (csi_options_parse(&options, argc, argv, &status) != CSI_OPTIONS_RUN ||
      !csi_log_open("csi-proxy-native", &status)) {
    fprintf(stderr, "%s\n", status.text);
    return CSI_EXIT_CONFIG;
  }
  signal(SIGPIPE, SIG_IGN); /* control clients come and go */
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before any thread is made: all inherit it */

  fake_node_init(&fakes);
  make_roots(&options);
  const char *profile = getenv("CSI_PROXY_NATIVE_PROFILE");
  enum csi_exit result =
      profile == NULL || fake_node_load(&fakes, profile) ? serve(&options, &signals) : CSI_EXIT_CONFIG;
  fake_node_free(&fakes);
  csi_log_close();
  return (int)result;
}
