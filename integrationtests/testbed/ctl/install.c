/* SPDX-License-Identifier: Apache-2.0 */
#include "install.h"

#include <windows.h>

#include <setupapi.h>

#include <newdev.h>
#include <winioctl.h>
#include <winsvc.h>

#include "testbed.h"

enum {
  SERVICE_WAIT_MS = 20 * 1000,
  SERVICE_POLL_MS = 10,
  HARDWARE_ID_UNITS = 200,
};

/* The set-up class of storage adapters, as the .inf has it. */
static const GUID adapter_class = {
    0x4d36e97b, 0xe325, 0x11ce, {0xbf, 0xc1, 0x08, 0x00, 0x2b, 0xe1, 0x03, 0x18}};

static void destroy_device_list(HDEVINFO *list) {
  if (*list != INVALID_HANDLE_VALUE) SetupDiDestroyDeviceInfoList(*list);
}

static void close_service(SC_HANDLE *handle) {
  if (*handle != NULL) CloseServiceHandle(*handle);
}

#define SCOPED_DEVICE_LIST __attribute__((cleanup(destroy_device_list))) HDEVINFO
#define SCOPED_SERVICE __attribute__((cleanup(close_service))) SC_HANDLE

/* Leaves the root device in *device_out. list: all devices of the class. */
static bool find_root_device(HDEVINFO list, SP_DEVINFO_DATA *device_out) {
  for (DWORD i = 0;; i++) {
    *device_out = (SP_DEVINFO_DATA){.cbSize = sizeof *device_out};
    if (!SetupDiEnumDeviceInfo(list, i, device_out)) return false;
    wchar_t hardware_id_w[HARDWARE_ID_UNITS + 2] = L"";
    if (SetupDiGetDeviceRegistryPropertyW(list, device_out, SPDRP_HARDWAREID, NULL, (BYTE *)hardware_id_w,
                                          HARDWARE_ID_UNITS * sizeof(wchar_t), NULL) &&
        lstrcmpiW(hardware_id_w, CSI_TESTBED_HARDWARE_ID) == 0) {
      return true;
    }
  }
}

static bool make_root_device(struct csi_ctl_error *error) {
  SCOPED_DEVICE_LIST list = SetupDiCreateDeviceInfoList(&adapter_class, NULL);
  if (list == INVALID_HANDLE_VALUE)
    return csi_ctl_fail_win32(error, GetLastError(), "SetupDiCreateDeviceInfoList failed");
  SP_DEVINFO_DATA device = {.cbSize = sizeof device};
  if (!SetupDiCreateDeviceInfoW(list, CSI_TESTBED_DEVICE_INSTANCE, &adapter_class, NULL, NULL, 0, &device))
    return csi_ctl_fail_win32(error, GetLastError(), "SetupDiCreateDeviceInfo failed");
  /* A list of strings: with the NUL that ends it. */
  static const wchar_t hardware_ids_w[] = CSI_TESTBED_HARDWARE_ID L"\0";
  if (!SetupDiSetDeviceRegistryPropertyW(list, &device, SPDRP_HARDWAREID, (const BYTE *)hardware_ids_w,
                                         sizeof hardware_ids_w)) {
    return csi_ctl_fail_win32(error, GetLastError(), "the device's hardware id cannot be set");
  }
  if (!SetupDiCallClassInstaller(DIF_REGISTERDEVICE, list, &device))
    return csi_ctl_fail_win32(error, GetLastError(), "the device cannot be registered");
  return true;
}

static SC_HANDLE open_driver_service(SC_HANDLE manager, DWORD access) {
  return OpenServiceW(manager, CSI_TESTBED_SERVICE, access);
}

/* Waits until the driver's service is in `wanted`. */
static bool wait_for_state(SC_HANDLE service, DWORD wanted, struct csi_ctl_error *error) {
  ULONGLONG end_ms = GetTickCount64() + SERVICE_WAIT_MS;
  SERVICE_STATUS status = {0};
  for (;;) {
    if (!QueryServiceStatus(service, &status))
      return csi_ctl_fail_win32(error, GetLastError(), "the driver's state cannot be read");
    if (status.dwCurrentState == wanted) return true;
    if (GetTickCount64() > end_ms)
      return csi_ctl_fail(error, "the driver is in state %lu and not in %lu", status.dwCurrentState, wanted);
    Sleep(SERVICE_POLL_MS);
  }
}

static bool wait_until_it_runs(struct csi_ctl_error *error) {
  SCOPED_SERVICE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
  if (manager == NULL) return csi_ctl_fail_win32(error, GetLastError(), "there is no service manager");
  SCOPED_SERVICE service = open_driver_service(manager, SERVICE_QUERY_STATUS);
  if (service == NULL) return csi_ctl_fail_win32(error, GetLastError(), "the driver's service is not there");
  return wait_for_state(service, SERVICE_RUNNING, error);
}

bool csi_testbed_install(const wchar_t *directory_w, struct csi_ctl_error *error) {
  wchar_t inf_w[MAX_PATH];
  wchar_t name_w[MAX_PATH];
  DWORD units = GetFullPathNameW(directory_w, ARRAYSIZE(name_w), name_w, NULL);
  if (units == 0 || units >= ARRAYSIZE(name_w) ||
      _snwprintf(inf_w, ARRAYSIZE(inf_w), L"%ls\\%ls", name_w, L"vdisk.inf") < 0) {
    return csi_ctl_fail(error, "the path %ls is too long", directory_w);
  }
  if (GetFileAttributesW(inf_w) == INVALID_FILE_ATTRIBUTES)
    return csi_ctl_fail_win32(error, GetLastError(), "%ls", inf_w);

  SP_DEVINFO_DATA device;
  SCOPED_DEVICE_LIST list = SetupDiGetClassDevsW(&adapter_class, NULL, NULL, 0);
  bool is_there = list != INVALID_HANDLE_VALUE && find_root_device(list, &device);
  if (!is_there && !make_root_device(error)) return false;
  BOOL needs_restart = FALSE;
  if (!UpdateDriverForPlugAndPlayDevicesW(NULL, CSI_TESTBED_HARDWARE_ID, inf_w, INSTALLFLAG_FORCE,
                                          &needs_restart)) {
    return csi_ctl_fail_win32(error, GetLastError(), "the driver %ls cannot be installed", inf_w);
  }
  return wait_until_it_runs(error);
}

static void remove_disks(void) {
  struct csi_ctl_error ignored;
  const char *reply;
  struct csi_control_device *control = csi_control_open(&ignored);
  if (control == NULL) return; /* it does not run: there are none */
  (void)csi_control_send(control, "reset", &reply, &ignored);
  csi_control_close(control);
}

static bool remove_root_devices(struct csi_ctl_error *error) {
  SCOPED_DEVICE_LIST list = SetupDiGetClassDevsW(&adapter_class, NULL, NULL, 0);
  if (list == INVALID_HANDLE_VALUE)
    return csi_ctl_fail_win32(error, GetLastError(), "SetupDiGetClassDevs failed");
  SP_DEVINFO_DATA device;
  if (find_root_device(list, &device) && !SetupDiCallClassInstaller(DIF_REMOVE, list, &device))
    return csi_ctl_fail_win32(error, GetLastError(), "the device cannot be removed");
  return true;
}

bool csi_testbed_uninstall(struct csi_ctl_error *error) {
  remove_disks();
  if (!remove_root_devices(error)) return false;
  SCOPED_SERVICE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
  if (manager == NULL) return csi_ctl_fail_win32(error, GetLastError(), "there is no service manager");
  SCOPED_SERVICE service = open_driver_service(manager, SERVICE_STOP | SERVICE_QUERY_STATUS | DELETE);
  if (service == NULL) {
    DWORD reason = GetLastError();
    if (reason == ERROR_SERVICE_DOES_NOT_EXIST) return true;
    return csi_ctl_fail_win32(error, reason, "the driver's service cannot be opened");
  }
  SERVICE_STATUS status;
  ControlService(service, SERVICE_CONTROL_STOP, &status); /* fails when it is stopped already */
  if (!DeleteService(service))
    return csi_ctl_fail_win32(error, GetLastError(), "the driver's service cannot be deleted");
  return true;
}
