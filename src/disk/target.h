/* SPDX-License-Identifier: Apache-2.0
 *
 * The disk that a call is about, with all that is needed to work on it.
 */
#ifndef CSI_DISK_TARGET_H
#define CSI_DISK_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/keyed_lock.h"
#include "disk/host.h"

enum {
  CSI_SECTORS_ALIGNMENT = 4096, /* a multiple of every sector size */
};

struct csi_target {
  struct csi_ctx *ctx;
  const struct csi_disk_host *host;
  uint32_t number;
  bool guarded;               /* csi_disk_guard_check() applies */
  struct csi_open_disk *disk; /* NULL until it is open */
};

/* The key of the lock that whoever changes a disk, or a volume on it, takes. */
void csi_disk_lock_key(uint32_t number, char key_out[CSI_LOCK_KEY_BYTES]);

/* Memory for sectors, zeroed: handles of disks and volumes are not buffered, so that the device may want it
 * to begin at a multiple of the sector size. NULL, and ctx->status, when memory is short. */
uint8_t *csi_sectors_alloc(struct csi_ctx *ctx, size_t size_bytes) CSI_MUST_CHECK;

/* Opens the disk by its number. "failed to query disk 7. error: not found: ..." */
bool csi_target_open(struct csi_target *target, enum csi_disk_access access) CSI_MUST_CHECK;

/* Closes the disk if it is open. */
void csi_target_close(struct csi_target *target);

#define CSI_SCOPED_TARGET __attribute__((cleanup(csi_target_close))) struct csi_target

/* Refuses a disk that Windows needs, see disk/guard.h; layout as there. */
bool csi_target_check_guard(struct csi_target *target, const struct csi_layout *layout) CSI_MUST_CHECK;

/* The steps of the host, on the disk of the target. */
bool csi_target_get_attributes(struct csi_target *target, uint64_t *attributes_out) CSI_MUST_CHECK;
bool csi_target_get_layout(struct csi_target *target, struct csi_layout *layout_out) CSI_MUST_CHECK;
bool csi_target_update_properties(struct csi_target *target) CSI_MUST_CHECK;

#endif
