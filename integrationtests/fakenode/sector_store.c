/* SPDX-License-Identifier: Apache-2.0 */
#include "sector_store.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
  CHUNK_BYTES = 64 << 10,
};

struct sector_chunk {
  struct sector_chunk *next;
  uint64_t index;
  uint8_t bytes[CHUNK_BYTES];
};

static struct sector_chunk *find(const struct sector_store *store, uint64_t index) {
  struct sector_chunk *chunk = store->buckets[index % SECTOR_STORE_BUCKETS];
  while (chunk != NULL && chunk->index != index)
    chunk = chunk->next;
  return chunk;
}

static struct sector_chunk *find_or_add(struct sector_store *store, uint64_t index) {
  struct sector_chunk *chunk = find(store, index);
  if (chunk != NULL) return chunk;
  chunk = calloc(1, sizeof *chunk);
  if (chunk == NULL) abort();
  struct sector_chunk **bucket = &store->buckets[index % SECTOR_STORE_BUCKETS];
  chunk->index = index;
  chunk->next = *bucket;
  *bucket = chunk;
  return chunk;
}

static bool is_zero(const uint8_t *bytes, size_t size_bytes) {
  return size_bytes == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size_bytes - 1) == 0);
}

/* How much of [offset, offset + size) is in the chunk of offset. */
static size_t part_of(uint64_t offset_bytes, size_t size_bytes) {
  size_t room = CHUNK_BYTES - (size_t)(offset_bytes % CHUNK_BYTES);
  return size_bytes < room ? size_bytes : room;
}

void sector_store_free(struct sector_store *store) {
  for (size_t i = 0; i < SECTOR_STORE_BUCKETS; i++) {
    while (store->buckets[i] != NULL) {
      struct sector_chunk *chunk = store->buckets[i];
      store->buckets[i] = chunk->next;
      free(chunk);
    }
  }
}

void sector_store_read(const struct sector_store *store, uint64_t offset_bytes, void *bytes_out,
                       size_t size_bytes) {
  uint8_t *to = bytes_out;
  while (size_bytes > 0) {
    size_t part = part_of(offset_bytes, size_bytes);
    const struct sector_chunk *chunk = find(store, offset_bytes / CHUNK_BYTES);
    if (chunk != NULL) {
      memcpy(to, chunk->bytes + offset_bytes % CHUNK_BYTES, part);
    } else {
      memset(to, 0, part);
    }
    to += part;
    offset_bytes += part;
    size_bytes -= part;
  }
}

void sector_store_write(struct sector_store *store, uint64_t offset_bytes, const void *bytes,
                        size_t size_bytes) {
  const uint8_t *from = bytes;
  while (size_bytes > 0) {
    size_t part = part_of(offset_bytes, size_bytes);
    uint64_t index = offset_bytes / CHUNK_BYTES;
    struct sector_chunk *chunk = is_zero(from, part) ? find(store, index) : find_or_add(store, index);
    if (chunk != NULL) memcpy(chunk->bytes + offset_bytes % CHUNK_BYTES, from, part);
    from += part;
    offset_bytes += part;
    size_bytes -= part;
  }
}
