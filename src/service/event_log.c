/* SPDX-License-Identifier: Apache-2.0
 *
 * An event in the queue is its id (16 bits) and then its strings, each with its NUL.
 */
#include "service/event_log.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/outbox.h"
#include "base/text.h"

enum {
  QUEUE_BYTES = 512 * 1024,
  EVENT_BYTES = 16 * 1024, /* of the strings of one event; what is beyond is cut */
};

static const struct csi_event_kind kinds[] = {
#define CSI_EVENT_KIND(name, id_, severity_, category_, inserts_, routine_, when, to_do)                     \
  {.id = CSI_EVENT_ID_##name,                                                                                \
   .severity = CSI_EVENT_##severity_,                                                                        \
   .category = CSI_EVENT_CATEGORY_##category_,                                                               \
   .insert_count = inserts_,                                                                                 \
   .routine = routine_},
#include "service/events.def"
#undef CSI_EVENT_KIND
};

/* The lock is held for reading while an event is put into the outbox: a call that hangs may end, and report,
 * while the event log is closed. */
static struct {
  pthread_rwlock_t lock;
  enum csi_event_mode mode;
  struct csi_event_sink sink;
  struct csi_outbox *outbox; /* NULL: off */
  bool refused;              /* the sink's last answer; its own thread only */
} state = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static atomic_ullong lost;
static atomic_bool is_open; /* there is an outbox */

const struct csi_event_kind *csi_event_kind(enum csi_event_id id) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].id == id) return &kinds[i];
  return NULL;
}

uint32_t csi_event_message_id(const struct csi_event_kind *kind) {
  static const uint32_t bits[] = {
      [CSI_EVENT_INFORMATION] = 1, [CSI_EVENT_WARNING] = 2, [CSI_EVENT_ERROR] = 3};
  return bits[kind->severity] << 30 | (uint32_t)kind->id;
}

bool csi_event_mode_parse(const char *text, enum csi_event_mode *mode_out) {
  static const char *const names[] = {
      [CSI_EVENTS_OFF] = "off", [CSI_EVENTS_IMPORTANT] = "important", [CSI_EVENTS_ALL] = "all"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    *mode_out = (enum csi_event_mode)i;
    return true;
  }
  return false;
}

/* ---- On the thread of the queue ---- */

static void hand_over(const struct csi_event_kind *kind, const char *const *inserts) {
  struct csi_status status = {0};
  const bool taken = state.sink.report(state.sink.context, kind, inserts, &status);
  if (!taken) atomic_fetch_add(&lost, 1);
  if (!taken && !state.refused) CSI_LOG(WARNING, "The Event Log does not take events: %s", status.text);
  state.refused = !taken;
}

static void deliver(void *context, const void *message, size_t length_bytes) {
  (void)context;
  uint16_t id;
  memcpy(&id, message, sizeof id);
  const struct csi_event_kind *kind = csi_event_kind((enum csi_event_id)id);
  const char *inserts[CSI_EVENT_MAX_INSERTS];
  const char *at = (const char *)message + sizeof id, *end = (const char *)message + length_bytes;
  for (size_t i = 0; i < kind->insert_count; i++) {
    inserts[i] = at;
    at += strlen(at) + 1;
  }
  assert(at == end);
  (void)end;
  hand_over(kind, inserts);
}

static void tell_lost(void *context, uint64_t count) {
  (void)context;
  char text[24];
  (void)snprintf(text, sizeof text, "%" PRIu64, count);
  atomic_fetch_add(&lost, count);
  CSI_LOG(WARNING, "%" PRIu64 " events were lost: the Event Log was too slow", count);
  const char *const inserts[] = {text};
  hand_over(csi_event_kind(CSI_EVENT_ID_EVENTS_LOST), inserts);
}

/* ---- Any thread ---- */

bool csi_event_log_open(enum csi_event_mode mode, const struct csi_event_sink *sink,
                        struct csi_status *status) {
  if (mode == CSI_EVENTS_OFF) return true;
  (void)pthread_rwlock_wrlock(&state.lock);
  state.mode = mode;
  state.sink = *sink;
  state.refused = false;
  const struct csi_outbox_receiver receiver = {.deliver = deliver, .lost = tell_lost};
  state.outbox = csi_outbox_open(&receiver, QUEUE_BYTES, status);
  const bool opened = state.outbox != NULL;
  atomic_store_explicit(&is_open, opened, memory_order_relaxed);
  (void)pthread_rwlock_unlock(&state.lock);
  return opened || csi_explain(status, "Event Log: ");
}

void csi_event_log_close(void) {
  (void)pthread_rwlock_wrlock(&state.lock);
  struct csi_outbox *outbox = state.outbox;
  state.outbox = NULL;
  atomic_store_explicit(&is_open, false, memory_order_relaxed);
  (void)pthread_rwlock_unlock(&state.lock);
  struct csi_outbox_load left;
  if (csi_outbox_close(outbox, CSI_EVENT_LOG_CLOSE_MS, &left)) return;
  atomic_fetch_add(&lost, left.messages);
  CSI_LOG(WARNING, "The Event Log does not answer; the last %zu events may be missing", left.messages);
}

/* With the lock. */
static bool is_wanted(enum csi_event_id id) {
  return state.outbox != NULL && (state.mode == CSI_EVENTS_ALL || !csi_event_kind(id)->routine);
}

bool csi_event_is_on(enum csi_event_id id) {
  if (!atomic_load_explicit(&is_open, memory_order_relaxed)) return false; /* it is asked for every call */
  (void)pthread_rwlock_rdlock(&state.lock);
  const bool is_on = is_wanted(id);
  (void)pthread_rwlock_unlock(&state.lock);
  return is_on;
}

/* Windows takes %1 in a string for an insert, and %%1 for a text of another file. */
static void hide_insert_marks(char *out, size_t out_bytes, const char *text) {
  size_t length = 0;
  for (; *text != '\0' && length + sizeof "\\x25" < out_bytes; text++) {
    const bool mark = text[0] == '%' && (text[1] == '%' || (text[1] >= '0' && text[1] <= '9'));
    if (mark)
      length += (size_t)snprintf(out + length, out_bytes - length, "\\x25");
    else
      out[length++] = *text;
  }
  out[length] = '\0';
}

/* Writes one string with its NUL; returns how many bytes that took. */
static size_t put_insert(char *out, size_t room_bytes, const char *text) {
  char line[CSI_EVENT_INSERT_BYTES], shown[CSI_EVENT_INSERT_BYTES];
  if (text == NULL || text[0] == '\0') text = "-";
  (void)csi_text_escape(line, sizeof line, text, strlen(text));
  hide_insert_marks(shown, sizeof shown, line);
  const size_t length = csi_utf8_cut(shown, strlen(shown), room_bytes - 1);
  memcpy(out, shown, length);
  out[length] = '\0';
  return length + 1;
}

void csi_event_report(enum csi_event_id id, const char *const *inserts, size_t count) {
  if (!csi_event_is_on(id)) return;
  const struct csi_event_kind *kind = csi_event_kind(id);
  assert(count == kind->insert_count);
  char message[EVENT_BYTES];
  const uint16_t short_id = (uint16_t)id;
  memcpy(message, &short_id, sizeof short_id);
  size_t length = sizeof short_id;
  for (size_t i = 0; i < kind->insert_count; i++) {
    const size_t after = kind->insert_count - i - 1; /* each of them needs its NUL */
    length += put_insert(message + length, sizeof message - length - after, i < count ? inserts[i] : NULL);
  }
  (void)pthread_rwlock_rdlock(&state.lock);
  if (is_wanted(id)) (void)csi_outbox_put(state.outbox, message, length);
  (void)pthread_rwlock_unlock(&state.lock);
}

uint64_t csi_event_log_lost(void) {
  return atomic_load(&lost);
}
