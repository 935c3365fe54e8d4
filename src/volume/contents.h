/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a volume may be called unformatted, and formatted.
 */
#ifndef CSI_VOLUME_CONTENTS_H
#define CSI_VOLUME_CONTENTS_H

#include "disk/signatures.h"
#include "disk/target.h"
#include "volume/reach.h"

/* What a volume holds. */
struct csi_inspection {
  bool has_file_system;         /* that Windows knows */
  bool is_marked;               /* if not: a format of it was begun, see volume/marker.h */
  struct csi_contents contents; /* if not: what its sectors say; empty when it is marked */
};

/* Asks Windows for the file system, and looks at the sectors when there is none. */
bool csi_contents_inspect(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_volume_ref *ref,
                          struct csi_inspection *inspection_out) CSI_MUST_CHECK;

/* Tells whether a volume has a file system that Windows knows.
 *
 * False only for a volume that is empty where file systems, containers and their like begin and end, and for
 * one that csi_contents_mark() has marked, unless what is behind the mark has a name: only an empty volume is
 * marked, so somebody else has made that since. One that Windows does not know but that holds
 * something is a failure, FAILED_PRECONDITION, as is one that is locked or cannot be read: what is called
 * unformatted will be formatted. */
bool csi_contents_find_file_system(struct csi_volume *group, struct csi_ctx *ctx,
                                   const struct csi_volume_ref *ref, bool *found_out) CSI_MUST_CHECK;

/* Marks a volume as being formatted: should the process end before the format does, csi_contents_inspect()
 * finds it empty. extent: the volume's, on the open disk, which needs CSI_DISK_READ_WRITE. What was at the
 * beginning is lost. A volume without room for a mark is left alone. */
bool csi_contents_mark(struct csi_target *disk, const struct csi_extent *extent,
                       const struct csi_guid *volume) CSI_MUST_CHECK;

/* Empties these places: what an unfinished format left there would keep the next one away. The volume is
 * marked until that is done. */
bool csi_contents_clear(struct csi_target *disk, const struct csi_extent *extent,
                        const struct csi_guid *volume) CSI_MUST_CHECK;

#endif
