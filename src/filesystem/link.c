/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/link.h"

#include <string.h>

#include "base/text.h"
#include "filesystem/reparse.h"
#include "filesystem/resolve.h"

/* What a link is to lead to. */
struct target {
  const char *text; /* `C:\a`, `\\host\share\` */
  enum csi_link_kind kind;
  bool directory;
  bool either_kind; /* a link that is there already may be one to a file or to a directory */
};

/* What kind of link suits the source; missing_out: the source is not there, so that either kind does. */
static bool look_at_source(const struct csi_walk *walk, const struct csi_confined_path *source,
                           bool *directory_out, bool *missing_out) {
  struct csi_walk to_source = *walk;
  to_source.path = source;
  to_source.verb = "symlink";
  CSI_SCOPED_NODE node = {0};
  struct csi_entry entry = {.attributes = CSI_ATTRIBUTE_DIRECTORY};
  if (!csi_walk_to_entry(&to_source, CSI_ACCESS_LOOK, &node, &entry, missing_out)) return false;
  *directory_out = *missing_out || (entry.attributes & CSI_ATTRIBUTE_DIRECTORY) != 0;
  return true;
}

/* Length of `\\host\share` in a path on a share. */
static size_t root_bytes(const char *path) {
  size_t host_bytes = 2 + strcspn(path + 2, "\\");
  if (path[host_bytes] == '\0') return host_bytes;
  return host_bytes + 1 + strcspn(path + host_bytes + 1, "\\");
}

/* Hosts and shares have no case; what is below a share may have, on another system. */
static bool is_same_on_share(const char *a, const char *b) {
  size_t a_bytes = root_bytes(a), b_bytes = root_bytes(b);
  return csi_utf8_compare_ignore_case(a, a_bytes, b, b_bytes) == 0 && strcmp(a + a_bytes, b + b_bytes) == 0;
}

/* True when link is to target. Separators at the end make no difference on a drive; without them, Go programs
 * cannot use a link to a share. */
static bool leads_to(const struct csi_reparse *link, const struct target *target) {
  if (link->kind != target->kind) return false;
  if (target->kind == CSI_LINK_UNC)
    return strncmp(link->target, "\\\\", 2) == 0 && is_same_on_share(link->target, target->text);
  size_t bytes = strlen(link->target);
  while (bytes > 3 && link->target[bytes - 1] == '\\')
    bytes--;
  return csi_utf8_compare_ignore_case(link->target, bytes, target->text, strlen(target->text)) == 0;
}

/* There is something in the place of the link: fine if it is the link that is wanted. */
static bool accept_existing(const struct csi_walk *walk, const struct csi_node *parent, struct csi_name name,
                            const struct target *target) {
  CSI_SCOPED_NODE node = {0};
  struct csi_entry entry;
  uint32_t error = csi_node_open_child(parent, name, CSI_ACCESS_LOOK, &node, &entry);
  if (error != CSI_WIN32_OK) return csi_walk_fail(walk, error, "NtCreateFile");
  bool is_directory = (entry.attributes & CSI_ATTRIBUTE_DIRECTORY) != 0;
  if (csi_entry_is_reparse_point(&entry) && entry.tag == CSI_REPARSE_TAG_SYMLINK &&
      (target->either_kind || is_directory == target->directory)) {
    struct csi_reparse link;
    if (!csi_read_link(walk->ctx, &node, walk->verb, walk->path->given, &link)) return false;
    if (leads_to(&link, target)) return true;
  }
  return csi_walk_fail(walk, CSI_WIN32_ALREADY_EXISTS, "NtCreateFile");
}

/* Turns the new, empty entry behind node into the link, and reads it back: not every file system that
 * takes a reparse point keeps it. */
static bool write_link(const struct csi_walk *walk, const struct csi_node *node, const struct target *target,
                       const uint8_t *bytes, size_t size_bytes) {
  const struct csi_filesystem_host *host = walk->host;
  uint32_t error = host->write_reparse(host->self, node->handle, bytes, size_bytes);
  if (error != CSI_WIN32_OK) return csi_walk_fail(walk, error, "FSCTL_SET_REPARSE_POINT");
  struct csi_reparse link;
  if (!csi_read_link(walk->ctx, node, walk->verb, walk->path->given, &link)) return false;
  if (link.tag == CSI_REPARSE_TAG_SYMLINK && leads_to(&link, target)) return true;
  return csi_fail(&walk->ctx->status, CSI_INTERNAL, "%s %s: the file system keeps another link, to %s",
                  walk->verb, walk->path->given, link.target == NULL ? "nothing" : link.target);
}

static bool create(const struct csi_walk *walk, const struct csi_node *parent, struct csi_name name,
                   const struct target *target) {
  uint8_t bytes[CSI_REPARSE_BYTES_MAX];
  size_t size_bytes;
  if (!csi_reparse_build_symlink(walk->ctx, target->text, bytes, &size_bytes))
    return csi_explain(&walk->ctx->status, "%s %s: ", walk->verb, walk->path->given);
  CSI_SCOPED_NODE node = {0};
  uint32_t error = csi_node_create_child(parent, name, target->directory, CSI_ACCESS_REMOVE, &node);
  if (error == CSI_WIN32_ALREADY_EXISTS) return accept_existing(walk, parent, name, target);
  if (error != CSI_WIN32_OK) return csi_walk_fail(walk, error, "NtCreateFile");
  if (write_link(walk, &node, target, bytes, size_bytes)) return true;
  uint32_t left = csi_node_remove(&node, 0);
  if (left != CSI_WIN32_OK)
    csi_advise(&walk->ctx->status, " (and the unfinished link could not be removed: error %u)", left);
  return false;
}

static bool make(const struct csi_walk *walk, const struct target *target, pthread_mutex_t *lock) {
  if (walk->path->below[0] == '\0') return csi_walk_fail(walk, CSI_WIN32_ALREADY_EXISTS, "NtCreateFile");
  CSI_SCOPED_NODE parent = {0};
  struct csi_name name;
  if (!csi_walk_to_parent(walk, &parent, &name, NULL)) return false;
  if (!csi_ctx_alive(walk->ctx)) return false;
  pthread_mutex_lock(lock);
  bool made = create(walk, &parent, name, target);
  pthread_mutex_unlock(lock);
  return made;
}

bool csi_make_link(const struct csi_walk *walk, const struct csi_confined_path *source,
                   pthread_mutex_t *lock) {
  struct csi_walk named = *walk;
  named.verb = csi_arena_printf(walk->ctx->arena, "symlink %s", source->given);
  if (named.verb == NULL) return csi_fail_out_of_memory(&walk->ctx->status);
  struct target target = {.text = source->text, .kind = CSI_LINK_DRIVE};
  return look_at_source(&named, source, &target.directory, &target.either_kind) &&
         make(&named, &target, lock);
}

bool csi_make_share_link(const struct csi_walk *walk, const char *share, pthread_mutex_t *lock) {
  const struct target target = {.text = share, .kind = CSI_LINK_UNC, .directory = true};
  return make(walk, &target, lock);
}

bool csi_test_link(const struct csi_walk *walk, bool *is_link_out) {
  CSI_SCOPED_NODE node = {0};
  struct csi_entry entry;
  if (!csi_walk_to_entry(walk, CSI_ACCESS_LOOK, &node, &entry, NULL)) return false;
  *is_link_out = false;
  if (!csi_entry_is_reparse_point(&entry) ||
      (entry.tag != CSI_REPARSE_TAG_SYMLINK && entry.tag != CSI_REPARSE_TAG_MOUNT_POINT))
    return true;
  struct csi_reparse link;
  if (!csi_read_link(walk->ctx, &node, "readlink", walk->path->given, &link)) return false;
  csi_node_close(&node);
  enum csi_target target;
  if (!csi_resolve(walk->ctx, walk->host, walk->path->text, &link, false, &target)) return false;
  *is_link_out = target != CSI_TARGET_MISSING;
  return true;
}

bool csi_test_share_link(const struct csi_walk *walk, const char *root, bool *leads_out) {
  CSI_SCOPED_NODE node = {0};
  struct csi_entry entry;
  bool missing = false;
  *leads_out = false;
  if (!csi_walk_to_entry(walk, CSI_ACCESS_LOOK, &node, &entry, &missing)) return false;
  if (missing || !csi_entry_is_reparse_point(&entry) || entry.tag != CSI_REPARSE_TAG_SYMLINK) return true;
  struct csi_reparse link;
  if (!csi_read_link(walk->ctx, &node, walk->verb, walk->path->given, &link)) return false;
  *leads_out = link.kind == CSI_LINK_UNC && strncmp(link.target, "\\\\", 2) == 0 &&
               csi_utf8_compare_ignore_case(link.target, root_bytes(link.target), root, strlen(root)) == 0;
  return true;
}
