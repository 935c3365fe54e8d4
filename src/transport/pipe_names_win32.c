/* SPDX-License-Identifier: Apache-2.0 */
#include <winsock2.h>

#include <windows.h>

#include <stdio.h>

#include "transport/pipe_win32.h"
#include "transport/transport.h"

bool csi_pipe_path_w(const char *path, wchar_t *path_w, size_t size, struct csi_status *status) {
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, path_w, (int)size)) return true;
  return csi_fail_system(status, CSI_SPACE_WIN32, GetLastError(), "MultiByteToWideChar", "pipe name %s",
                         path);
}

bool csi_transport_needs_polling(void) {
  return false;
}
