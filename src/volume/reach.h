/* SPDX-License-Identifier: Apache-2.0
 *
 * From the names in a request to open volumes and disks, held locks and, in between, the original's texts.
 */
#ifndef CSI_VOLUME_REACH_H
#define CSI_VOLUME_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ctx.h"
#include "volume/state.h"

/* A volume as a request names it. */
struct csi_volume_ref {
  const char *given; /* as the client spelt it, for error texts */
  struct csi_guid guid;
};

/* Fails with INVALID_ARGUMENT and message when text is empty. */
bool csi_require_text(struct csi_ctx *ctx, const char *text, const char *message) CSI_MUST_CHECK;

/* Reads a volume id. Fails with NOT_FOUND, "failed to query volume <id>: not found", when it is none. */
bool csi_volume_ref_parse(struct csi_ctx *ctx, const char *id, struct csi_volume_ref *ref_out) CSI_MUST_CHECK;

/* Puts "failed to query volume <id>: " before a failure of the host, and "not found: " when it is that.
 * Returns false. */
bool csi_volume_ref_explain(struct csi_ctx *ctx, const struct csi_volume_ref *ref);

/* Finds whether Windows has forgotten the name of a volume. A volume that comes and goes has none for a
 * moment: it is gone when it is unknown twice, half a second apart. Fails when that cannot be told. */
bool csi_volume_is_gone(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_guid *guid,
                        bool *gone_out) CSI_MUST_CHECK;

/* Puts "error querying volume (<id>). error: " before a failure. Returns false. */
bool csi_explain_querying(struct csi_ctx *ctx, const char *id);

/* An open volume, closed at the end of its scope. All zero when there is none. */
struct csi_volume_handle {
  const struct csi_volume_host *host;
  struct csi_open_volume *volume;
};
void csi_volume_handle_close(struct csi_volume_handle *handle);
#define CSI_SCOPED_VOLUME __attribute__((cleanup(csi_volume_handle_close))) struct csi_volume_handle

/* Opens a volume, with the text of csi_volume_ref_explain() when that fails. */
bool csi_volume_handle_open(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_volume_ref *ref,
                            enum csi_volume_access access,
                            struct csi_volume_handle *handle_out) CSI_MUST_CHECK;

/* Take a lock, in the order of base/keyed_lock.h. holder: name of the RPC, a literal. */
bool csi_lock_disk(struct csi_volume *group, struct csi_ctx *ctx, uint32_t number, const char *holder,
                   struct csi_held_lock *lock_out) CSI_MUST_CHECK;
bool csi_lock_volume(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_guid *guid,
                     const char *holder, struct csi_held_lock *lock_out) CSI_MUST_CHECK;
/* The lock of one directory, whatever it is called: its identity is asked of the host. */
bool csi_lock_directory(struct csi_volume *group, struct csi_ctx *ctx, void *directory, const char *holder,
                        struct csi_held_lock *lock_out) CSI_MUST_CHECK;

/* True when ctx->status holds this Win32 error. */
bool csi_failed_with(const struct csi_ctx *ctx, uint32_t error);

#endif
