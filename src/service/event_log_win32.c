/* SPDX-License-Identifier: Apache-2.0
 *
 * UNVERIFIED ON WINDOWS: Wine takes events and forgets them, so that nobody has seen one in the Event Viewer.
 * What can be checked is: that the calls are made (integrationtests/eventlog), and the texts in the
 * executable.
 */
#include "service/event_log_win32.h"

#include <windows.h>

#include <string.h>

#include "base/text.h"

enum {
  ARENA_BYTES = 256 * 1024, /* the strings of one event in UTF-16 */
};

/* Of the event log's thread. */
static HANDLE source;

static WORD type_of(enum csi_event_severity severity) {
  static const WORD types[] = {[CSI_EVENT_INFORMATION] = EVENTLOG_INFORMATION_TYPE,
                               [CSI_EVENT_WARNING] = EVENTLOG_WARNING_TYPE,
                               [CSI_EVENT_ERROR] = EVENTLOG_ERROR_TYPE};
  return types[severity];
}

/* The Event Log's service may start after us. */
static bool open_source(struct csi_status *status) {
  if (source == NULL) source = RegisterEventSourceW(NULL, L"" CSI_EVENT_SOURCE);
  if (source != NULL) return true;
  return csi_fail_system(status, CSI_SPACE_WIN32, GetLastError(), "RegisterEventSourceW", "event source %s",
                         CSI_EVENT_SOURCE);
}

static bool report_in(struct csi_arena *arena, const struct csi_event_kind *kind, const char *const *inserts,
                      struct csi_status *status) {
  const wchar_t *inserts_w[CSI_EVENT_MAX_INSERTS];
  for (size_t i = 0; i < kind->insert_count; i++) {
    inserts_w[i] = csi_utf16_from_utf8(arena, inserts[i], strlen(inserts[i]), NULL, status);
    if (inserts_w[i] == NULL) return false;
  }
  if (!open_source(status)) return false;
  if (ReportEventW(source, type_of(kind->severity), (WORD)kind->category, csi_event_message_id(kind), NULL,
                   (WORD)kind->insert_count, 0, inserts_w, NULL))
    return true;
  csi_fail_system(status, CSI_SPACE_WIN32, GetLastError(), "ReportEventW", "event %d", (int)kind->id);
  DeregisterEventSource(source); /* the service was restarted, perhaps */
  source = NULL;
  return false;
}

static bool report(void *context, const struct csi_event_kind *kind, const char *const *inserts,
                   struct csi_status *status) {
  (void)context;
  struct csi_arena *arena = csi_arena_new(ARENA_BYTES);
  if (arena == NULL) return csi_fail_out_of_memory(status);
  const bool taken = report_in(arena, kind, inserts, status);
  csi_arena_free(arena);
  return taken;
}

const struct csi_event_sink *csi_event_sink_win32(void) {
  static const struct csi_event_sink sink = {.report = report};
  return &sink;
}
