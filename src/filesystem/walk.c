/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/walk.h"

#include <string.h>

#include "base/text.h"

void csi_node_close(struct csi_node *node) {
  if (node->host != NULL) node->host->close(node->host->self, node->handle);
  *node = (struct csi_node){0};
}

/* Makes *node_out own handle when the host succeeded. */
static uint32_t adopt(const struct csi_filesystem_host *host, uint32_t error, void *handle,
                      struct csi_node *node_out) {
  if (error == CSI_WIN32_OK) *node_out = (struct csi_node){.host = host, .handle = handle};
  return error;
}

uint32_t csi_node_open_path(const struct csi_filesystem_host *host, const char *path, unsigned access,
                            struct csi_node *node_out) {
  void *handle = NULL;
  uint32_t error = host->open_path(host->self, path, access, &handle);
  return adopt(host, error, handle, node_out);
}

uint32_t csi_node_open_child(const struct csi_node *parent, struct csi_name name, unsigned access,
                             struct csi_node *child_out, struct csi_entry *entry_out) {
  const struct csi_filesystem_host *host = parent->host;
  void *handle = NULL;
  uint32_t error = host->open_child(host->self, parent->handle, name, access, &handle, entry_out);
  return adopt(host, error, handle, child_out);
}

uint32_t csi_node_create_child(const struct csi_node *parent, struct csi_name name, bool directory,
                               unsigned access, struct csi_node *child_out) {
  const struct csi_filesystem_host *host = parent->host;
  void *handle = NULL;
  uint32_t error = host->create_child(host->self, parent->handle, name, directory, access, &handle);
  return adopt(host, error, handle, child_out);
}

uint32_t csi_node_remove(const struct csi_node *node, uint32_t tag) {
  return node->host->remove(node->host->self, node->handle, tag);
}

bool csi_walk_fail(const struct csi_walk *walk, uint32_t error, const char *call) {
  return csi_fail_system(&walk->ctx->status, CSI_SPACE_WIN32, error, call, "%s %s", walk->verb,
                         walk->path->given);
}

bool csi_walk_refuse_link(const struct csi_walk *walk, const struct csi_path_part *link) {
  const char *text = walk->path->text;
  int bytes = (int)(link->text + link->bytes - text);
  return csi_fail(&walk->ctx->status, CSI_FAILED_PRECONDITION,
                  "%s %s: %.*s is a link, and links below a working directory are not followed", walk->verb,
                  walk->path->given, bytes, text);
}

bool csi_walk_name(struct csi_ctx *ctx, const struct csi_path_part *part, struct csi_name *name_out) {
  name_out->units = csi_utf16_from_utf8(ctx->arena, part->text, part->bytes, &name_out->count, &ctx->status);
  return name_out->units != NULL;
}

bool csi_entry_is_reparse_point(const struct csi_entry *entry) {
  return (entry->attributes & CSI_ATTRIBUTE_REPARSE_POINT) != 0;
}

bool csi_entry_is_plain_directory(const struct csi_entry *entry) {
  return (entry->attributes & CSI_ATTRIBUTE_DIRECTORY) != 0 && !csi_entry_is_reparse_point(entry);
}

bool csi_error_is_missing(uint32_t error) {
  return error == CSI_WIN32_FILE_NOT_FOUND || error == CSI_WIN32_PATH_NOT_FOUND ||
         error == CSI_WIN32_DELETE_PENDING;
}

bool csi_error_is_gone(uint32_t error) {
  switch (error) {
  case CSI_WIN32_INVALID_DRIVE:
  case CSI_WIN32_NOT_READY:
  case CSI_WIN32_BAD_NETPATH:
  case CSI_WIN32_DEV_NOT_EXIST:
  case CSI_WIN32_BAD_NET_NAME:
  case CSI_WIN32_INVALID_NAME:
  case CSI_WIN32_NO_SUCH_DEVICE:
  case CSI_WIN32_UNRECOGNIZED_VOLUME:
  case CSI_WIN32_DEVICE_NOT_CONNECTED:
    return true;
  default:
    return csi_error_is_missing(error);
  }
}

/* Ends a walk on an error: a failure, unless the caller wants to know about missing entries. */
static bool stop(const struct csi_walk *walk, uint32_t error, bool *missing_out) {
  if (missing_out == NULL || !csi_error_is_missing(error)) return csi_walk_fail(walk, error, "NtCreateFile");
  *missing_out = true;
  return true;
}

/* An entry that is missing on the way is reported as Windows does: the path is not found. */
static uint32_t on_the_way(uint32_t error) {
  return csi_error_is_missing(error) ? CSI_WIN32_PATH_NOT_FOUND : error;
}

/* Replaces *directory by its child `part`. */
static bool descend(const struct csi_walk *walk, const struct csi_path_part *part, struct csi_node *directory,
                    bool *missing_out) {
  struct csi_name name;
  if (!csi_walk_name(walk->ctx, part, &name)) return false;
  CSI_SCOPED_NODE child = {0};
  struct csi_entry entry;
  uint32_t error = csi_node_open_child(directory, name, CSI_ACCESS_LOOK, &child, &entry);
  if (error != CSI_WIN32_OK) return stop(walk, on_the_way(error), missing_out);
  if (csi_entry_is_reparse_point(&entry)) return csi_walk_refuse_link(walk, part);
  if (!csi_entry_is_plain_directory(&entry)) return stop(walk, CSI_WIN32_PATH_NOT_FOUND, missing_out);
  csi_node_close(directory);
  *directory = child;
  child = (struct csi_node){0};
  return true;
}

bool csi_walk_to_parent(const struct csi_walk *walk, struct csi_node *parent_out, struct csi_name *name_out,
                        bool *missing_out) {
  if (missing_out != NULL) *missing_out = false;
  CSI_SCOPED_NODE directory = {0};
  uint32_t error = csi_node_open_path(walk->host, walk->path->root, CSI_ACCESS_LOOK, &directory);
  if (error != CSI_WIN32_OK) return stop(walk, on_the_way(error), missing_out);

  const char *rest = walk->path->below;
  struct csi_path_part part, next;
  if (!csi_path_next(&rest, &part))
    return csi_fail(&walk->ctx->status, CSI_INTERNAL, "%s %s: a working directory has no parent here",
                    walk->verb, walk->path->given);
  for (; csi_path_next(&rest, &next); part = next) {
    if (!descend(walk, &part, &directory, missing_out)) return false;
    if (missing_out != NULL && *missing_out) return true;
  }
  if (!csi_walk_name(walk->ctx, &part, name_out)) return false;
  *parent_out = directory;
  directory = (struct csi_node){0};
  return true;
}

static bool open_root(const struct csi_walk *walk, unsigned access, struct csi_node *node_out,
                      struct csi_entry *entry_out, bool *missing_out) {
  uint32_t error = csi_node_open_path(walk->host, walk->path->root, access, node_out);
  if (error != CSI_WIN32_OK) return stop(walk, error, missing_out);
  *entry_out = (struct csi_entry){.attributes = CSI_ATTRIBUTE_DIRECTORY};
  return true;
}

bool csi_walk_to_entry(const struct csi_walk *walk, unsigned access, struct csi_node *node_out,
                       struct csi_entry *entry_out, bool *missing_out) {
  if (missing_out != NULL) *missing_out = false;
  if (walk->path->below[0] == '\0') return open_root(walk, access, node_out, entry_out, missing_out);
  CSI_SCOPED_NODE parent = {0};
  struct csi_name name;
  if (!csi_walk_to_parent(walk, &parent, &name, missing_out)) return false;
  if (missing_out != NULL && *missing_out) return true;
  uint32_t error = csi_node_open_child(&parent, name, access, node_out, entry_out);
  return error == CSI_WIN32_OK || stop(walk, error, missing_out);
}

bool csi_walk_find(const struct csi_walk *walk, bool *missing_out) {
  *missing_out = false;
  CSI_SCOPED_NODE node = {0};
  struct csi_entry entry;
  if (walk->path->below[0] == '\0') return open_root(walk, CSI_ACCESS_LOOK, &node, &entry, missing_out);
  struct csi_name name;
  if (!csi_walk_to_parent(walk, &node, &name, missing_out)) return false;
  if (*missing_out) return true;
  uint32_t error = walk->host->find_child(walk->host->self, node.handle, name);
  if (error == CSI_WIN32_OK) return true;
  if (!csi_error_is_missing(error)) return csi_walk_fail(walk, error, "NtCreateFile");
  *missing_out = true;
  return true;
}
