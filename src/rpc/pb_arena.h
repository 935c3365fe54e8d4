/* SPDX-License-Identifier: Apache-2.0
 *
 * Lets protobuf-c decode into an arena: nothing it allocates has to be freed one by one.
 */
#ifndef CSI_RPC_PB_ARENA_H
#define CSI_RPC_PB_ARENA_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"

/* An allocator for protobuf_c_message_unpack(). Its messages live as long as the arena and must not be
 * given to protobuf_c_message_free_unpacked(). When the arena is exhausted unpacking returns NULL.
 * The value only refers to the arena: it may be copied and dropped. */
ProtobufCAllocator csi_pb_arena_allocator(struct csi_arena *arena);

#endif
