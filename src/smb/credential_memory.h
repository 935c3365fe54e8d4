/* SPDX-License-Identifier: Apache-2.0
 *
 * Which credentials each share was last mapped with, as digests that tell only whether two are the same. It
 * forgets what was used longest ago when it is full; what it does not know, the server is asked. Thread-safe.
 */
#ifndef CSI_SMB_CREDENTIAL_MEMORY_H
#define CSI_SMB_CREDENTIAL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "smb/host.h"

struct csi_credential_memory;

/* capacity: how many shares it knows at most, 1 or more. NULL when memory is short. */
struct csi_credential_memory *csi_credential_memory_new(size_t capacity);
/* NULL is accepted. */
void csi_credential_memory_free(struct csi_credential_memory *memory);

enum csi_remembered {
  CSI_CREDENTIALS_UNKNOWN,
  CSI_CREDENTIALS_SAME,
  CSI_CREDENTIALS_OTHER,
};

/* Compares with what the share was last mapped with. */
enum csi_remembered csi_credential_memory_compare(struct csi_credential_memory *memory, const char *root,
                                                  const struct csi_smb_fingerprint *fingerprint);

/* Knows from now on what the share is mapped with. When memory is short, it does not. */
void csi_credential_memory_set(struct csi_credential_memory *memory, const char *root,
                               const struct csi_smb_fingerprint *fingerprint);

/* Notes that the user of a share may not look at its root: that this is refused says nothing of the mapping.
 * True from then on, until the share is set or forgotten. */
void csi_credential_memory_excuse(struct csi_credential_memory *memory, const char *root);
bool csi_credential_memory_is_excused(struct csi_credential_memory *memory, const char *root);

void csi_credential_memory_forget(struct csi_credential_memory *memory, const char *root);

/* True when it is known what the share was last mapped with. */
bool csi_credential_memory_knows(struct csi_credential_memory *memory, const char *root);

/* Length of the host in a root, with the separators before it. */
size_t csi_credential_memory_host_bytes(const char *root);

/* Lists other shares of the same host that were last mapped with something else. roots_out: room for max
 * texts of root_bytes each; longer roots are left out. Returns how many. */
size_t csi_credential_memory_list_neighbours(struct csi_credential_memory *memory, const char *root,
                                             const struct csi_smb_fingerprint *fingerprint, char *roots_out,
                                             size_t root_bytes, size_t max);

/* Lists all shares it knows, the one that was used last first, in ctx->arena. Fails when memory is short. */
bool csi_credential_memory_list(struct csi_credential_memory *memory, struct csi_ctx *ctx,
                                const char ***roots_out, size_t *count_out) CSI_MUST_CHECK;

/* How many shares it knows. */
size_t csi_credential_memory_count(struct csi_credential_memory *memory);

#endif
