/* SPDX-License-Identifier: Apache-2.0 */
#include "service/daemon_events.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "service/event_log.h"
#include "service/version.h"

enum {
  FLAGS_TEXT_BYTES = CSI_EVENT_INSERT_BYTES,
  ARENA_BYTES = 1 << 20, /* a Windows command line has at most 32,767 characters */
  NUMBER_BYTES = 24,
};

/* The flags, one behind the other; cut when there are too many. */
static void print_flags(const struct csi_options *options, char text[FLAGS_TEXT_BYTES]) {
  struct csi_arena *arena = csi_arena_new(ARENA_BYTES);
  const char **flags = NULL;
  size_t count = 0, length = 0;
  text[0] = '\0';
  if (arena != NULL && csi_options_list_changed(options, arena, &flags, &count))
    for (size_t i = 0; i < count && length < FLAGS_TEXT_BYTES; i++)
      length +=
          (size_t)snprintf(text + length, FLAGS_TEXT_BYTES - length, "%s%s", i == 0 ? "" : " ", flags[i]);
  csi_arena_free(arena);
}

void csi_daemon_tell_starting(const struct csi_options *options) {
  if (!csi_event_is_on(CSI_EVENT_ID_STARTING)) return;
  char flags[FLAGS_TEXT_BYTES];
  print_flags(options, flags);
  CSI_EVENT(STARTING, CSI_VERSION_TEXT, flags);
}

void csi_daemon_tell_started(const struct csi_options *options, size_t versions, const char *directories) {
  char count[NUMBER_BYTES], admin_pipe[CSI_OPTIONS_PREFIX_BYTES + sizeof "admin-v1"];
  (void)snprintf(count, sizeof count, "%zu", versions);
  CSI_EVENT(STARTED, CSI_VERSION_TEXT, count, options->pipe_prefix, directories);
  if (!options->admin_pipe) return;
  (void)snprintf(admin_pipe, sizeof admin_pipe, "%sadmin-v1", options->pipe_prefix);
  CSI_EVENT(ADMIN_PIPE, admin_pipe);
}

void csi_daemon_tell_failed(const struct csi_status *status) {
  if (status->code == CSI_INVALID_ARGUMENT)
    CSI_EVENT(CONFIGURATION_REFUSED, status->text);
  else
    CSI_EVENT(START_FAILED, status->text);
}

void csi_daemon_tell_stopping(uint32_t grace_ms) {
  char grace[NUMBER_BYTES];
  (void)snprintf(grace, sizeof grace, "%" PRIu32, grace_ms);
  CSI_EVENT(STOPPING, grace);
}

void csi_daemon_tell_cancelled(size_t cancelled, uint32_t grace_ms) {
  char count[NUMBER_BYTES], grace[NUMBER_BYTES];
  (void)snprintf(count, sizeof count, "%zu", cancelled);
  (void)snprintf(grace, sizeof grace, "%" PRIu32, grace_ms);
  CSI_EVENT(CALLS_CANCELLED, count, grace);
}

void csi_daemon_tell_stopped(size_t cancelled, bool idle) {
  char count[NUMBER_BYTES];
  (void)snprintf(count, sizeof count, "%zu", cancelled);
  if (!idle) csi_event_report(CSI_EVENT_ID_CALLS_HANG, NULL, 0);
  CSI_EVENT(STOPPED, count);
}
