/* SPDX-License-Identifier: Apache-2.0
 *
 * Which paths a client may name. Purely lexical: bytes in, verdict and normal form out; what is on the
 * disk is the business of walk.h. Immutable after csi_path_policy_new(), so any thread may ask.
 *
 * A path in normal form is absolute, has single backslashes, and none at the end: `C:\a\b`, `C:\`.
 */
#ifndef CSI_FILESYSTEM_PATH_POLICY_H
#define CSI_FILESYSTEM_PATH_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/ctx.h"

enum {
  CSI_PATH_BYTES_DEFAULT = 260, /* the limit of the original, in bytes of UTF-8 */
};

struct csi_path_policy;

/* One component of a path: a slice, not NUL-terminated. */
struct csi_path_part {
  const char *text;
  size_t bytes;
};

/* A path that was let through. Lives in the request's arena, except for `given` and `root`. */
struct csi_confined_path {
  const char *given; /* as the client spelt it, for error texts; borrowed from the request */
  const char *text;  /* normal form */
  const char *root;  /* the outermost working directory that holds it, in normal form; the policy's */
  const char *below; /* the part of text below root, without leading separator; "" for the root itself */
  bool holds_root;   /* the path is a working directory or lies above one: nothing may destroy it */
};

/* Reads the configuration.
 *
 * directories: absolute local paths. Forward slashes, doubled and trailing separators are accepted,
 *   duplicates dropped. At least one is needed. Copied.
 * max_path_bytes: longest path that csi_path_confine() lets through, 1 or more.
 * Returns NULL with INVALID_ARGUMENT, naming the directory that is empty, relative or malformed. */
struct csi_path_policy *csi_path_policy_new(const char *const *directories, size_t directory_count,
                                            size_t max_path_bytes, struct csi_status *status) CSI_MUST_CHECK;
void csi_path_policy_free(struct csi_path_policy *policy);

/* Gives a working directory, in the order given, as a path like any other: its root is the outermost one
 * that holds it, maybe itself. All of it is the policy's. False behind the last. */
bool csi_path_policy_root(const struct csi_path_policy *policy, size_t index,
                          struct csi_confined_path *root_out);

/* Checks a path by the rules of the original, in its order and with its texts, so that whatever it
 * refused is refused with the same words: length, leading backslash, forbidden characters and `..`,
 * absolute, below a working directory. The last differs: components are compared, not bytes, so that
 * `C:\var\lib\kubelet-evil` is not below `C:\var\lib\kubelet`. Then come rules of our own, which
 * refuse names that Windows would quietly turn into something else: `.`, a dot or blank at the end,
 * control characters, `<`, `>`, device names such as NUL or COM1.txt.
 *
 * Fails with INVALID_ARGUMENT (malformed), PERMISSION_DENIED (outside), RESOURCE_EXHAUSTED. */
bool csi_path_confine(const struct csi_path_policy *policy, struct csi_ctx *ctx, const char *path,
                      struct csi_confined_path *path_out) CSI_MUST_CHECK;

/* The same for RPCs that the original did not check, and to which drivers send paths as the kubelet
 * spells them: forward slashes, `.` components, and paths without a drive, which are on C:, are brought
 * to normal form first, and there is no limit to the length. Paths of other machines and of devices
 * are refused: opening one would send the node's credentials wherever the client says. */
bool csi_path_confine_unnormalised(const struct csi_path_policy *policy, struct csi_ctx *ctx,
                                   const char *path, struct csi_confined_path *path_out) CSI_MUST_CHECK;

/* Takes the next component off rest, which is backslash-separated text such as `below`. False at the
 * end; empty components are skipped. */
bool csi_path_next(const char **rest, struct csi_path_part *part_out);

/* True for `X:\...`, with any letter. */
bool csi_path_is_absolute(const char *path);

#endif
