/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/process_image.h"

#include <windows.h>

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
