/* SPDX-License-Identifier: Apache-2.0
 *
 * The disks and volumes of a node in memory, behind the host interfaces of the disk and volume groups:
 * sectors, partition tables with the rules of Windows, volumes that arrive a while after their partition
 * and vanish with it, file systems as the sectors tell them, disks that grow, break and are unplugged.
 * The root directories of the volumes are in a filesystem fake, so that mounted folders lead somewhere.
 * Tests build a scene, let handlers loose on it, and look. Any step can be told to fail, to take long, to
 * hang, or to lose the disk; the test may interfere between any two.
 *
 *   struct csi_fake_storage *storage = csi_fake_storage_new(files);
 *   csi_fake_storage_add_disk(storage, &(struct csi_fake_disk){.number = 3, .size_bytes = 1 << 30});
 *
 * Every function may be called from any thread. Scene functions abort the program when the scene is
 * impossible. What they change is there at once, but volumes, which take their disk's volume_delay_ms.
 */
#ifndef CSI_FAKENODE_STORAGE_FAKE_H
#define CSI_FAKENODE_STORAGE_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/host.h"
#include "filesystem_fake.h"
#include "volume/host.h"

struct csi_fake_storage;

/* The steps of the two host interfaces. */
enum csi_fake_step {
  CSI_FAKE_DISK_LIST,
  CSI_FAKE_DISK_OPEN, /* by path or by number */
  CSI_FAKE_DISK_GET_NUMBER,
  CSI_FAKE_DISK_GET_ADDRESS,
  CSI_FAKE_DISK_GET_IDENTIFIERS,
  CSI_FAKE_DISK_GET_DESCRIPTOR,
  CSI_FAKE_DISK_GET_GEOMETRY,
  CSI_FAKE_DISK_GET_ATTRIBUTES,
  CSI_FAKE_DISK_GET_LAYOUT,
  CSI_FAKE_DISK_SET_ATTRIBUTES,
  CSI_FAKE_DISK_UPDATE_PROPERTIES,
  CSI_FAKE_DISK_CREATE_GPT,
  CSI_FAKE_DISK_SET_LAYOUT,
  CSI_FAKE_DISK_GROW_PARTITION,
  CSI_FAKE_DISK_READ,
  CSI_FAKE_DISK_WRITE,
  CSI_FAKE_DISK_WAIT_FOR_VOLUMES,
  CSI_FAKE_DISK_FIND_VOLUME,
  CSI_FAKE_DISK_ONLINE_VOLUME,
  CSI_FAKE_DISK_RESCAN,
  CSI_FAKE_DISK_GET_ROLES,
  CSI_FAKE_DISK_NEW_GUID,
  CSI_FAKE_VOLUME_OPEN,
  CSI_FAKE_VOLUME_GET_PARTITION,
  CSI_FAKE_VOLUME_GET_EXTENTS,
  CSI_FAKE_VOLUME_READ,
  CSI_FAKE_VOLUME_FLUSH,
  CSI_FAKE_VOLUME_GET_FILE_SYSTEM_SIZE,
  CSI_FAKE_VOLUME_EXTEND,
  CSI_FAKE_VOLUME_GET_FILE_SYSTEM,
  CSI_FAKE_VOLUME_GET_SPACE,
  CSI_FAKE_VOLUME_FORMAT, /* when it fails, a file system that was there is gone: 64 KiB of zeros */
  CSI_FAKE_VOLUME_ANNOUNCE_MOUNT,
  CSI_FAKE_VOLUME_GET_DRIVE_VOLUME,
  CSI_FAKE_VOLUME_LIST_MOUNT_POINTS,
  CSI_FAKE_STEPS,
  CSI_FAKE_ANY_STEP = CSI_FAKE_STEPS,
};

/* The Win32 errors the fake gives by itself. */
enum {
  CSI_FAKE_NO_SUCH_DISK = 2,       /* ERROR_FILE_NOT_FOUND */
  CSI_FAKE_ACCESS_DENIED = 5,      /* the handle is open for less than that */
  CSI_FAKE_WRITE_PROTECTED = 19,   /* ERROR_WRITE_PROTECT: read-only disk */
  CSI_FAKE_OFFLINE = 21,           /* ERROR_NOT_READY: layout of an offline disk is to be changed */
  CSI_FAKE_UNPLUGGED = 55,         /* ERROR_DEV_NOT_EXIST: the device of an open handle is gone */
  CSI_FAKE_NOT_SUPPORTED = 50,     /* the disk does not know the request */
  CSI_FAKE_INVALID_FUNCTION = 1,   /* there is no file system that would know the request */
  CSI_FAKE_INVALID_PARAMETER = 87, /* a layout that makes no sense, a table that is not there */
  CSI_FAKE_UNRECOGNIZED = 1005,    /* ERROR_UNRECOGNIZED_VOLUME */
};
#define CSI_FAKE_BITLOCKER_LOCKED UINT32_C(0x80310000) /* FVE_E_LOCKED_VOLUME */

#define CSI_FAKE_ANY_DISK (-1)

/* What a disk is. Zero means: present, online, writable, 512-byte sectors, raw, no bus address, no
 * identifiers (the device does not know the request), no use to Windows. */
struct csi_fake_disk {
  uint32_t number;
  uint64_t size_bytes;
  uint32_t sector_bytes; /* 512 (also for 0) or 4096 */
  bool offline;
  bool read_only;
  bool has_address;
  struct csi_disk_address address;
  struct csi_bytes identifiers; /* STORAGE_DEVICE_ID_DESCRIPTOR; copied; NULL = the request fails */
  struct csi_bytes descriptor;  /* STORAGE_DEVICE_DESCRIPTOR; the same */
  unsigned roles;               /* enum csi_disk_role */
  uint32_t volume_delay_ms;     /* from partition to volume */
  bool msr_on_create;           /* create_gpt makes a Microsoft reserved partition, as Windows does */
  bool interface_broken;        /* listed, but its interface cannot be opened */
  const char *medium;           /* what is behind the disk; copied. One that was there before brings its
                                   contents. NULL = a new one. */
};

/* Makes a node without disks. files is told of volumes; it must outlive the storage. */
struct csi_fake_storage *csi_fake_storage_new(struct csi_fake_filesystem *files);
void csi_fake_storage_free(struct csi_fake_storage *storage);
const struct csi_disk_host *csi_fake_disk_host(struct csi_fake_storage *storage);
const struct csi_volume_host *csi_fake_volume_host(struct csi_fake_storage *storage);

/* ---- Scene: disks. ---- */

void csi_fake_storage_add_disk(struct csi_fake_storage *storage, const struct csi_fake_disk *disk);
/* Surprise removal: handles that are open stay so and give CSI_FAKE_UNPLUGGED. */
void csi_fake_storage_unplug(struct csi_fake_storage *storage, uint32_t number);
/* A disk that was unplugged comes back, perhaps with another number. */
void csi_fake_storage_plug(struct csi_fake_storage *storage, uint32_t old_number, uint32_t new_number);
/* The backend grows; the node sees it after update_properties or rescan. */
void csi_fake_storage_grow_disk(struct csi_fake_storage *storage, uint32_t number, uint64_t size_bytes);
void csi_fake_storage_set_attributes(struct csi_fake_storage *storage, uint32_t number, bool offline,
                                     bool read_only);
/* page83: as in the testbed's profiles, such as "ascii:Google%20%20pvc-1@0/1"; "unsupported", "none",
 * "malformed-next", "oversized". serial: NULL = none. */
void csi_fake_storage_set_identity(struct csi_fake_storage *storage, uint32_t number, const char *page83,
                                   const char *serial);
/* What the disk calls itself beside page 83: serial NULL = none; bus as in the testbed's profiles, "nvme". */
void csi_fake_storage_set_descriptor(struct csi_fake_storage *storage, uint32_t number, const char *vendor,
                                     const char *serial, const char *bus);
void csi_fake_storage_set_roles(struct csi_fake_storage *storage, uint32_t number, unsigned roles);
void csi_fake_storage_set_address(struct csi_fake_storage *storage, uint32_t number,
                                  const struct csi_disk_address *address); /* NULL = none */
void csi_fake_storage_set_volume_delay(struct csi_fake_storage *storage, uint32_t number, uint32_t delay_ms);
/* Off: a volume that arrives has no name until online_volume. */
void csi_fake_storage_set_automount(struct csi_fake_storage *storage, bool on);

/* ---- Scene: partitions. ---- */

/* Replaces the partition table by an empty one. */
void csi_fake_storage_set_style(struct csi_fake_storage *storage, uint32_t number,
                                enum csi_partition_style style);
/* Adds a partition; returns its number. type: GPT. mbr_type: MBR. length 0 = all that is left. */
uint32_t csi_fake_storage_add_partition(struct csi_fake_storage *storage, uint32_t number,
                                        const struct csi_guid *type, uint8_t mbr_type, uint64_t offset_bytes,
                                        uint64_t length_bytes);
/* Makes a table that says what the partitions of layout say, without any check. */
void csi_fake_storage_force_layout(struct csi_fake_storage *storage, uint32_t number,
                                   const struct csi_layout *layout);
/* What the table says now; allocated in the arena. */
void csi_fake_storage_get_layout(struct csi_fake_storage *storage, uint32_t number, struct csi_arena *arena,
                                 struct csi_layout *layout_out);
void csi_fake_storage_read(struct csi_fake_storage *storage, uint32_t number, uint64_t offset_bytes,
                           void *bytes_out, size_t size_bytes);
void csi_fake_storage_write(struct csi_fake_storage *storage, uint32_t number, uint64_t offset_bytes,
                            const void *bytes, size_t size_bytes);

/* ---- Scene: volumes. ---- */

/* What the beginning of a volume looks like. */
enum csi_fake_signature {
  CSI_FAKE_RAW, /* zeros */
  CSI_FAKE_NTFS,
  CSI_FAKE_REFS,
  CSI_FAKE_BITLOCKER,
  CSI_FAKE_FAT32,
  CSI_FAKE_EXFAT,
  CSI_FAKE_NOISE, /* no file system that anybody knows */
};
/* Writes the first 64 KiB of a partition, and what NTFS has in its last sector. */
void csi_fake_storage_sign(struct csi_fake_storage *storage, uint32_t number, uint32_t partition_number,
                           enum csi_fake_signature signature);
/* The mount manager's GUID of a partition's volume; it follows from the partition's id, and differs. Also
 * when the volume has not arrived. False: no such partition, or one without a volume. */
bool csi_fake_storage_get_volume(struct csi_fake_storage *storage, uint32_t number, uint32_t partition_number,
                                 struct csi_guid *guid_out);
/* True when the volume is there and has its name. */
bool csi_fake_storage_has_volume(struct csi_fake_storage *storage, const struct csi_guid *guid);
/* The signature that the volume's sectors bear. */
enum csi_fake_signature csi_fake_storage_get_signature(struct csi_fake_storage *storage,
                                                       const struct csi_guid *guid);
/* Bytes in use, for get_space. */
void csi_fake_storage_set_used(struct csi_fake_storage *storage, const struct csi_guid *guid,
                               uint64_t used_bytes);
/* The volume goes on on another disk: get_partition fails, get_extents gives two. */
void csi_fake_storage_span(struct csi_fake_storage *storage, const struct csi_guid *guid,
                           const struct csi_extent *extent);
/* letter: 0 = none. With 'C' the disk is the one that holds Windows; the paths C:\... stay where they are. */
void csi_fake_storage_set_letter(struct csi_fake_storage *storage, const struct csi_guid *guid, char letter);
/* The volume that was last announced as mounted on the folder. False: never. */
bool csi_fake_storage_get_announced(struct csi_fake_storage *storage, const char *path,
                                    struct csi_guid *guid_out);

/* ---- Faults. ---- */

struct csi_fake_fault {
  enum csi_fake_step step; /* or CSI_FAKE_ANY_STEP */
  const char *call;        /* only steps with this csi_fake_step_name(); a literal; NULL = all */
  int64_t disk;            /* whose steps, its volumes' included, or CSI_FAKE_ANY_DISK */
  unsigned nth;            /* 1 = the next that matches; 0 is the same */
  unsigned count;          /* how many in a row; 0 = for ever */
  uint32_t error;          /* Win32 number the step fails with; 0 = it does not */
  uint32_t delay_ms;       /* before it goes on; the call's deadline ends that */
  bool hang;               /* until the call's deadline, its cancellation, or the limit below */
  bool ignore_cancel;      /* with hang: until csi_fake_storage_clear_faults(), whatever the deadline */
  bool unplug;             /* the disk disappears in the middle of the step */
};
void csi_fake_storage_add_fault(struct csi_fake_storage *storage, const struct csi_fake_fault *fault);
void csi_fake_storage_clear_faults(struct csi_fake_storage *storage);
/* How often a fault has struck since the last clearing. */
size_t csi_fake_storage_struck(struct csi_fake_storage *storage);
/* The nth step of this kind from now on, on any disk, fails once. */
void csi_fake_storage_fail(struct csi_fake_storage *storage, enum csi_fake_step step, unsigned nth,
                           uint32_t error);
/* The longest a single step may take, as CSI_DEVICE_CALL_MS on Windows (30 s). */
void csi_fake_storage_set_step_limit(struct csi_fake_storage *storage, uint32_t limit_ms);

/* Calls hook before every step, with no lock held, so that it may change the scene. disk: the number of the
 * disk concerned, or CSI_FAKE_ANY_DISK. NULL removes the hook. */
typedef void csi_fake_storage_hook(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk,
                                   void *data);
void csi_fake_storage_set_hook(struct csi_fake_storage *storage, csi_fake_storage_hook *hook, void *data);

/* ---- What happened. ---- */

/* How many of these steps there have been, on one disk or any. */
size_t csi_fake_storage_count_steps(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk);
void csi_fake_storage_reset_counts(struct csi_fake_storage *storage);
/* Disks and volumes that are open. */
size_t csi_fake_storage_open_handles(struct csi_fake_storage *storage);
/* The call behind a step, "IOCTL_DISK_GET_DRIVE_LAYOUT_EX". */
const char *csi_fake_step_name(enum csi_fake_step step);

#endif
