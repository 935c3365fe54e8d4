/* SPDX-License-Identifier: Apache-2.0
 *
 * Going over all disks of a node, one after the other. One odd disk never fails the whole: it is left out.
 */
#ifndef CSI_DISK_VISIT_H
#define CSI_DISK_VISIT_H

#include "disk/target.h"

enum {
  CSI_DISK_VISIT_MS = 5000, /* how long one disk may keep a list waiting */
};

struct csi_disk_visit {
  /* Takes in one open disk, whose ctx has a status and a time limit of its own. Returns false, with that
   * status filled, for a disk to be left out. */
  bool (*take)(struct csi_target *disk, void *result);
  /* Is told why a disk is left out; name is its number, or the path of its interface. May be NULL. */
  void (*leave_out)(void *result, const char *name, const struct csi_status *why);
  void *result;
  bool share_time;  /* no disk gets more than half of the time that is left, so that some is left for all */
  bool done;        /* set by take: no more disks */
  size_t odd_count; /* disks that did not answer */

  uint32_t *seen; /* private, and all below: numbers of the disks so far */
  size_t count;
};

/* Lists the device interfaces of all present disks, in the arena. "failed to list disks: ..." */
bool csi_disk_list_paths(struct csi_ctx *ctx, const struct csi_disk_host *host, const char ***paths_out,
                         size_t *count_out) CSI_MUST_CHECK;

/* Shows every disk to the visit. Fails when memory is short, and when nobody waits for the answer any more.
 */
bool csi_disk_visit_paths(struct csi_disk_visit *visit, struct csi_ctx *ctx, const struct csi_disk_host *host,
                          const char *const *paths, size_t count) CSI_MUST_CHECK;

/* The ctx of one of several things that are looked at: with a status of its own, and at most half of the time
 * that is left, and at most CSI_DISK_VISIT_MS. */
struct csi_ctx csi_disk_share_time(const struct csi_ctx *ctx);

/* True when a failure says that memory is short: then the disk is not to blame. */
bool csi_disk_is_out_of_memory(const struct csi_status *status);

#endif
