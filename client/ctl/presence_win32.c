/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include "client/ctl/connection.h"

enum {
  NAME_UNITS = 257,
  SHORTEST_WAIT_MS = 1, /* 0 would be the pipe's own default */
};

/* Waiting for an instance asks the pipe's name, and takes no instance. A pipe whose instances are all busy,
 * or that refuses the caller, is there as well. */
bool csi_pipe_is_present(const char *name) {
  wchar_t name_w[NAME_UNITS];
  if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, name_w, NAME_UNITS)) return false;
  if (WaitNamedPipeW(name_w, SHORTEST_WAIT_MS)) return true;
  DWORD error = GetLastError();
  return error == ERROR_SEM_TIMEOUT || error == ERROR_PIPE_BUSY || error == ERROR_ACCESS_DENIED;
}
