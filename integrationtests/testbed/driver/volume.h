/* SPDX-License-Identifier: Apache-2.0
 *
 * The volumes, one for each partition that Windows would make one of. Functions are called with the lock
 * held.
 */
#ifndef VDISK_VOLUME_H
#define VDISK_VOLUME_H

#include "boot_sector.h"
#include "call.h"
#include "disk.h"
#include "object.h"

enum { VDISK_UNIQUE_ID_LIMIT_BYTES = 24 };

struct vdisk_volume {
  struct vdisk_object object; /* first: a volume is an object */
  LIST_ENTRY link;            /* of its disk's */
  struct vdisk_disk *disk;
  enum vdisk_style style;
  struct vdisk_partition partition; /* as of the last look at the table */
  uint32_t device_number;           /* \Device\HarddiskVolumeN */
  bool has_arrived;
  bool is_offline; /* IOCTL_VOLUME_OFFLINE */
  char letter;     /* 0: none */
  uint64_t used_bytes;
  struct vdisk_task arrival;
};

/* Makes the volumes fit the disk's partitions and whether it is online: new ones arrive after the disk's
 * delay, others go. */
void vdisk_volumes_update(struct vdisk_disk *disk);

/* Takes away or gives back the names by which the volume can be opened. */
void vdisk_volume_hide(struct vdisk_volume *volume, bool is_hidden);

/* All volumes of the disk go. */
void vdisk_volumes_remove(struct vdisk_disk *disk);

/* True when no volume of the disk is still to arrive. */
bool vdisk_volumes_have_arrived(const struct vdisk_disk *disk);

/* The arrived volumes of all disks: the one after volume, the first for NULL; NULL after the last. */
struct vdisk_volume *vdisk_volume_next(const struct vdisk_volume *volume);

/* The arrived volume with this GUID; NULL when there is none. */
struct vdisk_volume *vdisk_volume_find(const uint8_t guid[16]);

/* Where it lies on its disk. */
uint64_t vdisk_volume_offset_bytes(const struct vdisk_volume *volume);
uint64_t vdisk_volume_length_bytes(const struct vdisk_volume *volume);

/* Its names: \Device\HarddiskVolumeN and \??\Volume{guid}, as text of its own. */
enum { VDISK_VOLUME_NAME_LIMIT = 64 };
void vdisk_volume_device_name(const struct vdisk_volume *volume, char name_out[VDISK_VOLUME_NAME_LIMIT]);
void vdisk_volume_link_name(const struct vdisk_volume *volume, char name_out[VDISK_VOLUME_NAME_LIMIT]);

/* What the mount manager remembers it by. Returns the length in bytes. */
size_t vdisk_volume_unique_id(const struct vdisk_volume *volume, uint8_t id_out[VDISK_UNIQUE_ID_LIMIT_BYTES]);

/* Gives it a drive letter, or takes it away (0): \??\X: leads to the volume. */
void vdisk_volume_set_letter(struct vdisk_volume *volume, char letter);

/* Reads the boot sector. An error for a volume that is offline or cannot be read. */
NTSTATUS vdisk_volume_boot(struct vdisk_volume *volume, struct vdisk_boot *boot_out);

/* The same, as a file system driver that mounts it: STATUS_UNRECOGNIZED_VOLUME unless it is NTFS or ReFS. */
NTSTATUS vdisk_volume_mount(struct vdisk_volume *volume, struct vdisk_boot *boot_out);

/* Changes both copies of the boot sector. label is UTF-8. */
NTSTATUS vdisk_volume_set_sector_count(struct vdisk_volume *volume, const struct vdisk_boot *boot,
                                       uint64_t sector_count);
NTSTATUS vdisk_volume_set_label(struct vdisk_volume *volume, const char *label);

/* Bytes of the file system that are free: without what `volume set` says is used. */
uint64_t vdisk_volume_free_bytes(const struct vdisk_volume *volume, const struct vdisk_boot *boot);

/* Answers a call on a volume; QUERY_VOLUME; a request to its file system, with STATUS_INVALID_DEVICE_REQUEST
 * for what is none. */
NTSTATUS vdisk_volume_serve(struct vdisk_call *call);
NTSTATUS vdisk_volume_query(struct vdisk_volume *volume, struct vdisk_call *call);
NTSTATUS vdisk_volume_serve_fsctl(struct vdisk_volume *volume, struct vdisk_call *call);

#endif
