/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/log.h"
#include "service/console_win32.h"
#include "service/event_log_win32.h"
#include "service/install_plan.h"
#include "service/install_win32.h"
#include "service/options.h"
#include "service/process_win32.h"
#include "service/program_win32.h"
#include "service/service_win32.h"
#include "service/version.h"
#include "volume/format_helper_win32.h"

#define PROGRAM_NAME "csi-proxy"

enum {
  ARGUMENTS_BYTES = 1 << 20, /* a Windows command line has at most 32,767 characters */
};

static void open_events(const struct csi_options *options) {
  struct csi_status status = {0};
  if (!csi_event_log_open(options->events, csi_event_sink_win32(), &status))
    CSI_LOG(WARNING, "%s", status.text);
}

/* A service has no stderr: the reason goes to the log, as far as the flags said where that is. */
static enum csi_exit refuse_service(const struct csi_options *options, struct csi_status *why) {
  struct csi_status unheard = {0};
  bool logs = csi_log_open(PROGRAM_NAME, &unheard);
  open_events(options);
  enum csi_exit result = csi_service_run(options, csi_program_win32(options), why);
  csi_event_log_close();
  if (logs) csi_log_close();
  return result;
}

static enum csi_exit serve(const struct csi_options *options) {
  struct csi_status status = {0};
  if (!csi_log_open(PROGRAM_NAME, &status)) {
    fprintf(stderr, "log: exiting because of error: %s\n", status.text);
    return options->windows_service ? refuse_service(options, &status) : CSI_EXIT_CONFIG;
  }
  open_events(options);
  csi_process_enable_privileges();
  enum csi_exit result = options->windows_service
                             ? csi_service_run(options, csi_program_win32(options), &status)
                             : csi_console_run(options, csi_program_win32(options));
  csi_event_log_close();
  csi_log_close();
  return result;
}

static enum csi_exit run(int argc, char *const *argv) {
  static struct csi_options options;
  struct csi_status status = {0};
  switch (csi_options_parse(&options, argc, argv, &status)) {
  case CSI_OPTIONS_RUN:
    break;
  case CSI_OPTIONS_HELP:
    csi_options_print_usage(stderr, PROGRAM_NAME);
    csi_install_print_verbs(stderr);
    return CSI_EXIT_OK;
  case CSI_OPTIONS_INVALID:
    fprintf(stderr, "%s\n", status.text);
    csi_options_print_usage(stderr, PROGRAM_NAME);
    return csi_options_ask_for_service(argc, argv) ? refuse_service(&options, &status) : CSI_EXIT_CONFIG;
  }
  if (options.version) {
    puts(PROGRAM_NAME " " CSI_VERSION_TEXT);
    return CSI_EXIT_OK;
  }
  if (options.check_config) return csi_daemon_check(&options, csi_program_win32(&options), stdout);
  return serve(&options);
}

int wmain(int argc, wchar_t **argv_w);
int wmain(int argc, wchar_t **argv_w) {
  csi_process_harden();
  if (csi_format_helper_is_wanted(argc, argv_w)) return csi_format_helper_run();
  /* Never freed: the options borrow from it until the process ends. */
  struct csi_arena *arena = csi_arena_new(ARGUMENTS_BYTES);
  char **argv = arena == NULL ? NULL : csi_process_arguments(arena, argc, argv_w);
  if (argv == NULL) {
    fputs(PROGRAM_NAME ": out of memory\n", stderr);
    return CSI_EXIT_START;
  }
  return (int)(csi_install_verb(argc, argv) != CSI_VERB_NONE ? csi_install_run(argc, argv) : run(argc, argv));
}
