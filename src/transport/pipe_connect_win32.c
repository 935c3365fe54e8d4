/* SPDX-License-Identifier: Apache-2.0
 *
 * The client's end: opens a pipe, waits while all instances are busy.
 */
#include <winsock2.h>

#include <windows.h>

#include "transport/pipe_win32.h"
#include "transport/transport.h"

/* The longest single wait: an instance may be missing altogether for a moment, between two of them. */
enum { BUSY_WAIT_MS = 50 };

static HANDLE open_pipe(const char *endpoint, uint32_t timeout_ms, struct csi_status *status) {
  wchar_t path_w[257];
  if (!csi_pipe_path_w(endpoint, path_w, ARRAYSIZE(path_w), status)) return INVALID_HANDLE_VALUE;
  ULONGLONG give_up_ms = GetTickCount64() + timeout_ms;
  for (;;) {
    /* Identification level: the service may see who calls, and cannot act in the caller's name. */
    HANDLE pipe = CreateFileW(path_w, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                              FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, NULL);
    if (pipe != INVALID_HANDLE_VALUE) return pipe;
    DWORD error = GetLastError();
    if (error != ERROR_PIPE_BUSY) {
      csi_fail_system(status, CSI_SPACE_WIN32, error, "CreateFileW", "open %s", endpoint);
      return INVALID_HANDLE_VALUE;
    }
    if (GetTickCount64() >= give_up_ms) {
      csi_fail_system(status, CSI_SPACE_WIN32, error, "CreateFileW", "open %s", endpoint);
      status->code = CSI_DEADLINE_EXCEEDED;
      return INVALID_HANDLE_VALUE;
    }
    WaitNamedPipeW(path_w, BUSY_WAIT_MS);
  }
}

grpc_channel *csi_transport_connect(const char *endpoint, uint32_t timeout_ms, const grpc_channel_args *args,
                                    struct csi_status *status) {
  if (!csi_io_engine_start(status)) return NULL;
  HANDLE pipe = open_pipe(endpoint, timeout_ms, status);
  if (pipe == INVALID_HANDLE_VALUE) return NULL;
  if (!csi_io_attach(pipe)) {
    csi_fail_system(status, CSI_SPACE_WIN32, GetLastError(), "CreateIoCompletionPort", "open %s", endpoint);
    CloseHandle(pipe);
    return NULL;
  }
  grpc_channel *channel = csi_pipe_channel(pipe, args);
  if (!channel) csi_fail(status, CSI_INTERNAL, "open %s: cannot set up HTTP/2", endpoint);
  return channel;
}
