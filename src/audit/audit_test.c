/* SPDX-License-Identifier: Apache-2.0
 *
 * integrationtests/eventlog reads the lines of a whole server with another parser.
 */
#include "audit/audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if !defined(_WIN32)
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "audit/record.h"
#include "base/log.h"
#include "base/log_file.h"
#include "base/log_os.h"
#include "base/text.h"
#include "service/event_log.h"

static const struct csi_method methods[] = {{.name = "PartitionDisk", .mutating = true},
                                            {.name = "ListDiskIDs"}};
static const struct csi_service service = {
    .group = "disk", .version = "v1", .name = "v1.Disk", .methods = methods, .method_count = 2};
static const struct csi_peer driver = {.process_id = 1234,
                                       .session_id = 0,
                                       .image_path = "C:\\csi\\driver.exe",
                                       .account = "S-1-5-18",
                                       .container = "0a1b"};
static struct csi_status status_ok;

static struct csi_call_info call_of(const struct csi_status *status) {
  return (struct csi_call_info){.id = 17,
                                .service = &service,
                                .method = &methods[0],
                                .peer = &driver,
                                .object = "disk_number=3",
                                .arrived_ns = 1000000,
                                .queued_ns = 250000,
                                .ended_ns = 3500000,
                                .status = status,
                                .wire_code = csi_status_ok(status) ? CSI_OK : CSI_UNKNOWN};
}

static char line[CSI_AUDIT_LINE_BYTES];

static void assert_line(const struct csi_call_info *call, const char *expected) {
  const size_t length = csi_audit_line(call, INT64_C(1769872496123), line);
  assert_int_equal(length, strlen(line));
  assert_string_equal(line, expected);
}

static void test_done(void **unused) {
  (void)unused;
  const struct csi_call_info call = call_of(&status_ok);
  assert_int_equal(csi_audit_result_of(&call), CSI_AUDIT_DONE);
  assert_line(&call, "{\"time\":\"2026-01-31T15:14:56.123Z\",\"id\":17,\"process_id\":1234,\"session_id\":0,"
                     "\"image\":\"C:\\\\csi\\\\driver.exe\",\"account\":\"S-1-5-18\",\"container\":\"0a1b\","
                     "\"service\":\"v1.Disk\",\"method\":\"PartitionDisk\",\"object\":\"disk_number=3\","
                     "\"result\":\"done\",\"code\":\"OK\",\"precise_code\":\"OK\",\"rejection\":\"\","
                     "\"error_space\":\"none\",\"error_number\":0,\"error_call\":\"\",\"duration_ms\":2.500,"
                     "\"queued_ms\":0.250,\"error\":\"\"}\n");
}

static void test_failed_in_the_system(void **unused) {
  (void)unused;
  struct csi_status status = {0};
  csi_fail_system(&status, CSI_SPACE_WIN32, 5, "DeviceIoControl", "disk %d \"x\"", 3);
  const struct csi_call_info call = call_of(&status);
  assert_int_equal(csi_audit_result_of(&call), CSI_AUDIT_FAILED);
  (void)csi_audit_line(&call, 0, line);
  assert_non_null(strstr(line, "{\"time\":\"1970-01-01T00:00:00.000Z\""));
  assert_non_null(
      strstr(line, "\"result\":\"failed\",\"code\":\"UNKNOWN\",\"precise_code\":\"PERMISSION_DENIED\""));
  assert_non_null(
      strstr(line, "\"error_space\":\"Win32\",\"error_number\":5,\"error_call\":\"DeviceIoControl\""));
  assert_non_null(strstr(line, "\"error\":\"disk 3 \\\"x\\\": "));
}

static void test_what_counts_as_refused(void **unused) {
  (void)unused;
  static const struct {
    enum csi_code code;
    enum csi_audit_result result;
  } cases[] = {{CSI_INVALID_ARGUMENT, CSI_AUDIT_REFUSED},    {CSI_PERMISSION_DENIED, CSI_AUDIT_REFUSED},
               {CSI_FAILED_PRECONDITION, CSI_AUDIT_REFUSED}, {CSI_CANCELLED, CSI_AUDIT_FAILED},
               {CSI_DEADLINE_EXCEEDED, CSI_AUDIT_FAILED},    {CSI_NOT_FOUND, CSI_AUDIT_FAILED}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct csi_status status = {0};
    csi_fail(&status, cases[i].code, "no");
    struct csi_call_info call = call_of(&status);
    assert_int_equal(csi_audit_result_of(&call), cases[i].result);
    call.rejection = CSI_REJECTED_BAD_MESSAGE;
    assert_int_equal(csi_audit_result_of(&call), CSI_AUDIT_REJECTED);
  }
}

static void test_unknown_peer(void **unused) {
  (void)unused;
  const struct csi_peer nobody = {.session_id = CSI_NO_SESSION_ID}; /* texts are NULL */
  struct csi_call_info call = call_of(&status_ok);
  call.peer = &nobody;
  (void)csi_audit_line(&call, 0, line);
  assert_non_null(
      strstr(line, "\"process_id\":0,\"session_id\":-1,\"image\":\"\",\"account\":\"\",\"container\":\"\""));
}

static void test_hostile_text(void **unused) {
  (void)unused;
  const struct csi_peer peer = {.image_path = "a\"b\\c\n\x01\x7f\xff\xe2\x80\xae\xf0\x9f\x98\x80"};
  struct csi_call_info call = call_of(&status_ok);
  call.peer = &peer;
  (void)csi_audit_line(&call, 0, line);
  assert_non_null(strstr(
      line, "\"image\":\"a\\\"b\\\\c\\u000a\\u0001\\u007f\xef\xbf\xbd\\u202e\xf0\x9f\x98\x80\",\"account\""));
  assert_int_equal(strchr(line, '\n') - line, strlen(line) - 1);
}

/* The longest of everything fits, and is cut between characters. */
static void test_longest_line(void **unused) {
  (void)unused;
  static char text[20000];
  for (size_t i = 0; i + 1 < sizeof text; i++)
    text[i] = '\\';
  struct csi_status status = {.code = CSI_INTERNAL, .call = text};
  memset(status.text, 1, sizeof status.text - 1);
  const struct csi_peer peer = {UINT32_MAX, UINT32_MAX - 1, text, text, text};
  const struct csi_method method = {.name = text, .mutating = true};
  const struct csi_service other = {.name = text};
  struct csi_call_info call = call_of(&status);
  call.id = UINT64_MAX;
  call.service = &other;
  call.method = &method;
  call.peer = &peer;
  call.object = text;
  call.ended_ns = INT64_MAX;
  call.arrived_ns = 0;
  call.queued_ns = INT64_MAX;
  status.number = UINT32_MAX;
  const size_t length = csi_audit_line(&call, INT64_C(253402300799999), line);
  assert_int_equal(length, strlen(line));
  assert_true(length < CSI_AUDIT_LINE_BYTES);
  assert_string_equal(line + length - 3, "\"}\n");
  assert_true(csi_utf8_is_valid(line, length));
  assert_non_null(strstr(line, "\\\\\xe2\x80\xa6\",\"account\":\""));
}

/* ---- With a file ---- */

static char path[512];

static void set_path(const char *name) {
  char directory[400];
  csi_log_os_temp_directory(directory, sizeof directory);
  (void)snprintf(path, sizeof path, "%s%ccsi-audit-%lu-%s", directory, CSI_LOG_OS_SEPARATOR,
                 csi_log_os_process_id(), name);
}

static const char *read_back(void) {
  static char text[65536];
  FILE *stream = fopen(path, "rb");
  assert_non_null(stream);
  text[fread(text, 1, sizeof text - 1, stream)] = '\0';
  (void)fclose(stream);
  return text;
}

static unsigned count_lines(const char *text) {
  unsigned lines = 0;
  for (; *text != '\0'; text++)
    lines += *text == '\n';
  return lines;
}

static struct csi_audit *open_audit(void) {
  struct csi_status status = {0};
  struct csi_audit *audit = csi_audit_open(path, 0, &status);
  assert_non_null(audit);
  return audit;
}

static void end(struct csi_audit *audit, const struct csi_call_info *call) {
  const struct csi_call_observer observer = csi_audit_observer(audit);
  assert_null(observer.started);
  observer.ended(observer.context, call);
}

static void test_mutating_calls_get_into_the_file(void **unused) {
  (void)unused;
  set_path("file.json");
  struct csi_audit *audit = open_audit();
  struct csi_status refused = {0};
  csi_fail(&refused, CSI_PERMISSION_DENIED, "not this disk");
  struct csi_call_info call = call_of(&status_ok), reading = call_of(&status_ok), unknown = call_of(&refused);
  reading.method = &methods[1];
  unknown.method = NULL;
  unknown.rejection = CSI_REJECTED_UNKNOWN_METHOD;
  end(audit, &call);
  end(audit, &reading);
  end(audit, &unknown);
  call.status = &refused;
  end(audit, &call);
  csi_audit_close(audit, false);
  assert_int_equal(count_lines(read_back()), 2);
  assert_non_null(strstr(read_back(), "\"error\":\"not this disk\""));

  audit = open_audit(); /* appends */
  end(audit, &call);
  csi_audit_close(audit, false);
  assert_int_equal(count_lines(read_back()), 3);
  csi_log_os_remove(path);
}

/* Calls that hang in the system may end behind the end. */
static void test_kept_audit_log_goes_on(void **unused) {
  (void)unused;
  set_path("kept.json");
  struct csi_audit *audit = open_audit();
  const struct csi_call_info call = call_of(&status_ok);
  end(audit, &call);
  csi_audit_close(audit, true);
  assert_int_equal(count_lines(read_back()), 1);
  end(audit, &call);
  csi_audit_close(audit, false);
  assert_int_equal(count_lines(read_back()), 2);
  csi_log_os_remove(path);
}

static void test_unusable_file_is_told(void **unused) {
  (void)unused;
  struct csi_status status = {0};
  set_path("no/such/file.json");
  assert_null(csi_audit_open(path, 0, &status));
  assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
  assert_memory_equal(status.text, "-audit-log: open ", 17);
  assert_non_null(strstr(status.text, "file.json: "));
  assert_true(status.number != 0);
}

/* Nobody's command line is wrong when a file cannot be had just now. */
static void test_other_failures_are_no_wrong_flag(void **unused) {
  (void)unused;
  struct csi_status status = {0};
  csi_log_os_temp_directory(path, sizeof path); /* is a directory */
  assert_null(csi_audit_open(path, 0, &status));
  assert_int_not_equal(status.code, CSI_INVALID_ARGUMENT);
}

static void test_check_makes_nothing(void **unused) {
  (void)unused;
  struct csi_status status = {0};
  assert_true(csi_audit_check("", &status));
  set_path("checked.json");
  assert_true(csi_audit_check(path, &status));
  assert_null(fopen(path, "rb"));
  assert_true(csi_audit_check("a-name-only.json", &status));

  set_path("no/such/file.json");
  assert_false(csi_audit_check(path, &status));
  assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
  assert_memory_equal(status.text, "-audit-log: ", 12);
  assert_non_null(strstr(status.text, " is not there"));

  csi_status_clear(&status);
  csi_log_os_temp_directory(path, sizeof path);
  const size_t length = strlen(path);
  if (path[length - 1] == CSI_LOG_OS_SEPARATOR) path[length - 1] = '\0';
  assert_false(csi_audit_check(path, &status));
  assert_non_null(strstr(status.text, " is a directory"));

  csi_status_clear(&status);
  static char too_long[2000];
  memset(too_long, 'x', sizeof too_long - 1);
  assert_false(csi_audit_check(too_long, &status));
  assert_memory_equal(status.text, "-audit-log: file name is too long: x", 36);
}

static void test_no_file(void **unused) {
  (void)unused;
  struct csi_status status = {0};
  struct csi_audit *audit = csi_audit_open("", 0, &status);
  assert_non_null(audit);
  const struct csi_call_info call = call_of(&status_ok);
  end(audit, &call);
  assert_int_equal(csi_audit_lost(audit), 0);
  csi_audit_close(audit, false);
  csi_audit_close(NULL, false);
}

/* ---- Events ---- */

static char events[16384];

static bool note_event(void *context, const struct csi_event_kind *kind, const char *const *inserts,
                       struct csi_status *status) {
  (void)context, (void)status;
  size_t length = strlen(events);
  length += (size_t)snprintf(events + length, sizeof events - length, "%d:", (int)kind->id);
  for (size_t i = 0; i < kind->insert_count && length < sizeof events; i++)
    length += (size_t)snprintf(events + length, sizeof events - length, "%s|", inserts[i]);
  return true;
}

static void assert_event(const struct csi_call_info *call, const char *expected) {
  struct csi_status status = {0};
  const struct csi_event_sink sink = {.report = note_event};
  struct csi_audit *audit = csi_audit_open("", 0, &status);
  assert_non_null(audit);
  events[0] = '\0';
  assert_true(csi_event_log_open(CSI_EVENTS_ALL, &sink, &status));
  end(audit, call);
  csi_event_log_close();
  csi_audit_close(audit, false);
  assert_string_equal(events, expected);
}

#define WHO "/v1.Disk/PartitionDisk|disk_number=3|C:\\csi\\driver.exe|1234|0|S-1-5-18|0a1b|2.500|17|"

static void test_events(void **unused) {
  (void)unused;
  struct csi_status status = {0};
  struct csi_call_info call = call_of(&status_ok);
  assert_event(&call, "300:" WHO);

  csi_fail_system(&status, CSI_SPACE_WIN32, 5, "DeviceIoControl", "disk 3");
  call = call_of(&status);
  assert_event(&call,
               "301:" WHO "UNKNOWN|PERMISSION_DENIED|Win32 5|DeviceIoControl|disk 3: Access is denied. "
               "(Win32 error 5 in DeviceIoControl)|");

  csi_status_clear(&status);
  csi_fail(&status, CSI_PERMISSION_DENIED, "disk 3 has the system");
  assert_event(&call, "302:" WHO "UNKNOWN|PERMISSION_DENIED|-|-|disk 3 has the system|");

  csi_status_clear(&status);
  csi_fail(&status, CSI_RESOURCE_EXHAUSTED, "too many");
  call.rejection = CSI_REJECTED_QUEUE_FULL;
  assert_event(&call, "303:" WHO "UNKNOWN|RESOURCE_EXHAUSTED|queue_full|-|too many|");
}

#if !defined(_WIN32)
static char logged[4096];

/* What came through the pipe. */
struct drain {
  int reader;
  uint64_t records, told;
};

static void take_line(struct drain *drain, const char *text) {
  const char *lost_records = strstr(text, "\"lost_records\":");
  if (lost_records)
    drain->told += strtoull(lost_records + strlen("\"lost_records\":"), NULL, 10);
  else
    drain->records++;
}

/* Reads until the writer has closed. */
static void *drain_all(void *data) {
  struct drain *drain = data;
  (void)fcntl(drain->reader, F_SETFL, 0);
  FILE *stream = fdopen(dup(drain->reader), "r");
  char text[CSI_AUDIT_LINE_BYTES];
  while (stream && fgets(text, sizeof text, stream))
    take_line(drain, text);
  if (stream) (void)fclose(stream);
  return NULL;
}

/* A disk that takes nothing for a while: a pipe nobody reads. */
static void test_slow_disk_delays_no_call(void **unused) {
  (void)unused;
  set_path("fifo");
  assert_int_equal(mkfifo(path, 0600), 0);
  const int reader = open(path, O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  struct csi_audit *audit = open_audit();
  struct csi_call_info call = call_of(&status_ok);
  const uint64_t lost_before = csi_log_file_lost_bytes();
  enum { CALLS = 20000 }; /* some eight megabytes; the queue takes four */
  for (call.id = 1; call.id <= CALLS; call.id++)
    end(audit, &call);
  assert_in_range(csi_audit_lost(audit), 1, CALLS);
  assert_true(csi_log_file_lost_bytes() > lost_before);

  pthread_t thread;
  struct drain drain = {.reader = reader};
  assert_int_equal(pthread_create(&thread, NULL, drain_all, &drain), 0);
  const uint64_t lost = csi_audit_lost(audit);
  csi_audit_close(audit, false);
  (void)pthread_join(thread, NULL);
  assert_int_equal(drain.records + lost, CALLS);
  assert_int_equal(drain.told, lost);
  (void)close(reader);
  csi_log_os_remove(path);
}

static void note_line(void *data, enum csi_severity severity, const char *text, size_t length_bytes) {
  (void)data, (void)severity, (void)length_bytes;
  const size_t length = strlen(logged);
  (void)snprintf(logged + length, sizeof logged - length, "%s", text);
}

/* What a disk has not taken when the program ends is counted and told. */
static void test_hanging_disk_is_told_at_the_end(void **unused) {
  (void)unused;
  set_path("hang");
  assert_int_equal(mkfifo(path, 0600), 0);
  const int reader = open(path, O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  struct csi_audit *audit = open_audit();
  struct csi_call_info call = call_of(&status_ok);
  for (call.id = 1; call.id <= 1000; call.id++) /* a pipe takes 64 KiB */
    end(audit, &call);
  assert_int_equal(csi_audit_lost(audit), 0);
  struct csi_status status = {0};
  events[0] = logged[0] = '\0';
  const struct csi_event_sink sink = {.report = note_event};
  assert_true(csi_event_log_open(CSI_EVENTS_IMPORTANT, &sink, &status));
  csi_log_set_sink(note_line, NULL);
  const uint64_t lost_before = csi_log_file_lost_bytes();
  csi_audit_close(audit, true);
  const uint64_t lost = csi_log_file_lost_bytes() - lost_before;
  csi_log_set_sink(NULL, NULL);
  csi_event_log_close();
  assert_true(lost > 65536);
  assert_memory_equal(events, "401:", 4);
  assert_non_null(strstr(events, " records, the last ones: the disk does not take them|"));
  assert_non_null(strstr(logged, " records, the last ones"));

  pthread_t thread;
  struct drain drain = {.reader = reader};
  assert_int_equal(pthread_create(&thread, NULL, drain_all, &drain), 0);
  csi_audit_close(audit, false);
  (void)pthread_join(thread, NULL);
  assert_int_equal(drain.records, 1000); /* the process did not end: they got there */
  (void)close(reader);
  csi_log_os_remove(path);
}

static void test_full_disk_is_told(void **unused) {
  (void)unused;
  struct csi_status status = {0};
  (void)snprintf(path, sizeof path, "/dev/full");
  events[0] = logged[0] = '\0';
  const struct csi_event_sink sink = {.report = note_event};
  assert_true(csi_event_log_open(CSI_EVENTS_IMPORTANT, &sink, &status));
  csi_log_set_sink(note_line, NULL);
  struct csi_audit *audit = open_audit();
  const struct csi_call_info call = call_of(&status_ok);
  end(audit, &call);
  csi_audit_close(audit, false);
  csi_log_set_sink(NULL, NULL);
  csi_event_log_close();
  assert_memory_equal(events, "401:", 4);
  assert_non_null(strstr(events, " bytes|/dev/full|"));
  assert_non_null(strstr(logged, " bytes. File: /dev/full"));
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_done),
    cmocka_unit_test(test_failed_in_the_system),
    cmocka_unit_test(test_what_counts_as_refused),
    cmocka_unit_test(test_unknown_peer),
    cmocka_unit_test(test_hostile_text),
    cmocka_unit_test(test_longest_line),
    cmocka_unit_test(test_mutating_calls_get_into_the_file),
    cmocka_unit_test(test_kept_audit_log_goes_on),
    cmocka_unit_test(test_unusable_file_is_told),
    cmocka_unit_test(test_other_failures_are_no_wrong_flag),
    cmocka_unit_test(test_check_makes_nothing),
    cmocka_unit_test(test_no_file),
    cmocka_unit_test(test_events),
#if !defined(_WIN32)
    cmocka_unit_test(test_slow_disk_delays_no_call),
    cmocka_unit_test(test_hanging_disk_is_told_at_the_end),
    cmocka_unit_test(test_full_disk_is_told),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
