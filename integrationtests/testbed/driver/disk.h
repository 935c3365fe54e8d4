/* SPDX-License-Identifier: Apache-2.0
 *
 * The disks: what they are, and how they come and go. Functions are called with the lock held.
 */
#ifndef VDISK_DISK_H
#define VDISK_DISK_H

#include "backing.h"
#include "call.h"
#include "object.h"
#include "page83.h"
#include "table.h"

enum { VDISK_DISKS_MAX = 512, VDISK_NUMBER_MAX = 9999, VDISK_IDENTITY_LIMIT = 65 };

/* SCSI address. */
struct vdisk_address {
  uint8_t port;
  uint8_t path;
  uint8_t target;
  uint8_t lun;
};

/* What commands say about a disk. */
struct vdisk_disk_settings {
  uint64_t size_bytes; /* of the medium; programs see vdisk_disk.size_bytes */
  uint32_t sector_bytes;
  uint8_t bus_type; /* STORAGE_BUS_TYPE */
  bool has_serial;
  bool has_address;
  bool is_offline;
  bool is_read_only;
  bool is_removable;
  bool makes_msr;           /* CREATE_DISK makes a Microsoft reserved partition by itself */
  bool is_interface_broken; /* the device interface is listed and cannot be opened */
  uint32_t volume_delay_ms; /* from a partition's coming into being to its volume's arrival */
  struct vdisk_address address;
  char vendor[VDISK_IDENTITY_LIMIT];
  char product[VDISK_IDENTITY_LIMIT];
  char serial[VDISK_IDENTITY_LIMIT];
  struct vdisk_page83 page83;
};

struct vdisk_disk {
  struct vdisk_object object; /* first: a disk is an object */
  LIST_ENTRY link;
  struct vdisk_disk_settings settings;
  uint64_t size_bytes; /* as of the last look at the medium */
  uint32_t generation; /* which disk this is of all that were ever plugged in */
  struct vdisk_backing backing;
  struct vdisk_table table;
  LIST_ENTRY volumes;            /* struct vdisk_volume; kept by volume.c */
  HANDLE directory;              /* \Device\HarddiskN */
  UNICODE_STRING interface_name; /* changed by plug and play only */
  bool is_reported;              /* plug and play knows it */
  bool is_started;
};

/* Plugs in a disk with its medium in the file, C:\disk.img or the like. After an error nothing is left. */
NTSTATUS vdisk_disk_add(uint32_t number, const struct vdisk_disk_settings *settings, const char *path,
                        struct vdisk_disk **disk_out);

/* Pulls the disk out: its calls end, its names go. Plug and play hears of it afterwards. */
void vdisk_disk_pull(struct vdisk_disk *disk);

/* Takes away or gives back the names by which the disk can be opened, its interface's as the settings say. */
void vdisk_disk_hide(struct vdisk_disk *disk, bool is_hidden);

/* Plug and play has started the disk; has removed it. */
void vdisk_disk_started(struct vdisk_disk *disk);
void vdisk_disk_removed(struct vdisk_disk *disk);

/* The disk with this number, NULL when there is none. */
struct vdisk_disk *vdisk_disk_find(uint32_t number);

/* All disks that are plugged in: the one after disk, the first for NULL; NULL after the last. */
struct vdisk_disk *vdisk_disk_next(const struct vdisk_disk *disk);
uint32_t vdisk_disk_count(void);

/* How many disks plug and play has not yet let go, those pulled out included. */
uint32_t vdisk_disks_known(void);

/* Makes the medium larger. Programs see it after vdisk_disk_refresh(). */
NTSTATUS vdisk_disk_grow(struct vdisk_disk *disk, uint64_t size_bytes);

/* Looks at the medium again: its size and its partitions. */
NTSTATUS vdisk_disk_refresh(struct vdisk_disk *disk);

/* Reads or writes whole sectors for a program. STATUS_INVALID_PARAMETER for parts of sectors; from beyond the
 * end of the disk STATUS_NONEXISTENT_SECTOR. */
NTSTATUS vdisk_disk_transfer(struct vdisk_disk *disk, struct vdisk_call *call);

/* STATUS_SUCCESS when the medium may be written to; why not otherwise. */
NTSTATUS vdisk_disk_check_writable(const struct vdisk_disk *disk);

/* Writes the table to the medium and makes it the disk's; volumes come and go accordingly. */
NTSTATUS vdisk_disk_set_table(struct vdisk_disk *disk, const struct vdisk_table *table);

/* Writes the table that the disk has. */
NTSTATUS vdisk_disk_write_table(struct vdisk_disk *disk);

/* The medium as its partition table sees it. */
struct vdisk_sectors vdisk_disk_sectors(struct vdisk_disk *disk);

/* Answers a call on a disk. */
NTSTATUS vdisk_disk_serve(struct vdisk_call *call);

/* Answers the control requests about partitions. STATUS_INVALID_DEVICE_REQUEST for any other. */
NTSTATUS vdisk_disk_serve_layout(struct vdisk_disk *disk, struct vdisk_call *call);

/* Answers STORAGE_QUERY_PROPERTY. */
NTSTATUS vdisk_disk_query_property(const struct vdisk_disk *disk, struct vdisk_call *call);

#endif
