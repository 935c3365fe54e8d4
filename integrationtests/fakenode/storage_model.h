/* SPDX-License-Identifier: Apache-2.0
 *
 * The state behind storage_fake.h and its rules, without locks, faults and hooks. Private to the fake.
 */
#ifndef CSI_FAKENODE_STORAGE_MODEL_H
#define CSI_FAKENODE_STORAGE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sector_store.h"
#include "storage_fake.h"

enum {
  STORAGE_PARTITIONS_MAX = 128,
  STORAGE_MEDIUM_BYTES = 256,
  STORAGE_SIGNATURE_BYTES = 64 << 10, /* what a file system's beginning covers */
  STORAGE_BOOT_BYTES = 512,
};

struct storage_disk {
  struct storage_disk *next;
  struct csi_fake_disk is; /* number, attributes, identity; its pointers are owned by the disk */
  char medium[STORAGE_MEDIUM_BYTES];
  bool present;
  unsigned incarnation; /* one more each time it is plugged in */
  uint64_t seen_bytes;  /* the size the node knows; is.size_bytes is the backend's */
  struct sector_store sectors;
  enum csi_partition_style style;
  struct csi_guid disk_id;
  uint32_t mbr_signature;
  struct csi_partition partitions[STORAGE_PARTITIONS_MAX]; /* in the order of the table */
  size_t partition_count;
  size_t steps[CSI_FAKE_STEPS];
};

struct storage_volume {
  struct storage_volume *next;
  struct storage_disk *disk;
  struct csi_guid guid;
  uint32_t partition_number; /* of the partition that it is on, as long as it is present */
  bool present;              /* its disk is online and has its partition */
  unsigned incarnation;      /* one more each time it comes */
  int64_t arrives_ns;
  bool named; /* the mount manager has a name for it */
  uint64_t used_bytes;
  char letter;            /* 0 = none */
  struct csi_extent more; /* of a spanned volume; length 0 = none */
  bool in_files;          /* the filesystem fake knows it */
  uint32_t files_error;   /* what opening its root gives there */
};

struct storage_model {
  struct storage_disk *disks; /* in the order of their numbers */
  struct storage_volume *volumes;
  struct csi_fake_filesystem *files;
  bool automount_off;
  uint64_t guids; /* made so far */
};

void storage_model_free(struct storage_model *model);

/* The present disk of that number; NULL = there is none. */
struct storage_disk *storage_find_disk(struct storage_model *model, uint32_t number);
/* Adds the disk, or plugs in the one that has its medium. */
struct storage_disk *storage_add_disk(struct storage_model *model, const struct csi_fake_disk *disk);
/* True when a present disk has that medium. NULL: false. */
bool storage_medium_is_in_use(struct storage_model *model, const char *medium);
/* Plugs in an absent disk again. */
void storage_plug(struct storage_model *model, struct storage_disk *disk, uint32_t number);
void storage_unplug(struct storage_disk *disk);
void storage_set_identity(struct storage_disk *disk, struct csi_bytes identifiers,
                          struct csi_bytes descriptor);
uint32_t storage_sector_bytes(const struct storage_disk *disk);

/* ---- Partition tables: 0 or what Windows says. Callers check attributes before. ---- */

uint32_t storage_create_gpt(struct storage_model *model, struct storage_disk *disk);
/* An empty table of this style, without a reserved partition. */
uint32_t storage_set_style(struct storage_model *model, struct storage_disk *disk,
                           enum csi_partition_style style);
uint32_t storage_set_layout(struct storage_disk *disk, const struct csi_layout *layout);
uint32_t storage_grow_partition(struct storage_disk *disk, uint32_t partition_number, uint64_t grow_bytes);
/* partitions_out of layout_out points into the disk. */
void storage_get_layout(struct storage_disk *disk, struct csi_layout *layout_out);
struct csi_partition *storage_find_partition(struct storage_disk *disk, uint32_t partition_number);
struct csi_guid storage_new_guid(struct storage_model *model);

/* ---- Volumes. ---- */

/* Brings volumes in line with disks, tables, sectors and time: after every change, before every look. */
void storage_settle(struct storage_model *model);
struct storage_volume *storage_find_volume(struct storage_model *model, const struct csi_guid *guid);
struct storage_volume *storage_volume_of(struct storage_model *model, const struct storage_disk *disk,
                                         uint32_t partition_number);
/* The volume that has the drive letter; NULL = none. */
struct storage_volume *storage_find_letter(struct storage_model *model, char letter);
/* True when its device is there. */
bool storage_has_arrived(const struct storage_volume *volume);
const struct csi_partition *storage_partition_of(const struct storage_volume *volume);
/* The GUID of a partition's volume. False for a partition that gets none. */
bool storage_volume_guid(const struct storage_disk *disk, const struct csi_partition *partition,
                         struct csi_guid *guid_out);

/* The volume was formatted: its directories are gone. */
void storage_empty_files(struct storage_model *model, const struct storage_volume *volume);

/* ---- File systems. ---- */

enum csi_fake_signature storage_read_signature(const struct storage_disk *disk,
                                               const struct csi_partition *partition);
/* What opening the file system gives: 0 for NTFS and ReFS. */
uint32_t storage_file_system_error(enum csi_fake_signature signature);
/* Writes the beginning. False: the partition is too small, or the cluster size is impossible. */
bool storage_sign(struct storage_disk *disk, const struct csi_partition *partition,
                  enum csi_fake_signature signature, uint32_t cluster_bytes, uint64_t serial);
/* From the boot sector of NTFS or ReFS. */
void storage_get_file_system_size(const struct storage_disk *disk, const struct csi_partition *partition,
                                  struct csi_file_system_size *size_out);
/* 0, or what FSCTL_EXTEND_VOLUME says. */
uint32_t storage_extend(struct storage_disk *disk, const struct csi_partition *partition,
                        uint64_t sector_count);

#endif
