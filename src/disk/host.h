/* SPDX-License-Identifier: Apache-2.0
 *
 * What the disk and volume groups need of an operating system's disks: single device calls on open disks.
 * All rules stand on this side of the table, in portable code; host_win32.c fills it with IOCTLs, the fake
 * node with disks in memory.
 *
 * Every function returns false and fills ctx->status (csi_fail_system with the device call's own Win32
 * number) when the device call fails. All may block, at most until the call's deadline or the limit of one
 * device call, whichever is earlier; all may be called from several threads at once, though not on one
 * open disk.
 */
#ifndef CSI_DISK_HOST_H
#define CSI_DISK_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "base/guid.h"
#include "csi-proxy/bytes.h"
#include "disk/layout.h"

/* An open disk. It stays bound to the device even when its number is given to another. */
struct csi_open_disk;

enum csi_disk_access {
  CSI_DISK_QUERY = 0, /* works on offline, raw, read-only and busy disks */
  CSI_DISK_READ_WRITE = 1,
  CSI_DISK_READ = 2, /* query and read() */
};

enum {
  CSI_DISK_ATTRIBUTE_OFFLINE = 1,
  CSI_DISK_ATTRIBUTE_READ_ONLY = 2,
  CSI_VOLUME_ID_BYTES = 50, /* `\\?\Volume{36 characters}\`, NUL included */
};

/* SCSI_ADDRESS. */
struct csi_disk_address {
  uint8_t port;
  uint8_t path;
  uint8_t target;
  uint8_t lun;
};

struct csi_disk_geometry {
  uint64_t size_bytes;
  uint32_t sector_bytes;
};

/* Why a disk must not be changed; bits. */
enum csi_disk_role {
  CSI_DISK_HOLDS_WINDOWS = 1,
  CSI_DISK_HOLDS_BOOT_FILES = 2, /* the system volume, in Windows' words */
  CSI_DISK_HOLDS_PAGE_FILE = 4,
  CSI_DISK_HOLDS_CRASH_DUMP = 8,
};

struct csi_disk_host {
  void *self; /* handed to every function */

  /* Lists the device interfaces of all present disks: paths for open_path. In the arena. */
  bool (*list)(void *self, struct csi_ctx *ctx, const char ***paths_out, size_t *count_out);
  bool (*open_path)(void *self, struct csi_ctx *ctx, const char *path, enum csi_disk_access access,
                    struct csi_open_disk **disk_out);
  /* NOT_FOUND when there is no disk of that number. The number is checked again on the open handle. */
  bool (*open_number)(void *self, struct csi_ctx *ctx, uint32_t number, enum csi_disk_access access,
                      struct csi_open_disk **disk_out);
  void (*close)(void *self, struct csi_open_disk *disk);

  bool (*get_number)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk, uint32_t *number_out);
  bool (*get_address)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                      struct csi_disk_address *address_out);
  /* STORAGE_DEVICE_ID_DESCRIPTOR and STORAGE_DEVICE_DESCRIPTOR as they came, for disk/identity.h. In the
   * arena. */
  bool (*get_identifiers)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                          struct csi_bytes *bytes_out);
  bool (*get_descriptor)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                         struct csi_bytes *bytes_out);
  bool (*get_geometry)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                       struct csi_disk_geometry *geometry_out);
  bool (*get_attributes)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                         uint64_t *attributes_out);
  bool (*get_layout)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                     struct csi_layout *layout_out);

  /* All below need CSI_DISK_READ_WRITE; read() is content with CSI_DISK_READ. */

  /* Sets the attributes in mask to those in attributes; they outlast a restart of the machine. */
  bool (*set_attributes)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk, uint64_t attributes,
                         uint64_t mask);
  /* Has the disk's size and partition table read again. */
  bool (*update_properties)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk);
  /* Writes an empty GPT with a new disk id. What was on the disk is lost. */
  bool (*create_gpt)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk);
  bool (*set_layout)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                     const struct csi_layout *layout);
  /* Makes a partition longer; its file system is not touched. */
  bool (*grow_partition)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                         uint32_t partition_number, uint64_t grow_bytes);
  /* read and write: offset and size are multiples of the sector size. */
  bool (*read)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk, uint64_t offset_bytes,
               void *bytes_out, size_t size_bytes);
  bool (*write)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk, uint64_t offset_bytes,
                const void *bytes, size_t size_bytes);
  /* Returns when every volume on the disk has arrived; DEADLINE_EXCEEDED when that takes too long. */
  bool (*wait_for_volumes)(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk);

  /* Not bound to an open disk. */

  /* Finds the name the mount manager has for the volume of a partition: `\\?\Volume{guid}\`. NOT_FOUND when
   * there is no such volume (yet). */
  bool (*find_volume)(void *self, struct csi_ctx *ctx, uint32_t disk_number, uint32_t partition_number,
                      char volume_id_out[CSI_VOLUME_ID_BYTES]);
  /* Brings a partition's volume online, as is needed where automatic mounting is off. */
  bool (*online_volume)(void *self, struct csi_ctx *ctx, uint32_t disk_number, uint32_t partition_number);
  /* Looks for new devices on all storage buses. */
  bool (*rescan)(void *self, struct csi_ctx *ctx);
  /* Says what Windows itself needs this disk for: csi_disk_role bits, 0 = nothing. Fails when it cannot be
   * found out: then nothing may be changed. */
  bool (*get_roles)(void *self, struct csi_ctx *ctx, uint32_t disk_number, unsigned *roles_out);
  /* A new random GUID. */
  bool (*new_guid)(void *self, struct csi_ctx *ctx, struct csi_guid *guid_out);
};

#endif
