/* SPDX-License-Identifier: Apache-2.0 */
#include "client/response.h"

#include <stdalign.h>

#include "csi-proxy/client.h"

/* Stands right before every response, which keeps the strictest alignment. */
struct header {
  alignas(max_align_t) struct csi_arena *arena;
};

void *csi_response_new(struct csi_arena *arena, size_t size_bytes) {
  struct header *header = csi_arena_alloc(arena, sizeof *header + size_bytes);
  if (header == NULL) return NULL;
  header->arena = arena;
  return header + 1;
}

void csi_response_free(void *response) {
  if (response != NULL) csi_arena_free(((struct header *)response - 1)->arena);
}
