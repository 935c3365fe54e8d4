/* SPDX-License-Identifier: Apache-2.0
 *
 * What the SMB group needs of an operating system: single steps on global mappings. When a mapping is made,
 * kept, renewed or ended is decided on this side of the table, in portable code; host_win32.c fills it with
 * mpr.dll or mi.dll, the fake node with shares in memory.
 *
 * A share is named by its root, `\\host\share`, in lower case and without a separator at the end. Every
 * function returns false and fills ctx->status (csi_fail_system with the raw number) when its call fails.
 * All may block, at most until the call's deadline; all may be called from several threads at once, though
 * not for one share.
 */
#ifndef CSI_SMB_HOST_H
#define CSI_SMB_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

enum {
  CSI_SMB_FINGERPRINT_BYTES = 32,
};

/* The numbers of winerror.h that portable code tells apart. */
enum csi_smb_error {
  CSI_SMB_ACCESS_DENIED = 5,
  CSI_SMB_BAD_NETPATH = 53,
  CSI_SMB_NETWORK_ACCESS_DENIED = 65,
  CSI_SMB_BAD_NET_NAME = 67,
  CSI_SMB_ALREADY_ASSIGNED = 85,
  CSI_SMB_INVALID_PASSWORD = 86,
  CSI_SMB_SESSION_CREDENTIAL_CONFLICT = 1219,
  CSI_SMB_LOGON_FAILURE = 1326,
  CSI_SMB_BAD_USERNAME = 2202,
  CSI_SMB_NOT_CONNECTED = 2250,
};

enum csi_smb_state {
  CSI_SMB_UNKNOWN = 0, /* the system does not tell: there may be a mapping */
  CSI_SMB_NOT_MAPPED,
  CSI_SMB_MAPPED, /* as far as Windows says; whether the server answers is another question */
  CSI_SMB_BROKEN, /* there is a mapping, and Windows says that it is disconnected or in error */
};

/* What to map a share with. All texts are in a secret arena. */
struct csi_smb_credentials {
  const char *username; /* "" = none are sent */
  const char *password;
};

/* A keyed digest of credentials: tells whether two are the same, and nothing else. */
struct csi_smb_fingerprint {
  uint8_t bytes[CSI_SMB_FINGERPRINT_BYTES];
};

struct csi_smb_host {
  void *self; /* handed to every function */

  /* May also be called for a share that another thread works on. */
  bool (*get_state)(void *self, struct csi_ctx *ctx, const char *root, enum csi_smb_state *state_out);

  /* Lists the names of shares that are mapped without the letter of a drive, whoever has mapped them, as far
   * as the system lists them, and as it spells them. In the arena. UNIMPLEMENTED when this way does not list
   * any. */
  bool (*list)(void *self, struct csi_ctx *ctx, const char ***names_out, size_t *count_out);

  /* Maps the share for the whole node, until the machine restarts. Over an existing mapping it succeeds, and
   * changes nothing, when the credentials are those of the mapping; CSI_SMB_SESSION_CREDENTIAL_CONFLICT or
   * CSI_SMB_ALREADY_ASSIGNED when they are others. */
  bool (*add)(void *self, struct csi_ctx *ctx, const char *root,
              const struct csi_smb_credentials *credentials, bool require_privacy);

  /* Ends the mapping, open files or not. CSI_SMB_NOT_CONNECTED when there is none. */
  bool (*remove)(void *self, struct csi_ctx *ctx, const char *root);

  /* Opens the root of the share as the mapping lets it, without waiting longer than the deadline. False with
   * what the server or the network says. */
  bool (*check)(void *self, struct csi_ctx *ctx, const char *root);

  /* Asks the server whether it takes the credentials, beside the mapping and without touching it. False with
   * what the server says; with UNIMPLEMENTED when this system has no way to ask, and for an empty username.
   * may_look_out: false when the server takes them, and does not let them look at the root of the share. */
  bool (*try_credentials)(void *self, struct csi_ctx *ctx, const char *root,
                          const struct csi_smb_credentials *credentials, bool require_privacy,
                          bool *may_look_out);

  /* Digests a name and credentials with a key that is made anew in every process. */
  bool (*fingerprint)(void *self, struct csi_ctx *ctx, const char *root,
                      const struct csi_smb_credentials *credentials,
                      struct csi_smb_fingerprint *fingerprint_out);
};

#endif
