/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of the host that do not depend on the way to global mappings, as host.h has them; self is not used.
 * And what the two ways share.
 */
#ifndef CSI_SMB_COMMON_WIN32_H
#define CSI_SMB_COMMON_WIN32_H

#include <windows.h>

#include "smb/host.h"

enum {
  CSI_SMB_ROOT_UNITS = 512,        /* a root and its NUL */
  CSI_SMB_CREDENTIAL_UNITS = 1025, /* a username or a password, and its NUL */
};

/* Copies text to a buffer of UTF-16. what: names the text in an error, not its contents. */
bool csi_smb_widen(struct csi_ctx *ctx, const char *text, const char *what, wchar_t *text_w_out,
                   size_t units) CSI_MUST_CHECK;

/* "share ROOT", for csi_library_call(): of one share, one call that does not return keeps all others from
 * hanging as well. NULL, with ctx->status, when memory is short. */
const char *csi_smb_object(struct csi_ctx *ctx, const char *root) CSI_MUST_CHECK;

bool csi_smb_check_root(void *self, struct csi_ctx *ctx, const char *root) CSI_MUST_CHECK;

/* Connects to the share in a logon session of its own, and looks at its root. */
bool csi_smb_try_credentials(void *self, struct csi_ctx *ctx, const char *root,
                             const struct csi_smb_credentials *credentials, bool require_privacy,
                             bool *may_look_out) CSI_MUST_CHECK;

/* Opens the root, `\\host\share\`, for its attributes. Returns the error. */
DWORD csi_smb_open_root(const wchar_t *path_w);

bool csi_smb_fingerprint(void *self, struct csi_ctx *ctx, const char *root,
                         const struct csi_smb_credentials *credentials,
                         struct csi_smb_fingerprint *fingerprint_out) CSI_MUST_CHECK;

#endif
