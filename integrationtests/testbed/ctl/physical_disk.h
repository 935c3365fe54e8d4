/* SPDX-License-Identifier: Apache-2.0
 *
 * An open \\.\PhysicalDriveN and what the tool needs to know of it.
 */
#ifndef CSI_TESTBED_CTL_PHYSICAL_DISK_H
#define CSI_TESTBED_CTL_PHYSICAL_DISK_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>
#include <winioctl.h>

#include "control.h"
#include "driver/words.h"

enum {
  CSI_LAYOUT_ENTRIES_MAX = 128,
};

/* A DRIVE_LAYOUT_INFORMATION_EX with room for every entry a GPT usually has. */
union csi_drive_layout {
  DRIVE_LAYOUT_INFORMATION_EX header;
  uint8_t bytes[sizeof(DRIVE_LAYOUT_INFORMATION_EX) +
                (CSI_LAYOUT_ENTRIES_MAX - 1) * sizeof(PARTITION_INFORMATION_EX)];
};

struct csi_physical_disk {
  HANDLE device;
  uint32_t number;
  uint32_t sector_bytes;
  uint64_t size_bytes;
};

/* Opens the disk that the word `disk=N` names. Close it with csi_physical_disk_close(). */
bool csi_physical_disk_open(struct vdisk_words *words, struct csi_physical_disk *disk_out,
                            struct csi_ctl_error *error);
void csi_physical_disk_close(struct csi_physical_disk *disk);

/* DeviceIoControl() whose failure names the call and the disk. */
bool csi_physical_disk_control(const struct csi_physical_disk *disk, DWORD code, const char *name,
                               const void *in, size_t in_bytes, void *out, size_t out_bytes,
                               struct csi_ctl_error *error);

bool csi_physical_disk_layout(const struct csi_physical_disk *disk, union csi_drive_layout *layout_out,
                              struct csi_ctl_error *error);

/* offset_bytes and size_bytes: multiples of the sector size. */
bool csi_physical_disk_write(const struct csi_physical_disk *disk, uint64_t offset_bytes, const void *bytes,
                             size_t size_bytes, struct csi_ctl_error *error);

#define CSI_SCOPED_PHYSICAL_DISK __attribute__((cleanup(csi_physical_disk_close))) struct csi_physical_disk

#endif
