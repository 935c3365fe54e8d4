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

void csi_process_image_path(uint32_t process_id, char *path, size_t size_bytes) {
  path[0] = '\0';
  HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process_id);
  if (!process) return;
  wchar_t path_w[1024];
  DWORD length = ARRAYSIZE(path_w);
  if (!QueryFullProcessImageNameW(process, 0, path_w, &length) ||
      !WideCharToMultiByte(CP_UTF8, 0, path_w, -1, path, (int)size_bytes, NULL, NULL)) {
    path[0] = '\0';
  }
  CloseHandle(process);
}

void csi_pipe_peer_text(uint32_t process_id, char *text, size_t size_bytes) {
  char image_path[1024];
  csi_process_image_path(process_id, image_path, sizeof image_path);
  snprintf(text, size_bytes, "pipe:%u:%s", (unsigned)process_id, image_path);
}

bool csi_transport_needs_polling(void) {
  return false;
}
