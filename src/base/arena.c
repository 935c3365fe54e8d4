/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"

enum {
  ALIGNMENT = _Alignof(max_align_t),
  INLINE_BYTES = 2048,          /* part of the arena's own block: most requests need no more */
  FIRST_CHUNK_BYTES = 4096,     /* doubled for every further chunk ... */
  LARGEST_CHUNK_BYTES = 262144, /* ... up to here */
};

/* A block with free room at its end. Memory comes from calloc() and is handed out once, so that it is
 * zero without further work. */
struct chunk {
  struct chunk *next;
  size_t capacity_bytes;
  size_t used_bytes;
  _Alignas(max_align_t) unsigned char memory[];
};

struct csi_arena {
  size_t cap_bytes;
  size_t used_bytes;
  size_t next_chunk_bytes;
  bool secret;
  struct chunk *current; /* where small blocks come from */
  struct chunk *chunks;  /* everything to be freed */
  struct chunk first;    /* with INLINE_BYTES behind it; must stay the last member */
};

static _Thread_local unsigned fail_countdown;

unsigned csi_arena_fail_after(unsigned countdown) {
  unsigned left = fail_countdown;
  fail_countdown = countdown;
  return left;
}

static bool told_to_fail(void) {
  if (fail_countdown == 0) return false;
  return --fail_countdown == 0;
}

struct csi_arena *csi_arena_new(size_t cap_bytes) {
  if (told_to_fail()) return NULL;
  struct csi_arena *arena = calloc(1, sizeof *arena + INLINE_BYTES);
  if (arena == NULL) return NULL;
  arena->cap_bytes = cap_bytes;
  arena->next_chunk_bytes = FIRST_CHUNK_BYTES;
  arena->first.capacity_bytes = INLINE_BYTES;
  arena->current = &arena->first;
  return arena;
}

void csi_arena_free(struct csi_arena *arena) {
  if (arena == NULL) return;
  for (struct chunk *chunk = arena->chunks, *next; chunk != NULL; chunk = next) {
    next = chunk->next;
    if (arena->secret) csi_wipe(chunk->memory, chunk->used_bytes);
    free(chunk);
  }
  if (arena->secret) csi_wipe(arena->first.memory, arena->first.used_bytes);
  free(arena);
}

void csi_arena_mark_secret(struct csi_arena *arena) {
  arena->secret = true;
}

size_t csi_arena_used_bytes(const struct csi_arena *arena) {
  return arena->used_bytes;
}

static struct chunk *add_chunk(struct csi_arena *arena, size_t capacity_bytes) {
  struct chunk *chunk = calloc(1, sizeof *chunk + capacity_bytes);
  if (chunk == NULL) return NULL;
  chunk->capacity_bytes = capacity_bytes;
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  return chunk;
}

/* A chunk that has room_bytes left. A big block gets a chunk of its own, so that what remains of the
 * current one stays in use. */
static struct chunk *chunk_with_room(struct csi_arena *arena, size_t room_bytes) {
  struct chunk *current = arena->current;
  if (current->capacity_bytes - current->used_bytes >= room_bytes) return current;
  if (room_bytes > arena->next_chunk_bytes / 4) return add_chunk(arena, room_bytes);

  struct chunk *chunk = add_chunk(arena, arena->next_chunk_bytes);
  if (chunk == NULL) return NULL;
  arena->current = chunk;
  if (arena->next_chunk_bytes < LARGEST_CHUNK_BYTES) arena->next_chunk_bytes *= 2;
  return chunk;
}

void *csi_arena_alloc(struct csi_arena *arena, size_t size_bytes) {
  if (told_to_fail()) return NULL;
  size_t left_bytes = arena->cap_bytes - arena->used_bytes;
  if (size_bytes > left_bytes || size_bytes > SIZE_MAX / 2) return NULL;

  /* An empty block still needs an address of its own. */
  size_t room_bytes = size_bytes == 0 ? ALIGNMENT : (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (room_bytes > left_bytes) return NULL;
  struct chunk *chunk = chunk_with_room(arena, room_bytes);
  if (chunk == NULL) return NULL;
  void *memory = chunk->memory + chunk->used_bytes;
  chunk->used_bytes += room_bytes;
  arena->used_bytes += room_bytes;
  return memory;
}

void *csi_arena_alloc_array(struct csi_arena *arena, size_t count, size_t item_bytes) {
  size_t size_bytes;
  if (__builtin_mul_overflow(count, item_bytes, &size_bytes)) return NULL;
  return csi_arena_alloc(arena, size_bytes);
}

char *csi_arena_strndup(struct csi_arena *arena, const char *text, size_t length_bytes) {
  if (length_bytes == SIZE_MAX) return NULL;
  char *copy = csi_arena_alloc(arena, length_bytes + 1);
  if (copy != NULL && length_bytes > 0) memcpy(copy, text, length_bytes);
  return copy;
}

char *csi_arena_strdup(struct csi_arena *arena, const char *text) {
  return csi_arena_strndup(arena, text, strlen(text));
}

char *csi_arena_vprintf(struct csi_arena *arena, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char *text = length < 0 ? NULL : csi_arena_alloc(arena, (size_t)length + 1);
  if (text != NULL) (void)vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

char *csi_arena_printf(struct csi_arena *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = csi_arena_vprintf(arena, format, args);
  va_end(args);
  return text;
}
