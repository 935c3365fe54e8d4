/* SPDX-License-Identifier: Apache-2.0 */
#include "physical_disk.h"

#include <stdio.h>

enum {
  PATH_UNITS = 40,
};

static bool read_number(struct vdisk_words *words, uint32_t *number_out, struct csi_ctl_error *error) {
  const char *text = vdisk_words_value(words, "disk");
  uint64_t number;
  if (text == NULL) return csi_ctl_fail(error, "disk=N is missing");
  if (!vdisk_number_parse(text, &number) || number > UINT32_MAX)
    return csi_ctl_fail(error, "disk=%s is no disk number", text);
  *number_out = (uint32_t)number;
  return true;
}

static bool read_geometry(struct csi_physical_disk *disk, struct csi_ctl_error *error) {
  DISK_GEOMETRY_EX geometry;
  if (!csi_physical_disk_control(disk, IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, "IOCTL_DISK_GET_DRIVE_GEOMETRY_EX",
                                 NULL, 0, &geometry, sizeof geometry, error)) {
    return false;
  }
  disk->sector_bytes = geometry.Geometry.BytesPerSector;
  disk->size_bytes = (uint64_t)geometry.DiskSize.QuadPart;
  if (disk->sector_bytes != 512 && disk->sector_bytes != 4096)
    return csi_ctl_fail(error, "disk %u has sectors of %u bytes", disk->number, disk->sector_bytes);
  return true;
}

bool csi_physical_disk_open(struct vdisk_words *words, struct csi_physical_disk *disk_out,
                            struct csi_ctl_error *error) {
  *disk_out = (struct csi_physical_disk){.device = INVALID_HANDLE_VALUE};
  if (!read_number(words, &disk_out->number, error)) return false;
  wchar_t path_w[PATH_UNITS];
  _snwprintf(path_w, PATH_UNITS, L"\\\\.\\PhysicalDrive%u", disk_out->number);
  disk_out->device = CreateFileW(path_w, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                 NULL, OPEN_EXISTING, 0, NULL);
  if (disk_out->device == INVALID_HANDLE_VALUE)
    return csi_ctl_fail_win32(error, GetLastError(), "%ls cannot be opened", path_w);
  return read_geometry(disk_out, error);
}

void csi_physical_disk_close(struct csi_physical_disk *disk) {
  if (disk->device != NULL && disk->device != INVALID_HANDLE_VALUE) CloseHandle(disk->device);
  disk->device = INVALID_HANDLE_VALUE;
}

bool csi_physical_disk_control(const struct csi_physical_disk *disk, DWORD code, const char *name,
                               const void *in, size_t in_bytes, void *out, size_t out_bytes,
                               struct csi_ctl_error *error) {
  DWORD returned = 0;
  if (DeviceIoControl(disk->device, code, (void *)in, (DWORD)in_bytes, out, (DWORD)out_bytes, &returned,
                      NULL))
    return true;
  return csi_ctl_fail_win32(error, GetLastError(), "%s on disk %u failed", name, disk->number);
}

bool csi_physical_disk_layout(const struct csi_physical_disk *disk, union csi_drive_layout *layout_out,
                              struct csi_ctl_error *error) {
  return csi_physical_disk_control(disk, IOCTL_DISK_GET_DRIVE_LAYOUT_EX, "IOCTL_DISK_GET_DRIVE_LAYOUT_EX",
                                   NULL, 0, layout_out, sizeof *layout_out, error);
}

bool csi_physical_disk_write(const struct csi_physical_disk *disk, uint64_t offset_bytes, const void *bytes,
                             size_t size_bytes, struct csi_ctl_error *error) {
  OVERLAPPED at = {.Offset = (DWORD)offset_bytes, .OffsetHigh = (DWORD)(offset_bytes >> 32)};
  DWORD written = 0;
  if (!WriteFile(disk->device, bytes, (DWORD)size_bytes, &written, &at)) {
    return csi_ctl_fail_win32(error, GetLastError(), "writing %zu bytes at %llu of disk %u failed",
                              size_bytes, (unsigned long long)offset_bytes, disk->number);
  }
  return true;
}
