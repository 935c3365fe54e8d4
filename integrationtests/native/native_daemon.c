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
#include "service/daemon.h"
#include "service/groups.h"
#include "service/options.h"
#include "storage_command.h"
#include "storage_fake.h"

enum {
  PROFILE_BYTES = 1 << 16,
  PATH_BYTES = 512,
};

static struct csi_fake_filesystem *files;
static struct csi_fake_storage *storage;

static void make_roots(const struct csi_options *options) {
  const char *roots[CSI_FLAG_LIST_ITEMS + 1];
  size_t count = csi_options_roots(options, roots);
  for (size_t i = 0; i < count; i++)
    csi_fake_add_directory(files, roots[i]);
}

static bool load_profile(const char *path) {
  static char text[PROFILE_BYTES];
  char problem[PATH_BYTES];
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
  }
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  bool done = csi_fake_storage_profile(storage, text, problem, sizeof problem);
  if (!done) fprintf(stderr, "%s: %s\n", path, problem);
  return done;
}

static struct control_server *start_control(const struct csi_options *options) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%scontrol", options->pipe_prefix);
  struct control_server *control = control_server_start(storage, path);
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
  struct csi_node node = {.files = csi_fake_filesystem_host(files),
                          .disks = csi_fake_disk_host(storage),
                          .volumes = csi_fake_volume_host(storage)};
  const struct csi_program program = {.groups = csi_groups, .group_count = CSI_GROUP_COUNT, .context = &node};
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

  files = csi_fake_filesystem_new();
  storage = csi_fake_storage_new(files);
  make_roots(&options);
  const char *profile = getenv("CSI_PROXY_NATIVE_PROFILE");
  enum csi_exit result =
      profile == NULL || load_profile(profile) ? serve(&options, &signals) : CSI_EXIT_CONFIG;
  csi_fake_storage_free(storage);
  csi_fake_filesystem_free(files);
  csi_log_close();
  return (int)result;
}
