/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem_fake_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/text.h"
#include "filesystem/path_policy.h"
#include "filesystem/reparse.h"

enum {
  LINKS_MAX = 63,
};

static void impossible(const char *what, const char *path) {
  fprintf(stderr, "filesystem_fake: %s: %s\n", what, path);
  abort();
}

static struct fake_entry *new_entry(struct fake_volume *volume, uint32_t attributes) {
  struct fake_entry *entry = calloc(1, sizeof *entry);
  if (entry == NULL) impossible("out of memory", "");
  entry->volume = volume;
  entry->attributes = attributes;
  return entry;
}

static void free_entry(struct fake_entry *entry) {
  free(entry->reparse);
  free(entry);
}

struct fake_volume *fake_tree_add_volume(struct fake_tree *tree, const char *name, char drive,
                                         uint64_t serial) {
  struct fake_volume *volume = calloc(1, sizeof *volume);
  if (volume == NULL) impossible("out of memory", name);
  snprintf(volume->name, sizeof volume->name, "%s", name);
  volume->drive = drive;
  volume->serial = serial;
  volume->root = new_entry(volume, CSI_ATTRIBUTE_DIRECTORY);
  volume->next = tree->volumes;
  tree->volumes = volume;
  return volume;
}

struct fake_volume *fake_tree_find_volume(struct fake_tree *tree, const char *name) {
  struct fake_volume *volume = tree->volumes;
  while (volume != NULL && !csi_utf8_equal_ignore_case(volume->name, name))
    volume = volume->next;
  return volume;
}

struct fake_volume *fake_tree_find_drive(struct fake_tree *tree, char drive) {
  struct fake_volume *volume = tree->volumes;
  while (volume != NULL &&
         (volume->drive == 0 || csi_utf8_compare_ignore_case(&volume->drive, 1, &drive, 1) != 0))
    volume = volume->next;
  return volume;
}

/* Without recursion: trees in tests may be deeper than the stack. */
static void free_below(struct fake_entry *top) {
  struct fake_entry *entry = top;
  for (;;) {
    if (entry->children != NULL) {
      entry = entry->children;
      continue;
    }
    struct fake_entry *parent = entry->parent;
    if (entry == top) break;
    parent->children = entry->next;
    free_entry(entry);
    entry = parent;
  }
  free_entry(top);
}

void fake_tree_free(struct fake_tree *tree) {
  while (tree->volumes != NULL) {
    struct fake_volume *volume = tree->volumes;
    tree->volumes = volume->next;
    free_below(volume->root);
    free(volume);
  }
}

static int compare(const struct fake_entry *entry, struct csi_name name) {
  return csi_utf16_compare_ignore_case(entry->name_w, entry->name_units, name.units, name.count);
}

static struct fake_entry *find_long(struct fake_entry *directory, struct csi_name name) {
  struct fake_entry *entry = directory->children;
  if (entry != NULL && compare(directory->last_child, name) < 0) return NULL;
  while (entry != NULL && compare(entry, name) < 0)
    entry = entry->next;
  return entry != NULL && compare(entry, name) == 0 ? entry : NULL;
}

static struct fake_entry *find_short(struct fake_entry *directory, struct csi_name name) {
  if (!directory->holds_short_names) return NULL;
  struct fake_entry *entry = directory->children;
  while (entry != NULL && csi_utf16_compare_ignore_case(entry->short_name_w, entry->short_name_units,
                                                        name.units, name.count) != 0)
    entry = entry->next;
  return entry;
}

struct fake_entry *fake_entry_find(struct fake_entry *directory, struct csi_name name) {
  struct fake_entry *entry = find_long(directory, name);
  return entry != NULL ? entry : find_short(directory, name);
}

void fake_entry_set_short_name(struct fake_entry *entry, struct csi_name name) {
  if (name.count > FAKE_SHORT_NAME_UNITS_MAX) impossible("too long for a short name", "");
  memcpy(entry->short_name_w, name.units, name.count * sizeof *name.units);
  entry->short_name_units = name.count;
  entry->parent->holds_short_names = true;
}

struct fake_entry *fake_entry_next(struct fake_entry *directory, const struct csi_name *after) {
  struct fake_entry *entry = directory->children;
  while (after != NULL && entry != NULL && compare(entry, *after) <= 0)
    entry = entry->next;
  return entry;
}

void fake_entry_attach(struct fake_entry *directory, struct fake_entry *entry, struct csi_name name) {
  memcpy(entry->name_w, name.units, name.count * sizeof *name.units);
  entry->name_w[name.count] = 0;
  entry->name_units = name.count;
  entry->parent = directory;
  struct fake_entry **place = &directory->children;
  if (directory->last_child != NULL && compare(directory->last_child, name) < 0)
    place = &directory->last_child->next;
  while (*place != NULL && compare(*place, name) < 0)
    place = &(*place)->next;
  entry->next = *place;
  *place = entry;
  if (entry->next == NULL) directory->last_child = entry;
}

struct fake_entry *fake_entry_add(struct fake_entry *directory, struct csi_name name, uint32_t attributes) {
  struct fake_entry *entry = new_entry(directory->volume, attributes);
  fake_entry_attach(directory, entry, name);
  return entry;
}

static void detach(struct fake_entry *entry) {
  struct fake_entry *directory = entry->parent;
  struct fake_entry *before = NULL;
  struct fake_entry **place = &directory->children;
  while (*place != entry) {
    before = *place;
    place = &before->next;
  }
  *place = entry->next;
  if (directory->last_child == entry) directory->last_child = before;
  entry->parent = NULL;
  entry->next = NULL;
}

void fake_entry_unlink(struct fake_entry *entry) {
  detach(entry);
  if (entry->handles == 0) free_entry(entry);
}

void fake_tree_discard(struct fake_entry *entry) {
  struct fake_entry *above = entry->parent;
  while (entry != above) {
    while (entry->children != NULL)
      entry = entry->children;
    struct fake_entry *parent = entry->parent;
    fake_entry_unlink(entry);
    entry = parent;
  }
}

void fake_entry_release(struct fake_entry *entry) {
  entry->handles--;
  if (entry->handles == 0 && entry->parent == NULL && entry != entry->volume->root) free_entry(entry);
}

void fake_entry_clear_reparse(struct fake_entry *entry) {
  free(entry->reparse);
  entry->reparse = NULL;
  entry->reparse_bytes = 0;
  entry->tag = 0;
  entry->attributes &= ~(uint32_t)CSI_ATTRIBUTE_REPARSE_POINT;
}

void fake_entry_set_reparse(struct fake_entry *entry, const uint8_t *bytes, size_t size_bytes) {
  fake_entry_clear_reparse(entry);
  entry->reparse = malloc(size_bytes);
  if (entry->reparse == NULL) impossible("out of memory", "");
  memcpy(entry->reparse, bytes, size_bytes);
  entry->reparse_bytes = size_bytes;
  entry->tag =
      (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
  entry->attributes |= CSI_ATTRIBUTE_REPARSE_POINT;
}

/* The volume that path begins with, and what follows; NULL when there is none. */
static struct fake_volume *volume_of(struct fake_tree *tree, const char *path, const char **rest_out) {
  for (struct fake_volume *volume = tree->volumes; volume != NULL; volume = volume->next) {
    size_t bytes = strlen(volume->name);
    if (strncmp(path, "\\\\?\\", 4) == 0 && strlen(path + 4) >= bytes &&
        csi_utf8_compare_ignore_case(path + 4, bytes, volume->name, bytes) == 0) {
      *rest_out = path + 4 + bytes;
      return volume;
    }
    if (volume->drive != 0 && path[0] != '\0' && path[1] == ':' &&
        csi_utf8_compare_ignore_case(path, 1, &volume->drive, 1) == 0) {
      *rest_out = path + 2;
      return volume;
    }
  }
  return NULL;
}

static struct csi_name to_name(struct csi_arena *scratch, struct csi_path_part part) {
  struct csi_status status = {0};
  struct csi_name name;
  name.units = csi_utf16_from_utf8(scratch, part.text, part.bytes, &name.count, &status);
  if (name.units == NULL) impossible("not a name", part.text);
  return name;
}

/* Where the link `entry` leads; rest comes behind it. */
static const char *link_path(struct csi_arena *scratch, const struct fake_entry *entry, const char *path,
                             const char *part, const char *rest) {
  struct csi_ctx ctx = {.arena = scratch, .deadline_ns = CSI_NO_DEADLINE};
  struct csi_reparse link;
  if (!csi_reparse_parse(&ctx, entry->reparse, entry->reparse_bytes, &link) || link.target == NULL)
    return NULL;
  if (link.kind != CSI_LINK_RELATIVE) return csi_arena_printf(scratch, "%s\\%s", link.target, rest);
  size_t base = (size_t)(part - path);
  const char *target = link.target;
  for (; strncmp(target, "..\\", 3) == 0; target += 3)
    for (base--; base > 3 && path[base - 1] != '\\';)
      base--;
  return csi_arena_printf(scratch, "%.*s%s\\%s", (int)base, path, target, rest);
}

uint32_t fake_tree_follow(struct fake_tree *tree, struct csi_arena *scratch, const char *path,
                          struct fake_entry **entry_out) {
  for (unsigned links = 0; links <= LINKS_MAX; links++) {
    const char *rest;
    struct fake_volume *volume = volume_of(tree, path, &rest);
    if (volume == NULL) {
      bool device = strncmp(path, "\\\\?\\", 4) == 0;
      bool remote = !device && path[0] == '\\';
      if (remote) tree->network_touches++;
      return remote ? CSI_WIN32_BAD_NETPATH : device ? CSI_WIN32_FILE_NOT_FOUND : CSI_WIN32_PATH_NOT_FOUND;
    }
    if (volume->error != 0) return volume->error;
    struct fake_entry *entry = volume->root;
    struct csi_path_part part;
    const char *next = NULL;
    while (next == NULL && csi_path_next(&rest, &part)) {
      if ((entry->attributes & CSI_ATTRIBUTE_DIRECTORY) == 0) return CSI_WIN32_PATH_NOT_FOUND;
      entry = fake_entry_find(entry, to_name(scratch, part));
      if (entry == NULL) return *rest == '\0' ? CSI_WIN32_FILE_NOT_FOUND : CSI_WIN32_PATH_NOT_FOUND;
      if (entry->pending) return CSI_WIN32_DELETE_PENDING;
      if (entry->open_error != 0) return entry->open_error;
      if (entry->reparse != NULL) {
        next = link_path(scratch, entry, path, part.text, rest);
        if (next == NULL) return CSI_WIN32_ACCESS_DENIED;
      }
    }
    if (next == NULL) {
      *entry_out = entry;
      return (entry->attributes & CSI_ATTRIBUTE_DIRECTORY) != 0 ? CSI_WIN32_OK : CSI_WIN32_DIRECTORY;
    }
    path = next;
  }
  return CSI_WIN32_PATH_NOT_FOUND;
}

struct fake_entry *fake_tree_lookup(struct fake_tree *tree, struct csi_arena *scratch, const char *path,
                                    bool make) {
  const char *rest;
  struct fake_volume *volume = volume_of(tree, path, &rest);
  if (volume == NULL) impossible("no such volume", path);
  struct fake_entry *entry = volume->root;
  struct csi_path_part part;
  while (entry != NULL && csi_path_next(&rest, &part)) {
    struct csi_name name = to_name(scratch, part);
    struct fake_entry *child = fake_entry_find(entry, name);
    entry = child == NULL && make ? fake_entry_add(entry, name, CSI_ATTRIBUTE_DIRECTORY) : child;
  }
  return entry;
}

struct fake_entry *fake_tree_parent(struct fake_tree *tree, struct csi_arena *scratch, const char *path,
                                    struct csi_name *name_out) {
  const char *last = strrchr(path, '\\');
  if (last == NULL || last[1] == '\0') impossible("no last component", path);
  *name_out = to_name(scratch, (struct csi_path_part){.text = last + 1, .bytes = strlen(last + 1)});
  char *parent = csi_arena_strndup(scratch, path, (size_t)(last - path));
  if (parent == NULL) impossible("out of memory", path);
  return fake_tree_lookup(tree, scratch, parent, true);
}
