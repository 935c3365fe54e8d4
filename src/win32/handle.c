/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/handle.h"

void csi_handle_close(HANDLE *handle) {
  HANDLE closing = *handle;
  *handle = NULL;
  if (closing == NULL || closing == INVALID_HANDLE_VALUE) return;
  DWORD error = GetLastError();
  CloseHandle(closing);
  SetLastError(error);
}
