/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include <stdint.h>
#include <string.h>
#include <wchar.h>
#include <winioctl.h>

#include "show.h"

enum {
  PATHS_UNITS = 4096,
  NAME_UNITS = 64, /* \\?\Volume{GUID}\ and some more */
};

static void show_file_system(struct vdisk_text *reply, const wchar_t *name_w) {
  wchar_t label_w[MAX_PATH], file_system_w[MAX_PATH];
  if (!GetVolumeInformationW(name_w, label_w, ARRAYSIZE(label_w), NULL, NULL, NULL, file_system_w,
                             ARRAYSIZE(file_system_w))) {
    csi_show_add_error(reply, "fs");
    return;
  }
  csi_show_add_wide(reply, "fs", file_system_w);
  csi_show_add_wide(reply, "label", label_w);
  ULARGE_INTEGER total, free;
  if (GetDiskFreeSpaceExW(name_w, NULL, &total, &free)) {
    vdisk_text_add_number_word(reply, "total", total.QuadPart);
    vdisk_text_add_number_word(reply, "free", free.QuadPart);
  } else {
    csi_show_add_error(reply, "total");
  }
}

static void show_paths(struct vdisk_text *reply, const wchar_t *name_w) {
  wchar_t paths_w[PATHS_UNITS];
  DWORD units;
  if (!GetVolumePathNamesForVolumeNameW(name_w, paths_w, ARRAYSIZE(paths_w), &units)) {
    csi_show_add_error(reply, "path");
    return;
  }
  for (const wchar_t *path_w = paths_w; *path_w != L'\0'; path_w += wcslen(path_w) + 1)
    csi_show_add_wide(reply, "path", path_w);
}

static void show_extents(struct vdisk_text *reply, HANDLE volume) {
  VOLUME_DISK_EXTENTS extents;
  DWORD returned;
  if (!DeviceIoControl(volume, IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS, NULL, 0, &extents, sizeof extents,
                       &returned, NULL)) {
    csi_show_add_error(reply, "offset");
    return;
  }
  vdisk_text_add_number_word(reply, "extents", extents.NumberOfDiskExtents);
  vdisk_text_add_number_word(reply, "extent-disk", extents.Extents[0].DiskNumber);
  vdisk_text_add_number_word(reply, "offset", (uint64_t)extents.Extents[0].StartingOffset.QuadPart);
  vdisk_text_add_number_word(reply, "length", (uint64_t)extents.Extents[0].ExtentLength.QuadPart);
}

/* Wine's own volumes, the drives it makes of Unix directories, have no number that means anything; ours are
 * on disks from 1. */
static bool show_number(struct vdisk_text *reply, HANDLE volume) {
  STORAGE_DEVICE_NUMBER number;
  DWORD returned;
  if (!DeviceIoControl(volume, IOCTL_STORAGE_GET_DEVICE_NUMBER, NULL, 0, &number, sizeof number, &returned,
                       NULL) ||
      number.DeviceType != FILE_DEVICE_DISK || number.DeviceNumber == 0) {
    return false;
  }
  vdisk_text_add_number_word(reply, "disk", number.DeviceNumber);
  vdisk_text_add_number_word(reply, "partition", number.PartitionNumber);
  return true;
}

static void show_volume(struct vdisk_text *reply, const wchar_t *name_w) {
  wchar_t device_w[NAME_UNITS];
  wcsncpy(device_w, name_w, NAME_UNITS - 1);
  device_w[NAME_UNITS - 1] = L'\0';
  device_w[wcslen(device_w) - 1] = L'\0'; /* the device, and not its root directory */
  HANDLE volume = CreateFileW(device_w, 0, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
  if (volume == INVALID_HANDLE_VALUE) return;
  if (show_number(reply, volume)) {
    csi_show_add_wide(reply, "name", name_w);
    show_extents(reply, volume);
    show_file_system(reply, name_w);
    show_paths(reply, name_w);
    vdisk_text_add(reply, "\n");
  }
  CloseHandle(volume);
}

bool csi_show_volumes(struct vdisk_text *reply, struct csi_ctl_error *error) {
  wchar_t name_w[NAME_UNITS];
  HANDLE search = FindFirstVolumeW(name_w, ARRAYSIZE(name_w));
  if (search == INVALID_HANDLE_VALUE)
    return csi_ctl_fail_win32(error, GetLastError(), "FindFirstVolumeW failed");
  do {
    show_volume(reply, name_w);
  } while (FindNextVolumeW(search, name_w, ARRAYSIZE(name_w)));
  FindVolumeClose(search);
  return true;
}
