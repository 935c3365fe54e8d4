/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's headers, and what mingw's lack of them.
 */
#ifndef VDISK_NT_H
#define VDISK_NT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntifs.h>

#include <mountdev.h>
#include <mountmgr.h>
#include <ntdddisk.h>
#include <ntddscsi.h>
#include <ntddstor.h>
#include <ntddvol.h>

#define IOCTL_DISK_GET_DISK_ATTRIBUTES CTL_CODE(IOCTL_DISK_BASE, 0x3c, METHOD_BUFFERED, FILE_ANY_ACCESS)
#define IOCTL_DISK_SET_DISK_ATTRIBUTES                                                                       \
  CTL_CODE(IOCTL_DISK_BASE, 0x3d, METHOD_BUFFERED, FILE_READ_ACCESS | FILE_WRITE_ACCESS)
#define IOCTL_DISK_ARE_VOLUMES_READY CTL_CODE(IOCTL_DISK_BASE, 0x87, METHOD_BUFFERED, FILE_READ_ACCESS)
#define IOCTL_STORAGE_GET_DEVICE_NUMBER_EX                                                                   \
  CTL_CODE(IOCTL_STORAGE_BASE, 0x421, METHOD_BUFFERED, FILE_ANY_ACCESS)
#define IOCTL_VOLUME_POST_ONLINE                                                                             \
  CTL_CODE(IOCTL_VOLUME_BASE, 25, METHOD_BUFFERED, FILE_READ_ACCESS | FILE_WRITE_ACCESS)
#define FSCTL_GET_REFS_VOLUME_DATA CTL_CODE(FILE_DEVICE_FILE_SYSTEM, 182, METHOD_BUFFERED, FILE_ANY_ACCESS)

/* mingw's lacks the access it asks for. */
#undef IOCTL_VOLUME_SET_GPT_ATTRIBUTES
#define IOCTL_VOLUME_SET_GPT_ATTRIBUTES                                                                      \
  CTL_CODE(IOCTL_VOLUME_BASE, 13, METHOD_BUFFERED, FILE_READ_ACCESS | FILE_WRITE_ACCESS)

#define DISK_ATTRIBUTE_OFFLINE 1ull
#define DISK_ATTRIBUTE_READ_ONLY 2ull

#ifndef STATUS_FVE_LOCKED_VOLUME
#define STATUS_FVE_LOCKED_VOLUME ((NTSTATUS)0xC0210000)
#endif

/* CREATE_DISK; the variant by its style. */
struct vdisk_create_disk {
  ULONG style;
  union {
    ULONG mbr_signature;
    struct {
      GUID disk_id;
      ULONG partition_limit;
    } gpt;
  };
};

struct vdisk_get_disk_attributes {
  ULONG version;
  ULONG reserved;
  ULONGLONG attributes;
};

struct vdisk_set_disk_attributes {
  ULONG version;
  BOOLEAN persist;
  UCHAR reserved1[3];
  ULONGLONG attributes;
  ULONGLONG attributes_mask;
  ULONG reserved2[4];
};

struct vdisk_device_number_ex {
  ULONG version;
  ULONG size;
  ULONG flags;
  ULONG device_type;
  ULONG device_number;
  GUID device_guid;
  ULONG partition_number;
};

struct vdisk_refs_volume_data {
  ULONG byte_count;
  ULONG major_version;
  ULONG minor_version;
  ULONG bytes_per_physical_sector;
  LARGE_INTEGER volume_serial_number;
  LARGE_INTEGER number_sectors;
  LARGE_INTEGER total_clusters;
  LARGE_INTEGER free_clusters;
  LARGE_INTEGER total_reserved;
  ULONG bytes_per_sector;
  ULONG bytes_per_cluster;
  LARGE_INTEGER maximum_size_of_resident_file;
  USHORT fast_tier_data_fill_ratio;
  USHORT slow_tier_data_fill_ratio;
  ULONG destages_fast_tier_to_slow_tier_rate;
  USHORT metadata_checksum_type;
  UCHAR reserved0[6];
  ULONG driver_major_version;
  ULONG driver_minor_version;
  UCHAR reserved1[6 * sizeof(LARGE_INTEGER)];
};

#define VDISK_POOL_TAG 0x6b736476u /* 'vdsk' */

#endif
