/* SPDX-License-Identifier: Apache-2.0
 *
 * What the volume group needs of an operating system's volumes: single device calls on open volumes. Disks
 * are reached through disk/host.h, directories and links through filesystem/host.h. All rules stand on this
 * side of the table, in portable code; host_win32.c fills it with IOCTLs, the fake node with volumes in
 * memory.
 *
 * Every function returns false and fills ctx->status (csi_fail_system with the device call's own Win32
 * number) when the device call fails. All may block, at most until the call's deadline or the limit of one
 * device call, whichever is earlier; all may be called from several threads at once, though not on one
 * open volume.
 */
#ifndef CSI_VOLUME_HOST_H
#define CSI_VOLUME_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "base/guid.h"
#include "disk/extents.h"

struct csi_open_volume;

enum csi_volume_access {
  CSI_VOLUME_QUERY = 0, /* does not mount the file system */
  CSI_VOLUME_READ = 1,
  CSI_VOLUME_READ_WRITE = 2,
};

enum {
  CSI_FILE_SYSTEM_NAME_BYTES = 32,
};

struct csi_volume_space {
  uint64_t total_bytes;
  uint64_t free_bytes;
};

/* Size of the file system as it is written on the volume. */
struct csi_file_system_size {
  uint64_t sector_count; /* of the whole volume as the file system knows it */
  uint32_t sector_bytes;
  uint32_t cluster_bytes;
};

enum {
  CSI_FORMAT_PATIENCE_MS = 5000,
};

struct csi_format {
  const char *file_system; /* "NTFS" */
  uint32_t cluster_bytes;  /* 0 = the default */
  /* Who waits for it. Behind its deadline the format goes on as long as it makes progress, which has to show
   * every CSI_FORMAT_PATIENCE_MS. NULL = nobody: only the ctx of format() bounds it. */
  const struct csi_ctx *client;
};

struct csi_volume_host {
  void *self; /* handed to every function */

  /* Opens the volume as a device. NOT_FOUND, Win32 error 2, when there is none of that name. */
  bool (*open)(void *self, struct csi_ctx *ctx, const struct csi_guid *guid, enum csi_volume_access access,
               struct csi_open_volume **volume_out);
  void (*close)(void *self, struct csi_open_volume *volume);

  /* One device call on a simple volume; fails on one that is spread over several disks. */
  bool (*get_partition)(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume,
                        uint32_t *disk_number_out, uint32_t *partition_number_out);
  /* In the arena. */
  bool (*get_extents)(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume,
                      struct csi_extent **extents_out, size_t *count_out);
  /* Reads from the device, not through the file system. offset and size: multiples of 4096. */
  bool (*read)(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume, uint64_t offset_bytes,
               void *bytes_out, size_t size_bytes);
  /* Writes everything cached; needs CSI_VOLUME_READ_WRITE. */
  bool (*flush)(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume);
  /* NTFS and ReFS, needs CSI_VOLUME_READ; other file systems fail with Win32 error 1 or 50. */
  bool (*get_file_system_size)(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume,
                               struct csi_file_system_size *size_out);
  /* Makes the file system fill sector_count sectors; needs CSI_VOLUME_READ_WRITE. */
  bool (*extend)(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume, uint64_t sector_count);

  /* By name, through the file system. Win32 error 1005 (UNRECOGNIZED_VOLUME) when there is none. */
  bool (*get_file_system)(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                          char name_out[CSI_FILE_SYSTEM_NAME_BYTES]);
  bool (*get_space)(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                    struct csi_volume_space *space_out);

  /* Formats, quickly, in a process of its own that ends with ctx's deadline and when ctx is cancelled; logs
   * its progress. Whoever calls gives it a ctx that does not end with the client.
   * CANCELLED or DEADLINE_EXCEEDED leave the volume without a valid file system. */
  bool (*format)(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                 const struct csi_format *format);

  /* Tells the mount manager that volume is now mounted on a folder. path: absolute, `C:\...`. */
  bool (*announce_mount)(void *self, struct csi_ctx *ctx, const char *path, const struct csi_guid *guid);
  /* Finds the volume of a drive. root: `C:\`. */
  bool (*get_drive_volume)(void *self, struct csi_ctx *ctx, const char *root, struct csi_guid *guid_out);
  /* Lists the directories and drives, `C:\folder\` and `X:\`, that the mount manager knows the volume by. In
   * the arena. */
  bool (*list_mount_points)(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                            const char ***paths_out, size_t *count_out);
  /* The drive that a path without one means, such as `\var\lib`: that of Windows. */
  char (*get_system_drive)(void *self);
};

#endif
