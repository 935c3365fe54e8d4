/* SPDX-License-Identifier: Apache-2.0
 *
 * The least that a call over a pipe can cost: 100 bytes there and back between two processes.
 *
 *   pipe_echo serve         answers one client, then ends
 *   pipe_echo call COUNT    measures COUNT round trips
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

#include "measure.h"

enum { MESSAGE_BYTES = 100, WARM_UP_CALLS = 200 };

static const wchar_t pipe_name_w[] = L"\\\\.\\pipe\\csi-proxy-bench-echo";

/* Reads or writes a whole message on an overlapped handle. Returns false when the peer has gone. */
static bool transfer(HANDLE pipe, HANDLE event, bool writing, char *bytes) {
  DWORD done_bytes = 0;
  while (done_bytes < MESSAGE_BYTES) {
    OVERLAPPED overlapped = {.hEvent = event};
    DWORD moved_bytes = 0;
    DWORD left_bytes = MESSAGE_BYTES - done_bytes;
    BOOL ok = writing ? WriteFile(pipe, bytes + done_bytes, left_bytes, NULL, &overlapped)
                      : ReadFile(pipe, bytes + done_bytes, left_bytes, NULL, &overlapped);
    DWORD error = ok ? ERROR_SUCCESS : GetLastError();
    if ((!ok && error != ERROR_IO_PENDING) || !GetOverlappedResult(pipe, &overlapped, &moved_bytes, TRUE)) {
      return false;
    }
    done_bytes += moved_bytes;
  }
  return true;
}

static HANDLE new_event(void) {
  HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
  if (event == NULL) {
    bench_die("CreateEventW", GetLastError());
  }
  return event;
}

static void serve(void) {
  HANDLE pipe = CreateNamedPipeW(pipe_name_w, PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED,
                                 PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_REJECT_REMOTE_CLIENTS, 1, 65536,
                                 65536, 0, NULL);
  if (pipe == INVALID_HANDLE_VALUE) {
    bench_die("CreateNamedPipeW", GetLastError());
  }
  HANDLE event = new_event();
  OVERLAPPED overlapped = {.hEvent = event};
  DWORD unused = 0;
  if (!ConnectNamedPipe(pipe, &overlapped)) {
    DWORD error = GetLastError();
    if (error != ERROR_PIPE_CONNECTED &&
        (error != ERROR_IO_PENDING || !GetOverlappedResult(pipe, &overlapped, &unused, TRUE))) {
      bench_die("ConnectNamedPipe", GetLastError());
    }
  }
  char message[MESSAGE_BYTES];
  while (transfer(pipe, event, false, message) && transfer(pipe, event, true, message)) {
  }
  CloseHandle(event);
  CloseHandle(pipe);
}

static HANDLE connect_patiently(void) {
  for (int attempt = 0; attempt < 500; attempt++) {
    HANDLE pipe = CreateFileW(pipe_name_w, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                              FILE_FLAG_OVERLAPPED, NULL);
    if (pipe != INVALID_HANDLE_VALUE) {
      return pipe;
    }
    Sleep(10);
  }
  bench_die("nobody serves the echo pipe", ERROR_FILE_NOT_FOUND);
}

static void call(size_t count) {
  HANDLE pipe = connect_patiently();
  HANDLE event = new_event();
  double *samples_us = bench_samples(count);
  char message[MESSAGE_BYTES] = "echo";
  for (size_t i = 0; i < WARM_UP_CALLS + count; i++) {
    double start_us = bench_now_us();
    if (!transfer(pipe, event, true, message) || !transfer(pipe, event, false, message)) {
      bench_die("the echo broke off", GetLastError());
    }
    if (i >= WARM_UP_CALLS) {
      samples_us[i - WARM_UP_CALLS] = bench_now_us() - start_us;
    }
  }
  bench_print_percentiles("echo", samples_us, count);
  free(samples_us);
  CloseHandle(event);
  CloseHandle(pipe);
}

int wmain(int argc, wchar_t **argv);

int wmain(int argc, wchar_t **argv) {
  if (argc == 2 && wcscmp(argv[1], L"serve") == 0) {
    serve();
    return EXIT_SUCCESS;
  }
  unsigned long count = argc == 3 && wcscmp(argv[1], L"call") == 0 ? wcstoul(argv[2], NULL, 10) : 0;
  if (count == 0) {
    fprintf(stderr, "usage: pipe_echo serve | call COUNT\n");
    return 2;
  }
  call(count);
  return EXIT_SUCCESS;
}
