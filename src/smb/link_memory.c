/* SPDX-License-Identifier: Apache-2.0
 *
 * A list, the newest link first.
 */
#include "smb/link_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
  struct entry *next;
  const char *path; /* behind the root */
  char root[];
};

struct csi_link_memory {
  pthread_mutex_t lock; /* guards what follows */
  struct entry *first;
  size_t count;
  size_t capacity;
};

struct csi_link_memory *csi_link_memory_new(size_t capacity) {
  struct csi_link_memory *memory = calloc(1, sizeof *memory);
  if (memory == NULL) return NULL;
  pthread_mutex_init(&memory->lock, NULL);
  memory->capacity = capacity;
  return memory;
}

static void forget(struct csi_link_memory *memory, struct entry **place) {
  struct entry *entry = *place;
  *place = entry->next;
  memory->count--;
  free(entry);
}

void csi_link_memory_free(struct csi_link_memory *memory) {
  if (memory == NULL) return;
  while (memory->first != NULL)
    forget(memory, &memory->first);
  pthread_mutex_destroy(&memory->lock);
  free(memory);
}

static struct entry *new_entry(const char *root, const char *path) {
  size_t root_bytes = strlen(root) + 1, path_bytes = strlen(path) + 1;
  struct entry *entry = malloc(sizeof *entry + root_bytes + path_bytes);
  if (entry == NULL) return NULL;
  memcpy(entry->root, root, root_bytes);
  memcpy(entry->root + root_bytes, path, path_bytes);
  entry->path = entry->root + root_bytes;
  return entry;
}

/* The lock is held. */
static void forget_path(struct csi_link_memory *memory, const char *path) {
  struct entry **place = &memory->first;
  while (*place != NULL && strcmp((*place)->path, path) != 0)
    place = &(*place)->next;
  if (*place != NULL) forget(memory, place);
}

/* The lock is held. */
static void forget_oldest(struct csi_link_memory *memory) {
  struct entry **place = &memory->first;
  while (*place != NULL && (*place)->next != NULL)
    place = &(*place)->next;
  if (*place != NULL) forget(memory, place);
}

void csi_link_memory_add(struct csi_link_memory *memory, const char *root, const char *path) {
  struct entry *entry = new_entry(root, path);
  pthread_mutex_lock(&memory->lock);
  forget_path(memory, path);
  if (entry != NULL) {
    if (memory->count == memory->capacity) forget_oldest(memory);
    entry->next = memory->first;
    memory->first = entry;
    memory->count++;
  }
  pthread_mutex_unlock(&memory->lock);
}

bool csi_link_memory_list(struct csi_link_memory *memory, struct csi_ctx *ctx, const char *root,
                          const char ***paths_out, size_t *count_out) {
  size_t count = 0;
  pthread_mutex_lock(&memory->lock);
  const char **paths = csi_arena_alloc_array(ctx->arena, memory->count + 1, sizeof *paths);
  for (const struct entry *entry = memory->first; paths != NULL && entry != NULL; entry = entry->next) {
    if (strcmp(entry->root, root) != 0) continue;
    paths[count] = csi_arena_strdup(ctx->arena, entry->path);
    if (paths[count++] == NULL) paths = NULL;
  }
  pthread_mutex_unlock(&memory->lock);
  *paths_out = paths;
  *count_out = count;
  return paths != NULL || csi_fail_out_of_memory(&ctx->status);
}
