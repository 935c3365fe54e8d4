/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/mount_manager.h"

#include <windows.h>

#include <stdlib.h>
#include <string.h>

#include "win32/handle.h"
#include "win32/nt.h"
#include "win32/storage_ioctl.h"

/* MOUNTMGR_VOLUME_MOUNT_POINT: offsets and lengths in bytes, the names behind it. */
struct mount_point {
  USHORT folder_offset;
  USHORT folder_bytes;
  USHORT volume_offset;
  USHORT volume_bytes;
};

static uint32_t tell(DWORD code, const wchar_t *folder_w, const wchar_t *volume_w) {
  size_t folder_bytes = wcslen(folder_w) * sizeof *folder_w;
  size_t volume_bytes = wcslen(volume_w) * sizeof *volume_w;
  size_t bytes = sizeof(struct mount_point) + folder_bytes + volume_bytes;
  if (bytes > UINT16_MAX) return ERROR_FILENAME_EXCED_RANGE;
  uint8_t *request = malloc(bytes);
  if (request == NULL) return ERROR_NOT_ENOUGH_MEMORY;
  struct mount_point point = {
      .folder_offset = sizeof point,
      .folder_bytes = (USHORT)folder_bytes,
      .volume_offset = (USHORT)(sizeof point + folder_bytes),
      .volume_bytes = (USHORT)volume_bytes,
  };
  memcpy(request, &point, sizeof point);
  memcpy(request + point.folder_offset, folder_w, folder_bytes);
  memcpy(request + point.volume_offset, volume_w, volume_bytes);

  DWORD error = ERROR_SUCCESS, returned;
  CSI_SCOPED_HANDLE manager = CreateFileW(L"\\\\.\\MountPointManager", GENERIC_READ | GENERIC_WRITE,
                                          FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
  if (manager == INVALID_HANDLE_VALUE ||
      !DeviceIoControl(manager, code, request, (DWORD)bytes, NULL, 0, &returned, NULL))
    error = GetLastError();
  free(request);
  return error;
}

uint32_t csi_mount_manager_remember_folder(const wchar_t *folder_w, const wchar_t *volume_w) {
  return tell(IOCTL_MOUNTMGR_VOLUME_MOUNT_POINT_CREATED, folder_w, volume_w);
}

uint32_t csi_mount_manager_forget_folder(const wchar_t *folder_w, const wchar_t *volume_w) {
  return tell(IOCTL_MOUNTMGR_VOLUME_MOUNT_POINT_DELETED, folder_w, volume_w);
}
