/* SPDX-License-Identifier: Apache-2.0
 *
 * Which pipes of CSI Proxy are up, and how long a service takes to bring them up.
 *
 *   pipes which                     prints those of all known pipes that exist
 *   pipes start EXE PIPE [PIPE...]  starts EXE, prints the milliseconds until every named pipe can be
 *                                   connected to, and ends EXE. PIPE is "<group>-<version>".
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

#include "measure.h"

enum { NAME_CHARS = 128, START_LIMIT_MS = 30000 };

static const wchar_t *const known_pipes_w[] = {
    L"disk-v1alpha1",   L"disk-v1beta1",        L"disk-v1beta2",       L"disk-v1beta3",
    L"disk-v1",         L"filesystem-v1alpha1", L"filesystem-v1beta1", L"filesystem-v1beta2",
    L"filesystem-v1",   L"filesystem-v2alpha1", L"iscsi-v1alpha1",     L"iscsi-v1alpha2",
    L"smb-v1alpha1",    L"smb-v1beta1",         L"smb-v1beta2",        L"smb-v1",
    L"system-v1alpha1", L"volume-v1alpha1",     L"volume-v1beta1",     L"volume-v1beta2",
    L"volume-v1beta3",  L"volume-v1",           L"volume-v2alpha1",
};

/* Asks without connecting, so that no instance of the pipe is used up. */
static bool is_up(const wchar_t *pipe_w) {
  wchar_t name_w[NAME_CHARS];
  int length = swprintf(name_w, NAME_CHARS, L"\\\\.\\pipe\\csi-proxy-%ls", pipe_w);
  return length > 0 && WaitNamedPipeW(name_w, 1);
}

static void print_which(void) {
  for (size_t i = 0; i < sizeof known_pipes_w / sizeof known_pipes_w[0]; i++) {
    if (is_up(known_pipes_w[i])) {
      printf("%ls\n", known_pipes_w[i]);
    }
  }
}

static bool wait_for_all(wchar_t *const *pipes_w, int count, HANDLE process, double deadline_us) {
  for (int i = 0; i < count; i++) {
    while (!is_up(pipes_w[i])) {
      if (bench_now_us() > deadline_us || WaitForSingleObject(process, 1) != WAIT_TIMEOUT) {
        return false;
      }
    }
  }
  return true;
}

static bool measure_start(wchar_t *exe_w, wchar_t *const *pipes_w, int count) {
  STARTUPINFOW startup = {.cb = sizeof startup};
  PROCESS_INFORMATION process;
  double start_us = bench_now_us();
  if (!CreateProcessW(exe_w, NULL, NULL, NULL, FALSE, CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW, NULL, NULL,
                      &startup, &process)) {
    bench_die("the service cannot be started", GetLastError());
  }
  bool up = wait_for_all(pipes_w, count, process.hProcess, start_us + START_LIMIT_MS * 1e3);
  double took_ms = (bench_now_us() - start_us) / 1e3;
  TerminateProcess(process.hProcess, 0);
  WaitForSingleObject(process.hProcess, INFINITE);
  CloseHandle(process.hThread);
  CloseHandle(process.hProcess);
  if (up) {
    bench_print("start.ms", took_ms);
  }
  return up;
}

int wmain(int argc, wchar_t **argv);

int wmain(int argc, wchar_t **argv) {
  if (argc == 2 && wcscmp(argv[1], L"which") == 0) {
    print_which();
    return EXIT_SUCCESS;
  }
  if (argc >= 4 && wcscmp(argv[1], L"start") == 0) {
    if (!measure_start(argv[2], argv + 3, argc - 3)) {
      bench_die("the service ended, or took too long to bring its pipes up", 0);
    }
    return EXIT_SUCCESS;
  }
  fprintf(stderr, "usage: pipes which | start EXE PIPE [PIPE...]\n");
  return 2;
}
