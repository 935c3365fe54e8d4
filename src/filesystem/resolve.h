/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether what a link points to is there, found out without letting the operating system follow it:
 * a link may be planted, and one that leads to another machine would make the node log on there.
 */
#ifndef CSI_FILESYSTEM_RESOLVE_H
#define CSI_FILESYSTEM_RESOLVE_H

#include <stdbool.h>

#include "base/ctx.h"
#include "filesystem/host.h"
#include "filesystem/reparse.h"

enum csi_target {
  CSI_TARGET_MISSING,   /* nothing there, its volume is gone, or a place that cannot be looked at */
  CSI_TARGET_FILE,      /* a file, or a link to one that was not followed */
  CSI_TARGET_DIRECTORY, /* a directory, or a link to one that was not followed */
  CSI_TARGET_REMOTE,    /* on another machine, which was not asked */
};

/* Looks for the target of a link.
 *
 * link_path: where the link is, in normal form: what relative targets count from.
 * follow_last: also follow the target itself when that is a link (at most 63 links in all; more are a
 *   circle, and a circle leads nowhere). Links before its last component are followed in any case.
 * Fails with what the host says, or CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED. */
bool csi_resolve(struct csi_ctx *ctx, const struct csi_filesystem_host *host, const char *link_path,
                 const struct csi_reparse *link, bool follow_last,
                 enum csi_target *target_out) CSI_MUST_CHECK;

/* Where a path ends when all links in it are followed. */
struct csi_place {
  enum csi_target target;
  const char *root;    /* `X:\` or `\\?\Volume{guid}\`: what the place, or where the search ended, is on */
  bool is_volume_root; /* the place is the root of a volume, reached through a link or mounted folder */
};

/* Follows a path to its end: at most 63 links, as csi_resolve(); more count as missing. The root of a volume
 * that is the place itself is not opened, so the volume may be gone.
 *
 * path: absolute, `X:\...`.
 * Fails with what the host says, or CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED. */
bool csi_resolve_path(struct csi_ctx *ctx, const struct csi_filesystem_host *host, const char *path,
                      struct csi_place *place_out) CSI_MUST_CHECK;

/* Reads and parses the reparse point behind an open handle. verb and path: for error texts. */
struct csi_node;
bool csi_read_link(struct csi_ctx *ctx, const struct csi_node *node, const char *verb, const char *path,
                   struct csi_reparse *reparse_out) CSI_MUST_CHECK;

#endif
