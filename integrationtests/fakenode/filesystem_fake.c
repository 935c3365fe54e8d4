/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/text.h"
#include "filesystem/reparse.h"
#include "filesystem_fake_tree.h"

enum {
  SCRATCH_BYTES = 16 << 20,
  CALL_KINDS = 12,
};

struct csi_fake_filesystem {
  struct csi_filesystem_host host;
  pthread_mutex_t lock;
  struct fake_tree tree;
  size_t open_handles;
  size_t calls[CALL_KINDS];
  unsigned fault_calls;
  unsigned fault_countdown; /* 0 = no fault is planned */
  uint32_t fault_error;
  bool faulted;
  bool loses_reparse_points;
  size_t far_opens;
  csi_fake_hook *hook;
  void *hook_data;
};

struct handle {
  struct fake_entry *entry;
  unsigned access;
  bool remove; /* when closed */
  bool started;
  uint16_t last_w[CSI_NAME_UNITS_MAX + 1]; /* where the listing stands */
  size_t last_units;
};

/* Holds the lock, and an arena that does not count for csi_arena_fail_after(). */
struct visit {
  struct csi_fake_filesystem *fake;
  struct csi_arena *scratch;
  unsigned fail_after;
};

static struct visit enter(struct csi_fake_filesystem *fake) {
  struct visit visit = {.fake = fake, .fail_after = csi_arena_fail_after(0)};
  visit.scratch = csi_arena_new(SCRATCH_BYTES);
  if (visit.scratch == NULL) abort();
  pthread_mutex_lock(&fake->lock);
  return visit;
}

static void leave(struct visit *visit) {
  pthread_mutex_unlock(&visit->fake->lock);
  csi_arena_free(visit->scratch);
  csi_arena_fail_after(visit->fail_after);
}

#define VISIT(fake) __attribute__((cleanup(leave), unused)) struct visit visit = enter(fake)

static unsigned index_of(enum csi_fake_call call) {
  return (unsigned)__builtin_ctz((unsigned)call);
}

/* Before every step: the hook, then the count, then the planned fault. Returns what the step fails with. */
static uint32_t begin(struct csi_fake_filesystem *fake, enum csi_fake_call call, const char *name) {
  csi_fake_hook *hook;
  void *data;
  {
    VISIT(fake);
    hook = fake->hook;
    data = fake->hook_data;
  }
  if (hook != NULL) hook(fake, call, name, data);
  VISIT(fake);
  fake->calls[index_of(call)]++;
  if ((fake->fault_calls & (unsigned)call) == 0 || fake->fault_countdown == 0) return CSI_WIN32_OK;
  if (--fake->fault_countdown > 0) return CSI_WIN32_OK;
  fake->faulted = true;
  return fake->fault_error;
}

/* begin() for a name in UTF-16. */
static uint32_t begin_named(struct csi_fake_filesystem *fake, enum csi_fake_call call, struct csi_name name) {
  unsigned fail_after = csi_arena_fail_after(0);
  struct csi_arena *scratch = csi_arena_new(SCRATCH_BYTES);
  const char *text = scratch == NULL ? NULL : csi_utf8_from_utf16(scratch, name.units, name.count);
  if (text == NULL) abort();
  uint32_t error = begin(fake, call, text);
  csi_arena_free(scratch);
  csi_arena_fail_after(fail_after);
  return error;
}

static struct handle *new_handle(struct csi_fake_filesystem *fake, struct fake_entry *entry,
                                 unsigned access) {
  struct handle *handle = calloc(1, sizeof *handle);
  if (handle == NULL) abort();
  handle->entry = entry;
  handle->access = access;
  entry->handles++;
  fake->open_handles++;
  if ((access & CSI_ACCESS_FAR) != 0) fake->far_opens++;
  return handle;
}

static uint32_t open_path(void *self, const char *path, unsigned access, void **handle_out) {
  struct csi_fake_filesystem *fake = self;
  uint32_t error = begin(fake, CSI_FAKE_OPEN_PATH, path);
  if (error != CSI_WIN32_OK) return error;
  VISIT(fake);
  struct fake_entry *entry;
  error = fake_tree_follow(&fake->tree, visit.scratch, path, &entry);
  if (error != CSI_WIN32_OK) return error;
  *handle_out = new_handle(fake, entry, access);
  return CSI_WIN32_OK;
}

static uint32_t open_child(void *self, void *parent, struct csi_name name, unsigned access, void **handle_out,
                           struct csi_entry *entry_out) {
  struct csi_fake_filesystem *fake = self;
  struct handle *directory = parent;
  uint32_t error = begin_named(fake, CSI_FAKE_OPEN_CHILD, name);
  if (error != CSI_WIN32_OK) return error;
  VISIT(fake);
  if (name.count > CSI_NAME_UNITS_MAX) return CSI_WIN32_INVALID_NAME;
  struct fake_entry *entry = fake_entry_find(directory->entry, name);
  if (entry == NULL) return CSI_WIN32_FILE_NOT_FOUND;
  if (entry->pending) return CSI_WIN32_DELETE_PENDING;
  if (entry->open_error != 0) return entry->open_error;
  if ((access & CSI_ACCESS_REMOVE) != 0 && entry->remove_error != 0) return entry->remove_error;
  *handle_out = new_handle(fake, entry, access);
  *entry_out = (struct csi_entry){.attributes = entry->attributes, .tag = entry->tag};
  return CSI_WIN32_OK;
}

static uint32_t find_child(void *self, void *parent, struct csi_name name) {
  struct csi_fake_filesystem *fake = self;
  struct handle *directory = parent;
  uint32_t error = begin_named(fake, CSI_FAKE_FIND_CHILD, name);
  if (error != CSI_WIN32_OK) return error;
  VISIT(fake);
  if (name.count > CSI_NAME_UNITS_MAX) return CSI_WIN32_INVALID_NAME;
  struct fake_entry *entry = fake_entry_find(directory->entry, name);
  if (entry == NULL) return CSI_WIN32_FILE_NOT_FOUND;
  return entry->pending ? CSI_WIN32_DELETE_PENDING : entry->open_error;
}

static uint32_t create_child(void *self, void *parent, struct csi_name name, bool directory, unsigned access,
                             void **handle_out) {
  struct csi_fake_filesystem *fake = self;
  struct handle *container = parent;
  uint32_t error = begin_named(fake, CSI_FAKE_CREATE_CHILD, name);
  if (error != CSI_WIN32_OK) return error;
  VISIT(fake);
  if (name.count > CSI_NAME_UNITS_MAX) return CSI_WIN32_INVALID_NAME;
  struct fake_entry *entry = fake_entry_find(container->entry, name);
  if (entry != NULL) return entry->pending ? CSI_WIN32_DELETE_PENDING : CSI_WIN32_ALREADY_EXISTS;
  entry = fake_entry_add(container->entry, name, directory ? CSI_ATTRIBUTE_DIRECTORY : 0U);
  *handle_out = new_handle(fake, entry, access);
  return CSI_WIN32_OK;
}

static uint32_t next_child(void *self, void *node, bool restart, struct csi_child *child_out) {
  struct csi_fake_filesystem *fake = self;
  struct handle *handle = node;
  uint32_t error = begin(fake, CSI_FAKE_NEXT_CHILD, "");
  if (error != CSI_WIN32_OK) return error;
  VISIT(fake);
  if ((handle->access & CSI_ACCESS_LIST) == 0) return CSI_WIN32_ACCESS_DENIED;
  if (restart) handle->started = false;
  struct csi_name last = {.units = handle->last_w, .count = handle->last_units};
  struct fake_entry *entry = fake_entry_next(handle->entry, handle->started ? &last : NULL);
  if (entry == NULL) return CSI_WIN32_NO_MORE_FILES;
  handle->started = true;
  memcpy(handle->last_w, entry->name_w, sizeof handle->last_w);
  handle->last_units = entry->name_units;
  memcpy(child_out->name_w, entry->name_w, sizeof child_out->name_w);
  child_out->name_units = entry->name_units;
  child_out->attributes = entry->attributes;
  return CSI_WIN32_OK;
}

static uint32_t remove_entry(void *self, void *node, uint32_t tag) {
  struct csi_fake_filesystem *fake = self;
  struct handle *handle = node;
  uint32_t error = begin(fake, CSI_FAKE_REMOVE, "");
  if (error != CSI_WIN32_OK) return error;
  VISIT(fake);
  struct fake_entry *entry = handle->entry;
  if (tag != 0 && tag != entry->tag) abort(); /* it was read from this handle */
  if ((handle->access & CSI_ACCESS_REMOVE) == 0) return CSI_WIN32_ACCESS_DENIED;
  if (entry->children != NULL) return CSI_WIN32_DIR_NOT_EMPTY;
  entry->pending = true;
  handle->remove = true;
  return CSI_WIN32_OK;
}

static uint32_t read_reparse(void *self, void *node, uint8_t *bytes, size_t capacity_bytes,
                             size_t *size_out) {
  struct csi_fake_filesystem *fake = self;
  struct handle *handle = node;
  uint32_t error = begin(fake, CSI_FAKE_READ_REPARSE, "");
  if (error != CSI_WIN32_OK) return error;
  VISIT(fake);
  if (handle->entry->reparse == NULL) return CSI_WIN32_NOT_A_REPARSE_POINT;
  *size_out = handle->entry->reparse_bytes < capacity_bytes ? handle->entry->reparse_bytes : capacity_bytes;
  memcpy(bytes, handle->entry->reparse, *size_out);
  return CSI_WIN32_OK;
}

static uint32_t write_reparse(void *self, void *node, const uint8_t *bytes, size_t size_bytes) {
  struct csi_fake_filesystem *fake = self;
  struct handle *handle = node;
  uint32_t error = begin(fake, CSI_FAKE_WRITE_REPARSE, "");
  if (error != CSI_WIN32_OK) return error;
  VISIT(fake);
  struct fake_entry *entry = handle->entry;
  if (entry->children != NULL) return CSI_WIN32_DIR_NOT_EMPTY;
  uint32_t tag;
  if (size_bytes < sizeof tag) return CSI_WIN32_INVALID_REPARSE_DATA;
  memcpy(&tag, bytes, sizeof tag);
  if (entry->reparse != NULL && tag != entry->tag) return CSI_WIN32_REPARSE_TAG_MISMATCH;
  if (!fake->loses_reparse_points) fake_entry_set_reparse(entry, bytes, size_bytes);
  return CSI_WIN32_OK;
}

static uint32_t delete_reparse(void *self, void *node, uint32_t tag) {
  struct csi_fake_filesystem *fake = self;
  struct handle *handle = node;
  uint32_t error = begin(fake, CSI_FAKE_DELETE_REPARSE, "");
  if (error != CSI_WIN32_OK) return error;
  VISIT(fake);
  if ((handle->access & CSI_ACCESS_REMOVE) == 0) return CSI_WIN32_ACCESS_DENIED;
  if (handle->entry->reparse == NULL) return CSI_WIN32_NOT_A_REPARSE_POINT;
  if (handle->entry->tag != tag) return CSI_WIN32_REPARSE_TAG_MISMATCH;
  fake_entry_clear_reparse(handle->entry);
  return CSI_WIN32_OK;
}

static uint32_t get_volume(void *self, void *node, struct csi_file_volume *volume_out) {
  struct csi_fake_filesystem *fake = self;
  struct handle *handle = node;
  uint32_t error = begin(fake, CSI_FAKE_GET_VOLUME, "");
  if (error != CSI_WIN32_OK) return error;
  VISIT(fake);
  const struct fake_volume *volume = handle->entry->volume;
  *volume_out = (struct csi_file_volume){.serial = volume->serial, .is_system = volume->is_system};
  return CSI_WIN32_OK;
}

/* Where the entry stands in memory: it stays there as long as the handle is open. */
static uint32_t get_identity(void *self, void *node, struct csi_identity *identity_out) {
  struct csi_fake_filesystem *fake = self;
  struct handle *handle = node;
  uint32_t error = begin(fake, CSI_FAKE_GET_IDENTITY, "");
  if (error != CSI_WIN32_OK) return error;
  VISIT(fake);
  *identity_out = (struct csi_identity){.volume_serial = handle->entry->volume->serial};
  memcpy(identity_out->file_id, &handle->entry, sizeof handle->entry);
  return CSI_WIN32_OK;
}

static void close_handle(void *self, void *node) {
  struct csi_fake_filesystem *fake = self;
  struct handle *handle = node;
  (void)begin(fake, CSI_FAKE_CLOSE, "");
  VISIT(fake);
  struct fake_entry *entry = handle->entry;
  if (handle->remove && entry->parent != NULL) fake_entry_unlink(entry);
  fake_entry_release(entry);
  fake->open_handles--;
  free(handle);
}

struct csi_fake_filesystem *csi_fake_filesystem_new(void) {
  struct csi_fake_filesystem *fake = calloc(1, sizeof *fake);
  if (fake == NULL) abort();
  pthread_mutex_init(&fake->lock, NULL);
  fake->host = (struct csi_filesystem_host){
      .self = fake,
      .open_path = open_path,
      .open_child = open_child,
      .find_child = find_child,
      .create_child = create_child,
      .next_child = next_child,
      .remove = remove_entry,
      .read_reparse = read_reparse,
      .write_reparse = write_reparse,
      .delete_reparse = delete_reparse,
      .get_volume = get_volume,
      .get_identity = get_identity,
      .close = close_handle,
  };
  struct fake_volume *system =
      fake_tree_add_volume(&fake->tree, "Volume{00000000-0000-0000-0000-00000000000c}", 'C', 1);
  system->is_system = true;
  return fake;
}

void csi_fake_filesystem_free(struct csi_fake_filesystem *fake) {
  if (fake == NULL) return;
  fake_tree_free(&fake->tree);
  pthread_mutex_destroy(&fake->lock);
  free(fake);
}

const struct csi_filesystem_host *csi_fake_filesystem_host(struct csi_fake_filesystem *fake) {
  return &fake->host;
}

void csi_fake_add_volume(struct csi_fake_filesystem *fake, const char *name, char drive, uint64_t serial) {
  VISIT(fake);
  fake_tree_add_volume(&fake->tree, name, drive, serial);
}

void csi_fake_break_volume(struct csi_fake_filesystem *fake, const char *name, uint32_t error) {
  VISIT(fake);
  struct fake_volume *volume = fake_tree_find_volume(&fake->tree, name);
  if (volume == NULL) abort();
  volume->error = error;
}

void csi_fake_empty_volume(struct csi_fake_filesystem *fake, const char *name) {
  VISIT(fake);
  struct fake_volume *volume = fake_tree_find_volume(&fake->tree, name);
  if (volume == NULL) abort();
  while (volume->root->children != NULL)
    fake_tree_discard(volume->root->children);
}

bool csi_fake_find_drive(struct csi_fake_filesystem *fake, char drive, char name_out[64]) {
  VISIT(fake);
  const struct fake_volume *volume = fake_tree_find_drive(&fake->tree, drive);
  if (volume == NULL) return false;
  memcpy(name_out, volume->name, sizeof volume->name);
  return true;
}

/* Adds a new entry; the caller holds the lock. */
static struct fake_entry *add(struct visit *visit, const char *path, uint32_t attributes) {
  struct csi_name name;
  struct fake_entry *parent = fake_tree_parent(&visit->fake->tree, visit->scratch, path, &name);
  if (fake_entry_find(parent, name) != NULL) {
    fprintf(stderr, "filesystem_fake: %s exists already\n", path);
    abort();
  }
  return fake_entry_add(parent, name, attributes);
}

static struct fake_entry *get(struct visit *visit, const char *path) {
  struct fake_entry *entry = fake_tree_lookup(&visit->fake->tree, visit->scratch, path, false);
  if (entry != NULL) return entry;
  fprintf(stderr, "filesystem_fake: %s does not exist\n", path);
  abort();
}

void csi_fake_add_directory(struct csi_fake_filesystem *fake, const char *path) {
  VISIT(fake);
  fake_tree_lookup(&fake->tree, visit.scratch, path, true);
}

void csi_fake_add_file(struct csi_fake_filesystem *fake, const char *path) {
  VISIT(fake);
  add(&visit, path, 0);
}

static void put(uint8_t *bytes, size_t *at, uint32_t value, size_t width) {
  for (size_t i = 0; i < width; i++)
    bytes[(*at)++] = (uint8_t)(value >> (8 * i));
}

/* Stores a link that has no print name, as mklink /J makes them. */
static void set_link(struct visit *visit, struct fake_entry *entry, uint32_t tag, const char *substitute,
                     bool relative) {
  struct csi_status status = {0};
  size_t units;
  uint16_t *name_w = csi_utf16_from_utf8(visit->scratch, substitute, strlen(substitute), &units, &status);
  uint8_t *bytes = csi_arena_alloc(visit->scratch, CSI_REPARSE_BYTES_MAX);
  if (name_w == NULL || bytes == NULL || units > 8000) abort();
  bool symlink = tag == CSI_REPARSE_TAG_SYMLINK;
  size_t at = 0;
  put(bytes, &at, tag, 4);
  put(bytes, &at, (uint32_t)((symlink ? 12U : 8U) + 2 * units), 2);
  put(bytes, &at, 0, 2);
  put(bytes, &at, 0, 2);
  put(bytes, &at, (uint32_t)(2 * units), 2);
  put(bytes, &at, (uint32_t)(2 * units), 2);
  put(bytes, &at, 0, 2);
  if (symlink) put(bytes, &at, relative ? 1 : 0, 4);
  for (size_t i = 0; i < units; i++)
    put(bytes, &at, name_w[i], 2);
  fake_entry_set_reparse(entry, bytes, at);
}

void csi_fake_add_symlink(struct csi_fake_filesystem *fake, const char *path, const char *substitute,
                          bool relative, bool directory) {
  VISIT(fake);
  set_link(&visit, add(&visit, path, directory ? CSI_ATTRIBUTE_DIRECTORY : 0U), CSI_REPARSE_TAG_SYMLINK,
           substitute, relative);
}

void csi_fake_add_junction(struct csi_fake_filesystem *fake, const char *path, const char *substitute) {
  VISIT(fake);
  set_link(&visit, add(&visit, path, CSI_ATTRIBUTE_DIRECTORY), CSI_REPARSE_TAG_MOUNT_POINT, substitute,
           false);
}

void csi_fake_add_reparse_point(struct csi_fake_filesystem *fake, const char *path, uint32_t tag,
                                bool directory) {
  VISIT(fake);
  uint8_t bytes[8] = {0};
  size_t at = 0;
  put(bytes, &at, tag, 4);
  fake_entry_set_reparse(add(&visit, path, directory ? CSI_ATTRIBUTE_DIRECTORY : 0U), bytes, sizeof bytes);
}

void csi_fake_add_lone_surrogate(struct csi_fake_filesystem *fake, const char *directory) {
  VISIT(fake);
  static const uint16_t name_w[] = {'x', 0xD83D, 'y'};
  fake_entry_add(get(&visit, directory), (struct csi_name){.units = name_w, .count = 3}, 0);
}

void csi_fake_set_short_name(struct csi_fake_filesystem *fake, const char *path, const char *name) {
  VISIT(fake);
  struct csi_status status = {0};
  struct csi_name name_w;
  name_w.units = csi_utf16_from_utf8(visit.scratch, name, strlen(name), &name_w.count, &status);
  if (name_w.units == NULL) abort();
  fake_entry_set_short_name(get(&visit, path), name_w);
}

void csi_fake_set_read_only(struct csi_fake_filesystem *fake, const char *path) {
  VISIT(fake);
  get(&visit, path)->attributes |= CSI_ATTRIBUTE_READ_ONLY;
}

void csi_fake_lock(struct csi_fake_filesystem *fake, const char *path) {
  VISIT(fake);
  get(&visit, path)->remove_error = CSI_WIN32_SHARING_VIOLATION;
}

void csi_fake_deny(struct csi_fake_filesystem *fake, const char *path, uint32_t error) {
  VISIT(fake);
  get(&visit, path)->open_error = error;
}

void csi_fake_move(struct csi_fake_filesystem *fake, const char *from, const char *to) {
  VISIT(fake);
  struct fake_entry *entry = get(&visit, from);
  if (fake_tree_lookup(&fake->tree, visit.scratch, to, false) != NULL) abort();
  struct csi_name name;
  struct fake_entry *parent = fake_tree_parent(&fake->tree, visit.scratch, to, &name);
  entry->handles++; /* keeps it alive between the two places */
  fake_entry_unlink(entry);
  fake_entry_attach(parent, entry, name);
  entry->handles--;
}

void csi_fake_lose_reparse_points(struct csi_fake_filesystem *fake) {
  VISIT(fake);
  fake->loses_reparse_points = true;
}

static uint32_t attributes_of(struct csi_fake_filesystem *fake, const char *path) {
  VISIT(fake);
  struct fake_entry *entry = fake_tree_lookup(&fake->tree, visit.scratch, path, false);
  return entry == NULL ? 0 : entry->attributes;
}

bool csi_fake_exists(struct csi_fake_filesystem *fake, const char *path) {
  VISIT(fake);
  return fake_tree_lookup(&fake->tree, visit.scratch, path, false) != NULL;
}

bool csi_fake_is_directory(struct csi_fake_filesystem *fake, const char *path) {
  return (attributes_of(fake, path) & CSI_ATTRIBUTE_DIRECTORY) != 0;
}

bool csi_fake_is_reparse_point(struct csi_fake_filesystem *fake, const char *path) {
  return (attributes_of(fake, path) & CSI_ATTRIBUTE_REPARSE_POINT) != 0;
}

size_t csi_fake_count_children(struct csi_fake_filesystem *fake, const char *path) {
  VISIT(fake);
  size_t count = 0;
  for (struct fake_entry *child = get(&visit, path)->children; child != NULL; child = child->next)
    count++;
  return count;
}

size_t csi_fake_open_handles(struct csi_fake_filesystem *fake) {
  VISIT(fake);
  return fake->open_handles;
}

size_t csi_fake_count_far_opens(struct csi_fake_filesystem *fake) {
  VISIT(fake);
  return fake->far_opens;
}

size_t csi_fake_network_touches(struct csi_fake_filesystem *fake) {
  VISIT(fake);
  return fake->tree.network_touches;
}

void csi_fake_fail(struct csi_fake_filesystem *fake, unsigned calls, unsigned nth, uint32_t error) {
  VISIT(fake);
  fake->fault_calls = calls;
  fake->fault_countdown = nth;
  fake->fault_error = error;
  fake->faulted = false;
}

bool csi_fake_has_failed(struct csi_fake_filesystem *fake) {
  VISIT(fake);
  return fake->faulted;
}

void csi_fake_set_hook(struct csi_fake_filesystem *fake, csi_fake_hook *hook, void *data) {
  VISIT(fake);
  fake->hook = hook;
  fake->hook_data = data;
}

size_t csi_fake_count_calls(struct csi_fake_filesystem *fake, unsigned calls) {
  VISIT(fake);
  size_t count = 0;
  for (unsigned i = 0; i < CALL_KINDS; i++)
    if ((calls & (1U << i)) != 0) count += fake->calls[i];
  return count;
}
