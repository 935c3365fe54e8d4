/* SPDX-License-Identifier: Apache-2.0 */
#include "service/event_log.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"

/* A sink that keeps what it gets as "id:insert|insert;". */
struct fake {
  pthread_mutex_t gate; /* held: the system hangs */
  bool refuses;
  uint64_t lost; /* what EVENTS_LOST has told, in as many events as it took */
  char text[8192];
};

static struct fake fake = {.gate = PTHREAD_MUTEX_INITIALIZER};

static bool take(void *context, const struct csi_event_kind *kind, const char *const *inserts,
                 struct csi_status *status) {
  struct fake *self = context;
  (void)pthread_mutex_lock(&self->gate);
  (void)pthread_mutex_unlock(&self->gate);
  if (self->refuses) return csi_fail(status, CSI_UNAVAILABLE, "no event log today");
  if (kind->id == CSI_EVENT_ID_EVENTS_LOST) self->lost += strtoull(inserts[0], NULL, 10);
  size_t length = strlen(self->text);
  length += (size_t)snprintf(self->text + length, sizeof self->text - length, "%d:", (int)kind->id);
  for (size_t i = 0; i < kind->insert_count && length < sizeof self->text; i++)
    length += (size_t)snprintf(self->text + length, sizeof self->text - length, "%s%s", i == 0 ? "" : "|",
                               inserts[i]);
  if (length < sizeof self->text) (void)snprintf(self->text + length, sizeof self->text - length, ";");
  return true;
}

static const struct csi_event_sink sink = {.context = &fake, .report = take};

static void open_events(enum csi_event_mode mode) {
  struct csi_status status = {0};
  fake.refuses = false;
  fake.lost = 0;
  fake.text[0] = '\0';
  assert_true(csi_event_log_open(mode, &sink, &status));
}

static void report_call_done(void) {
  CSI_EVENT(CALL_DONE, "/v1.Disk/Rescan", "", "C:\\a.exe", "1", NULL, "S-1-5-18", "", "0.100", "1");
}

static void test_every_kind_is_sound(void **unused) {
  (void)unused;
  static const int ids[] = {
#define CSI_EVENT_KIND(name, id, severity, category, inserts, routine, when, to_do) id,
#include "service/events.def"
#undef CSI_EVENT_KIND
  };
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    const struct csi_event_kind *kind = csi_event_kind((enum csi_event_id)ids[i]);
    assert_non_null(kind);
    assert_int_equal(kind->id, ids[i]);
    assert_in_range(kind->category, 1, CSI_EVENT_CATEGORY_COUNT);
    assert_in_range(kind->insert_count, 0, CSI_EVENT_MAX_INSERTS);
    assert_in_range(ids[i], i == 0 ? 1 : ids[i - 1] + 1, 0xffff); /* ascending: none twice */
  }
  assert_null(csi_event_kind((enum csi_event_id)99));
}

static void test_message_ids(void **unused) {
  (void)unused;
  assert_int_equal(csi_event_message_id(csi_event_kind(CSI_EVENT_ID_STARTED)), 0x40000065);
  assert_int_equal(csi_event_message_id(csi_event_kind(CSI_EVENT_ID_CALL_REFUSED)), 0x8000012e);
  assert_int_equal(csi_event_message_id(csi_event_kind(CSI_EVENT_ID_START_FAILED)), 0xc00000cb);
}

static void test_modes(void **unused) {
  (void)unused;
  enum csi_event_mode mode;
  assert_true(csi_event_mode_parse("off", &mode) && mode == CSI_EVENTS_OFF);
  assert_true(csi_event_mode_parse("important", &mode) && mode == CSI_EVENTS_IMPORTANT);
  assert_true(csi_event_mode_parse("all", &mode) && mode == CSI_EVENTS_ALL);
  assert_false(csi_event_mode_parse("All", &mode));
  assert_false(csi_event_mode_parse("", &mode));
}

static void test_reported_in_order(void **unused) {
  (void)unused;
  open_events(CSI_EVENTS_ALL);
  CSI_EVENT(STARTING, "v1.2.3", "-v=5");
  csi_event_report(CSI_EVENT_ID_CALLS_HANG, NULL, 0);
  report_call_done();
  csi_event_log_close();
  assert_string_equal(fake.text,
                      "100:v1.2.3|-v=5;105:;300:/v1.Disk/Rescan|-|C:\\a.exe|1|-|S-1-5-18|-|0.100|1;");
}

static void test_important_leaves_routine_out(void **unused) {
  (void)unused;
  open_events(CSI_EVENTS_IMPORTANT);
  assert_false(csi_event_is_on(CSI_EVENT_ID_CALL_DONE));
  assert_true(csi_event_is_on(CSI_EVENT_ID_CALL_FAILED));
  report_call_done();
  CSI_EVENT(STOPPED, "0");
  csi_event_log_close();
  assert_string_equal(fake.text, "103:0;");
}

static void test_off(void **unused) {
  (void)unused;
  open_events(CSI_EVENTS_OFF);
  assert_false(csi_event_is_on(CSI_EVENT_ID_START_FAILED));
  CSI_EVENT(STOPPED, "0");
  csi_event_log_close();
  CSI_EVENT(STOPPED, "1");
  assert_string_equal(fake.text, "");
}

static void test_strings_are_made_fit(void **unused) {
  (void)unused;
  open_events(CSI_EVENTS_ALL);
  CSI_EVENT(CONFIGURATION_REFUSED, "a\r\nb %1 100% %%7 \xff \xe2\x80\xae");
  csi_event_log_close();
  assert_string_equal(fake.text, "200:a\\r\\nb \\x251 100% \\x25\\x257 \\xff \\u202e;");
}

static void test_long_strings_are_cut(void **unused) {
  (void)unused;
  static char text[50000];
  memset(text, 'x', sizeof text - 1);
  open_events(CSI_EVENTS_ALL);
  CSI_EVENT(CONFIGURATION_REFUSED, text);
  csi_event_log_close();
  assert_true(strlen(fake.text) > 4000 && strlen(fake.text) < CSI_EVENT_INSERT_BYTES + 8);

  open_events(CSI_EVENTS_ALL);
  CSI_EVENT(CALL_FAILED, text, text, text, text, text, text, text, text, text, text, text, text, text, "end");
  csi_event_log_close();
  assert_memory_equal(fake.text, "301:xxx", 7);
}

static void test_queue_that_is_full_loses_and_tells(void **unused) {
  (void)unused;
  open_events(CSI_EVENTS_ALL);
  const uint64_t before = csi_event_log_lost();
  char big[4000];
  memset(big, 'y', sizeof big - 1);
  big[sizeof big - 1] = '\0';
  (void)pthread_mutex_lock(&fake.gate);
  for (int i = 0; i < 200; i++) /* more than half a megabyte */
    CSI_EVENT(CONFIGURATION_REMARK, big);
  (void)pthread_mutex_unlock(&fake.gate);
  csi_event_log_close();
  const uint64_t lost = csi_event_log_lost() - before;
  assert_in_range(lost, 1, 199);
  assert_int_equal(fake.lost, lost);
}

static char logged[4096];

static void note_line(void *data, enum csi_severity severity, const char *line, size_t length_bytes) {
  (void)data, (void)severity, (void)length_bytes;
  const size_t length = strlen(logged);
  (void)snprintf(logged + length, sizeof logged - length, "%s", line);
}

static unsigned count(const char *text, const char *part) {
  unsigned times = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
    times++;
  return times;
}

static void test_refusing_system_is_logged_once(void **unused) {
  (void)unused;
  const uint64_t before = csi_event_log_lost();
  logged[0] = '\0';
  csi_log_set_sink(note_line, NULL);
  open_events(CSI_EVENTS_ALL);
  fake.refuses = true;
  for (int i = 0; i < 5; i++)
    CSI_EVENT(STOPPED, "0");
  csi_event_log_close();
  csi_log_set_sink(NULL, NULL);
  assert_int_equal(count(logged, "no event log today"), 1);
  assert_int_equal(csi_event_log_lost() - before, 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_kind_is_sound),
      cmocka_unit_test(test_message_ids),
      cmocka_unit_test(test_modes),
      cmocka_unit_test(test_reported_in_order),
      cmocka_unit_test(test_important_leaves_routine_out),
      cmocka_unit_test(test_off),
      cmocka_unit_test(test_strings_are_made_fit),
      cmocka_unit_test(test_long_strings_are_cut),
      cmocka_unit_test(test_queue_that_is_full_loses_and_tells),
      cmocka_unit_test(test_refusing_system_is_logged_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
