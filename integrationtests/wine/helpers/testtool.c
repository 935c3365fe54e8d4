/* SPDX-License-Identifier: Apache-2.0
 *
 * testtool COMMAND [ARGS]: what the life-cycle tests need of Windows and cannot ask from outside. Every
 * command prints its answer on stdout and ends with 0, or says what failed on stderr and ends with 1.
 *
 *   hold                    lives until stdin ends; keeps the session, and so the services, alive
 *   probe PIPE              "open", "busy" or "absent"
 *   connect PIPE            connects, prints "connected", keeps the connection until stdin ends
 *   half-call PIPE          begins a gRPC call, see half_call.h
 *   squat PIPE              owns the pipe name, prints "squatting", until stdin ends
 *   dacl PIPE               the access list of the pipe, as SDDL
 *   watch SERVICE SECONDS   every state the service goes through, until it has run and stopped and its
 *                           process has ended; prints "watching" when it begins to look
 *   kill SERVICE            ends the process of a service the hard way
 */
#include <windows.h>

#include <aclapi.h>
#include <sddl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "half_call.h"

static int failed(const char *call) {
  DWORD error = GetLastError();
  fprintf(stderr, "%s failed with %lu\n", call, error);
  return 1;
}

/* Everything printed is for a reader at the other end of a pipe that waits for the line. */
static void say(const char *line) {
  puts(line);
  fflush(stdout);
}

static int wait_for_end_of_stdin(void) {
  while (getchar() != EOF)
    continue;
  return 0;
}

static int hold(wchar_t **arguments_w) {
  (void)arguments_w;
  say("holding");
  return wait_for_end_of_stdin();
}

static HANDLE open_pipe(const wchar_t *path_w, DWORD access) {
  return CreateFileW(path_w, access, 0, NULL, OPEN_EXISTING, SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS,
                     NULL);
}

static int probe(wchar_t **arguments_w) {
  HANDLE pipe = open_pipe(arguments_w[0], GENERIC_READ | GENERIC_WRITE);
  if (pipe != INVALID_HANDLE_VALUE) {
    CloseHandle(pipe);
    say("open");
    return 0;
  }
  switch (GetLastError()) {
  case ERROR_FILE_NOT_FOUND:
    say("absent");
    return 0;
  case ERROR_PIPE_BUSY:
    say("busy");
    return 0;
  default:
    return failed("CreateFileW");
  }
}

static int keep_connected(wchar_t **arguments_w) {
  HANDLE pipe = open_pipe(arguments_w[0], GENERIC_READ | GENERIC_WRITE);
  if (pipe == INVALID_HANDLE_VALUE) return failed("CreateFileW");
  say("connected");
  return wait_for_end_of_stdin();
}

static int half_call(wchar_t **arguments_w) {
  return csi_half_call(arguments_w[0]);
}

static int squat(wchar_t **arguments_w) {
  HANDLE pipe = CreateNamedPipeW(arguments_w[0], PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE,
                                 PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS, 1, 0, 0, 0, NULL);
  if (pipe == INVALID_HANDLE_VALUE) return failed("CreateNamedPipeW");
  say("squatting");
  return wait_for_end_of_stdin();
}

static int dacl(wchar_t **arguments_w) {
  HANDLE pipe = open_pipe(arguments_w[0], GENERIC_READ | GENERIC_WRITE | READ_CONTROL);
  if (pipe == INVALID_HANDLE_VALUE) return failed("CreateFileW");
  PSECURITY_DESCRIPTOR descriptor = NULL;
  DWORD error =
      GetSecurityInfo(pipe, SE_KERNEL_OBJECT, DACL_SECURITY_INFORMATION, NULL, NULL, NULL, NULL, &descriptor);
  CloseHandle(pipe);
  SetLastError(error);
  if (error != ERROR_SUCCESS) return failed("GetSecurityInfo");
  wchar_t *text_w = NULL;
  if (!ConvertSecurityDescriptorToStringSecurityDescriptorW(descriptor, SDDL_REVISION_1,
                                                            DACL_SECURITY_INFORMATION, &text_w, NULL))
    return failed("ConvertSecurityDescriptorToStringSecurityDescriptorW");
  printf("%ls\n", text_w);
  return 0;
}

static SC_HANDLE open_service(const wchar_t *name_w) {
  SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
  return manager == NULL ? NULL : OpenServiceW(manager, name_w, SERVICE_QUERY_STATUS);
}

static bool query(SC_HANDLE service, SERVICE_STATUS_PROCESS *status) {
  DWORD needed;
  return QueryServiceStatusEx(service, SC_STATUS_PROCESS_INFO, (BYTE *)status, sizeof *status, &needed);
}

static const char *state_name(DWORD state) {
  static const char *const names[] = {"?",       "STOPPED",          "START_PENDING", "STOP_PENDING",
                                      "RUNNING", "CONTINUE_PENDING", "PAUSE_PENDING", "PAUSED"};
  return state < sizeof names / sizeof names[0] ? names[state] : names[0];
}

static void print_state(ULONGLONG begun_ms, const SERVICE_STATUS_PROCESS *status) {
  printf("%s at=%llu check_point=%lu hint=%lu accepts=0x%lx exit=%lu specific=%lu\n",
         state_name(status->dwCurrentState), GetTickCount64() - begun_ms, status->dwCheckPoint,
         status->dwWaitHint, status->dwControlsAccepted, status->dwWin32ExitCode,
         status->dwServiceSpecificExitCode);
  fflush(stdout);
}

static int watch_process_end(HANDLE process, ULONGLONG begun_ms) {
  if (process == NULL) return 0;
  if (WaitForSingleObject(process, 10000) != WAIT_OBJECT_0) {
    say("process still there");
    return 1;
  }
  DWORD code = 0;
  GetExitCodeProcess(process, &code);
  printf("EXITED at=%llu code=%lu\n", GetTickCount64() - begun_ms, code);
  return 0;
}

static int watch(wchar_t **arguments_w) {
  SC_HANDLE service = open_service(arguments_w[0]);
  if (service == NULL) return failed("OpenServiceW");
  SERVICE_STATUS_PROCESS last = {.dwCurrentState = SERVICE_STOPPED};
  HANDLE process = NULL;
  bool has_lived = false;
  ULONGLONG begun_ms = GetTickCount64();
  ULONGLONG end_ms = begun_ms + wcstoul(arguments_w[1], NULL, 10) * 1000;
  say("watching");
  while (GetTickCount64() < end_ms) {
    SERVICE_STATUS_PROCESS now;
    if (!query(service, &now)) return failed("QueryServiceStatusEx");
    if (process == NULL && now.dwProcessId != 0)
      process = OpenProcess(SYNCHRONIZE | PROCESS_QUERY_INFORMATION, FALSE, now.dwProcessId);
    if (now.dwCurrentState != last.dwCurrentState || now.dwCheckPoint != last.dwCheckPoint)
      print_state(begun_ms, &now);
    last = now;
    if (now.dwCurrentState != SERVICE_STOPPED)
      has_lived = true;
    else if (has_lived)
      return watch_process_end(process, begun_ms);
    Sleep(1);
  }
  say("time is up");
  return 1;
}

static int kill_service(wchar_t **arguments_w) {
  SC_HANDLE service = open_service(arguments_w[0]);
  if (service == NULL) return failed("OpenServiceW");
  SERVICE_STATUS_PROCESS status;
  if (!query(service, &status)) return failed("QueryServiceStatusEx");
  if (status.dwProcessId == 0) return 0;
  HANDLE process = OpenProcess(PROCESS_TERMINATE, FALSE, status.dwProcessId);
  return process != NULL && TerminateProcess(process, 1) ? 0 : failed("TerminateProcess");
}

static const struct command {
  const wchar_t *name_w;
  int argument_count;
  int (*run)(wchar_t **arguments_w);
} commands[] = {
    {L"hold", 0, hold},   {L"probe", 1, probe},         {L"connect", 1, keep_connected},
    {L"squat", 1, squat}, {L"half-call", 1, half_call}, {L"dacl", 1, dacl},
    {L"watch", 2, watch}, {L"kill", 1, kill_service},
};

int wmain(int argc, wchar_t **argv_w);
int wmain(int argc, wchar_t **argv_w) {
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
    if (argc == commands[i].argument_count + 2 && wcscmp(argv_w[1], commands[i].name_w) == 0)
      return commands[i].run(argv_w + 2);
  fputs("testtool: unknown command, or a wrong number of arguments\n", stderr);
  return 1;
}
