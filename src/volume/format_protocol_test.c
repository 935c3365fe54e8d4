/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "volume/format_protocol.h"

static const struct csi_format_job job = {
    .guid = {0x01234567, 0x89ab, 0xcdef, {1, 2, 3, 4, 5, 6, 7, 8}},
    .cluster_bytes = 65536,
    .file_system = "NTFS",
};

static struct csi_format_reports reports;
static struct csi_status status;

static int set_up(void **state) {
  (void)state;
  memset(&reports, 0, sizeof reports);
  csi_status_clear(&status);
  return 0;
}

static void add(enum csi_format_report_kind kind, enum csi_format_call call, uint32_t value) {
  uint8_t bytes[CSI_FORMAT_REPORT_BYTES];
  csi_format_report_encode(&(struct csi_format_report){kind, call, value}, bytes);
  csi_format_reports_add(&reports, bytes, sizeof bytes);
}

static void assert_refused(uint32_t exit_code, enum csi_code code, const char *text) {
  assert_false(csi_format_verdict(&reports, exit_code, &status));
  assert_int_equal(status.code, code);
  assert_string_equal(status.text, text);
}

static void test_a_job_arrives(void **unused) {
  (void)unused;
  uint8_t bytes[CSI_FORMAT_JOB_BYTES];
  struct csi_format_job decoded;
  csi_format_job_encode(&job, bytes);
  assert_true(csi_format_job_decode(bytes, &decoded));
  assert_true(csi_guid_equal(&decoded.guid, &job.guid));
  assert_int_equal(decoded.cluster_bytes, 65536);
  assert_string_equal(decoded.file_system, "NTFS");
}

static void test_what_is_no_job_is_refused(void **unused) {
  (void)unused;
  uint8_t bytes[CSI_FORMAT_JOB_BYTES];
  struct csi_format_job decoded;
  csi_format_job_encode(&job, bytes);
  bytes[0]++;
  assert_false(csi_format_job_decode(bytes, &decoded));
  struct csi_format_job odd = job;
  memset(odd.file_system, 'N', sizeof odd.file_system);
  csi_format_job_encode(&odd, bytes);
  assert_false(csi_format_job_decode(bytes, &decoded));
  static const char *const names[] = {"", "NT FS", "NTFS\n", "..\\x"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    odd = (struct csi_format_job){0};
    memcpy(odd.file_system, names[i], strlen(names[i]));
    csi_format_job_encode(&odd, bytes);
    assert_false(csi_format_job_decode(bytes, &decoded));
  }
  odd = job;
  odd.file_system[10] = 'x';
  csi_format_job_encode(&odd, bytes);
  assert_false(csi_format_job_decode(bytes, &decoded));
}

static void test_done(void **unused) {
  (void)unused;
  add(CSI_FORMAT_PROGRESS, CSI_FORMAT_CALL_NONE, 0);
  add(CSI_FORMAT_PROGRESS, CSI_FORMAT_CALL_NONE, 70);
  assert_int_equal(reports.percent, 70);
  add(CSI_FORMAT_DONE, CSI_FORMAT_CALL_NONE, 0);
  assert_true(csi_format_verdict(&reports, 0, &status));
}

static void test_reports_come_in_pieces(void **unused) {
  (void)unused;
  uint8_t bytes[2 * CSI_FORMAT_REPORT_BYTES];
  csi_format_report_encode(&(struct csi_format_report){.kind = CSI_FORMAT_PROGRESS, .value = 100}, bytes);
  csi_format_report_encode(&(struct csi_format_report){.kind = CSI_FORMAT_DONE},
                           bytes + CSI_FORMAT_REPORT_BYTES);
  for (size_t i = 0; i < sizeof bytes; i++) {
    assert_int_equal(reports.outcome.kind, 0);
    csi_format_reports_add(&reports, bytes + i, 1);
  }
  assert_int_equal(reports.percent, 100);
  assert_true(csi_format_verdict(&reports, 0, &status));
}

static void test_a_crash_is_no_success(void **unused) {
  (void)unused;
  add(CSI_FORMAT_PROGRESS, CSI_FORMAT_CALL_NONE, 30);
  assert_refused(0xC0000005, CSI_INTERNAL,
                 "the format helper ended with exit code 0xc0000005 before it was done, at 30 %");
  csi_status_clear(&status);
  assert_refused(0, CSI_INTERNAL, "the format helper ended with exit code 0x0 before it was done, at 30 %");
  csi_status_clear(&status);
  add(CSI_FORMAT_DONE, CSI_FORMAT_CALL_NONE, 0);
  assert_refused(0xC0000005, CSI_INTERNAL,
                 "the format helper ended with exit code 0xc0000005 after it was done, at 30 %");
}

static void test_a_report_cut_off_by_a_crash_counts_as_one(void **unused) {
  (void)unused;
  static const uint8_t half[3] = {CSI_FORMAT_DONE};
  csi_format_reports_add(&reports, half, sizeof half);
  assert_refused(1, CSI_INTERNAL, "the format helper ended with exit code 0x1 before it was done, at 0 %");
}

static void test_refusals_have_reasons(void **unused) {
  (void)unused;
  add(CSI_FORMAT_REFUSED, CSI_FORMAT_CALL_NONE, 0x08);
  assert_refused(1, CSI_FAILED_PRECONDITION,
                 "the volume is in use by another process (fmifs.dll command 0x08)");
  set_up(NULL);
  add(CSI_FORMAT_REFUSED, CSI_FORMAT_CALL_NONE, 0x12);
  assert_refused(1, CSI_FAILED_PRECONDITION,
                 "the volume is too small for the file system (fmifs.dll command 0x12)");
  set_up(NULL);
  add(CSI_FORMAT_REFUSED, CSI_FORMAT_CALL_NONE, 0x77);
  assert_refused(1, CSI_INTERNAL, "fmifs.dll failed to format it (command 0x77)");
  set_up(NULL);
  add(CSI_FORMAT_REFUSED, CSI_FORMAT_CALL_NONE, CSI_FORMAT_NO_REASON);
  assert_refused(1, CSI_INTERNAL, "fmifs.dll failed to format it and gave no reason");
}

/* What Windows says on the way, and what some later Windows may say, is no reason to give up. */
static void test_only_known_commands_refuse(void **unused) {
  (void)unused;
  static const uint32_t on_the_way[] = {0x00, 0x01, 0x04, 0x0B, 0x0D, 0x0E, 0x0F, 0x77, CSI_FORMAT_NO_REASON};
  static const uint32_t refusals[] = {0x03, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x12, 0x18};
  for (size_t i = 0; i < sizeof on_the_way / sizeof *on_the_way; i++)
    assert_false(csi_format_is_refusal(on_the_way[i]));
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    assert_true(csi_format_is_refusal(refusals[i]));
}

static void test_a_missing_library_is_named(void **unused) {
  (void)unused;
  add(CSI_FORMAT_FAILED, CSI_FORMAT_CALL_LOAD, 126);
  assert_false(csi_format_verdict(&reports, 1, &status));
  assert_int_equal(status.number, 126);
  assert_string_equal(status.call, "LoadLibraryExW");
  assert_non_null(strstr(status.text, "the format helper cannot use fmifs.dll: "));
}

static void test_nonsense_is_refused(void **unused) {
  (void)unused;
  static const uint8_t nonsense[][CSI_FORMAT_REPORT_BYTES] = {
      {0},                                        /* no kind */
      {5},                                        /* unknown kind */
      {CSI_FORMAT_PROGRESS, 0, 0, 0, 101},        /* more than all */
      {CSI_FORMAT_PROGRESS, 0, 0, 0, 1, 0, 0, 1}, /* more than all */
      {CSI_FORMAT_PROGRESS, 1},                   /* a call that nobody made */
      {CSI_FORMAT_DONE, 0, 0, 0, 1},              /* done, but how */
      {CSI_FORMAT_DONE, 0, 1},                    /* not zero */
      {CSI_FORMAT_FAILED, 0, 0, 0, 1},            /* failed in nothing */
      {CSI_FORMAT_FAILED, CSI_FORMAT_CALL_COUNT}, /* failed in what nobody knows */
  };
  for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
    set_up(NULL);
    csi_format_reports_add(&reports, nonsense[i], sizeof nonsense[i]);
    assert_refused(0, CSI_INTERNAL, "the format helper sent what is no report (exit code 0x0)");
  }
}

static void test_nothing_follows_the_outcome(void **unused) {
  (void)unused;
  add(CSI_FORMAT_DONE, CSI_FORMAT_CALL_NONE, 0);
  add(CSI_FORMAT_PROGRESS, CSI_FORMAT_CALL_NONE, 100);
  assert_refused(0, CSI_INTERNAL, "the format helper sent what is no report (exit code 0x0)");
  set_up(NULL);
  add(CSI_FORMAT_DONE, CSI_FORMAT_CALL_NONE, 0);
  csi_format_reports_add(&reports, (const uint8_t *)"x", 1);
  assert_refused(0, CSI_INTERNAL, "the format helper sent what is no report (exit code 0x0)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_job_arrives),
      cmocka_unit_test(test_what_is_no_job_is_refused),
      cmocka_unit_test_setup(test_done, set_up),
      cmocka_unit_test_setup(test_reports_come_in_pieces, set_up),
      cmocka_unit_test_setup(test_a_crash_is_no_success, set_up),
      cmocka_unit_test_setup(test_a_report_cut_off_by_a_crash_counts_as_one, set_up),
      cmocka_unit_test_setup(test_refusals_have_reasons, set_up),
      cmocka_unit_test(test_only_known_commands_refuse),
      cmocka_unit_test_setup(test_a_missing_library_is_named, set_up),
      cmocka_unit_test_setup(test_nonsense_is_refused, set_up),
      cmocka_unit_test_setup(test_nothing_follows_the_outcome, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
