/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths on shares as clients spell them: `\\Host\Share\sub\`, `//host/share`, `host\share`. Pure functions:
 * bytes in, description out.
 */
#ifndef CSI_SMB_REMOTE_PATH_H
#define CSI_SMB_REMOTE_PATH_H

#include <stdbool.h>

#include "base/ctx.h"
#include "base/keyed_lock.h"

enum {
  CSI_REMOTE_HOST_BYTES = 255, /* longest host */
  CSI_REMOTE_SHARE_UNITS = 80, /* longest share: UTF-16, as Windows counts */
  CSI_REMOTE_ROOT_BYTES = 352, /* longest root */
};
_Static_assert(sizeof "share " + CSI_REMOTE_ROOT_BYTES <= CSI_LOCK_KEY_BYTES, "a root is part of a key");

/* In the request's arena. */
struct csi_remote_path {
  const char *given;      /* with backslashes, else as the client spelt it; for error texts */
  const char *root;       /* `\\host\share` in lower case: what is mapped */
  const char *target;     /* `\\Host\Share\sub\` with exactly one separator at the end: where a link leads */
  bool is_administrative; /* a hidden share, `data$`, as those that Windows makes for administrators are */
  bool is_loopback;       /* the host is this node: localhost, 127.0.0.1, ::1 */
};

/* Reads the path of a request. Separators may be of either kind and doubled; those before the host may be
 * missing.
 *
 * Refused, with INVALID_ARGUMENT, "remote path is empty" or "remote path (<path>) is invalid": what names no
 * share; drives, devices and verbatim paths; `.` and `..`; streams; characters and names that no share or
 * directory may have; IPC$, and the names of pipes and mailslots, which are no shares; IPv6 addresses in
 * another form than `fe80--1.ipv6-literal.net`. RESOURCE_EXHAUSTED. */
bool csi_remote_path_parse(struct csi_ctx *ctx, const char *path,
                           struct csi_remote_path *path_out) CSI_MUST_CHECK;

#endif
