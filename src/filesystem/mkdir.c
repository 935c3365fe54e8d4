/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/mkdir.h"

#include <string.h>

#include "filesystem/resolve.h"

enum {
  ATTEMPTS_MAX = 4, /* at one directory that others keep making and removing */
};

/* Opens a child, or makes it a directory. */
static uint32_t open_or_make(const struct csi_node *parent, struct csi_name name, struct csi_node *child_out,
                             struct csi_entry *entry_out) {
  uint32_t error = CSI_WIN32_OK;
  for (unsigned attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    error = csi_node_open_child(parent, name, CSI_ACCESS_LOOK, child_out, entry_out);
    if (error != CSI_WIN32_FILE_NOT_FOUND) return error;
    error = csi_node_create_child(parent, name, true, CSI_ACCESS_LOOK, child_out);
    *entry_out = (struct csi_entry){.attributes = CSI_ATTRIBUTE_DIRECTORY};
    if (error != CSI_WIN32_ALREADY_EXISTS) return error;
  }
  return error;
}

/* The last component is a link: good enough when a directory is behind it. */
static bool accept_link(const struct csi_walk *walk, const struct csi_node *node,
                        const struct csi_path_part *last) {
  struct csi_reparse link;
  if (!csi_read_link(walk->ctx, node, walk->verb, walk->path->given, &link)) return false;
  if (link.kind == CSI_LINK_NONE) return csi_walk_refuse_link(walk, last);
  enum csi_target target;
  if (!csi_resolve(walk->ctx, walk->host, walk->path->text, &link, true, &target))
    return csi_explain(&walk->ctx->status, "%s %s: ", walk->verb, walk->path->given);
  switch (target) {
  case CSI_TARGET_DIRECTORY:
  case CSI_TARGET_REMOTE:
    return true;
  case CSI_TARGET_FILE:
    return csi_walk_fail(walk, CSI_WIN32_PATH_NOT_FOUND, "NtCreateFile");
  case CSI_TARGET_MISSING:
    break;
  }
  return csi_walk_fail(walk, CSI_WIN32_ALREADY_EXISTS, "NtCreateFile");
}

/* Replaces *directory by its child `part`, which is made when it is missing. */
static bool enter(const struct csi_walk *walk, struct csi_node *directory, const struct csi_path_part *part,
                  bool is_last) {
  struct csi_name name;
  if (!csi_walk_name(walk->ctx, part, &name)) return false;
  CSI_SCOPED_NODE child = {0};
  struct csi_entry entry;
  uint32_t error = open_or_make(directory, name, &child, &entry);
  if (error != CSI_WIN32_OK) return csi_walk_fail(walk, error, "NtCreateFile");
  if (csi_entry_is_reparse_point(&entry))
    return is_last ? accept_link(walk, &child, part) : csi_walk_refuse_link(walk, part);
  if (!csi_entry_is_plain_directory(&entry))
    return csi_walk_fail(walk, CSI_WIN32_PATH_NOT_FOUND, "NtCreateFile");
  csi_node_close(directory);
  *directory = child;
  child = (struct csi_node){0};
  return true;
}

/* Opens `path`, a beginning of the working directory's path; makes it in *parent when it is missing. */
static uint32_t open_or_make_ancestor(const struct csi_walk *walk, const struct csi_node *parent,
                                      const char *path, struct csi_name name, struct csi_node *node_out) {
  uint32_t error = csi_node_open_path(walk->host, path, CSI_ACCESS_LOOK, node_out);
  if (!csi_error_is_missing(error) || parent->host == NULL) return error;
  CSI_SCOPED_NODE made = {0};
  error = csi_node_create_child(parent, name, true, CSI_ACCESS_LOOK, &made);
  if (error != CSI_WIN32_OK && error != CSI_WIN32_ALREADY_EXISTS) return error;
  csi_node_close(&made);
  return csi_node_open_path(walk->host, path, CSI_ACCESS_LOOK, node_out);
}

/* Makes the working directory. Links above it are the administrator's and are followed. */
static bool make_root(const struct csi_walk *walk, struct csi_node *root_out) {
  char *path = csi_arena_strdup(walk->ctx->arena, walk->path->root);
  if (path == NULL) return csi_fail_out_of_memory(&walk->ctx->status);
  CSI_SCOPED_NODE parent = {0};
  char drive[] = {path[0], ':', '\\', '\0'};
  uint32_t error = csi_node_open_path(walk->host, drive, CSI_ACCESS_LOOK, &parent);
  const char *rest = path + 3;
  struct csi_path_part part;
  while (error == CSI_WIN32_OK && csi_path_next(&rest, &part)) {
    struct csi_name name;
    if (!csi_walk_name(walk->ctx, &part, &name)) return false;
    char *end = path + (part.text + part.bytes - path);
    char separator = *end;
    *end = '\0';
    CSI_SCOPED_NODE node = {0};
    error = open_or_make_ancestor(walk, &parent, path, name, &node);
    *end = separator;
    struct csi_node done = parent;
    parent = node;
    node = done;
  }
  if (error != CSI_WIN32_OK) return csi_walk_fail(walk, error, "NtCreateFile");
  *root_out = parent;
  parent = (struct csi_node){0};
  return true;
}

bool csi_make_directory(const struct csi_walk *walk) {
  CSI_SCOPED_NODE directory = {0};
  uint32_t error = csi_node_open_path(walk->host, walk->path->root, CSI_ACCESS_LOOK, &directory);
  if (csi_error_is_missing(error)) {
    if (!make_root(walk, &directory)) return false;
  } else if (error != CSI_WIN32_OK) {
    return csi_walk_fail(walk, error == CSI_WIN32_DIRECTORY ? CSI_WIN32_PATH_NOT_FOUND : error,
                         "NtCreateFile");
  }
  const char *rest = walk->path->below;
  struct csi_path_part part;
  while (csi_path_next(&rest, &part))
    if (!enter(walk, &directory, &part, *rest == '\0')) return false;
  return true;
}
