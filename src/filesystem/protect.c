/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/protect.h"

#include <string.h>

enum {
  DRIVE_BYTES = 3, /* `X:\` */
};

static bool refuse(const struct csi_walk *walk) {
  return csi_fail(&walk->ctx->status, CSI_PERMISSION_DENIED,
                  "%s %s: this is a working directory or holds one, and must not be removed or emptied",
                  walk->verb, walk->path->given);
}

bool csi_protect_named_roots(const struct csi_walk *walk) {
  return !walk->path->holds_root || refuse(walk);
}

/* Records that a working directory, or what it stands in, cannot be looked at. */
static bool fail_at(const struct csi_walk *walk, const char *root, uint32_t error) {
  return csi_fail_system(&walk->ctx->status, CSI_SPACE_WIN32, error, "NtCreateFile",
                         "%s %s: working directory %s", walk->verb, walk->path->given, root);
}

/* Opens an outermost working directory, or what it stands in. *node_out stays empty when there is none. */
static bool open_if_there(const struct csi_walk *walk, const char *path, struct csi_node *node_out) {
  uint32_t error = csi_node_open_path(walk->host, path, CSI_ACCESS_LOOK, node_out);
  return error == CSI_WIN32_OK || error == CSI_WIN32_DIRECTORY || csi_error_is_gone(error) ||
         fail_at(walk, path, error);
}

static bool get_identity(const struct csi_walk *walk, const struct csi_node *node,
                         struct csi_identity *identity_out) {
  uint32_t error = walk->host->get_identity(walk->host->self, node->handle, identity_out);
  return error == CSI_WIN32_OK || csi_walk_fail(walk, error, "NtQueryInformationFile");
}

static bool get_volume(const struct csi_walk *walk, const struct csi_node *node,
                       struct csi_file_volume *volume_out) {
  uint32_t error = walk->host->get_volume(walk->host->self, node->handle, volume_out);
  return error == CSI_WIN32_OK || csi_walk_fail(walk, error, "NtQueryVolumeInformationFile");
}

/* Refuses doomed when it is what node is. */
static bool protect_node(const struct csi_walk *walk, const struct csi_node *node,
                         const struct csi_identity *doomed) {
  struct csi_identity identity;
  if (!get_identity(walk, node, &identity)) return false;
  bool same = identity.volume_serial == doomed->volume_serial &&
              memcmp(identity.file_id, doomed->file_id, sizeof identity.file_id) == 0;
  return !same || refuse(walk);
}

/* Refuses doomed when it is an outermost working directory, or one of the directories that lead there. */
static bool protect_outermost(const struct csi_walk *walk, const char *root,
                              const struct csi_identity *doomed) {
  char *path = csi_arena_strdup(walk->ctx->arena, root);
  if (path == NULL) return csi_fail_out_of_memory(&walk->ctx->status);
  while (strlen(path) > DRIVE_BYTES) {
    CSI_SCOPED_NODE node = {0};
    if (!open_if_there(walk, path, &node)) return false;
    if (node.host != NULL && !protect_node(walk, &node, doomed)) return false;
    *strrchr(path, '\\') = '\0';
  }
  return true;
}

/* Replaces *directory by its child `part`, and empties it where the way ends: nothing is there, or a link,
 * which somebody may have planted, and which no walk would follow either. */
static bool protect_child(const struct csi_walk *walk, const struct csi_confined_path *root,
                          const struct csi_path_part *part, struct csi_node *directory,
                          const struct csi_identity *doomed) {
  struct csi_name name;
  if (!csi_walk_name(walk->ctx, part, &name)) return false;
  CSI_SCOPED_NODE child = {0};
  struct csi_entry entry;
  uint32_t error = csi_node_open_child(directory, name, CSI_ACCESS_LOOK, &child, &entry);
  csi_node_close(directory);
  if (csi_error_is_gone(error)) return true;
  if (error != CSI_WIN32_OK) return fail_at(walk, root->text, error);
  if (!protect_node(walk, &child, doomed)) return false;
  if (!csi_entry_is_plain_directory(&entry)) return true;
  *directory = child;
  child = (struct csi_node){0};
  return true;
}

/* Refuses doomed when it is a working directory below another one, or stands between the two. */
static bool protect_nested(const struct csi_walk *walk, const struct csi_confined_path *root,
                           const struct csi_identity *doomed) {
  CSI_SCOPED_NODE directory = {0};
  if (!open_if_there(walk, root->root, &directory)) return false;
  const char *rest = root->below;
  struct csi_path_part part;
  while (directory.host != NULL && csi_path_next(&rest, &part))
    if (!protect_child(walk, root, &part, &directory, doomed)) return false;
  return true;
}

static bool is_nested(const struct csi_confined_path *root) {
  return root->below[0] != '\0';
}

/* The walk began there and followed nothing, so what it has come to is below. */
static bool is_own(const struct csi_walk *walk, const struct csi_confined_path *root) {
  return root->text == walk->path->root;
}

bool csi_protect_roots(const struct csi_walk *walk, const struct csi_node *node,
                       const struct csi_entry *entry) {
  struct csi_confined_path root;
  bool only_own = !csi_path_policy_root(walk->policy, 1, &root);
  if (only_own || (entry->attributes & CSI_ATTRIBUTE_DIRECTORY) == 0) return true;
  struct csi_identity doomed;
  if (!get_identity(walk, node, &doomed)) return false;
  for (size_t i = 0; csi_path_policy_root(walk->policy, i, &root); i++) {
    if (is_own(walk, &root)) continue;
    if (is_nested(&root) ? !protect_nested(walk, &root, &doomed)
                         : !protect_outermost(walk, root.text, &doomed))
      return false;
  }
  return true;
}

static bool refuse_volume(const struct csi_walk *walk) {
  return csi_fail(&walk->ctx->status, CSI_PERMISSION_DENIED,
                  "%s %s: the volume mounted there holds Windows or a working directory", walk->verb,
                  walk->path->given);
}

bool csi_protect_volumes(const struct csi_walk *walk, const struct csi_node *folder,
                         const struct csi_node *volume) {
  struct csi_file_volume own, mounted;
  if (!get_volume(walk, folder, &own) || !get_volume(walk, volume, &mounted)) return false;
  if (mounted.serial == own.serial || mounted.is_system) return refuse_volume(walk);
  struct csi_confined_path root;
  for (size_t i = 0; csi_path_policy_root(walk->policy, i, &root); i++) {
    /* A nested one is on the volume of the one around it, or behind a link that nobody follows. */
    if (is_own(walk, &root) || is_nested(&root)) continue;
    CSI_SCOPED_NODE node = {0};
    struct csi_file_volume other;
    if (!open_if_there(walk, root.text, &node)) return false;
    if (node.host == NULL) continue;
    if (!get_volume(walk, &node, &other)) return false;
    if (mounted.serial == other.serial) return refuse_volume(walk);
  }
  return true;
}
