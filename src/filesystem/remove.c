/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/remove.h"

#include <string.h>

#include "base/text.h"
#include "filesystem/protect.h"
#include "filesystem/resolve.h"

enum {
  SCANS_MAX = 3,           /* of one directory, when others keep putting entries into it */
  TREE_PATH_UNITS = 65536, /* twice the longest path: deeper trees take renaming to make */
};

/* A directory that is being emptied. */
struct level {
  struct csi_node directory;
  size_t path_units; /* length of the path below the top, up to and including this directory */
  unsigned scans;
  bool restart;    /* the next listing begins anew */
  bool incomplete; /* something below could not be removed, so neither can this */
};

/* The removal of a tree: a walk in depth with a stack of its own, since a tree can be deeper than any
 * thread's stack. Listing one entry at a time lets the file system keep the place. */
struct removal {
  const struct csi_walk *walk;
  struct level *levels;
  size_t depth;
  size_t capacity;
  uint16_t *path_w; /* of the directories on the stack, below the top, each behind a backslash */
  size_t path_capacity;
  bool keep_top;  /* only what is inside is to go */
  bool is_volume; /* the top is the root of a volume */
  bool failed;    /* the first failure is in the status */
};

/* Returns items, moved to where there is room for `needed` of item_bytes each; NULL when memory is short.
 * Arena memory is not given back, but doubling keeps all blocks together below twice the last one. */
static void *grown(struct csi_ctx *ctx, void *items, size_t item_bytes, size_t *capacity, size_t needed) {
  if (needed <= *capacity) return items;
  size_t larger = *capacity == 0 ? 32 : *capacity * 2;
  while (larger < needed)
    larger *= 2;
  void *moved = csi_arena_alloc_array(ctx->arena, larger, item_bytes);
  if (moved == NULL) return NULL;
  if (*capacity > 0) memcpy(moved, items, *capacity * item_bytes);
  *capacity = larger;
  return moved;
}

/* Makes room for one more level and for a path of so many units. */
static bool reserve(struct removal *removal, size_t path_units) {
  struct csi_ctx *ctx = removal->walk->ctx;
  struct level *levels = grown(ctx, removal->levels, sizeof *levels, &removal->capacity, removal->depth + 1);
  if (levels == NULL) return csi_fail_out_of_memory(&ctx->status);
  removal->levels = levels;
  uint16_t *path_w = grown(ctx, removal->path_w, sizeof *path_w, &removal->path_capacity, path_units + 1);
  if (path_w == NULL) return csi_fail_out_of_memory(&ctx->status);
  removal->path_w = path_w;
  return true;
}

static struct level *top_level(struct removal *removal) {
  return &removal->levels[removal->depth - 1];
}

/* Records a failure unless there is one. name: the entry in the innermost directory, empty for that
 * directory itself. */
static void note(struct removal *removal, struct csi_name name, uint32_t error, const char *call) {
  if (removal->depth > 0) top_level(removal)->incomplete = true;
  if (removal->failed) return;
  removal->failed = true;
  struct csi_ctx *ctx = removal->walk->ctx;
  size_t units = removal->depth > 0 ? top_level(removal)->path_units : 0;
  const char *below = csi_utf8_from_utf16(ctx->arena, removal->path_w, units);
  const char *last = csi_utf8_from_utf16(ctx->arena, name.units, name.count);
  csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, call, "unlinkat %s%s%s%s", removal->walk->path->given,
                  below == NULL ? "" : below, name.count > 0 ? "\\" : "", last == NULL ? "" : last);
}

/* Takes over *directory, called name, as the new innermost one. name is empty for the top. */
static bool push(struct removal *removal, struct csi_node *directory, struct csi_name name) {
  size_t before = removal->depth > 0 ? top_level(removal)->path_units : 0;
  size_t units = name.count > 0 ? before + 1 + name.count : 0;
  if (units > TREE_PATH_UNITS)
    return csi_fail(&removal->walk->ctx->status, CSI_RESOURCE_EXHAUSTED,
                    "unlinkat %s: directories are nested too deeply", removal->walk->path->given);
  if (!reserve(removal, units)) return false;
  if (name.count > 0) {
    removal->path_w[before] = '\\';
    memcpy(removal->path_w + before + 1, name.units, name.count * sizeof *name.units);
  }
  removal->levels[removal->depth++] =
      (struct level){.directory = *directory, .path_units = units, .scans = 1, .restart = true};
  *directory = (struct csi_node){0};
  return true;
}

static void pop(struct removal *removal) {
  csi_node_close(&top_level(removal)->directory);
  removal->depth--;
}

static void close_all(struct removal *removal) {
  while (removal->depth > 0)
    pop(removal);
}

/* Removes an entry of the innermost directory, or makes it the innermost one.
 *
 * The entry is judged twice: as it was listed, and through its handle. When the two disagree, somebody
 * has just exchanged it, and it is left alone. */
static bool remove_child(struct removal *removal, const struct csi_child *child) {
  struct csi_name name = {.units = child->name_w, .count = child->name_units};
  struct csi_entry listed = {.attributes = child->attributes};
  bool descend = csi_entry_is_plain_directory(&listed);
  CSI_SCOPED_NODE node = {0};
  struct csi_entry entry;
  uint32_t error = csi_node_open_child(&top_level(removal)->directory, name,
                                       CSI_ACCESS_REMOVE | (descend ? CSI_ACCESS_LIST : 0U), &node, &entry);
  if (csi_error_is_missing(error)) return true;
  if (error != CSI_WIN32_OK) {
    note(removal, name, error, "NtCreateFile");
    return true;
  }
  if (descend && csi_entry_is_plain_directory(&entry)) return push(removal, &node, name);
  bool exchanged = !descend && csi_entry_is_plain_directory(&entry);
  error = exchanged ? CSI_WIN32_DIR_NOT_EMPTY : csi_node_remove(&node, entry.tag);
  if (error != CSI_WIN32_OK && !csi_error_is_missing(error))
    note(removal, name, error, "NtSetInformationFile");
  return true;
}

/* Removes the innermost directory, which has been listed to its end, and leaves it. */
static void finish_level(struct removal *removal) {
  struct level *level = top_level(removal);
  uint32_t error = level->incomplete ? CSI_WIN32_OK : csi_node_remove(&level->directory, 0);
  if (error == CSI_WIN32_DIR_NOT_EMPTY && level->scans < SCANS_MAX) {
    level->scans++;
    level->restart = true;
    return;
  }
  if (error != CSI_WIN32_OK && !csi_error_is_missing(error))
    note(removal, (struct csi_name){0}, error, "NtSetInformationFile");
  bool incomplete = level->incomplete;
  pop(removal);
  if (removal->depth > 0 && incomplete) top_level(removal)->incomplete = true;
}

/* Windows keeps its own records of a volume here and makes them anew at once. */
static bool belongs_to_windows(const struct removal *removal, const struct csi_child *child) {
  static const char name[] = "System Volume Information";
  if (!removal->is_volume || removal->depth != 1 || child->name_units != sizeof name - 1) return false;
  for (size_t i = 0; i < sizeof name - 1; i++)
    if (csi_utf16_upcase(child->name_w[i]) != csi_utf16_upcase((uint16_t)name[i])) return false;
  return true;
}

/* One step: one entry, or the end of a directory. False when there is no point in going on. */
static bool step(struct removal *removal) {
  struct level *level = top_level(removal);
  const struct csi_filesystem_host *host = removal->walk->host;
  struct csi_child child;
  uint32_t error = host->next_child(host->self, level->directory.handle, level->restart, &child);
  level->restart = false;
  if (error == CSI_WIN32_OK) return belongs_to_windows(removal, &child) || remove_child(removal, &child);
  if (error != CSI_WIN32_NO_MORE_FILES) note(removal, (struct csi_name){0}, error, "NtQueryDirectoryFile");
  if (removal->depth == 1 && removal->keep_top)
    pop(removal);
  else
    finish_level(removal);
  return true;
}

/* Empties *directory, which it closes, and removes it too unless it is to be kept. */
static bool remove_below(struct removal *removal, struct csi_node *directory) {
  bool going = push(removal, directory, (struct csi_name){0});
  while (going && removal->depth > 0)
    going = csi_ctx_alive(removal->walk->ctx) && step(removal);
  close_all(removal);
  return going && !removal->failed;
}

bool csi_remove_entry(const struct csi_walk *walk) {
  CSI_SCOPED_NODE node = {0};
  struct csi_entry entry;
  if (!csi_walk_to_entry(walk, CSI_ACCESS_REMOVE, &node, &entry, NULL)) return false;
  if (!csi_protect_roots(walk, &node, &entry)) return false;
  uint32_t error = csi_node_remove(&node, entry.tag);
  return error == CSI_WIN32_OK || csi_walk_fail(walk, error, "NtSetInformationFile");
}

/* Opens the entry `name`, unless it must not be removed. *node_out stays empty when it is missing. */
static bool open_doomed(const struct csi_walk *walk, const struct csi_node *parent, struct csi_name name,
                        unsigned access, struct csi_node *node_out, struct csi_entry *entry_out) {
  uint32_t error = csi_node_open_child(parent, name, access, node_out, entry_out);
  if (csi_error_is_missing(error)) return true;
  if (error != CSI_WIN32_OK) return csi_walk_fail(walk, error, "NtCreateFile");
  return csi_protect_roots(walk, node_out, entry_out);
}

/* Removes the entry `name`, whatever it is. */
static bool remove_named(const struct csi_walk *walk, const struct csi_node *parent, struct csi_name name) {
  CSI_SCOPED_NODE node = {0};
  struct csi_entry entry;
  if (!open_doomed(walk, parent, name, CSI_ACCESS_REMOVE, &node, &entry)) return false;
  if (node.host == NULL) return true;
  uint32_t error = csi_node_remove(&node, entry.tag);
  if (error == CSI_WIN32_OK || csi_error_is_missing(error)) return true;
  if (error != CSI_WIN32_DIR_NOT_EMPTY || !csi_entry_is_plain_directory(&entry))
    return csi_walk_fail(walk, error, "NtSetInformationFile");

  csi_node_close(&node);
  if (!open_doomed(walk, parent, name, CSI_ACCESS_REMOVE | CSI_ACCESS_LIST, &node, &entry)) return false;
  if (node.host == NULL) return true;
  if (!csi_entry_is_plain_directory(&entry)) return csi_walk_fail(walk, CSI_WIN32_DIRECTORY, "NtCreateFile");
  struct removal removal = {.walk = walk};
  return remove_below(&removal, &node);
}

bool csi_remove_tree(const struct csi_walk *walk) {
  CSI_SCOPED_NODE parent = {0};
  struct csi_name name;
  bool missing;
  if (!csi_walk_to_parent(walk, &parent, &name, &missing)) return false;
  return missing || remove_named(walk, &parent, name);
}

/* Replaces *folder, a mounted folder, by the root of the volume that is mounted there.
 *
 * Whoever can write to a directory can make a mounted folder of it, for any volume: the volumes that
 * hold the node together stay out of reach. */
static bool enter_volume(const struct csi_walk *walk, const struct csi_reparse *link,
                         struct csi_node *folder) {
  const char *path = csi_arena_printf(walk->ctx->arena, "%s%s", link->target,
                                      link->target[strlen(link->target) - 1] == '\\' ? "" : "\\");
  if (path == NULL) return csi_fail_out_of_memory(&walk->ctx->status);
  CSI_SCOPED_NODE volume = {0};
  uint32_t error = csi_node_open_path(walk->host, path, CSI_ACCESS_LIST, &volume);
  if (error != CSI_WIN32_OK) return csi_walk_fail(walk, error, "NtCreateFile");
  if (!csi_protect_volumes(walk, folder, &volume)) return false;
  csi_node_close(folder);
  *folder = volume;
  volume = (struct csi_node){0};
  return true;
}

bool csi_remove_contents(const struct csi_walk *walk) {
  CSI_SCOPED_NODE directory = {0};
  struct csi_entry entry;
  if (!csi_walk_to_entry(walk, CSI_ACCESS_LIST, &directory, &entry, NULL)) return false;
  if (!csi_protect_roots(walk, &directory, &entry)) return false;
  struct removal removal = {.walk = walk, .keep_top = true, .is_volume = csi_entry_is_reparse_point(&entry)};
  if (csi_entry_is_reparse_point(&entry)) {
    struct csi_reparse link;
    if (!csi_read_link(walk->ctx, &directory, walk->verb, walk->path->given, &link)) return false;
    if (link.tag != CSI_REPARSE_TAG_MOUNT_POINT || !csi_reparse_is_volume_root(&link)) {
      struct csi_path_part last = {.text = walk->path->text, .bytes = strlen(walk->path->text)};
      return csi_walk_refuse_link(walk, &last);
    }
    if (!enter_volume(walk, &link, &directory)) return false;
  } else if (!csi_entry_is_plain_directory(&entry)) {
    return csi_walk_fail(walk, CSI_WIN32_DIRECTORY, "NtCreateFile");
  }
  return remove_below(&removal, &directory);
}
