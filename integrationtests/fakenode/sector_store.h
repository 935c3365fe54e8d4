/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a disk, of any size: what was never written reads as zeros and takes no memory.
 */
#ifndef CSI_FAKENODE_SECTOR_STORE_H
#define CSI_FAKENODE_SECTOR_STORE_H

#include <stddef.h>
#include <stdint.h>

enum {
  SECTOR_STORE_BUCKETS = 256,
};

struct sector_chunk;

/* Zeroed memory is an empty store. Not thread-safe. */
struct sector_store {
  struct sector_chunk *buckets[SECTOR_STORE_BUCKETS];
};

void sector_store_free(struct sector_store *store);
void sector_store_read(const struct sector_store *store, uint64_t offset_bytes, void *bytes_out,
                       size_t size_bytes);
/* Aborts the program when memory is short. */
void sector_store_write(struct sector_store *store, uint64_t offset_bytes, const void *bytes,
                        size_t size_bytes);

#endif
