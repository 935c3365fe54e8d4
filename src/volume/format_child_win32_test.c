/* SPDX-License-Identifier: Apache-2.0
 *
 * The service's side of the format helper. This program is also the helper: what it does as one stands in
 * an environment variable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <windows.h>

#include "volume/format_child_win32.h"
#include "volume/format_helper_win32.h"
#include "volume/format_protocol.h"

enum {
  ARENA_BYTES = 1 << 20,
  NS_PER_MS = 1000000,
};

#define MODE L"CSI_PROXY_TEST_HELPER"
#define SECRET L"CSI_PROXY_TEST_SECRET"
#define VOLUME "format \\\\?\\Volume{01234567-89ab-cdef-0102-030405060708}\\: "

static const struct csi_guid guid = {0x01234567, 0x89ab, 0xcdef, {1, 2, 3, 4, 5, 6, 7, 8}};
static const struct csi_format ntfs = {.file_system = "NTFS", .cluster_bytes = 4096};

/* -- As the helper --------------------------------------------------------------------------------- */

static void send(enum csi_format_report_kind kind, uint32_t value) {
  uint8_t bytes[CSI_FORMAT_REPORT_BYTES];
  DWORD written;
  csi_format_report_encode(&(struct csi_format_report){.kind = kind, .value = value}, bytes);
  WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), bytes, sizeof bytes, &written, NULL);
}

/* True when the job is the one that the tests give. */
static bool job_has_come(void) {
  uint8_t bytes[CSI_FORMAT_JOB_BYTES];
  struct csi_format_job job;
  DWORD read;
  return ReadFile(GetStdHandle(STD_INPUT_HANDLE), bytes, sizeof bytes, &read, NULL) && read == sizeof bytes &&
         csi_format_job_decode(bytes, &job) && csi_guid_equal(&job.guid, &guid) &&
         job.cluster_bytes == 4096 && strcmp(job.file_system, "NTFS") == 0;
}

/* A handle of the service that could be inherited. */
static HANDLE secret_handle(void) {
  wchar_t number_w[24] = L"";
  GetEnvironmentVariableW(SECRET, number_w, 24);
  return (HANDLE)(uintptr_t)wcstoull(number_w, NULL, 10);
}

/* Done when everything that the service does to its helper has been done to this one. */
static void look_around(void) {
  BOOL in_job = FALSE;
  IsProcessInJob(GetCurrentProcess(), NULL, &in_job);
  bool has_console = GetConsoleWindow() != NULL;
  DWORD flags = 0;
  bool inherited = secret_handle() == NULL || GetHandleInformation(secret_handle(), &flags);
  send(in_job && !has_console && !inherited ? CSI_FORMAT_DONE : CSI_FORMAT_REFUSED, 0);
}

static int play_helper(void) {
  wchar_t mode_w[32] = L"";
  GetEnvironmentVariableW(MODE, mode_w, 32);
  if (wcscmp(mode_w, L"real") == 0) return csi_format_helper_run();
  if (!job_has_come()) return 77;
  send(CSI_FORMAT_PROGRESS, 0);
  send(CSI_FORMAT_PROGRESS, 40);
  if (wcscmp(mode_w, L"hang") == 0) {
    Sleep(400);
    send(CSI_FORMAT_PROGRESS, 50);
    Sleep(INFINITE);
  }
  if (wcscmp(mode_w, L"crash") == 0) TerminateProcess(GetCurrentProcess(), 0xC0000005);
  if (wcscmp(mode_w, L"refuse") == 0) {
    send(CSI_FORMAT_REFUSED, 0x07);
    return 1;
  }
  if (wcscmp(mode_w, L"nonsense") == 0) {
    puts("Formatting, please wait");
    return 0;
  }
  if (wcscmp(mode_w, L"look") == 0)
    look_around();
  else
    send(CSI_FORMAT_DONE, 0);
  return 0;
}

/* -- As the service -------------------------------------------------------------------------------- */

static struct csi_ctx ctx;
static atomic_bool cancelled;

static int set_up(void **state) {
  (void)state;
  atomic_store(&cancelled, false);
  ctx = (struct csi_ctx){
      .arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE, .cancelled = &cancelled};
  return ctx.arena == NULL;
}

static int tear_down(void **state) {
  (void)state;
  csi_arena_free(ctx.arena);
  return 0;
}

static bool format(const wchar_t *mode_w) {
  SetEnvironmentVariableW(MODE, mode_w);
  return csi_format_in_child(&ctx, &guid, &ntfs);
}

static DWORD open_handles(void) {
  DWORD count = 0;
  GetProcessHandleCount(GetCurrentProcess(), &count);
  return count;
}

static void test_done(void **unused) {
  (void)unused;
  if (!format(L"done")) fail_msg("%s", ctx.status.text);
  DWORD before = open_handles();
  for (int i = 0; i < 5; i++)
    assert_true(format(L"done"));
  assert_true(open_handles() <= before + 1); /* the watchdog may have begun */
}

static void test_a_refusal_says_why(void **unused) {
  (void)unused;
  assert_false(format(L"refuse"));
  assert_string_equal(ctx.status.text, VOLUME "the volume is write-protected (fmifs.dll command 0x07)");
}

static void test_a_crash_is_an_error(void **unused) {
  (void)unused;
  assert_false(format(L"crash"));
  assert_string_equal(ctx.status.text,
                      VOLUME "the format helper ended with exit code 0xc0000005 before it was done, at 40 %");
}

static void test_nonsense_is_an_error(void **unused) {
  (void)unused;
  assert_false(format(L"nonsense"));
  assert_string_equal(ctx.status.text, VOLUME "the format helper sent what is no report (exit code 0x0)");
}

static void test_the_deadline_ends_a_helper_that_hangs(void **unused) {
  (void)unused;
  int64_t begin_ns = csi_now_ns();
  ctx.deadline_ns = begin_ns + (int64_t)1500 * NS_PER_MS;
  assert_false(format(L"hang"));
  assert_in_range((csi_now_ns() - begin_ns) / NS_PER_MS, 1490, 4000);
  assert_int_equal(ctx.status.code, CSI_DEADLINE_EXCEEDED);
  assert_non_null(strstr(ctx.status.text, VOLUME "format helper: FormatEx did not answer within 1.5 s"));
}

static DWORD WINAPI go_away(void *unused) {
  (void)unused;
  Sleep(1000);
  atomic_store(&cancelled, true);
  return 0;
}

static void test_cancelling_ends_the_helper(void **unused) {
  (void)unused;
  HANDLE thread = CreateThread(NULL, 0, go_away, NULL, 0, NULL);
  int64_t begin_ns = csi_now_ns();
  assert_false(format(L"hang"));
  assert_in_range((csi_now_ns() - begin_ns) / NS_PER_MS, 900, 4000);
  assert_int_equal(ctx.status.code, CSI_CANCELLED);
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
}

/* UNVERIFIED ON WINDOWS: that the job's limit of one process holds; Wine does not enforce it. */
static void test_the_helper_is_shut_in(void **unused) {
  (void)unused;
  SECURITY_ATTRIBUTES inheritable = {.nLength = sizeof inheritable, .bInheritHandle = TRUE};
  HANDLE secret = CreateEventW(&inheritable, TRUE, FALSE, NULL);
  wchar_t number_w[24];
  swprintf(number_w, 24, L"%llu", (unsigned long long)(uintptr_t)secret);
  SetEnvironmentVariableW(SECRET, number_w);
  if (!format(L"look")) fail_msg("%s", ctx.status.text);
  CloseHandle(secret);
}

/* As in a container, or below a remote shell. */
static void test_a_service_that_is_in_a_job_itself(void **unused) {
  (void)unused;
  HANDLE job = CreateJobObjectW(NULL, NULL);
  assert_non_null(job);
  assert_true(AssignProcessToJobObject(job, GetCurrentProcess()));
  if (!format(L"look")) fail_msg("%s", ctx.status.text);
  CloseHandle(job);
}

/* fmifs.dll or not: a volume that does not exist is not formatted. */
static void test_the_real_helper(void **unused) {
  (void)unused;
  assert_false(format(L"real"));
  assert_non_null(strstr(ctx.status.text, "fmifs.dll"));
  print_message("%s\n", ctx.status.text);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "format-volume-helper") == 0) return play_helper();
#define CHILD_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CHILD_TEST(test_done),
      CHILD_TEST(test_a_refusal_says_why),
      CHILD_TEST(test_a_crash_is_an_error),
      CHILD_TEST(test_nonsense_is_an_error),
      CHILD_TEST(test_the_deadline_ends_a_helper_that_hangs),
      CHILD_TEST(test_cancelling_ends_the_helper),
      CHILD_TEST(test_the_helper_is_shut_in),
      CHILD_TEST(test_the_real_helper),
      CHILD_TEST(test_a_service_that_is_in_a_job_itself), /* for good, so it is the last */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
