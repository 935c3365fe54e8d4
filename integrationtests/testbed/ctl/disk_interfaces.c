/* SPDX-License-Identifier: Apache-2.0 */
#include "disk_interfaces.h"

#include <windows.h>

#include <initguid.h>
#include <setupapi.h>
#include <stdint.h>
#include <winioctl.h>

enum {
  INTERFACE_BYTES = 1024,
};

bool csi_disk_interfaces(void (*visit)(void *context, const wchar_t *path_w), void *context,
                         struct csi_ctl_error *error) {
  HDEVINFO list =
      SetupDiGetClassDevsW(&GUID_DEVINTERFACE_DISK, NULL, NULL, DIGCF_DEVICEINTERFACE | DIGCF_PRESENT);
  if (list == INVALID_HANDLE_VALUE)
    return csi_ctl_fail_win32(error, GetLastError(), "SetupDiGetClassDevs failed");
  SP_DEVICE_INTERFACE_DATA interface = {.cbSize = sizeof interface};
  for (DWORD i = 0; SetupDiEnumDeviceInterfaces(list, NULL, &GUID_DEVINTERFACE_DISK, i, &interface); i++) {
    union {
      SP_DEVICE_INTERFACE_DETAIL_DATA_W detail;
      uint8_t bytes[INTERFACE_BYTES];
    } path;
    path.detail.cbSize = sizeof path.detail;
    if (SetupDiGetDeviceInterfaceDetailW(list, &interface, &path.detail, sizeof path, NULL, NULL))
      visit(context, path.detail.DevicePath);
  }
  SetupDiDestroyDeviceInfoList(list);
  return true;
}
