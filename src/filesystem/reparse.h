/* SPDX-License-Identifier: Apache-2.0
 *
 * Reparse points as the file system stores them: bytes in, description out, and back. Pure functions;
 * the bytes may be anything, since whoever may write to a directory may plant them.
 */
#ifndef CSI_FILESYSTEM_REPARSE_H
#define CSI_FILESYSTEM_REPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

enum {
  CSI_REPARSE_BYTES_MAX = 16384, /* the file system keeps no more */
};

#define CSI_REPARSE_TAG_MOUNT_POINT UINT32_C(0xA0000003) /* junctions and mounted folders */
#define CSI_REPARSE_TAG_SYMLINK UINT32_C(0xA000000C)

enum csi_link_kind {
  CSI_LINK_NONE,     /* a reparse point of another kind: cloud file, container layer, execution alias */
  CSI_LINK_DRIVE,    /* to `X:\...` */
  CSI_LINK_VOLUME,   /* to `\\?\Volume{guid}\...` */
  CSI_LINK_UNC,      /* to `\\server\share...`, on another machine */
  CSI_LINK_RELATIVE, /* to a path that counts from the directory of the link, or from its drive's root */
  CSI_LINK_OTHER,    /* to something else in the object namespace */
};

struct csi_reparse {
  uint32_t tag;
  enum csi_link_kind kind;
  const char *target; /* as Go's os.Readlink prints it; NULL for CSI_LINK_NONE */
  const char *print;  /* what the maker of the link wants people to see; "" when there is nothing */
};

/* Reads a REPARSE_DATA_BUFFER. The texts of reparse_out are in the arena.
 *
 * Fails with DATA_LOSS when a link's buffer is cut short or contradicts itself, RESOURCE_EXHAUSTED. */
bool csi_reparse_parse(struct csi_ctx *ctx, const uint8_t *bytes, size_t size_bytes,
                       struct csi_reparse *reparse_out) CSI_MUST_CHECK;

/* True when the target is the root of a volume and nothing below it: a mounted folder has that. */
bool csi_reparse_is_volume_root(const struct csi_reparse *reparse);

/* Writes the REPARSE_DATA_BUFFER of an absolute symbolic link to target, a path such as `C:\a`
 * or `\\host\share\a`.
 *
 * bytes_out: room for CSI_REPARSE_BYTES_MAX.
 * Fails with INVALID_ARGUMENT when target is too long for a link, RESOURCE_EXHAUSTED. */
bool csi_reparse_build_symlink(struct csi_ctx *ctx, const char *target, uint8_t *bytes_out,
                               size_t *size_out) CSI_MUST_CHECK;

/* Writes the REPARSE_DATA_BUFFER of a folder that a volume is mounted on. volume: `\\?\Volume{guid}\`.
 * Otherwise as csi_reparse_build_symlink(). */
bool csi_reparse_build_mounted_folder(struct csi_ctx *ctx, const char *volume, uint8_t *bytes_out,
                                      size_t *size_out) CSI_MUST_CHECK;

#endif
