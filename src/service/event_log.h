/* SPDX-License-Identifier: Apache-2.0
 *
 * What administrators find in the Event Log: start, stop, configuration, and every call that changes
 * something. events.def has all kinds of event, events.mc their texts. Not the program's log (base/log.h): an
 * event stands for itself, has a stable number, and is counted by monitoring.
 *
 *   CSI_EVENT(GROUP_FAILED, group->name, status.text);
 *
 * Nothing is reported before csi_event_log_open(), nor when -event-log=off. All functions may be called from
 * any thread unless said. Never report a secret.
 */
#ifndef CSI_SERVICE_EVENT_LOG_H
#define CSI_SERVICE_EVENT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The source in the Application log, and the categories (1 to CSI_EVENT_CATEGORY_COUNT) in its registry key.
 */
#define CSI_EVENT_SOURCE "csi-proxy"
#define CSI_EVENT_CATEGORY_COUNT 3

enum csi_event_category {
  CSI_EVENT_CATEGORY_SERVICE = 1,
  CSI_EVENT_CATEGORY_CONFIGURATION = 2,
  CSI_EVENT_CATEGORY_AUDIT = 3,
};

enum csi_event_severity {
  CSI_EVENT_INFORMATION,
  CSI_EVENT_WARNING,
  CSI_EVENT_ERROR,
};

/* CSI_EVENT_ID_STARTING = 100 and so on: what the Event Viewer shows. */
enum csi_event_id {
#define CSI_EVENT_KIND(name, id, severity, category, inserts, routine, when, to_do) CSI_EVENT_ID_##name = id,
#include "service/events.def"
#undef CSI_EVENT_KIND
};

enum {
  CSI_EVENT_LOG_CLOSE_MS = 5000,
  CSI_EVENT_MAX_INSERTS = 14,
  CSI_EVENT_INSERT_BYTES = 4096, /* of one string; Windows takes 31,839 characters, and 61,440 bytes in all */
};

struct csi_event_kind {
  enum csi_event_id id;
  enum csi_event_severity severity;
  enum csi_event_category category;
  size_t insert_count; /* %1, %2 ... of the text */
  bool routine;        /* left out with -event-log=important */
};

/* NULL when there is no such event. */
const struct csi_event_kind *csi_event_kind(enum csi_event_id id);

/* The 32 bits by which Windows finds the text: severity and id. */
uint32_t csi_event_message_id(const struct csi_event_kind *kind);

enum csi_event_mode {
  CSI_EVENTS_OFF,
  CSI_EVENTS_IMPORTANT, /* without routine */
  CSI_EVENTS_ALL,
};

/* "off", "important" or "all". False for anything else. */
bool csi_event_mode_parse(const char *text, enum csi_event_mode *mode_out);

/* Takes the events from a thread of the event log's own; may block.
 * inserts: kind->insert_count strings, one line of UTF-8 each, fit for an event's text.
 * False: the system did not take it, and status says why. */
struct csi_event_sink {
  void *context;
  bool (*report)(void *context, const struct csi_event_kind *kind, const char *const *inserts,
                 struct csi_status *status);
};

/* From now on events go to the sink. Does nothing when mode is CSI_EVENTS_OFF. False when memory or threads
 * are short. */
bool csi_event_log_open(enum csi_event_mode mode, const struct csi_event_sink *sink,
                        struct csi_status *status) CSI_MUST_CHECK;

/* Reports what waits, for CSI_EVENT_LOG_CLOSE_MS at most, and ends the thread; does nothing when it is not
 * open. */
void csi_event_log_close(void);

/* Whether an event of this kind would be reported: for those that cost something to prepare. */
bool csi_event_is_on(enum csi_event_id id);

/* Queues an event; never blocks. Strings are copied, made one line, and cut at CSI_EVENT_INSERT_BYTES. NULL
 * stands for "-", and so does "". Behind CSI_EVENT(). */
void csi_event_report(enum csi_event_id id, const char *const *inserts, size_t count);

/* Events that were lost since the start of the process: the queue was full, or the system did not take them.
 */
uint64_t csi_event_log_lost(void);

/* CSI_EVENT(name, string, ...): reports one event. For one without strings: csi_event_report(id, NULL, 0). */
#define CSI_EVENT(name, ...)                                                                                 \
  csi_event_report(CSI_EVENT_ID_##name, (const char *const[]){__VA_ARGS__},                                  \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

#endif
