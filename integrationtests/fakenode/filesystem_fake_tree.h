/* SPDX-License-Identifier: Apache-2.0
 *
 * The tree behind filesystem_fake.h, without locks, faults and hooks. Private to the fake.
 */
#ifndef CSI_FAKENODE_FILESYSTEM_FAKE_TREE_H
#define CSI_FAKENODE_FILESYSTEM_FAKE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "filesystem/host.h"

enum {
  FAKE_SHORT_NAME_UNITS_MAX = 12, /* 8, a dot, 3 */
};

struct fake_volume {
  struct fake_volume *next;
  struct fake_entry *root;
  char name[64]; /* "Volume{...}" */
  char drive;    /* 0 = none */
  uint64_t serial;
  bool is_system;
  uint32_t error; /* what opening gives; 0 = works */
};

struct fake_entry {
  struct fake_volume *volume;
  struct fake_entry *parent; /* NULL for a root, and for what is removed */
  struct fake_entry *children, *last_child;
  struct fake_entry *next; /* sibling; sorted by name */
  uint16_t name_w[CSI_NAME_UNITS_MAX + 1];
  size_t name_units;
  uint16_t short_name_w[FAKE_SHORT_NAME_UNITS_MAX];
  size_t short_name_units; /* 0 = none */
  bool holds_short_names;  /* a child has one, or had */
  uint32_t attributes;
  uint32_t tag;
  uint8_t *reparse;
  size_t reparse_bytes;
  uint32_t remove_error; /* what opening for removal gives */
  uint32_t open_error;   /* what any opening gives */
  unsigned handles;
  bool pending; /* removed when its handle is closed */
};

struct fake_tree {
  struct fake_volume *volumes;
  size_t network_touches;
};

struct fake_volume *fake_tree_add_volume(struct fake_tree *tree, const char *name, char drive,
                                         uint64_t serial);
struct fake_volume *fake_tree_find_volume(struct fake_tree *tree, const char *name);
struct fake_volume *fake_tree_find_drive(struct fake_tree *tree, char drive);
void fake_tree_free(struct fake_tree *tree);
/* Unlinks an entry and everything below it. */
void fake_tree_discard(struct fake_entry *entry);

struct fake_entry *fake_entry_find(struct fake_entry *directory, struct csi_name name);
void fake_entry_set_short_name(struct fake_entry *entry, struct csi_name name);
/* The first child behind `after`; NULL = from the beginning. */
struct fake_entry *fake_entry_next(struct fake_entry *directory, const struct csi_name *after);
struct fake_entry *fake_entry_add(struct fake_entry *directory, struct csi_name name, uint32_t attributes);
/* Takes an entry out of its directory; it is freed when no handle refers to it. */
void fake_entry_unlink(struct fake_entry *entry);
void fake_entry_attach(struct fake_entry *directory, struct fake_entry *entry, struct csi_name name);
void fake_entry_release(struct fake_entry *entry);
void fake_entry_set_reparse(struct fake_entry *entry, const uint8_t *bytes, size_t size_bytes);
void fake_entry_clear_reparse(struct fake_entry *entry);

/* Follows path and all links in it to a directory. scratch: for texts. */
uint32_t fake_tree_follow(struct fake_tree *tree, struct csi_arena *scratch, const char *path,
                          struct fake_entry **entry_out);

/* Walks path without following; NULL when it is not there. make: missing directories are made. */
struct fake_entry *fake_tree_lookup(struct fake_tree *tree, struct csi_arena *scratch, const char *path,
                                    bool make);

/* Splits path into its parent, which is made, and its last component. */
struct fake_entry *fake_tree_parent(struct fake_tree *tree, struct csi_arena *scratch, const char *path,
                                    struct csi_name *name_out);

#endif
