/* SPDX-License-Identifier: Apache-2.0
 *
 * Making and recognising symbolic links.
 */
#ifndef CSI_FILESYSTEM_LINK_H
#define CSI_FILESYSTEM_LINK_H

#include <pthread.h>
#include <stdbool.h>

#include "filesystem/walk.h"

/* Makes walk->path a symbolic link to source.
 *
 * It is a link to a directory if the source is a directory or a link to one, and also when the source is
 * missing: then it is what the caller will most likely put there. The source is looked at without
 * following links, so no other machine is ever asked.
 * lock: keeps two calls from seeing each other's half-made link; held for the making only.
 * Succeeds when that very link is there already. A failure leaves nothing behind. Fails with
 * ALREADY_EXISTS, and with what the host says. */
bool csi_make_link(const struct csi_walk *walk, const struct csi_confined_path *source,
                   pthread_mutex_t *lock) CSI_MUST_CHECK;

/* Makes walk->path a symbolic link to a directory on a share, which is not looked at: no other machine is
 * asked.
 *
 * share: `\\host\share\`, or a directory below it with a separator at the end.
 * lock, and what is there already: as csi_make_link(), without regard to case. */
bool csi_make_share_link(const struct csi_walk *walk, const char *share,
                         pthread_mutex_t *lock) CSI_MUST_CHECK;

/* Tells whether walk->path is a symbolic link, a junction or a mounted folder whose target is there. A
 * target on another machine counts as there: see csi_resolve(). */
bool csi_test_link(const struct csi_walk *walk, bool *is_link_out) CSI_MUST_CHECK;

/* Tells whether walk->path is a symbolic link to the share, or to a directory on it; not when there is
 * nothing. No other machine is asked.
 *
 * root: `\\host\share`, in any case. */
bool csi_test_share_link(const struct csi_walk *walk, const char *root, bool *leads_out) CSI_MUST_CHECK;

#endif
