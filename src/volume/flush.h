/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing what is cached for a volume.
 */
#ifndef CSI_VOLUME_FLUSH_H
#define CSI_VOLUME_FLUSH_H

#include "volume/reach.h"

/* Flushes the volume; a read-only one has nothing to flush. The texts of failures are the original's. */
bool csi_flush(struct csi_volume *group, struct csi_ctx *ctx,
               const struct csi_volume_ref *ref) CSI_MUST_CHECK;

/* The same, but a volume whose device has vanished is no failure: nothing can be saved there any more. A
 * device that is there and fails is one. */
bool csi_flush_unless_gone(struct csi_volume *group, struct csi_ctx *ctx,
                           const struct csi_volume_ref *ref) CSI_MUST_CHECK;

#endif
