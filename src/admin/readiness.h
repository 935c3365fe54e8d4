/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the node can do what the API groups promise. Looked at when somebody asks, and not more often than
 * every CSI_READINESS_FRESH_MS; nothing happens when nobody asks.
 *
 *   filesystem, disk, volume   the program is not ready without them
 *   smb, system, iscsi         many nodes have no use for them: they are ready or not for themselves
 *
 * All functions may be called from any thread. A thread of its own looks. Those who ask wait for it, until
 * their deadline and for CSI_READINESS_LOOK_MS at most, unless they are told what was seen before, which is
 * no older than both times together. Longer than that a look takes only when a part ignores its deadline;
 * then nothing is ready, and every part is unknown, until it returns.
 */
#ifndef CSI_ADMIN_READINESS_H
#define CSI_ADMIN_READINESS_H

#include "admin/parts.h"

enum {
  CSI_READINESS_FRESH_MS = 5000,
  CSI_READINESS_LOOK_MS = 4000,
};

struct csi_readiness;

/* options is copied; hosts must outlive the last look. NULL with status when memory is short. */
struct csi_readiness *csi_readiness_new(const struct csi_parts_options *options,
                                        const struct csi_parts_hosts *hosts,
                                        struct csi_status *status) CSI_MUST_CHECK;
/* Ends a look that is under way, and waits for it, CSI_READINESS_LOOK_MS at most; one that takes longer goes
 * on, and is freed when it returns. NULL is accepted. */
void csi_readiness_free(struct csi_readiness *readiness);

/* Nothing is ready any more. Does not block. */
void csi_readiness_set_stopping(struct csi_readiness *readiness);
bool csi_readiness_is_stopping(const struct csi_readiness *readiness);

/* Looks if need be. deadline_ns: of the asker, as in csi_ctx. False also for a group that does not exist. */
bool csi_readiness_group_is_ready(struct csi_readiness *readiness, const char *group, int64_t deadline_ns);

/* What was seen last, however long ago; has a look begun if need be, and does not wait for it. False: nothing
 * has been seen yet. *is_ready_out is false while a look takes longer than CSI_READINESS_LOOK_MS. */
bool csi_readiness_group_was_ready(struct csi_readiness *readiness, const char *group, bool *is_ready_out);

/* Looks if need be: every group that the program is not ready without, and it is not being stopped. */
bool csi_readiness_is_ready(struct csi_readiness *readiness, int64_t deadline_ns);

/* Looks if need be, and copies what was seen to ctx->arena. groups_out: an array of CSI_PARTS_GROUPS. Fails
 * when memory is short. */
bool csi_readiness_copy(struct csi_readiness *readiness, struct csi_ctx *ctx,
                        struct csi_group_parts **groups_out) CSI_MUST_CHECK;

#endif
