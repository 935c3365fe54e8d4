/* SPDX-License-Identifier: Apache-2.0
 *
 * Named pipes as clients that do not behave see them: silent, half-spoken, too many, all at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <winsock2.h>

#include <windows.h>

#include <aclapi.h>
#include <sddl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/io_engine_win32.h"
#include "transport/transport.h"

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
static const char empty_settings[] = {0, 0, 0, 4, 0, 0, 0, 0, 0};

struct fixture {
  char endpoint[128];
  wchar_t path_w[128];
  struct csi_listener_options options;
  grpc_completion_queue *queue;
  grpc_server *server;
  struct csi_listener *listener;
};

static int set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  csi_transport_start();
  snprintf(fixture->endpoint, sizeof fixture->endpoint, "\\\\.\\pipe\\csi-proxy-pipe-test-%lu",
           GetCurrentProcessId());
  MultiByteToWideChar(CP_UTF8, 0, fixture->endpoint, -1, fixture->path_w, ARRAYSIZE(fixture->path_w));
  fixture->options = (struct csi_listener_options){
      .endpoint = fixture->endpoint,
      .sddl = "D:P(A;;GA;;;SY)(A;;GA;;;BA)",
      .max_connections = 64,
      .pending_instances = 4,
      .silence_timeout_ms = 60000,
  };
  fixture->queue = grpc_completion_queue_create_for_next(NULL);
  *state = fixture;
  return 0;
}

static void start(struct fixture *fixture) {
  struct csi_status status = {0};
  fixture->server = grpc_server_create(NULL, NULL);
  grpc_server_register_completion_queue(fixture->server, fixture->queue, NULL);
  grpc_server_start(fixture->server);
  fixture->listener = csi_listener_open(fixture->server, &fixture->options, &status);
  if (!fixture->listener) fail_msg("%s", status.text);
}

static void stop(struct fixture *fixture) {
  csi_listener_stop(fixture->listener);
  grpc_server_shutdown_and_notify(fixture->server, fixture->queue, fixture);
  grpc_event event = grpc_completion_queue_next(fixture->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
  assert_ptr_equal(event.tag, fixture);
  grpc_server_destroy(fixture->server);
  csi_listener_free(fixture->listener);
  fixture->listener = NULL;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  if (fixture->listener) stop(fixture);
  grpc_completion_queue_shutdown(fixture->queue);
  grpc_completion_queue_destroy(fixture->queue);
  free(fixture);
  csi_transport_shut_down();
  return 0;
}

static HANDLE connect_once(const struct fixture *fixture) {
  return CreateFileW(fixture->path_w, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
}

static HANDLE connect_patiently(const struct fixture *fixture) {
  for (int attempt = 0; attempt < 200; attempt++) {
    HANDLE pipe = connect_once(fixture);
    if (pipe != INVALID_HANDLE_VALUE) return pipe;
    assert_int_equal(GetLastError(), ERROR_PIPE_BUSY);
    Sleep(10);
  }
  fail_msg("the pipe stayed busy");
  return INVALID_HANDLE_VALUE;
}

/* Waits until the service closes the connection; returns the bytes it sent before. */
static DWORD read_until_closed(HANDLE pipe) {
  DWORD total_bytes = 0;
  for (;;) {
    char buffer[512];
    DWORD read_bytes = 0;
    if (!ReadFile(pipe, buffer, sizeof buffer, &read_bytes, NULL)) return total_bytes;
    total_bytes += read_bytes;
  }
}

static uint32_t connection_count(struct csi_listener *listener) {
  struct csi_listener_counts counts;
  csi_listener_count(listener, &counts);
  return counts.connections;
}

static void wait_for_count(const struct fixture *fixture, uint32_t expected) {
  for (int i = 0; i < 500 && connection_count(fixture->listener) != expected; i++)
    Sleep(10);
  assert_int_equal(connection_count(fixture->listener), expected);
}

static void test_descriptor_is_the_one_given(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  HANDLE pipe = connect_patiently(fixture);
  PSECURITY_DESCRIPTOR security = NULL;
  assert_int_equal(
      GetSecurityInfo(pipe, SE_KERNEL_OBJECT, DACL_SECURITY_INFORMATION, NULL, NULL, NULL, NULL, &security),
      ERROR_SUCCESS);
  wchar_t *sddl_w = NULL;
  assert_true(ConvertSecurityDescriptorToStringSecurityDescriptorW(security, SDDL_REVISION_1,
                                                                   DACL_SECURITY_INFORMATION, &sddl_w, NULL));
  assert_non_null(wcsstr(sddl_w, L";;;SY)"));
  assert_non_null(wcsstr(sddl_w, L";;;BA)"));
  assert_null(wcsstr(sddl_w, L";;;WD)"));
  assert_null(wcsstr(sddl_w, L";;;AN)"));
  LocalFree(sddl_w);
  LocalFree(security);
  CloseHandle(pipe);
}

static void test_bad_descriptor_is_refused(void **state) {
  struct fixture *fixture = *state;
  const char *const bad[] = {"no such thing", "", NULL};
  grpc_server *server = grpc_server_create(NULL, NULL);
  for (size_t i = 0; i < ARRAYSIZE(bad); i++) {
    fixture->options.sddl = bad[i];
    struct csi_status status = {0};
    assert_null(csi_listener_open(server, &fixture->options, &status));
    assert_non_null(strstr(status.text, "security descriptor"));
  }
  grpc_server_destroy(server);
}

static void test_second_listener_is_told_who_has_the_pipe(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  struct csi_status status = {0};
  assert_null(csi_listener_open(fixture->server, &fixture->options, &status));
  assert_int_equal(status.code, CSI_ALREADY_EXISTS);
  char process[32];
  snprintf(process, sizeof process, "process %lu ", GetCurrentProcessId());
  assert_non_null(strstr(status.text, process));
  assert_non_null(strstr(status.text, fixture->endpoint));
}

static void test_silent_connection_is_closed(void **state) {
  struct fixture *fixture = *state;
  fixture->options.silence_timeout_ms = 300;
  start(fixture);
  HANDLE pipe = connect_patiently(fixture);
  assert_int_equal(read_until_closed(pipe), 0);
  CloseHandle(pipe);
  wait_for_count(fixture, 0);
}

static void test_half_spoken_connection_is_closed(void **state) {
  struct fixture *fixture = *state;
  fixture->options.silence_timeout_ms = 300;
  start(fixture);
  HANDLE pipe = connect_patiently(fixture);
  DWORD written_bytes = 0;
  assert_true(WriteFile(pipe, preface, 10, &written_bytes, NULL));
  read_until_closed(pipe);
  CloseHandle(pipe);
  wait_for_count(fixture, 0);
}

static void test_spoken_connection_stays(void **state) {
  struct fixture *fixture = *state;
  fixture->options.silence_timeout_ms = 300;
  start(fixture);
  HANDLE pipe = connect_patiently(fixture);
  DWORD written_bytes = 0;
  assert_true(WriteFile(pipe, preface, sizeof preface - 1, &written_bytes, NULL));
  assert_true(WriteFile(pipe, empty_settings, sizeof empty_settings, &written_bytes, NULL));
  Sleep(1000);
  assert_int_equal(connection_count(fixture->listener), 1);
  CloseHandle(pipe);
  wait_for_count(fixture, 0);
}

static void test_garbage_is_survived(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  char garbage[4096];
  for (size_t i = 0; i < sizeof garbage; i++)
    garbage[i] = (char)(i * 37 + 11);
  for (int with_preface = 0; with_preface < 2; with_preface++) {
    HANDLE pipe = connect_patiently(fixture);
    DWORD written_bytes = 0;
    if (with_preface) WriteFile(pipe, preface, sizeof preface - 1, &written_bytes, NULL);
    WriteFile(pipe, garbage, sizeof garbage, &written_bytes, NULL);
    read_until_closed(pipe);
    CloseHandle(pipe);
  }
  wait_for_count(fixture, 0);
}

static void test_one_connection_too_many_is_closed(void **state) {
  struct fixture *fixture = *state;
  fixture->options.max_connections = 3;
  start(fixture);
  HANDLE pipes[3];
  for (int i = 0; i < 3; i++)
    pipes[i] = connect_patiently(fixture);
  wait_for_count(fixture, 3);
  HANDLE extra = connect_patiently(fixture);
  assert_int_equal(read_until_closed(extra), 0);
  CloseHandle(extra);
  for (int i = 0; i < 3; i++)
    CloseHandle(pipes[i]);
  wait_for_count(fixture, 0);
  HANDLE again = connect_patiently(fixture);
  wait_for_count(fixture, 1);
  CloseHandle(again);
  struct csi_listener_counts counts;
  csi_listener_count(fixture->listener, &counts);
  assert_int_equal(counts.opened, 4);
  assert_int_equal(counts.rejected, 1);
}

static void test_clients_that_come_and_go_leave_nothing(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  wait_for_count(fixture, 0);
  DWORD handles_before = 0, handles_after = 0;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 300; i++)
      CloseHandle(connect_patiently(fixture));
    wait_for_count(fixture, 0);
    Sleep(200);
    GetProcessHandleCount(GetCurrentProcess(), round == 0 ? &handles_before : &handles_after);
  }
  assert_in_range(handles_after, 0, handles_before + 8);
}

/* PRIORITY frames, which have no effect, as fast as the pipe takes them. */
static DWORD WINAPI flood(void *context) {
  const struct fixture *fixture = context;
  static const char priority[14] = {0, 0, 5, 2, 0, 0, 0, 0, 1};
  static char frames[sizeof priority * 4096];
  for (size_t i = 0; i < sizeof frames; i += sizeof priority)
    memcpy(frames + i, priority, sizeof priority);
  HANDLE pipe = connect_patiently(fixture);
  DWORD written_bytes = 0;
  WriteFile(pipe, preface, sizeof preface - 1, &written_bytes, NULL);
  WriteFile(pipe, empty_settings, sizeof empty_settings, &written_bytes, NULL);
  while (WriteFile(pipe, frames, sizeof frames, &written_bytes, NULL)) {
  }
  CloseHandle(pipe);
  return 0;
}

static void test_clients_that_keep_their_pipes_full_starve_nobody(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  HANDLE floods[6];
  for (size_t i = 0; i < ARRAYSIZE(floods); i++) {
    floods[i] = CreateThread(NULL, 0, flood, fixture, 0, NULL);
    assert_non_null(floods[i]);
  }
  wait_for_count(fixture, ARRAYSIZE(floods));
  Sleep(300);
  for (int i = 0; i < 5; i++) {
    HANDLE pipe = connect_patiently(fixture);
    DWORD bytes = 0;
    assert_true(WriteFile(pipe, preface, sizeof preface - 1, &bytes, NULL));
    assert_true(WriteFile(pipe, empty_settings, sizeof empty_settings, &bytes, NULL));
    char settings[256];
    assert_true(ReadFile(pipe, settings, sizeof settings, &bytes, NULL)); /* the test's time-out is ctest's */
    CloseHandle(pipe);
  }
  stop(fixture);
  assert_int_equal(WaitForMultipleObjects(ARRAYSIZE(floods), floods, TRUE, 10000), WAIT_OBJECT_0);
  for (size_t i = 0; i < ARRAYSIZE(floods); i++)
    CloseHandle(floods[i]);
}

static void test_stop_ends_what_waits(void **state) {
  struct fixture *fixture = *state;
  start(fixture);
  HANDLE silent = connect_patiently(fixture);
  wait_for_count(fixture, 1);
  stop(fixture);
  assert_int_equal(read_until_closed(silent), 0);
  CloseHandle(silent);
  assert_true(connect_once(fixture) == INVALID_HANDLE_VALUE);
  assert_int_equal(GetLastError(), ERROR_FILE_NOT_FOUND);
}

struct timer {
  struct csi_io_deadline deadline;
  HANDLE fired;
};

static void fire(struct csi_io_deadline *deadline) {
  SetEvent(((struct timer *)deadline->context)->fired);
}

struct slow_work {
  struct csi_io io; /* first member */
  struct timer *timer;
};

/* Keeps its thread for a while and then arms a deadline: nobody else knows of it. */
static void work_slowly(struct csi_io *io, DWORD error, DWORD transferred_bytes) {
  (void)error, (void)transferred_bytes;
  Sleep(100);
  csi_io_deadline_arm(&((struct slow_work *)io)->timer->deadline, 6000);
}

static void test_deadlines_fire_whoever_arms_them(void **state) {
  (void)state;
  struct csi_status status = {0};
  assert_true(csi_io_engine_start(&status));
  struct timer timers[4] = {0};
  for (size_t i = 0; i < ARRAYSIZE(timers); i++) {
    timers[i].deadline.expired = fire;
    timers[i].deadline.context = &timers[i];
    timers[i].fired = CreateEventW(NULL, TRUE, FALSE, NULL);
  }
  struct slow_work work = {.io = {.done = work_slowly}, .timer = &timers[0]};
  assert_true(csi_io_post(&work.io, 0));
  csi_io_deadline_arm(&timers[1].deadline, 300);
  csi_io_deadline_arm(&timers[2].deadline, 100);
  csi_io_deadline_arm(&timers[3].deadline, 60000);
  uint64_t started_ms = GetTickCount64();
  assert_int_equal(WaitForSingleObject(timers[2].fired, 5000), WAIT_OBJECT_0);
  assert_int_equal(WaitForSingleObject(timers[1].fired, 5000), WAIT_OBJECT_0);
  assert_true(GetTickCount64() - started_ms >= 280);
  /* Longer than a spare thread stays. */
  assert_int_equal(WaitForSingleObject(timers[0].fired, 15000), WAIT_OBJECT_0);
  assert_true(csi_io_deadline_disarm(&timers[3].deadline));
  assert_false(csi_io_deadline_disarm(&timers[1].deadline));
  for (size_t i = 0; i < ARRAYSIZE(timers); i++)
    CloseHandle(timers[i].fired);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_descriptor_is_the_one_given),
      TEST(test_bad_descriptor_is_refused),
      TEST(test_second_listener_is_told_who_has_the_pipe),
      TEST(test_silent_connection_is_closed),
      TEST(test_half_spoken_connection_is_closed),
      TEST(test_spoken_connection_stays),
      TEST(test_garbage_is_survived),
      TEST(test_one_connection_too_many_is_closed),
      TEST(test_clients_that_come_and_go_leave_nothing),
      TEST(test_clients_that_keep_their_pipes_full_starve_nobody),
      TEST(test_stop_ends_what_waits),
      cmocka_unit_test(test_deadlines_fire_whoever_arms_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
