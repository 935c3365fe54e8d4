/* SPDX-License-Identifier: Apache-2.0
 *
 * The file that holds what is on a disk. Blocks as long as the host's file system does.
 */
#ifndef VDISK_BACKING_H
#define VDISK_BACKING_H

#include "nt.h"

/* An open file; a zeroed one is closed. */
struct vdisk_backing {
  HANDLE file;
};

/* Opens path (C:\disk.img), creating it if need be, and makes it at least size_bytes long: sparse, what is in
 * it stays. */
NTSTATUS vdisk_backing_open(struct vdisk_backing *backing, const char *path, uint64_t size_bytes);
void vdisk_backing_close(struct vdisk_backing *backing);

/* Lengthens the file; it is never made shorter. */
NTSTATUS vdisk_backing_grow(struct vdisk_backing *backing, uint64_t size_bytes);

/* All of it or an error. Bounds are the caller's business. */
NTSTATUS vdisk_backing_read(struct vdisk_backing *backing, uint64_t offset_bytes, void *buffer,
                            uint32_t bytes);
NTSTATUS vdisk_backing_write(struct vdisk_backing *backing, uint64_t offset_bytes, const void *buffer,
                             uint32_t bytes);
NTSTATUS vdisk_backing_flush(struct vdisk_backing *backing);

#endif
