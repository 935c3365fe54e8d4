/* SPDX-License-Identifier: Apache-2.0
 *
 * Control codes and structures of storage devices that mingw's headers lack, or have for drivers only.
 */
#ifndef CSI_WIN32_STORAGE_IOCTL_H
#define CSI_WIN32_STORAGE_IOCTL_H

#include <windows.h>

#include <winioctl.h>

#ifndef IOCTL_DISK_GET_DISK_ATTRIBUTES
#define IOCTL_DISK_GET_DISK_ATTRIBUTES CTL_CODE(IOCTL_DISK_BASE, 0x003c, METHOD_BUFFERED, FILE_ANY_ACCESS)
#define IOCTL_DISK_SET_DISK_ATTRIBUTES                                                                       \
  CTL_CODE(IOCTL_DISK_BASE, 0x003d, METHOD_BUFFERED, FILE_READ_ACCESS | FILE_WRITE_ACCESS)

typedef struct _GET_DISK_ATTRIBUTES {
  DWORD Version; /* size of the structure */
  DWORD Reserved1;
  DWORDLONG Attributes;
} GET_DISK_ATTRIBUTES;

typedef struct _SET_DISK_ATTRIBUTES {
  DWORD Version; /* size of the structure */
  BOOLEAN Persist;
  BYTE Reserved1[3];
  DWORDLONG Attributes;
  DWORDLONG AttributesMask;
  DWORD Reserved2[4];
} SET_DISK_ATTRIBUTES;
#endif

/* Completes when all volumes of the disk have arrived. Windows 8 and later. */
#ifndef IOCTL_DISK_ARE_VOLUMES_READY
#define IOCTL_DISK_ARE_VOLUMES_READY CTL_CODE(IOCTL_DISK_BASE, 0x0087, METHOD_BUFFERED, FILE_READ_ACCESS)
#endif

#ifndef IOCTL_SCSI_RESCAN_BUS
#define IOCTL_SCSI_RESCAN_BUS CTL_CODE(FILE_DEVICE_CONTROLLER, 0x0407, METHOD_BUFFERED, FILE_ANY_ACCESS)
#endif
#ifndef IOCTL_SCSI_GET_ADDRESS
#define IOCTL_SCSI_GET_ADDRESS CTL_CODE(FILE_DEVICE_CONTROLLER, 0x0406, METHOD_BUFFERED, FILE_ANY_ACCESS)

typedef struct _SCSI_ADDRESS {
  ULONG Length; /* size of the structure */
  UCHAR PortNumber;
  UCHAR PathId;
  UCHAR TargetId;
  UCHAR Lun;
} SCSI_ADDRESS;
#endif

#ifndef IOCTL_MOUNTDEV_QUERY_DEVICE_NAME
#define IOCTL_MOUNTDEV_QUERY_DEVICE_NAME CTL_CODE('M', 2, METHOD_BUFFERED, FILE_ANY_ACCESS)

typedef struct _MOUNTDEV_NAME {
  USHORT NameLength; /* bytes */
  WCHAR Name[1];
} MOUNTDEV_NAME;
#endif

#ifndef IOCTL_MOUNTMGR_QUERY_POINTS
#define IOCTL_MOUNTMGR_QUERY_POINTS CTL_CODE('m', 2, METHOD_BUFFERED, FILE_ANY_ACCESS)

/* Offsets from the beginning of the buffer, lengths in bytes; 0 = not asked for. */
typedef struct _MOUNTMGR_MOUNT_POINT {
  ULONG SymbolicLinkNameOffset;
  USHORT SymbolicLinkNameLength;
  ULONG UniqueIdOffset;
  USHORT UniqueIdLength;
  ULONG DeviceNameOffset;
  USHORT DeviceNameLength;
} MOUNTMGR_MOUNT_POINT;
#endif

#ifndef IOCTL_MOUNTMGR_VOLUME_MOUNT_POINT_CREATED
#define IOCTL_MOUNTMGR_VOLUME_MOUNT_POINT_CREATED                                                            \
  CTL_CODE('m', 6, METHOD_BUFFERED, FILE_READ_ACCESS | FILE_WRITE_ACCESS)
#define IOCTL_MOUNTMGR_VOLUME_MOUNT_POINT_DELETED                                                            \
  CTL_CODE('m', 7, METHOD_BUFFERED, FILE_READ_ACCESS | FILE_WRITE_ACCESS)
#endif

#endif
