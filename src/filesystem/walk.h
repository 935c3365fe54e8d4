/* SPDX-License-Identifier: Apache-2.0
 *
 * From a confined path to open handles, without a gap that somebody could slip a link into.
 *
 * The working directory, of nested ones the outermost, is opened by its path for every call: an administrator
 * may have moved it and left a link, or may replace it while the service runs. From there each component is
 * opened relative to the handle of its parent, as itself, and looked at through the handle just got; a
 * reparse point on the way is refused. Only the last component may be one, and is then handed out unfollowed.
 */
#ifndef CSI_FILESYSTEM_WALK_H
#define CSI_FILESYSTEM_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ctx.h"
#include "filesystem/host.h"
#include "filesystem/path_policy.h"

/* An open handle of the host; all zero when there is none. */
struct csi_node {
  const struct csi_filesystem_host *host;
  void *handle;
};

/* Closes node, if open, and empties it. */
void csi_node_close(struct csi_node *node);

/* A node that is closed at the end of its scope. */
#define CSI_SCOPED_NODE __attribute__((cleanup(csi_node_close))) struct csi_node

/* The steps of host.h, on nodes. *node_out and *child_out must be empty. */
uint32_t csi_node_open_path(const struct csi_filesystem_host *host, const char *path, unsigned access,
                            struct csi_node *node_out) CSI_MUST_CHECK;
uint32_t csi_node_open_child(const struct csi_node *parent, struct csi_name name, unsigned access,
                             struct csi_node *child_out, struct csi_entry *entry_out) CSI_MUST_CHECK;
uint32_t csi_node_create_child(const struct csi_node *parent, struct csi_name name, bool directory,
                               unsigned access, struct csi_node *child_out) CSI_MUST_CHECK;
uint32_t csi_node_remove(const struct csi_node *node, uint32_t tag) CSI_MUST_CHECK;

/* One operation on one path. */
struct csi_walk {
  struct csi_ctx *ctx;
  const struct csi_filesystem_host *host;
  const char *verb;                     /* how error texts begin, as the original's do: "mkdir", "remove" */
  const struct csi_path_policy *policy; /* that let the path through */
  const struct csi_confined_path *path;
};

/* Records "<verb> <path>: <text of error>". call: literal name of the failing call. Returns false. */
bool csi_walk_fail(const struct csi_walk *walk, uint32_t error, const char *call);

/* Records that `link`, something on the way, is a reparse point. Returns false. */
bool csi_walk_refuse_link(const struct csi_walk *walk, const struct csi_path_part *link);

/* Opens the directory that holds the last component.
 *
 * parent_out, name_out (out): that directory, and the name in it, which lives in the arena.
 * missing_out (out): may be NULL; else it is true, and the result too, when something on the way is not
 *   there or is no directory, which otherwise is a failure.
 * The path must not be a working directory itself. Fails with what the host says, or FAILED_PRECONDITION
 * for a reparse point on the way. */
bool csi_walk_to_parent(const struct csi_walk *walk, struct csi_node *parent_out, struct csi_name *name_out,
                        bool *missing_out) CSI_MUST_CHECK;

/* Opens the entry itself; a working directory too. missing_out as above, for the entry as well. */
bool csi_walk_to_entry(const struct csi_walk *walk, unsigned access, struct csi_node *node_out,
                       struct csi_entry *entry_out, bool *missing_out) CSI_MUST_CHECK;

/* Says whether the entry is there, without opening it; a working directory too. */
bool csi_walk_find(const struct csi_walk *walk, bool *missing_out) CSI_MUST_CHECK;

/* Converts a component to the form hosts want; it lives in the arena. */
bool csi_walk_name(struct csi_ctx *ctx, const struct csi_path_part *part,
                   struct csi_name *name_out) CSI_MUST_CHECK;

/* True for a directory that is no reparse point: something to walk through. */
bool csi_entry_is_plain_directory(const struct csi_entry *entry);
bool csi_entry_is_reparse_point(const struct csi_entry *entry);

/* True when error says that an entry is not there, or will not be in a moment. */
bool csi_error_is_missing(uint32_t error);

/* The same, or that a place cannot be reached any more, as after a disk was detached. */
bool csi_error_is_gone(uint32_t error);

#endif
