/* SPDX-License-Identifier: Apache-2.0
 *
 * The container of a process, with a job object of ours in the place of the host compute service's.
 */
#include <winsock2.h>

#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <winternl.h>

#include <cmocka.h>

#include "transport/pipe_win32.h"
#include "transport/transport.h"

NTSTATUS NTAPI NtCreateJobObject(HANDLE *job, ACCESS_MASK access, OBJECT_ATTRIBUTES *attributes);

static HANDLE make_job(wchar_t *name_w) {
  const USHORT bytes = (USHORT)(wcslen(name_w) * sizeof *name_w);
  UNICODE_STRING name = {bytes, bytes, name_w};
  OBJECT_ATTRIBUTES attributes;
  InitializeObjectAttributes(&attributes, &name, 0, NULL, NULL);
  HANDLE job = NULL;
  const NTSTATUS status = NtCreateJobObject(&job, JOB_OBJECT_ALL_ACCESS, &attributes);
  if (status < 0) print_message("NtCreateJobObject: 0x%08lx\n", (unsigned long)status);
  return status < 0 ? NULL : job;
}

/* A process that does nothing until it is ended. */
static HANDLE start_process(void) {
  wchar_t path_w[MAX_PATH];
  STARTUPINFOW startup = {.cb = sizeof startup};
  PROCESS_INFORMATION information;
  assert_true(GetModuleFileNameW(NULL, path_w, MAX_PATH) > 0);
  assert_true(
      CreateProcessW(path_w, NULL, NULL, NULL, FALSE, CREATE_SUSPENDED, NULL, NULL, &startup, &information));
  CloseHandle(information.hThread);
  return information.hProcess;
}

static void end_process(HANDLE process) {
  TerminateProcess(process, 0);
  WaitForSingleObject(process, INFINITE);
  CloseHandle(process);
}

static void test_host_process_has_none(void **unused) {
  (void)unused;
  char id[256] = "?";
  HANDLE other = make_job(L"\\Container_not-ours");
  HANDLE process = start_process();
  csi_process_container(process, id, sizeof id);
  end_process(process);
  CloseHandle(other);
  assert_string_equal(id, "");
}

/* The process is ended before anything is asserted: it would keep the names of the jobs. */
static void expect_in_job(wchar_t *name_w, const char *expected) {
  char id[256] = "?";
  HANDLE job = make_job(name_w), other = make_job(L"\\Container_0-other");
  HANDLE process = start_process();
  const bool assigned = job && other && AssignProcessToJobObject(job, process);
  if (assigned) csi_process_container(process, id, sizeof id);
  end_process(process);
  CloseHandle(other);
  CloseHandle(job);
  assert_true(assigned);
  assert_string_equal(id, expected);
}

static void test_isolated_container(void **unused) {
  (void)unused;
  expect_in_job(L"\\Container_0123abcd", "0123abcd");
}

static void test_host_process_container(void **unused) {
  (void)unused;
  expect_in_job(L"\\BaseNamedObjects\\JobContainer_4567:ef", "4567_ef");
}

/* Names that are longer than what is read at once hide no other. */
static void test_names_that_are_too_long(void **unused) {
  (void)unused;
  enum { COUNT = 40, UNITS = 6000 };
  static wchar_t name_w[UNITS + 1];
  static const wchar_t directory_w[] = L"\\BaseNamedObjects\\";
  HANDLE jobs[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    for (size_t at = 0; at < UNITS; at++)
      name_w[at] = (wchar_t)('A' + i % 26 + i / 26 * 32);
    memcpy(name_w, directory_w, sizeof directory_w - sizeof *directory_w);
    jobs[i] = make_job(name_w);
    assert_non_null(jobs[i]);
  }
  expect_in_job(L"\\BaseNamedObjects\\JobContainer_4567ef", "4567ef");
  for (size_t i = 0; i < COUNT; i++)
    CloseHandle(jobs[i]);
}

static void test_other_jobs(void **unused) {
  (void)unused;
  expect_in_job(L"\\BaseNamedObjects\\Container_x", "");
  expect_in_job(L"\\Container_", "");
}

/* Both ends of a pipe are ours. */
static void test_peer_of_a_pipe(void **unused) {
  (void)unused;
  wchar_t name_w[64];
  swprintf(name_w, 64, L"\\\\.\\pipe\\csi-peer-test-%lu", GetCurrentProcessId());
  HANDLE server = CreateNamedPipeW(name_w, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 512, 512, 0, NULL);
  HANDLE client = CreateFileW(name_w, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                              SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, NULL);
  assert_true(server != INVALID_HANDLE_VALUE && client != INVALID_HANDLE_VALUE);
  char text[CSI_PIPE_PEER_BYTES];
  csi_pipe_peer_text(server, text, sizeof text);
  print_message("%s\n", text);

  struct csi_arena *arena = csi_arena_new(1 << 16);
  struct csi_peer peer;
  DWORD session_id;
  assert_non_null(arena);
  csi_peer_parse(arena, text, &peer);
  assert_int_equal(peer.process_id, GetCurrentProcessId());
  assert_true(ProcessIdToSessionId(GetCurrentProcessId(), &session_id));
  assert_int_equal(peer.session_id, session_id);
  assert_memory_equal(peer.account, "S-1-5-", 6);
  assert_non_null(strstr(peer.image_path, "peer_win32_test.exe"));
  csi_arena_free(arena);
  CloseHandle(client);
  CloseHandle(server);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_host_process_has_none),
      cmocka_unit_test(test_isolated_container),
      cmocka_unit_test(test_host_process_container),
      cmocka_unit_test(test_names_that_are_too_long),
      cmocka_unit_test(test_other_jobs),
      cmocka_unit_test(test_peer_of_a_pipe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
