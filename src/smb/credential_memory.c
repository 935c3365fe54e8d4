/* SPDX-License-Identifier: Apache-2.0
 *
 * A list, the share that was used last first.
 */
#include "smb/credential_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"

struct entry {
  struct entry *next;
  struct csi_smb_fingerprint fingerprint;
  bool is_excused;
  char root[];
};

struct csi_credential_memory {
  pthread_mutex_t lock; /* guards what follows */
  struct entry *first;
  size_t count;
  size_t capacity;
};

struct csi_credential_memory *csi_credential_memory_new(size_t capacity) {
  struct csi_credential_memory *memory = calloc(1, sizeof *memory);
  if (memory == NULL) return NULL;
  pthread_mutex_init(&memory->lock, NULL);
  memory->capacity = capacity;
  return memory;
}

/* Takes the entry out of its place in the list. */
static struct entry *take_out(struct csi_credential_memory *memory, struct entry **place) {
  struct entry *entry = *place;
  *place = entry->next;
  memory->count--;
  return entry;
}

static void put_first(struct csi_credential_memory *memory, struct entry *entry) {
  entry->next = memory->first;
  memory->first = entry;
  memory->count++;
}

static void free_entry(struct entry *entry) {
  csi_wipe(&entry->fingerprint, sizeof entry->fingerprint);
  free(entry);
}

void csi_credential_memory_free(struct csi_credential_memory *memory) {
  if (memory == NULL) return;
  while (memory->first != NULL)
    free_entry(take_out(memory, &memory->first));
  pthread_mutex_destroy(&memory->lock);
  free(memory);
}

/* The place of the share in the list; the end when it is not known. The lock is held. */
static struct entry **find(struct csi_credential_memory *memory, const char *root) {
  struct entry **place = &memory->first;
  while (*place != NULL && strcmp((*place)->root, root) != 0)
    place = &(*place)->next;
  return place;
}

enum csi_remembered csi_credential_memory_compare(struct csi_credential_memory *memory, const char *root,
                                                  const struct csi_smb_fingerprint *fingerprint) {
  enum csi_remembered result = CSI_CREDENTIALS_UNKNOWN;
  pthread_mutex_lock(&memory->lock);
  struct entry **place = find(memory, root);
  if (*place != NULL) {
    struct entry *entry = take_out(memory, place);
    put_first(memory, entry);
    bool same = memcmp(entry->fingerprint.bytes, fingerprint->bytes, sizeof fingerprint->bytes) == 0;
    result = same ? CSI_CREDENTIALS_SAME : CSI_CREDENTIALS_OTHER;
  }
  pthread_mutex_unlock(&memory->lock);
  return result;
}

/* The lock is held. */
static void forget(struct csi_credential_memory *memory, struct entry **place) {
  if (*place != NULL) free_entry(take_out(memory, place));
}

static void forget_oldest(struct csi_credential_memory *memory) {
  struct entry **place = &memory->first;
  while (*place != NULL && (*place)->next != NULL)
    place = &(*place)->next;
  forget(memory, place);
}

void csi_credential_memory_set(struct csi_credential_memory *memory, const char *root,
                               const struct csi_smb_fingerprint *fingerprint) {
  struct entry *entry = malloc(sizeof *entry + strlen(root) + 1);
  pthread_mutex_lock(&memory->lock);
  forget(memory, find(memory, root));
  if (entry != NULL) {
    if (memory->count == memory->capacity) forget_oldest(memory);
    entry->fingerprint = *fingerprint;
    entry->is_excused = false;
    memcpy(entry->root, root, strlen(root) + 1);
    put_first(memory, entry);
  }
  pthread_mutex_unlock(&memory->lock);
}

void csi_credential_memory_excuse(struct csi_credential_memory *memory, const char *root) {
  pthread_mutex_lock(&memory->lock);
  struct entry *entry = *find(memory, root);
  if (entry != NULL) entry->is_excused = true;
  pthread_mutex_unlock(&memory->lock);
}

bool csi_credential_memory_is_excused(struct csi_credential_memory *memory, const char *root) {
  pthread_mutex_lock(&memory->lock);
  const struct entry *entry = *find(memory, root);
  bool is_excused = entry != NULL && entry->is_excused;
  pthread_mutex_unlock(&memory->lock);
  return is_excused;
}

void csi_credential_memory_forget(struct csi_credential_memory *memory, const char *root) {
  pthread_mutex_lock(&memory->lock);
  forget(memory, find(memory, root));
  pthread_mutex_unlock(&memory->lock);
}

bool csi_credential_memory_knows(struct csi_credential_memory *memory, const char *root) {
  pthread_mutex_lock(&memory->lock);
  bool is_known = *find(memory, root) != NULL;
  pthread_mutex_unlock(&memory->lock);
  return is_known;
}

size_t csi_credential_memory_host_bytes(const char *root) {
  size_t separators = strspn(root, "\\");
  return separators + strcspn(root + separators, "\\");
}

static bool is_neighbour(const struct entry *entry, const char *root,
                         const struct csi_smb_fingerprint *fingerprint) {
  size_t host_bytes = csi_credential_memory_host_bytes(root);
  return csi_credential_memory_host_bytes(entry->root) == host_bytes &&
         strncmp(entry->root, root, host_bytes) == 0 && strcmp(entry->root, root) != 0 &&
         memcmp(entry->fingerprint.bytes, fingerprint->bytes, sizeof fingerprint->bytes) != 0;
}

size_t csi_credential_memory_list_neighbours(struct csi_credential_memory *memory, const char *root,
                                             const struct csi_smb_fingerprint *fingerprint, char *roots_out,
                                             size_t root_bytes, size_t max) {
  size_t count = 0;
  pthread_mutex_lock(&memory->lock);
  for (const struct entry *entry = memory->first; entry != NULL && count < max; entry = entry->next) {
    size_t length = strlen(entry->root);
    if (length >= root_bytes || !is_neighbour(entry, root, fingerprint)) continue;
    memcpy(roots_out + count * root_bytes, entry->root, length + 1);
    count++;
  }
  pthread_mutex_unlock(&memory->lock);
  return count;
}

bool csi_credential_memory_list(struct csi_credential_memory *memory, struct csi_ctx *ctx,
                                const char ***roots_out, size_t *count_out) {
  size_t count = 0;
  pthread_mutex_lock(&memory->lock);
  const char **roots = csi_arena_alloc_array(ctx->arena, memory->count + 1, sizeof *roots);
  for (const struct entry *entry = memory->first; roots != NULL && entry != NULL; entry = entry->next) {
    roots[count] = csi_arena_strdup(ctx->arena, entry->root);
    if (roots[count++] == NULL) roots = NULL;
  }
  pthread_mutex_unlock(&memory->lock);
  *roots_out = roots;
  *count_out = count;
  return roots != NULL || csi_fail_out_of_memory(&ctx->status);
}

size_t csi_credential_memory_count(struct csi_credential_memory *memory) {
  pthread_mutex_lock(&memory->lock);
  size_t count = memory->count;
  pthread_mutex_unlock(&memory->lock);
  return count;
}
