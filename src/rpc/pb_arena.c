/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/pb_arena.h"

static void *allocate(void *arena, size_t size_bytes) {
  /* protobuf-c takes NULL for "memory is short", also where it asks for nothing. */
  return csi_arena_alloc(arena, size_bytes > 0 ? size_bytes : 1);
}

static void keep_until_arena_is_freed(void *arena, void *pointer) {
  (void)arena;
  (void)pointer;
}

ProtobufCAllocator csi_pb_arena_allocator(struct csi_arena *arena) {
  return (ProtobufCAllocator){
      .alloc = allocate,
      .free = keep_until_arena_is_freed,
      .allocator_data = arena,
  };
}
