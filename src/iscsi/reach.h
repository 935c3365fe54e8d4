/* SPDX-License-Identifier: Apache-2.0
 *
 * From the names in a request to registered portals, known targets and sessions, with the original's texts.
 */
#ifndef CSI_ISCSI_REACH_H
#define CSI_ISCSI_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "csi-proxy/iscsi.h"
#include "iscsi/state.h"

enum {
  CSI_ISCSI_PLACE_BYTES = CSI_ISCSI_ADDRESS_BYTES + 16,
};

/* What a request names. */
struct csi_iscsi_ref {
  struct csi_iscsi_portal portal;
  char place[CSI_ISCSI_PLACE_BYTES]; /* `(<address>:<port>)`, as it stands in error texts */
  const char *iqn;                   /* "" when the request names no target */
};

/* Reads the portal of a request. Fails with INVALID_ARGUMENT when it is absent or cannot be one. */
bool csi_iscsi_ref_portal(struct csi_ctx *ctx, const struct csi_iscsi_target_portal *portal,
                          struct csi_iscsi_ref *ref_out) CSI_MUST_CHECK;

/* Reads portal and target of a request, in the same way. */
bool csi_iscsi_ref_target(struct csi_ctx *ctx, const struct csi_iscsi_target_portal *portal, const char *iqn,
                          struct csi_iscsi_ref *ref_out) CSI_MUST_CHECK;

/* Take the lock of a portal or of a target, at most until the deadline. No call takes both. Both fail as well
 * while a call on it goes on that somebody has given up. holder: name of the RPC, a literal. */
bool csi_iscsi_lock_portal(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                           const char *holder, struct csi_held_lock *lock_out) CSI_MUST_CHECK;
bool csi_iscsi_lock_target(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                           const char *holder, struct csi_held_lock *lock_out) CSI_MUST_CHECK;

/* Finds the portal among those that are registered: as the initiator spells it, which is what it is to be
 * asked with. registered_out: NULL when it is not there. */
bool csi_iscsi_find_portal(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                           const struct csi_iscsi_portal **registered_out) CSI_MUST_CHECK;

/* The same; NOT_FOUND, "failed to query iSCSI target portal at (..). error: not found", when it is not there.
 */
bool csi_iscsi_require_portal(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                              const struct csi_iscsi_portal **registered_out) CSI_MUST_CHECK;

/* Asks a registered portal for its targets. */
bool csi_iscsi_refresh_portal(struct csi_iscsi *group, struct csi_ctx *ctx,
                              const struct csi_iscsi_portal *registered) CSI_MUST_CHECK;

/* Finds the target among those that the initiator knows from the portal, as the initiator spells it.
 * name_out: NULL when it is not there. */
bool csi_iscsi_find_target(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                           const struct csi_iscsi_portal *registered, const char **name_out) CSI_MUST_CHECK;

/* Fails with NOT_FOUND, "not found". Returns false. */
bool csi_iscsi_fail_target(struct csi_ctx *ctx, const struct csi_iscsi_ref *ref);

/* The sessions with a target, whatever portal they go to: a name is one target in the whole world. */
struct csi_iscsi_sessions {
  const struct csi_iscsi_session **items; /* in the arena */
  size_t count;
};
bool csi_iscsi_find_sessions(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                             struct csi_iscsi_sessions *sessions_out) CSI_MUST_CHECK;

/* Finds the sessions, again and again until the target has some, or has none, as is_wanted says; at most for
 * two seconds, after which they are what they are. The initiator has reported that it is so. */
bool csi_iscsi_await_sessions(struct csi_iscsi *group, struct csi_ctx *ctx, const struct csi_iscsi_ref *ref,
                              bool is_wanted, struct csi_iscsi_sessions *sessions_out) CSI_MUST_CHECK;

/* Puts "error query target <iqn> from target portal at (..). err: " before a failure. Returns false. */
bool csi_iscsi_explain_target(struct csi_ctx *ctx, const struct csi_iscsi_ref *ref);

/* True when ctx->status holds this number of iscsidsc.dll, which are its own and those of Win32. */
bool csi_iscsi_failed_with(const struct csi_ctx *ctx, uint32_t number);

/* True for the failures that pass by themselves: the session or its devices are new, or still in use. */
bool csi_iscsi_is_busy(const struct csi_ctx *ctx);

/* Appends what to do about a failure of the initiator, and makes it FAILED_PRECONDITION when the service
 * MSiSCSI does not run. What every handler returns when it fails: false. */
bool csi_iscsi_advise(struct csi_ctx *ctx);

#endif
